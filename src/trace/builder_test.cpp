// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.hpp"

#include <doctest/doctest.h>

#include "trace/values.hpp"

namespace schedmate::trace {
namespace {

Draft job(std::string_view id, std::int64_t submit_s) {
  Draft draft;
  draft.id = id;
  draft.user = "ann";
  draft.vc = "vc";
  draft.gpus = 1;
  draft.submit_s = submit_s;
  return draft;
}

std::string ids(const Trace& trace) {
  std::string text;
  for (const Job& each : trace.jobs) text += std::string(each.id) + " ";
  return text;
}

}  // namespace

TEST_CASE("jobs are sorted by submission and keep the file order within a second") {
  const ReadOptions options{.columns = {"x"}};
  TraceBuilder builder("t", options);
  const std::vector<std::pair<const char*, int>> rows = {{"a", 5}, {"b", 3}, {"c", 5}, {"d", 3}};
  double x = 0;
  for (const auto& [id, submit_s] : rows) {
    Draft draft = job(id, submit_s);
    const std::vector<double> extra = {++x};
    draft.extra = extra;
    builder.add(draft, {});
  }
  const Trace trace = std::move(builder).finish().value();
  CHECK(ids(trace) == "b d a c ");
  CHECK(trace.columns.at("x") == std::vector<double>{2, 4, 1, 3});
  CHECK(trace.report.out_of_order == 2);
}

TEST_CASE("the first of two jobs with one id stays") {
  const ReadOptions options;
  TraceBuilder builder("t", options);
  builder.add(job("a", 1), {.line = 2, .column = {3}});
  builder.add(job("a", 2), {.line = 3, .column = {3}});
  const Trace trace = std::move(builder).finish().value();
  CHECK(trace.jobs.size() == 1);
  CHECK(trace.report.dropped.at("duplicate job id") == 1);
  CHECK(trace.report.messages == std::vector<std::string>{"t:3:3: duplicate job id"});
}

TEST_CASE("ids stay unique and readable through many of them") {
  const ReadOptions options;
  TraceBuilder builder("t", options);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20'000; ++i) builder.add(job("job" + std::to_string(i), i), {});
  }
  const Trace trace = std::move(builder).finish().value();
  REQUIRE(trace.jobs.size() == 20'000);
  CHECK(trace.jobs[12'345].id == "job12345");
  CHECK(trace.report.dropped.at("duplicate job id") == 20'000);
}

TEST_CASE("values that nobody can mean are rejected with the column of the part") {
  const ReadOptions options;
  TraceBuilder builder("t", options);
  Draft draft = job("a", 0);
  draft.duration_s = longest_run_s + 1;
  builder.add(draft, {7, {1, 2, 3, 4}});
  draft = job("b", latest_submit_s + 1);
  builder.add(draft, {8, {1, 2, 3, 4}});
  draft = job("c", 0);
  draft.gpus = -1;
  builder.add(draft, {9, {1, 2, 3, 4}});
  builder.add(job("", 0), {10, {1, 2, 3, 4}});
  builder.add(job("d\n", 0), {11, {1, 2, 3, 4}});
  builder.add(job(std::string(2000, 'x'), 0), {12, {}});
  builder.add(job("fine", 0), {});
  const Trace trace = std::move(builder).finish().value();
  CHECK(ids(trace) == "fine ");
  CHECK(trace.report.rows == 7);
  CHECK(trace.report.messages ==
        std::vector<std::string>{"t:7:4: duration above 10 years",
                                 "t:8:3: submission more than 250 years from the clock's zero",
                                 "t:9:2: negative number of GPUs", "t:10:1: job id is empty",
                                 "t:11:1: control characters in job id, user or VC",
                                 "t:12: job id, user or VC is longer than 1,024 characters"});
}

TEST_CASE("the limits themselves are allowed") {
  const ReadOptions options;
  TraceBuilder builder("t", options);
  Draft draft = job("a", -latest_submit_s);
  draft.duration_s = longest_run_s;
  draft.gpus = most_gpus;
  builder.add(draft, {});
  CHECK(std::move(builder).finish());
}

TEST_CASE("messages stop at twenty while the count goes on") {
  const ReadOptions options;
  TraceBuilder builder("t", options);
  for (std::uint64_t line = 1; line <= 50; ++line) builder.reject("broken", line, 0);
  builder.add(job("a", 1), {});
  const Trace trace = std::move(builder).finish().value();
  CHECK(trace.report.messages.size() == 20);
  CHECK(trace.report.dropped.at("broken") == 50);
  CHECK(trace.report.rows == 51);
  CHECK(trace.report.kept == 1);
}

TEST_CASE("strict ends at the first bad row but not at a CPU job") {
  const ReadOptions options{.strict = true, .columns = {}};
  TraceBuilder builder("t", options);
  Draft cpu = job("a", 1);
  cpu.gpus = 0;
  builder.add(cpu, {});
  CHECK(!builder.stopped());
  builder.add(job("b", 1), {});
  builder.reject("broken", 4, 2);
  CHECK(builder.stopped());
  CHECK(std::move(builder).finish().error().message == "t:4:2: broken");
}

TEST_CASE("a trace without a job says what became of its rows") {
  const ReadOptions options;
  TraceBuilder builder("t", options);
  builder.skip("job step");
  builder.reject("broken", 4, 2);
  CHECK(std::move(builder).finish().error().message ==
        "t: no GPU job in 2 rows; broken: 1; job step: 1 (first: t:4:2: broken)");
}

}  // namespace schedmate::trace
