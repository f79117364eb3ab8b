// SPDX-License-Identifier: Apache-2.0
#include "log/ask/ask.hpp"

#include <doctest/doctest.h>

namespace schedmate::ask {
namespace {

LogIndex index_of(const std::vector<std::string>& lines) {
  LogIndex index;
  for (const auto& text : lines) {
    const IndexedLine line{++index.lines, text};
    index.distinct_lines.push_back({index.lines, 1, line, line});
  }
  return index;
}

/// A short run: configuration, progress, a checkpoint, an end.
const LogIndex& run() {
  static const LogIndex index =
      index_of({"config: batch_size=32, learning_rate=3e-4", "Loading checkpoint shards 1/2",
                "step 900/1000 loss 2.31 max_mem: 20311 MiB", "Saved checkpoint to out/step900.pt",
                "RuntimeError: NCCL error: remote process exited"});
  return index;
}

LogKnowledge knowledge() {
  return {run(),
          [] {
            Progress progress;
            progress.step = 900;
            progress.total_steps = 1000;
            progress.loss = 2.31;
            progress.step_time_s = 0.5;
            progress.remaining_s = 50;
            progress.by = "dt: of one step";
            progress.throughput = Throughput{640, "samples/s"};
            progress.evidence = {"step 900/1000 loss 2.31"};
            return std::optional(progress);
          },
          [] {
            Diagnosis diagnosis;
            diagnosis.verdict = FailureClass::other;
            diagnosis.reason = "a peer is gone";
            diagnosis.evidence = {{"a.log", 5, "NCCL error", LineRole::cause}};
            return std::optional(diagnosis);
          }};
}

LogAnswer asked(std::string_view question) {
  const auto answers = answer(question, knowledge());
  REQUIRE(answers.size() == 1);
  return answers[0];
}

TEST_CASE("speed, progress and loss are answered with the line they stand on") {
  CHECK(asked("How fast is it?").text == "0.5 s a step (dt: of one step), 640 samples/s");
  CHECK(asked("how far is it").text == "step 900 of 1000, 50 s left");
  CHECK(asked("what is the loss?").text == "loss 2.31 at step 900");
  const auto lines = asked("how fast is it?").lines;
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].number == 3);
}

TEST_CASE("why it stopped is the diagnosis, with its line") {
  const auto why = asked("Why did it stop?");
  CHECK(why.text == "other: a peer is gone");
  REQUIRE(why.lines.size() == 1);
  CHECK(why.lines[0].number == 5);
}

TEST_CASE("a checkpoint that is loaded is none that was saved") {
  const auto saved = asked("did it save a checkpoint?");
  REQUIRE(saved.lines.size() == 1);
  CHECK(saved.lines[0].number == 4);
  LogIndex none = index_of({"Loading checkpoint shards 1/2"});
  const auto answers = answer(
      "was a checkpoint saved?",
      {none, [] { return std::optional<Progress>(); }, [] { return std::optional<Diagnosis>(); }});
  CHECK(answers[0].text == "no line says that a checkpoint was saved");
}

TEST_CASE("settings and memory are found by their words") {
  CHECK(asked("what batch size does it use?").lines.at(0).number == 1);
  CHECK(asked("how much memory does it take?").lines.at(0).number == 3);
}

TEST_CASE("any other question gets the lines that fit its words, or the answer that none does") {
  CHECK(asked("shards").lines.at(0).number == 2);
  CHECK(asked("shards").by == "words");
  CHECK(asked("kangaroo").text.starts_with("not a question for this log"));
  CHECK_FALSE(asked("kangaroo").answered);
}

TEST_CASE("several questions get an answer each") {
  const auto answers = answer("how fast is it? did it save? why did it stop?", knowledge());
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].by == "speed");
  CHECK(answers[1].by == "checkpoint");
  CHECK(answers[2].by == "failure");
  CHECK(answer("???", knowledge()).empty());
}

TEST_CASE("rare words weigh more than frequent ones") {
  const LogIndex index = index_of({"loss 1", "loss 2", "loss 3", "loss scale overflow", "lr 1"});
  CHECK(best_lines("loss overflow", index, 1).at(0).number == 4);
  CHECK(best_lines("loss", index, 2).size() == 2);
  CHECK(best_lines("", index, 2).empty());
}

}  // namespace
}  // namespace schedmate::ask
