// SPDX-License-Identifier: Apache-2.0

/// Submission to advice with a real store, index and embedder; only the reading of trees is made
/// up, so that a test can count how often it happens.

#include "advisor/advisor.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "advisor/calibration.hpp"
#include "core/facts_json.hpp"
#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

Facts resnet(std::int64_t epochs, std::string_view command) {
  Facts facts;
  facts.facts["model_name"].value = std::string("ResNet-50");
  facts.facts["dataset"].value = std::string("ImageNet-1k");
  facts.facts["task"].value = std::string("image classification");
  facts.facts["batch_size"].value = std::int64_t{64};
  facts.facts["distributed"].value = std::string("ddp");
  const std::string flag = "--epochs " + std::to_string(epochs);
  facts.facts["length"] = {Length{static_cast<double>(epochs), "epochs"},
                           1,
                           FactSource::command,
                           {{"<command>", 0, flag}}};
  if (!command.contains(flag)) facts.facts["length"].source = FactSource::code;
  facts.files_read = {"train.py"};
  return facts;
}

/// A cluster in a nutshell.
struct World {
  std::unique_ptr<Store> store = std::move(*open_store("memory"));
  Embedder embedder = *make_embedder("lexical");
  std::unique_ptr<TextIndex> index = std::move(*open_index(*store, embedder));
  Facts facts = resnet(10, "");
  std::string content = "v1";  ///< of train.py
  std::string head = "ref: refs/heads/main\n";
  int readings = 0;
  Role role = Role::owner;

  AdvisorParts parts(std::string_view estimate = "calibrated") {
    TreeAccess tree;
    tree.read = [this](const std::string&, std::span<const std::string> files) -> Result<Closure> {
      Closure closure{"hash of " + content, {}};
      for (const std::string& path : files) closure.files.push_back({path, 1, 2, 3, content});
      return closure;
    };
    tree.unchanged = [this](const std::string&, std::span<const FileStamp> files) {
      return std::ranges::all_of(files,
                                 [&](const FileStamp& file) { return file.hash == content; });
    };
    tree.text = [this](const std::string&, std::string_view path) -> std::optional<std::string> {
      if (path == ".git/HEAD") return head;
      if (path == ".git/packed-refs")
        return "# pack-refs\n" + std::string(40, 'a') + " refs/heads/main\n";
      return std::nullopt;
    };
    return {*store,
            *index,
            FlagRules::built_in(),
            **find_estimate(estimate),
            {},
            [this](const JobSource&) -> Result<Facts> {
              ++readings;
              return facts;
            },
            std::move(tree),
            role};
  }

  Advice submit(const std::string& id, const std::string& user, const std::string& command,
                std::int64_t hour = 0) {
    Submission submission;
    submission.id = id;
    submission.user = user;
    submission.job = {"/trees/" + user, ".", command, 4, 1, ""};
    submission.submit = at(3600 * hour);
    const auto advised = advise(submission, parts());
    REQUIRE(advised);
    REQUIRE(remember(*advised, parts()));
    return advised->advice;
  }

  void finish(const std::string& id, std::int64_t duration_s,
              EndState state = EndState::completed) const {
    Outcome outcome;
    outcome.state = state;
    outcome.duration = Seconds(duration_s);
    outcome.gpu_util_pct = 80;
    REQUIRE(store->finish(id, outcome));
  }
};

constexpr const char* command = "python train.py --epochs 10";

TEST_CASE("the first job of all gets facts and no figure") {
  World world;
  const Advice advice = world.submit("1", "ann", command);
  CHECK(advice.estimate.source == AdviceSource::none);
  CHECK(advice.similar.empty());
  CHECK(known_fact(advice.facts, "model_name") != nullptr);
  CHECK(advice.previous.empty());
}

TEST_CASE("a resubmission is answered from memory, without reading again") {
  World world;
  world.submit("1", "ann", command);
  world.finish("1", 1000);
  const Advice advice = world.submit("2", "ann", std::string(command) + " --seed 7", 1);
  CHECK(world.readings == 1);
  CHECK(advice.facts_remembered);
  CHECK(advice.estimate.source == AdviceSource::resubmission);
  CHECK(near(advice.estimate.p50.count(), 1000, 1e-12, 0));
  CHECK(advice.rule == "same_job: seed: 7 here, not given there");
  REQUIRE(advice.similar.size() == 1);
  CHECK(advice.similar[0].id == "1");
  CHECK(advice.estimate.gpu_util_pct == 80.0);
  CHECK(advice.changes.empty());
}

TEST_CASE("why the earlier submission failed is reported, and how often that was seen") {
  World world;
  world.submit("1", "ann", command);
  world.submit("9", "bob", "python other.py");
  Outcome failed;
  failed.state = EndState::failed;
  failed.duration = Seconds(100);
  failed.fingerprint = "f";
  failed.log_summary = R"({"diagnosis": {"class": "user_script", "reason": "a wrong shape"}})";
  REQUIRE(world.store->finish("1", failed));
  REQUIRE(world.store->finish("9", failed));
  const Advice advice = world.submit("2", "ann", command, 1);
  REQUIRE(advice.earlier_failure);
  CHECK(advice.earlier_failure->job_id == "1");
  CHECK(advice.earlier_failure->verdict == "user_script");
  CHECK(advice.earlier_failure->reason == "a wrong shape");
  CHECK(advice.earlier_failure->seen == 2);
  CHECK(advice_json(advice).contains("\"fingerprint\": \"f\""));
  world.finish("2", 1000);  // it was fixed
  CHECK_FALSE(world.submit("3", "ann", command, 2).earlier_failure);
}

TEST_CASE("a sweep of running submissions does not hide the one that has ended") {
  World world;
  world.submit("first", "ann", command);
  world.finish("first", 1000);
  for (int seed = 0; seed < 80; ++seed) {
    const std::string again = std::string(command) + " --seed " + std::to_string(seed);
    world.submit("running-" + std::to_string(seed), "ann", again, 1);
  }
  const Advice advice = world.submit("last", "ann", command, 2);
  CHECK(advice.estimate.source == AdviceSource::resubmission);
  REQUIRE(advice.similar.size() == 1);
  CHECK(advice.similar[0].id == "first");
}

TEST_CASE("twice the epochs: carried over, named, and twice as long") {
  World world;
  world.facts = resnet(10, command);
  world.submit("1", "ann", command);
  world.finish("1", 1000);
  const Advice advice = world.submit("2", "ann", "python train.py --epochs 20", 1);
  CHECK(world.readings == 1);
  CHECK(near(advice.estimate.p50.count(), 2000, 1e-12, 0));
  CHECK(advice.changes == std::vector<FactChange>{{"length", "10 epochs", "20 epochs"}});
  CHECK(known_fact(advice.facts, "length")->evidence.at(0).text == "--epochs 20");
}

TEST_CASE("what cannot be carried over is read again") {
  World world;
  world.submit("1", "ann", command);  // the length comes from code, whatever the flag says
  world.finish("1", 1000);
  world.submit("2", "ann", "python train.py --epochs 20", 1);
  CHECK(world.readings == 2);
  world.content = "v2";
  const Advice changed = world.submit("3", "ann", command, 2);
  CHECK(world.readings == 3);
  REQUIRE(changed.notes.size() == 1);
  CHECK(changed.notes[0] == "files changed since job 2 without a commit");
}

TEST_CASE("another user's like job is found by similarity, and not shown by name") {
  World world;
  world.submit("1", "ann", command);
  world.finish("1", 1000);
  const Advice advice = world.submit("2", "bob", command, 1);
  CHECK(advice.estimate.source == AdviceSource::similar);
  REQUIRE(advice.similar.size() == 1);
  CHECK(advice.similar[0].id.empty());
  CHECK(advice_json(advice).find("ann") == std::string::npos);
  world.role = Role::cluster_operator;
  CHECK(world.submit("3", "cid", command, 2).similar.at(0).id == "1");
}

TEST_CASE("a job of another size is not similar") {
  World world;
  world.submit("1", "ann", command);
  world.finish("1", 1000);
  world.facts.facts["model_name"].value = std::string("ResNet-101");
  const Advice advice = world.submit("2", "bob", command, 1);
  CHECK(advice.estimate.source == AdviceSource::none);
}

TEST_CASE("jobs that have not ended teach nothing") {
  World world;
  world.submit("1", "ann", command);
  CHECK(world.submit("2", "ann", command, 1).estimate.source == AdviceSource::none);
  world.finish("1", 500, EndState::unknown);
  CHECK(world.submit("3", "ann", command, 2).estimate.source == AdviceSource::none);
}

TEST_CASE("advice meets its outcome in the calibration") {
  World world;
  for (int i = 0; i < 30; ++i) {
    const std::string id = std::to_string(i);
    world.submit(id, i % 2 == 0 ? "ann" : "bob", command, i);
    world.finish(id, 1000 + i);
  }
  const auto rows = calibrate(*world.store);
  REQUIRE(rows);
  REQUIRE(rows->size() == 3);
  CHECK((*rows)[0].who.empty());
  CHECK((*rows)[0].jobs == 29);  // the first one had no advice
  CHECK((*rows)[0].inside_share > 0.9);
  CHECK((*rows)[0].within_100_share == 1);
  CHECK(near((*rows)[0].bias, 1, 0.05, 0));
}

TEST_CASE("the JSON of an advice has its schema, its figures and its facts") {
  World world;
  world.submit("1", "ann", command);
  const std::string unknown = advice_json(world.submit("2", "ann", command, 1));
  CHECK(unknown.find("\"schema\": \"schedmate.advice.v1\"") != std::string::npos);
  CHECK(unknown.find("\"duration_s\": null") != std::string::npos);
  world.finish("1", 1000);
  const std::string known = advice_json(world.submit("3", "ann", command, 2));
  CHECK(known.find("\"p50\": 1000.0") != std::string::npos);
  CHECK(known.find("schedmate.facts.v1") != std::string::npos);
}

TEST_CASE("the JSON of an advice has no digits that nobody knows") {
  Advice advice;
  advice.answer.source = AdviceSource::similar;
  advice.answer.p50 = FractionalSeconds(12345.678);
  advice.answer.runs_by_state[EndState::completed] = 3;
  advice.answer.early_end = 1.0 / 3;
  advice.estimate.gpu_util_pct = 200.0 / 3;
  const std::string text = advice_json(advice);
  CHECK(text.find("\"p50\": 12350.0,") != std::string::npos);
  CHECK(text.find("\"early_end\": 0.333,") != std::string::npos);
  CHECK(text.find("\"gpu_util_pct\": 66.7,") != std::string::npos);
}

TEST_CASE("the commit is read from files of git, and odd files give none") {
  World world;
  const auto commit = [&](std::string head) {
    world.head = std::move(head);
    return git_commit(world.parts().tree, "/x");
  };
  CHECK(commit("ref: refs/heads/main\n") == std::string(40, 'a'));
  CHECK(commit(std::string(40, 'b') + "\n") == std::string(40, 'b'));
  CHECK(commit("ref: refs/../../etc/passwd").empty());
  CHECK(commit("ref: /etc/passwd").empty());
  CHECK(commit("").empty());
  CHECK(commit(std::string(40, 'z')).empty());
}

TEST_CASE("a damaged closure in the cache is as good as none") {
  World world;
  const Closure closure{"h", {{"a.py", 1, 2, 3, "x"}}};
  REQUIRE(keep_closure(*world.store, "/r", closure));
  const auto back = find_closure(*world.store, "/r", "h");
  REQUIRE(back);
  REQUIRE(*back);
  CHECK((*back)->files == closure.files);
  REQUIRE(world.store->cache({"closure", "h\n/r", "/r", "[[1,2]]"}, 1 << 20));
  CHECK(!*find_closure(*world.store, "/r", "h"));
  CHECK(!*find_closure(*world.store, "/other", "h"));
}

}  // namespace
}  // namespace schedmate::advisor
