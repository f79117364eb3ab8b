// SPDX-License-Identifier: Apache-2.0
/// What every row of stores.def has to do: memory, sqlite, redis.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "tests/support/store_places.hpp"

namespace schedmate::store {
namespace {

using testing::full_outcome;
using testing::full_record;
using testing::on_every_store;
using testing::open_or_fail;

std::vector<std::string> ids(Store& store, const JobFilter& filter) {
  std::vector<std::string> found;
  const auto jobs = store.list(filter);
  REQUIRE(jobs.has_value());
  for (const auto& job : *jobs) found.push_back(job.id);
  return found;
}

TEST_CASE("a record comes back as it was put, and with its outcome once it ended") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto record = full_record(1);
    REQUIRE(store->put(record));
    record.text_id = 1;
    CHECK(store->get("job-1").value() == record);
    REQUIRE(store->finish("job-1", full_outcome()));
    record.outcome = full_outcome();
    CHECK(store->get("job-1").value() == record);
    CHECK(store->get("job-2").value() == std::nullopt);
    CHECK(store->finish("job-2", full_outcome()).error().code == ErrorCode::not_found);
  });
}

TEST_CASE("finishing again replaces the whole outcome") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    REQUIRE(store->put(full_record(1)));
    REQUIRE(store->finish("job-1", full_outcome()));
    Outcome bare;
    bare.state = EndState::cancelled;
    bare.duration = Seconds(7);
    REQUIRE(store->finish("job-1", bare));
    CHECK(store->get("job-1").value()->outcome == bare);
    REQUIRE(store->finish("job-1", full_outcome()));
    CHECK(store->get("job-1").value()->outcome == full_outcome());
  });
}

TEST_CASE("a record that is put with its outcome keeps every member of it") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto record = full_record(1);
    record.outcome = full_outcome();
    REQUIRE(store->put(record));
    record.text_id = 1;
    CHECK(store->get("job-1").value() == record);
    const auto brief = store->list({.brief = true}).value();
    REQUIRE(brief.size() == 1);
    CHECK(brief[0].name == "resnet");
    CHECK(brief[0].outcome->attempts == full_outcome().attempts);
  });
}

TEST_CASE("what a scheduler says of a job is data as well: cut, cleaned, bounded") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto record = full_record(1);
    record.name = std::string("a\0b\xFF", 4);
    record.account = std::string(2 * StoreLimits::text_bytes, 'x');
    record.memory_mib = std::numeric_limits<double>::quiet_NaN();
    record.outcome = full_outcome();
    record.outcome->cpu_time = FractionalSeconds(std::numeric_limits<double>::infinity());
    record.outcome->attempts.assign(3 * StoreLimits::attempts, Attempt{});
    record.outcome->attempts.back().word = "'; DROP TABLE jobs; --\xFF";
    REQUIRE(store->put(record));
    const auto kept = store->get("job-1").value().value();
    CHECK(kept.name == "a\uFFFDb\uFFFD");
    CHECK(kept.account.size() == StoreLimits::text_bytes);
    CHECK_FALSE(kept.memory_mib.has_value());
    CHECK_FALSE(kept.outcome->cpu_time.has_value());
    CHECK(kept.outcome->attempts.size() == StoreLimits::attempts);
    CHECK(kept.outcome->attempts.back().word == "'; DROP TABLE jobs; --\uFFFD");
  });
}

TEST_CASE("a record without anything but an id is a record") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    JobRecord bare;
    bare.id = "x";
    REQUIRE(store->put(bare));
    CHECK(store->get("x").value() == bare);
    REQUIRE(store->finish("x", Outcome{}));
    CHECK(store->get("x").value()->outcome == Outcome{});
    CHECK(store->texts(0, 10)->empty());
  });
}

TEST_CASE("jobs are listed by user, folder, entry, text, state and time, newest first") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    std::vector<JobRecord> records;
    for (int i = 0; i < 6; ++i) {
      records.push_back(full_record(i));
      auto& record = records.back();
      record.user = i % 2 == 0 ? "ada" : "bob";
      record.root = i < 4 ? "/near" : "/far";
      record.entry = i < 2 ? "eval.py" : "train.py";
      record.text = i == 5 ? "five" : "same";
      record.submit = at(i == 3 ? 1002 : 1000 + i);  // job-2 and job-3 at the same time
    }
    REQUIRE(store->put_many(records));
    REQUIRE(store->finish("job-4", full_outcome()));
    using Ids = std::vector<std::string>;
    CHECK(ids(*store, {}) == Ids{"job-5", "job-4", "job-3", "job-2", "job-1", "job-0"});
    CHECK(ids(*store, {.limit = 2}) == Ids{"job-5", "job-4"});
    CHECK(ids(*store, {.user = "ada"}) == Ids{"job-4", "job-2", "job-0"});
    CHECK(ids(*store, {.user = "ada", .root = "/near"}) == Ids{"job-2", "job-0"});
    CHECK(ids(*store, {.user = "bob", .entry = "eval.py"}) == Ids{"job-1"});
    CHECK(ids(*store, {.root = "/far"}) == Ids{"job-5", "job-4"});
    CHECK(ids(*store, {.text_id = 1, .since = at(1002)}) == Ids{"job-4", "job-3", "job-2"});
    CHECK(ids(*store, {.finished = true}) == Ids{"job-4"});
    CHECK(ids(*store, {.state = EndState::completed}) == Ids{"job-4"});
    CHECK(ids(*store, {.state = EndState::failed}).empty());
    CHECK(ids(*store, {.user = "eve"}).empty());
  });
}

TEST_CASE("jobs are found by the fingerprint of their failure, as long as they have it") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    for (int i = 0; i < 4; ++i) REQUIRE(store->put(full_record(i)));
    auto failed = full_outcome();
    failed.fingerprint = "aa";
    for (const char* id : {"job-0", "job-2", "job-3"}) REQUIRE(store->finish(id, failed));
    auto other = full_outcome();
    other.fingerprint = "";
    REQUIRE(store->finish("job-1", other));
    using Ids = std::vector<std::string>;
    CHECK(ids(*store, {.fingerprint = "aa"}) == Ids{"job-3", "job-2", "job-0"});
    CHECK(ids(*store, {.user = "ada", .fingerprint = "aa", .limit = 1}) == Ids{"job-3"});
    CHECK(ids(*store, {.fingerprint = "aa", .since = at(1002)}) == Ids{"job-3", "job-2"});
    CHECK(ids(*store, {.fingerprint = "a"}).empty());
    CHECK(ids(*store, {}).size() == 4);  // those that ended are still in every other list
    CHECK(ids(*store, {.user = "ada", .entry = "train.py"}).size() == 4);
    failed.fingerprint = "bb";
    REQUIRE(store->finish("job-2", failed));  // diagnosed again
    REQUIRE(store->forget("job-3"));
    CHECK(ids(*store, {.fingerprint = "aa"}) == Ids{"job-0"});
    CHECK(ids(*store, {.fingerprint = "bb"}) == Ids{"job-2"});
    REQUIRE(store->put(full_record(0)));  // submitted again: no outcome yet
    CHECK(ids(*store, {.fingerprint = "aa"}).empty());
  });
}

TEST_CASE("a visit ends when its caller has seen enough, and brief records are short") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    for (int i = 0; i < 3; ++i) REQUIRE(store->put(full_record(i)));
    REQUIRE(store->finish("job-2", full_outcome()));
    int seen = 0;
    REQUIRE(store->each({.brief = true}, [&](const JobRecord& record) {
      ++seen;
      CHECK(record.facts_json.empty());
      CHECK(record.outcome->progress.empty());
      CHECK(record.outcome->duration == Seconds(3000));
      CHECK(record.fields.at("model_name") == "resnet50");
      return false;
    }));
    CHECK(seen == 1);
  });
}

TEST_CASE("an id that is put again is replaced, but never taken from another user") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    REQUIRE(store->put(full_record(1)));
    REQUIRE(store->finish("job-1", full_outcome()));
    auto again = full_record(1);
    again.root = "/elsewhere";
    again.submit = at(7);
    REQUIRE(store->put(again));
    CHECK(store->get("job-1").value()->outcome == std::nullopt);
    CHECK(ids(*store, {.user = "ada", .root = "/cluster/ada/net"}).empty());
    CHECK(ids(*store, {}) == std::vector<std::string>{"job-1"});

    auto foreign = full_record(1);
    foreign.user = "eve";
    const std::vector<JobRecord> batch{full_record(2), foreign};
    CHECK(store->put_many(batch).error().code == ErrorCode::conflict);
    CHECK(store->get("job-2").value() == std::nullopt);  // all or nothing
    CHECK(store->get("job-1").value()->user == "ada");
  });
}

TEST_CASE("of one id in a batch the last record stays") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto later = full_record(1);
    later.root = "/a";
    REQUIRE(store->put_many(std::vector<JobRecord>{full_record(1), full_record(2), later}));
    CHECK(store->get("job-1").value()->root == "/a");
    CHECK(ids(*store, {}).size() == 2);
  });
}

TEST_CASE("equal texts are kept once and numbered in the order of their arrival") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    for (int i = 0; i < 4; ++i) {
      auto record = full_record(i);
      record.text = i == 2 ? "b" : "a";
      REQUIRE(store->put(record));
    }
    const auto all = store->texts(0, 10).value();
    REQUIRE(all.size() == 2);
    CHECK(all[0].text == "a");
    CHECK(all[1].text == "b");
    CHECK(all[0].id < all[1].id);
    CHECK(store->texts(all[0].id, 10)->front().text == "b");
    CHECK(store->texts(0, 1)->size() == 1);
    CHECK(store->last_text().value() == all[1].id);
    CHECK(store->get("job-3").value()->text_id == all[0].id);
  });
}

TEST_CASE("forgetting removes text, vector and cache once no other job needs them") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto first = full_record(1);
    auto second = full_record(2);
    second.text = first.text;
    REQUIRE(store->put(first));
    REQUIRE(store->put(second));
    const auto text_id = store->texts(0, 1)->front().id;
    const std::vector<StoredVector> vectors{{text_id, {1, 0}}, {999, {0, 1}}};
    REQUIRE(store->put_vectors("e/1", vectors));
    REQUIRE(store->vectors("e/1", 0, 10)->size() == 1);
    CHECK(store->vectors("e/1", 0, 10)->front().values == std::vector<float>{1, 0});
    CHECK(store->vectors("other", 0, 10)->empty());
    REQUIRE(store->cache({"files", "hash", first.root, "facts"}, 1000));
    REQUIRE(store->cache({"files", "far", "/far", "facts"}, 1000));

    REQUIRE(store->forget("job-1"));
    CHECK(store->texts(0, 10)->size() == 1);
    CHECK(store->forgotten(0, 10)->empty());
    CHECK(store->cached("files", "hash").value() == std::nullopt);
    CHECK(store->cached("files", "far").value() == "facts");
    REQUIRE(store->forget("job-2"));
    CHECK(store->texts(0, 10)->empty());
    CHECK(store->vectors("e/1", 0, 10)->empty());
    const auto gone = store->forgotten(0, 10).value();
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].text_id == text_id);
    CHECK(store->forgotten(gone[0].sequence, 10)->empty());
    CHECK(ids(*store, {}).empty());
    CHECK(store->forget("job-2").error().code == ErrorCode::not_found);

    REQUIRE(store->put(first));  // the same text again gets a new number
    CHECK(store->texts(0, 10)->front().id > text_id);
  });
}

TEST_CASE("a replaced record forgets the text that nobody has any more") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto record = full_record(1);
    REQUIRE(store->put(record));
    REQUIRE(store->put(record));
    CHECK(store->forgotten(0, 10)->empty());
    record.text = "another";
    REQUIRE(store->put(record));
    CHECK(store->forgotten(0, 10)->size() == 1);
    CHECK(store->texts(0, 10)->front().text == "another");

    // In one batch: the text moves from one job to another.
    const auto text_id = store->texts(0, 10)->front().id;
    record.text = "new";
    auto heir = full_record(2);
    heir.text = "another";
    heir.user = "zoe";
    REQUIRE(store->put_many(std::vector<JobRecord>{record, heir}));
    const auto texts = store->texts(0, 10).value();
    REQUIRE(texts.size() == 2);
    const auto kept = store->get("job-2").value()->text_id;
    CHECK(store->get("job-2").value()->text == "another");
    CHECK((kept == text_id) == (store->forgotten(1, 10)->empty()));
  });
}

TEST_CASE("the cache keeps any bytes, within its bound, and drops the oldest") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    const std::string bytes("\0\xFF\x01", 3);
    REQUIRE(store->cache({"s", "a", "g", bytes}, 8));
    CHECK(store->cached("s", "a").value() == bytes);
    REQUIRE(store->cache({"other", "a", "g", "12345678"}, 8));
    REQUIRE(store->cache({"s", "b", "g", "bbb"}, 8));
    REQUIRE(store->cache({"s", "a", "g", "AAA"}, 8));  // younger than b now
    REQUIRE(store->cache({"s", "c", "g", "ccc"}, 8));  // nine bytes: b goes
    CHECK(store->cached("s", "a").value() == "AAA");
    CHECK(store->cached("s", "b").value() == std::nullopt);
    CHECK(store->cached("s", "c").value() == "ccc");
    CHECK(store->cached("other", "a").value() == "12345678");
    REQUIRE(store->cache({"s", "huge", "g", "123456789"}, 8));  // larger than the bound
    CHECK(store->cached("s", "huge").value() == std::nullopt);
    CHECK(store->cache({"s", "", "g", "x"}, 8).error().code == ErrorCode::invalid);
  });
}

TEST_CASE("hostile texts are data: SQL, NUL, broken UTF-8, control characters") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    JobRecord record = full_record(1);
    record.id = "'; DROP TABLE jobs; --\r\n*1\r\n$8\r\nFLUSHALL\r\n";
    record.user = std::string("nul\0and\xFF", 8);
    record.root = "%s*?[a]{}\x1f\"\\";
    record.command = "\xED\xA0\x80 \xF0\x9F\x98\x80";
    record.fields = {{"", "' OR 1=1"}, {std::string("\0", 1), "x"}};
    record.text = "' UNION SELECT";
    REQUIRE(store->put(record));
    REQUIRE(store->put(full_record(2)));
    const auto kept = store->get(record.id).value();
    REQUIRE(kept.has_value());
    CHECK(kept->id == record.id);
    CHECK(kept->user == "nul\uFFFDand\uFFFD");
    CHECK(kept->command == "\uFFFD\uFFFD\uFFFD \xF0\x9F\x98\x80");
    CHECK(kept->root == record.root);
    CHECK(kept->fields.size() == 2);
    CHECK(ids(*store, {.user = record.user}) == std::vector{record.id});
    CHECK(ids(*store, {.user = kept->user, .root = record.root}) == std::vector{record.id});
    CHECK(ids(*store, {.user = "*"}).empty());
    REQUIRE(store->forget(record.id));
    CHECK(ids(*store, {}) == std::vector<std::string>{"job-2"});
  });
}

TEST_CASE("what is too large is cut or refused, and refusing changes nothing") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    auto record = full_record(1);
    record.command = std::string(10 * StoreLimits::text_bytes, 'x');
    record.text = record.command;
    for (int i = 0; i < 1000; ++i) record.fields["field" + std::to_string(i)] = "v";
    REQUIRE(store->put(record));
    CHECK(store->get("job-1").value()->command.size() == StoreLimits::text_bytes);
    CHECK(store->get("job-1").value()->fields.size() == StoreLimits::fields);

    Outcome long_run = full_outcome();
    long_run.progress.assign(50'000, {Seconds(1), 1, 1.0});
    long_run.progress.back().step = 7;
    REQUIRE(store->finish("job-1", long_run));
    const auto points = store->get("job-1").value()->outcome->progress;
    CHECK(points.size() == StoreLimits::progress_points);
    CHECK(points.back().step == 7);

    const auto before = store->version().value();
    record.id = std::string(2000, 'i');
    CHECK(store->put(record).error().code == ErrorCode::invalid);
    record.id = "";
    CHECK(store->put(record).error().code == ErrorCode::invalid);
    record = full_record(2);
    record.facts_json = std::string(StoreLimits::document_bytes + 1, ' ');
    CHECK(store->put(record).error().code == ErrorCode::invalid);
    CHECK(store->version().value() == before);
  });
}

TEST_CASE("two handles of one store see each other's changes") {
  on_every_store([](const std::string& spec) {
    if (spec == "memory") return;
    const auto one = open_or_fail(spec);
    const auto two = open_or_fail(spec);
    CHECK(one->identity() == two->identity());
    CHECK_FALSE(one->identity().empty());
    const auto before = two->version().value();
    REQUIRE(one->put(full_record(1)));
    CHECK(two->version().value() != before);
    CHECK(two->get("job-1").value().has_value());
    REQUIRE(two->finish("job-1", full_outcome()));
    CHECK(one->get("job-1").value()->outcome == full_outcome());
    REQUIRE(one->flush());
  });
}

TEST_CASE("several threads write and read at once, and nothing is lost") {
  on_every_store([](const std::string& spec) {
    const auto store = open_or_fail(spec);
    const auto other = spec == "memory" ? nullptr : open_or_fail(spec);
    std::vector<std::thread> threads;
    std::atomic<int> failures = 0;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Store& mine = t % 2 == 0 || !other ? *store : *other;
        for (int i = 0; i < 10; ++i) {
          auto record = full_record(100 * t + i);
          record.text = "shared " + std::to_string(i);
          if (!mine.put(record) || !mine.list({.user = "ada", .limit = 3})) ++failures;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(ids(*store, {}).size() == 40);
    CHECK(store->texts(0, 100)->size() == 10);
  });
}

TEST_CASE("a store is named by kind and place") {
  CHECK(open_store("sqlit:x").error().message.find("nearest: sqlite") != std::string::npos);
  CHECK(open_store("127.0.0.1:1").error().message.contains("write sqlite:PATH or redis:HOST:PORT"));
  CHECK(open_store("memory:x").error().code == ErrorCode::invalid);
  CHECK(open_store("sqlite").error().code == ErrorCode::invalid);
}

}  // namespace
}  // namespace schedmate::store
