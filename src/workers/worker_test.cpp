// SPDX-License-Identifier: Apache-2.0
#include "workers/worker.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "settings/clock.hpp"
#include "tests/support/forwarding_queue.hpp"
#include "tests/support/patience.hpp"
#include "workers/request.hpp"

namespace schedmate::workers {
namespace {

using std::chrono_literals::operator""ms;

QueueOptions options_of_queue(std::chrono::milliseconds lease = 10'000ms) {
  QueueOptions made;
  made.clock = settings::machine_clock();
  made.lease = lease;
  return made;
}

WorkerOptions options_of_worker(std::chrono::milliseconds lease = 10'000ms) {
  WorkerOptions made;
  made.name = "w";
  made.lease = lease;
  made.clock = settings::machine_clock();
  made.until_empty = true;
  made.wish = [] { return Wish::go_on; };
  made.report = [](const std::string&) {};
  return made;
}

void put(Queue& queue, const std::string& id) {
  reader::Request request{.what = reader::What::diagnose, .user = "ann"};
  request.logs = {"/x/" + id};
  REQUIRE(queue.put(operation_of(request, id, "").value()));
}

Result<Document> name_of_log(const reader::Request& request) {
  return Document{{"log", request.logs.front()}};
}

TEST_CASE("a worker answers what waits, several at a time, and says how many") {
  const auto queue = open_queue("memory", options_of_queue()).value();
  for (int i = 0; i < 20; ++i) put(*queue, std::to_string(i));
  auto options = options_of_worker();
  options.threads = 4;
  const Done done = run_worker(*queue, name_of_log, options).value();
  CHECK(done.kept == 20);
  for (int i = 0; i < 20; ++i) {
    const auto id = std::to_string(i);
    CHECK(result_of(queue->look(id)->result).value() == Document{{"log", "/x/" + id}});
  }
  CHECK(queue->figures().value()["workers"] == 0);
}

TEST_CASE("an error is a result; what may pass is tried again; what throws ends nothing") {
  const auto queue = open_queue("memory", options_of_queue(20ms)).value();
  for (const char* const id : {"wrong", "later", "throws", "well"}) put(*queue, id);
  const Deed deed = [](const reader::Request& request) -> Result<Document> {
    if (request.logs.front() == "/x/wrong") return fail(ErrorCode::not_found, "no such file");
    if (request.logs.front() == "/x/later") return fail(ErrorCode::unavailable, "no reader");
    if (request.logs.front() == "/x/throws") throw std::runtime_error("of a library");
    return name_of_log(request);
  };
  std::int64_t given_up = 0;
  for (int i = 0; i < 100 && queue->look("later")->state != State::dead; ++i) {
    given_up += run_worker(*queue, deed, options_of_worker(20ms))->given_up;
    settings::machine_clock().sleep(25ms);
  }
  CHECK(given_up == 3);
  CHECK(result_of(queue->look("later")->result).error().message == "no reader");
  CHECK(result_of(queue->look("wrong")->result).error().code == ErrorCode::not_found);
  CHECK(queue->look("wrong")->deliveries == 1);
  CHECK(result_of(queue->look("throws")->result).error().message.contains("of a library"));
  CHECK(result_of(queue->look("well")->result));
}

TEST_CASE("what nobody can read is answered with an error, whoever has put it") {
  const auto queue = open_queue("memory", options_of_queue()).value();
  REQUIRE(queue->put({"nonsense", Priority::usual, "\xff{"}));
  REQUIRE(
      queue->put({"tail", Priority::usual, R"({"id":1,"user":"ann","what":"tail","log":"/x"})"}));
  CHECK(run_worker(*queue, name_of_log, options_of_worker())->kept == 2);
  CHECK(result_of(queue->look("nonsense")->result).error().code == ErrorCode::invalid);
  CHECK(result_of(queue->look("tail")->result).error().code == ErrorCode::unsupported);
}

/// Counts how often claims were kept.
class CountedKeeps : public testing::ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;
  Result<std::vector<bool>> keep(const std::string& worker,
                                 std::span<const Claim> claims) override {
    auto kept = ForwardingQueue::keep(worker, claims);
    ++count;
    return kept;
  }
  std::atomic<int> count{0};
};

TEST_CASE("a long request is kept alive, a hung one is not") {
  for (const bool hangs : {false, true}) {
    CAPTURE(hangs);
    std::atomic<std::chrono::milliseconds> now{};
    auto of_queue = options_of_queue(200ms);
    of_queue.clock.now = [&now] { return std::chrono::nanoseconds(now.load()); };
    const auto queue = open_queue("memory", of_queue).value();
    CountedKeeps keeps(*queue);
    put(*queue, "a");
    auto options = options_of_worker(200ms);
    if (hangs) options.most_time = std::chrono::seconds(0);
    std::optional<Claim> other;
    const Deed deed = [&](const reader::Request& request) {
      for (int i = 0; i < 6 && !other; ++i) {
        const int kept = keeps.count;
        CHECK((hangs || testing::soon([&] { return keeps.count > kept; })));
        now = now.load() + 100ms;
        if (auto claim = queue->claim("other").value()) other = claim;
      }
      return name_of_log(request);
    };
    CHECK(run_worker(keeps, deed, options)->kept == 1);  // also where another has it by then
    CHECK(other.has_value() == hangs);
    if (other) CHECK_FALSE(queue->finish("other", *other, "{}").value());
  }
}

TEST_CASE("told to drain, a worker ends what it has begun and begins nothing") {
  const auto queue = open_queue("memory", options_of_queue()).value();
  put(*queue, "a");
  put(*queue, "b");
  std::atomic<bool> drain{false};
  auto options = options_of_worker();
  options.until_empty = false;
  options.wish = [&] { return drain ? Wish::drain : Wish::go_on; };
  const Deed deed = [&](const reader::Request& request) {
    drain = true;
    options.clock.sleep(200ms);
    return name_of_log(request);
  };
  CHECK(run_worker(*queue, deed, options)->kept == 1);
  CHECK(queue->look("a")->state == State::done);
  CHECK(queue->look("b")->state == State::waiting);
}

/// A queue whose server is away for some calls of finish().
class Shaky final : public testing::ForwardingQueue {
 public:
  Shaky(Queue& queue, int fails) : ForwardingQueue(queue), fails_(fails) {}
  Result<bool> finish(const std::string& w, const Claim& claim, const std::string& text) override {
    if (--fails_ >= 0) return fail(ErrorCode::unavailable, "the server is away");
    return ForwardingQueue::finish(w, claim, text);
  }

 private:
  std::atomic<int> fails_;
};

TEST_CASE("a result waits for a server that is away, unless the worker is told to leave") {
  const auto queue = open_queue("memory", options_of_queue()).value();
  put(*queue, "a");
  Shaky twice(*queue, 3);
  int reports = 0;
  auto options = options_of_worker();
  options.report = [&](const std::string&) { ++reports; };
  CHECK(run_worker(twice, name_of_log, options)->kept == 1);
  CHECK(reports == 1);
  put(*queue, "b");
  Shaky ever(*queue, 1'000'000);
  options.until_empty = false;
  std::atomic<bool> begun{false};
  options.wish = [&] { return begun ? Wish::leave : Wish::go_on; };
  const Deed deed = [&](const reader::Request& request) {
    begun = true;
    return name_of_log(request);
  };
  CHECK(run_worker(ever, deed, options).error().code == ErrorCode::timeout);
  CHECK(queue->look("b")->state == State::running);  // and is delivered again after the lease
}

TEST_CASE("told to leave, a worker does not wait for a request that hangs") {
  const auto queue = open_queue("memory", options_of_queue()).value();
  put(*queue, "a");
  std::atomic<bool> begun{false}, abandoned{false};
  auto options = options_of_worker();
  options.until_empty = false;
  options.wish = [&] { return begun ? Wish::leave : Wish::go_on; };
  int times = 0;
  options.abandon = [&](const Error& error) {  // a program ends here
    CHECK(error.code == ErrorCode::timeout);
    CHECK(queue->look("a")->state == State::running);
    ++times;
    abandoned = true;
  };
  const Deed deed = [&](const reader::Request& request) {
    begun = true;
    for (int i = 0; i < 1000 && !abandoned; ++i) options.clock.sleep(10ms);
    options.clock.sleep(200ms);
    return name_of_log(request);
  };
  CHECK(run_worker(*queue, deed, options)->kept == 1);
  CHECK(abandoned);
  CHECK(times == 1);
}

/// Gives one request, and is away then.
class OnceOnly final : public testing::ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;
  Result<std::optional<Claim>> claim(const std::string& worker) override {
    if (given_.exchange(true)) return fail(ErrorCode::unavailable, "no server");
    return ForwardingQueue::claim(worker);
  }

 private:
  std::atomic<bool> given_ = false;
};

TEST_CASE("a worker that abandons its requests interrupts nobody who reports") {
  const auto memory = open_queue("memory", options_of_queue()).value();
  OnceOnly queue(*memory);
  put(queue, "a");
  std::atomic<bool> begun{false}, reports{false}, abandoned{false}, interrupted{false};
  auto options = options_of_worker();
  options.threads = 2;
  options.wish = [&] { return begun && reports ? Wish::leave : Wish::go_on; };
  options.report = [&](const std::string&) {
    reports = true;
    for (int i = 0; i < 300 && !abandoned; ++i) options.clock.sleep(10ms);
    interrupted = interrupted || abandoned;
  };
  options.abandon = [&](const Error&) { abandoned = true; };
  const Deed deed = [&](const reader::Request& request) {
    begun = true;
    for (int i = 0; i < 1000 && !abandoned; ++i) options.clock.sleep(10ms);
    return name_of_log(request);
  };
  static_cast<void>(run_worker(queue, deed, options));
  CHECK(abandoned);
  CHECK_FALSE(interrupted);
}

TEST_CASE("told to leave between two requests, a worker ends as always") {
  const auto queue = open_queue("memory", options_of_queue()).value();
  auto options = options_of_worker();
  options.until_empty = false;
  options.wish = [] { return Wish::leave; };
  options.abandon = [](const Error& /*error*/) { FAIL("nothing was being done"); };
  CHECK(run_worker(*queue, name_of_log, options)->kept == 0);
}

TEST_CASE("requests come back as they were put, and get a name of their own") {
  reader::Request request{.what = reader::What::advise, .user = "ann"};
  request.dir = "/shared/net";
  request.command = "python train.py";
  request.gpus = 8;
  const Operation made = operation_of(request, "", "salt").value();
  CHECK(made.priority == Priority::usual);
  CHECK(made.id.size() == 20);
  CHECK(made.id == operation_of(request, "", "salt")->id);
  CHECK(made.id != operation_of(request, "", "other")->id);
  CHECK(request_of(made.request).value() == request);
  request.what = reader::What::track;
  CHECK(operation_of(request, "", "").error().code == ErrorCode::unsupported);
  request.what = reader::What::advise;
  request.dir = "net";  // where that is only this machine knows
  CHECK(operation_of(request, "", "").error().code == ErrorCode::invalid);
  CHECK(result_of("").error().code == ErrorCode::bad_reply);
  CHECK(result_of("}").error().code == ErrorCode::bad_reply);
  CHECK(result_of(R"({"result":1})").error().code == ErrorCode::bad_reply);
}

}  // namespace
}  // namespace schedmate::workers
