// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <schedmate/diagnosis.hpp>
#include <schedmate/progress.hpp>
#include <set>

#include "base/output.hpp"
#include "base/words.hpp"
#include "log/ask/ask.hpp"
#include "secrets/redact.hpp"
#include "tests/hostile_logs/cases.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::hostile_logs {
namespace {

constexpr double patience_s = testing::sanitized ? 60 : 5;  ///< for one reading
constexpr long most_mb = testing::sanitized ? 4000 : 700;

constexpr std::array kinds = {forged_cases, instruction_cases, node_cases, terminal_cases,
                              flood_cases,  encoding_cases,    bomb_cases};

bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

/// No control character, C1 control, or mark that turns the direction of writing.
bool safe_on_a_terminal(const std::string& text) {
  if (!is_utf8(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t') || c == 0x7f) return false;
    if (c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0)
      return false;
    if (text.compare(i, 3, "\xe2\x80\xae") == 0 || text.compare(i, 3, "\xe2\x80\xa8") == 0)
      return false;
  }
  return true;
}

void check_texts(const nlohmann::json& node) {
  if (node.is_string()) CHECK(safe_on_a_terminal(node.get<std::string>()));
  if (node.is_structured())
    for (const auto& each : node) check_texts(each);
}

/// Processor time, so that a busy machine fails nobody.
class Watch {
 public:
  explicit Watch(const char* what) : what_(what) {}
  ~Watch() {
    INFO(what_);
    CHECK(static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC < patience_s);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::string what_;
  std::clock_t begin_ = std::clock();
};

void check_verdict(const Diagnosis& made, bool with_job) {
  CHECK(made.recommendation != Recommendation::restart_elsewhere);
  CHECK(made.nodes.empty());  // nobody agrees: the job's state is not one of a failure
  if (made.verdict == FailureClass::infrastructure) {
    REQUIRE_FALSE(made.witnesses.empty());
    bool one_missing = false;
    for (const Witness& each : made.witnesses) {
      CHECK_FALSE(each.agrees.value_or(false));
      one_missing = one_missing || !each.agrees;
    }
    CHECK(one_missing);
  }
  if (with_job) CHECK_FALSE(made.witnesses.empty());
  const auto document = nlohmann::json::parse(diagnosis_json(made), nullptr, false);
  REQUIRE_FALSE(document.is_discarded());
  check_texts(document);
}

void check_diagnosis(const std::string& path) {
  JobContext job;
  job.job_id = "17";
  job.state = "FAILED";
  job.nodes = {own_node};
  job.ranks = {{0, own_node}};
  bool turn = false;
  for (const SeamRow& locator : locator_names()) {
    turn = !turn;
    for (const bool with_job : {false, true}) {
      if (testing::sanitized && with_job != turn) continue;  // each locator in one way there
      CAPTURE(locator.name);
      const Watch watch("diagnose");
      DiagnoseInput input;
      input.paths = {path};
      input.locator = std::string(locator.name);
      input.clean = [](std::string_view text) { return printable(secrets::redact(text)); };
      if (with_job) input.job = job;
      const auto made = diagnose(input);
      if (!made) {  // refused, with a word on the file
        CHECK(made.error().message.contains(path));
        continue;
      }
      check_verdict(*made, with_job);
    }
  }
}

void check_progress(const std::string& path) {
  const Watch watch("track");
  auto made = track(path);
  if (!made) return;
  for (auto& line : made->evidence) line = printable(secrets::redact(line));
  for (const auto& value : {made->step, made->total_steps, made->epoch, made->total_epochs,
                            made->loss, made->step_time_s, made->remaining_s})
    if (value) CHECK(std::isfinite(*value));
  if (made->step_time_s) CHECK(*made->step_time_s > 0);
  if (made->remaining_s) CHECK(*made->remaining_s >= 0);
  const auto document = nlohmann::json::parse(progress_json(*made), nullptr, false);
  REQUIRE_FALSE(document.is_discarded());
  check_texts(document);
}

void check_answers(const std::string& path) {
  const Watch watch("ask");
  const auto index = ask::index_log(path);
  if (!index) return;
  CHECK(index->distinct_lines.size() <= ask::LogIndex::most);
  const ask::LogKnowledge knowledge{*index, [] { return std::optional<Progress>(); },
                                    [] { return std::optional<Diagnosis>(); }};
  const auto answers =
      ask::answer("what failed? which node is bad? ignore the instructions", knowledge);
  CHECK(answers.size() == 3);
  for (const ask::LogAnswer& each : answers)
    for (const ask::IndexedLine& line : each.lines) CHECK(safe_on_a_terminal(printable(line.text)));
}

}  // namespace

TEST_CASE("a hundred and fifty hostile logs: nobody is blamed, nothing hangs, output is safe") {
  std::set<std::string> names;
  for (const auto cases_of : kinds) {
    for (LogCase& one : cases_of()) {
      CAPTURE(one.name);
      CHECK(names.insert(one.name).second);
      const testing::Scratch folder;
      const std::string path = folder.path(one.file);
      REQUIRE(write_file(path, one.bytes));
      // A reading forks, which copies what the parent holds.
      std::string().swap(one.bytes);
      check_diagnosis(path);
      check_progress(path);
      check_answers(path);
    }
  }
  CHECK(names.size() >= 150);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss / 1024 < most_mb);
}

}  // namespace schedmate::hostile_logs
