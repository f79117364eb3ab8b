// SPDX-License-Identifier: Apache-2.0

/// What a daemon says may be anything: each answer of tests/golden/input/answers.json, with each of
/// its values replaced by others, is shown without a fault, in 80 columns, without controls.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "screen/eta_text.hpp"
#include "screen/live_jobs_text.hpp"
#include "screen/live_site_text.hpp"

namespace schedmate::screen {
namespace {

ScreenStyle eighty() {
  return {80, [](std::int64_t unix_s) { return std::to_string(unix_s) + " UTC"; }};
}

std::vector<std::string> all_texts(const Document& document) {
  const ScreenStyle style = eighty();
  const std::vector<Document> list{document, document};
  const Document change{{"id", 1}, {"kind", "job"}, {"data", document}};
  return {live_jobs_text(list, 1'764'126'000, style, 1),
          live_job_text(document, 1'764'126'000, style),
          live_job_text(document, std::nullopt, style),
          live_eta_text(document, 1'764'126'000, style),
          live_why_text(document, 1'764'126'000, style),
          live_progress_text(document),
          live_diagnosis_text(document, style),
          live_advice_text(document),
          live_cluster_text(document, style, true),
          live_cluster_text(document, style, false),
          actions_text(list, style, 0),
          action_text(document, style),
          audit_entries_text(document, style),
          ledger_text(document, style),
          change_text(change, style),
          change_text(document, style)};
}

/// Marks of styled() are the two bytes that for_terminal() takes out.
void check_texts(const Document& document) {
  for (const std::string& text : all_texts(document)) {
    const std::string shown = for_terminal(text, false);
    CHECK(std::ranges::count(shown, '?') >= std::ranges::count(text, '?'));
    CHECK_FALSE(shown.contains('\x1b'));
  }
}

/// Each value of the document in turn, replaced.
void with_each_replaced(Document& whole, Document& part, const Document& other, int& budget) {
  if (budget-- <= 0) return;
  if (part.is_structured())
    for (Document& below : part) with_each_replaced(whole, below, other, budget);
  const Document kept = part;
  part = other;
  check_texts(whole);
  part = kept;
}

Document answers() {
  std::ifstream file(SCHEDMATE_SOURCE_DIR "/tests/golden/input/answers.json");
  return Document::parse(file);
}

TEST_CASE("documents that say anything are shown") {
  const Document all = answers();
  for (const auto& [call, recorded] : all.items()) {
    CAPTURE(call);
    for (const Document& other :
         {Document(nullptr), Document("\x1b[2J\n\xff"), Document(-1), Document(1e300),
          Document(9'223'372'036'854'775'807), Document::array({1}), Document::object()}) {
      Document document = recorded;
      int budget = 120;
      with_each_replaced(document, document, other, budget);
    }
  }
}

TEST_CASE("a job that waits for people is not said to start") {
  Document job = answers()["GET /api/v1/jobs"]["jobs"].at(1);
  REQUIRE(job["state"] == "pending");
  REQUIRE(live_eta_text(job, 1'764'126'000, eighty()).contains("starts"));
  for (const auto& [by, words] :
       {std::pair{"approval", "waits for approval"}, std::pair{"mode", "nobody starts jobs"}}) {
    job["held_up_by"] = by;
    for (const std::string& text : {live_jobs_text({job}, 1'764'126'000, eighty(), 0),
                                    live_job_text(job, 1'764'126'000, eighty()),
                                    live_eta_text(job, 1'764'126'000, eighty())}) {
      CHECK(text.contains(words));
      CHECK_FALSE(text.contains("starts in"));
      CHECK_FALSE(text.contains("starts now"));
    }
  }
}

TEST_CASE("a quantile that is not known is neither now nor never") {
  constexpr std::int64_t now_s = 1'764'126'000;
  Document job = answers()["GET /api/v1/jobs"]["jobs"].at(1);
  const auto texts_with = [&](const Document& p10, const Document& p50, const Document& p90) {
    job["eta"]["start_s"] = {{"p10", p10}, {"p50", p50}, {"p90", p90}};
    return std::pair(live_jobs_text({job}, now_s, eighty(), 0),
                     live_eta_text(job, now_s, eighty()));
  };
  for (const Document& low : {Document(nullptr), Document(now_s)}) {
    const auto [list, eta] = texts_with(low, nullptr, nullptr);
    CHECK_FALSE(list.contains("starts"));
    CHECK(eta.contains("  starts     not known\n"));
  }
  CHECK(texts_with(now_s + 7200, nullptr, nullptr).second.contains("starts     in 2 h or later\n"));
  CHECK(texts_with(now_s, now_s + 7200, nullptr).second.contains("in 2 h (now to later)\n"));
}

TEST_CASE("what few samples see within the horizon is not said never to come") {
  const SimTime now = at(1000), later = at(1000 + 7200);
  CHECK(span_text({never, never, never, never, never}, now) == "never");
  CHECK(span_text({later, later, never, never, never}, now) == "2 h or later");
  CHECK(span_text({now, now, later, never, never}, now) == "2 h (0 s to later)");
}

TEST_CASE("a job whose log was not read says how its script ended") {
  Document job{{"id", "7"}, {"state", "failed"}, {"exit_code", 3}, {"exit_signal", 0}};
  const auto text = [&] { return live_job_text(job, std::nullopt, eighty()); };
  CHECK(text().contains("code 3"));
  job["exit_signal"] = 9;
  CHECK(text().contains("signal 9"));
  job["exit_code"] = job["exit_signal"] = nullptr;
  CHECK_FALSE(text().contains("exit"));
}

TEST_CASE("the cluster says what an order would change, where one is wished for") {
  Document cluster = answers()["GET /api/v1/cluster"];
  CHECK_FALSE(live_cluster_text(cluster, eighty(), false).contains("ordered"));
  const auto figures = [](double mean, double p10, double p90) {
    return Document{{"mean", mean}, {"p10", p10}, {"p90", p90}};
  };
  cluster["order_effect"] = {
      {"waiting", 300},
      {"wait_s", {{"now", figures(7200, 1, 2)}, {"would_be", figures(3600, 1, 2)}}},
      {"change_pct", figures(-50, -61, 2)}};
  CHECK(live_cluster_text(cluster, eighty(), false)
            .contains("ordered, 300 jobs start after 1 h, not 2 h (-50 %; 80 %: -61 to +2)"));
  for (const Document& other :
       {Document(nullptr), Document(1e300), Document("x\n"), Document(-1)}) {
    Document document = cluster;
    int budget = 120;
    with_each_replaced(document, document["order_effect"], other, budget);
  }
}

TEST_CASE("actions that nobody decided on in time are told for a day, unless planned anew") {
  constexpr std::int64_t now_s = 1'764'126'000;
  const auto action = [](std::int64_t id, const char* node, const char* state, std::int64_t when_s,
                         const char* kind = "drain_node") {
    return Document{{"id", id},
                    {"kind", kind},
                    {"state", state},
                    {"mode", "approve"},
                    {"target", {fmt::format("node {}", node)}},
                    {"why", {"4 ECC failures"}},
                    {"call", {{"nodes", {{{"node", node}}}}}},
                    {"steps", {{{"when_s", when_s}}}}};
  };
  const auto text = [&](const std::vector<Document>& actions) {
    return undecided_text(Document{{"actions", actions}}, {{"now_s", now_s}}, eighty());
  };
  CHECK(text({}).empty());
  CHECK(undecided_text(fail(ErrorCode::timeout, "no answer\n"), {{"now_s", now_s}}, eighty()) ==
        "\nactions: not known: no answer?\n");
  const Document expired = action(4, "n3", "expired", now_s - 3600);
  CHECK(text({expired}).contains("1 action that nobody decided on in time"));
  CHECK(text({expired}).contains("4 ECC failures"));
  CHECK(text({expired, action(3, "n3", "expired", now_s - 7200)}).contains("1 action that"));
  CHECK(text({expired, action(3, "n4", "expired", now_s - 7200)}).contains("2 actions that"));
  CHECK(text({action(5, "n3", "waiting", now_s), expired}).empty());
  CHECK(text({action(4, "n3", "expired", now_s - 90'000)}).empty());
  CHECK(text({action(4, "n3", "verified", now_s)}).empty());
  CHECK(text({action(4, "n3", "expired", now_s, "set_order")}).empty());
  for (const char* const key : {"id", "kind", "state", "target", "why", "call", "steps"}) {
    Document other = expired;
    other[key] = 1e300;
    CHECK_NOTHROW(text({other, expired}));
    other.erase(key);
    CHECK_NOTHROW(text({other, expired}));
  }
}

TEST_CASE("what is shown of jobs fits into 80 columns") {
  const Document all = answers();
  std::vector<Document> jobs = all["GET /api/v1/jobs"]["jobs"];
  for (Document& job : jobs) {
    job["id"] = std::string(300, '7');
    job["user"] = std::string(300, 'u');
    job["verdict"] = std::string(3000, 'v');
  }
  const std::string text = live_jobs_text(jobs, 1'764'126'000, eighty(), 0);
  for (const std::string_view line : split(text, '\n')) CHECK(width_of_cell(line) <= 80);
}

}  // namespace
}  // namespace schedmate::screen
