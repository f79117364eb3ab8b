// SPDX-License-Identifier: Apache-2.0
#include "log/failure/cause_claim.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::failure {
namespace {

ClaimWords words() {
  auto made = ClaimWords::load("");
  REQUIRE_MESSAGE(made, made.error().message);
  return *std::move(made);
}

CauseClaim claim(FailureClass verdict, Component component = Component::none,
                 std::uint64_t line = 2) {
  return {verdict, component, line, "because"};
}

std::string fault(const CauseClaim& claim, std::string_view line, LineVerdict verdict = {},
                  RaisedIn raised = RaisedIn::nowhere) {
  return words().fault_of(claim, {line, {}, verdict, raised});
}

/// A job whose failure no rule knows, and somebody who speaks about it.
struct ClaimCase {
  testing::Scratch here;
  DiagnoseInput input;
  OpenCause shown;
  std::optional<CauseClaim> answer;
  int asked = 0;

  ClaimCase() {
    input.reader = [this](const OpenCause& cause) {
      ++asked;
      shown = cause;
      return answer;
    };
  }
  Diagnosis diagnose(const std::string& log) {
    std::ofstream(here.path("log")) << log;
    input.paths = {here.path("log")};
    auto made = schedmate::diagnose(input);
    REQUIRE_MESSAGE(made, made.error().message);
    return *std::move(made);
  }
};

const std::string unknown =
    "step 1 loss 2.5\nfatal: the fan tray of n12 reports a hardware fault 0x17\nstep 2 loss 2.4\n";

}  // namespace

TEST_CASE("each test line of claims.toml confirms its own row") {
  const toml::table table = toml::parse_file(SCHEDMATE_SOURCE_DIR "/rules/claims.toml");
  for (const auto& node : *table["claim"].as_array()) {
    const toml::table& row = *node.as_table();
    const auto component = row["component"].value_or(std::string());
    for (const auto& each : *row["test"].as_array()) {
      const auto line = *each.value<std::string>();
      CAPTURE(line);
      for (const auto part : {Component::gpu, Component::nvlink, Component::network,
                              Component::node, Component::storage, Component::other})
        if (component == name_of(part))
          CHECK(fault(claim(FailureClass::infrastructure, part), line).empty());
      if (component.empty()) CHECK_FALSE(fault(claim(FailureClass::user_script), line).empty());
    }
  }
}

TEST_CASE("a claim of infrastructure needs hardware in the cited line itself") {
  using enum Component;
  const auto infrastructure = FailureClass::infrastructure;
  CHECK(fault(claim(infrastructure, gpu), "NVRM: Xid (PCI:0000:9b:00): 79, gone").empty());
  CHECK(
      fault(claim(infrastructure, storage), "OSError: [Errno 28] No space left on device").empty());
  CHECK(fault(claim(infrastructure, network), "OSError: [Errno 28] No space left on device")
            .contains("nothing of network"));
  CHECK(fault(claim(infrastructure, gpu), "ValueError: shapes do not match")
            .contains("nothing of gpu"));
  CHECK(fault(claim(infrastructure, gpu), "RuntimeError: CUDA out of memory")
            .contains("nothing of gpu"));
  CHECK(fault(claim(infrastructure), "NVRM: Xid (PCI:0000:9b:00): 79, gone")
            .contains("no component"));
  CHECK(fault(claim(infrastructure, gpu), "").contains("was not shown"));
}

TEST_CASE("progress and cleaning up prove nothing, and outside ends are nobody's bug") {
  const auto script = claim(FailureClass::user_script);
  CHECK(fault(script, "step 3 loss 2", {.kind = LineKind::progress}).contains("progress"));
  CHECK(fault(script, "closing", {.kind = LineKind::failure, .role = LineRole::teardown})
            .contains("not of its cause"));
  CHECK(fault(script, "*** JOB 7 CANCELLED AT noon ***").contains("from outside"));
  CHECK(fault(script, "ValueError: no").empty());
  CHECK(fault(claim(FailureClass::none), "ValueError: no").contains("there is a failure"));
  // What the locator found counts too, whatever line is cited; and so do machines.
  const CitedLine elsewhere{"ValueError: no", "srun: error: Node failure on n3", {}, {}};
  CHECK(words().fault_of(script, elsewhere).contains("of a machine"));
  CHECK(fault(script, "RuntimeError: uncorrectable ECC error").contains("of a machine"));
}

TEST_CASE("who raised the exception contradicts a claim") {
  CHECK(fault(claim(FailureClass::framework), "ValueError: no", {}, RaisedIn::project)
            .contains("own code"));
  CHECK(fault(claim(FailureClass::user_script), "ValueError: no", {}, RaisedIn::only_library)
            .contains("no frame"));
  CHECK(
      fault(claim(FailureClass::framework), "ValueError: no", {}, RaisedIn::only_library).empty());
}

TEST_CASE("a cause that no rule knows is asked for; the line stays the locator's") {
  ClaimCase job;
  job.answer =
      CauseClaim{FailureClass::infrastructure, Component::other, 2, "the fan of n12 broke"};
  const Diagnosis made = job.diagnose(unknown);
  CHECK(job.asked == 1);
  CHECK(job.shown.candidate == 2);
  CHECK(job.shown.lines.size() == 3);
  CHECK(made.verdict == FailureClass::infrastructure);
  CHECK(made.component == Component::other);
  CHECK(made.root_line == 2);
  CHECK(made.by == "scan/model");
  CHECK(made.recommendation == Recommendation::test_first);
  CHECK(made.nodes.empty());
  CHECK_FALSE(made.reason.contains("n12"));
  CHECK(made.reason == "a model's reading of line 2");  // it named a machine
}

TEST_CASE("no answer, a refused one and 'other' leave the verdict without a model") {
  ClaimCase job;
  const std::string plain = [&] {
    ClaimCase none;
    none.input.reader = nullptr;
    auto made = none.diagnose(unknown);
    made.root_file.clear();
    for (auto& each : made.evidence) each.file.clear();
    return diagnosis_json(made);
  }();
  for (const auto& answer :
       {std::optional<CauseClaim>(), std::optional(claim(FailureClass::other)),
        std::optional(claim(FailureClass::infrastructure, Component::gpu)),
        std::optional(claim(FailureClass::infrastructure, Component::other, 99)),
        std::optional(claim(FailureClass::user_script, Component::none, 1))}) {
    job.answer = answer;
    Diagnosis made = job.diagnose(unknown);
    CHECK(made.verdict == FailureClass::other);
    CHECK(made.confidence < 0.3);
    made.root_file.clear();
    for (auto& each : made.evidence) each.file.clear();
    CHECK(diagnosis_json(made) == plain);
    const bool claims = answer && answer->verdict != FailureClass::other;
    CHECK(made.dropped.size() == (claims ? 1 : 0));
  }
}

TEST_CASE("what the rules know is not asked, nor a healthy log") {
  ClaimCase job;
  job.answer = claim(FailureClass::framework, Component::none, 1);
  CHECK(job.diagnose("srun: error: Node failure on n3\n").verdict == FailureClass::infrastructure);
  CHECK(job.diagnose("step 1 loss 2.5\n").verdict == FailureClass::none);
  CHECK(job.asked == 0);
  job.input.doubtful_below = 1;
  (void)job.diagnose("srun: error: Node failure on n3\n");
  CHECK(job.asked == 1);
}

TEST_CASE("a witness takes precedence over a model, whose words name no node") {
  ClaimCase job;
  job.answer = CauseClaim{FailureClass::infrastructure, Component::other, 2, "alpha is bad"};
  job.input.job = JobContext{};
  job.input.job->state = "FAILED";
  job.input.job->nodes = {"alpha"};
  const Diagnosis by_model = job.diagnose(unknown);
  CHECK(by_model.by == "scan/model");
  CHECK(by_model.nodes.empty());
  CHECK_FALSE(by_model.reason.contains("alpha"));
  CHECK(by_model.recommendation == Recommendation::test_first);
  job.input.job->state = "NODE_FAIL";
  const Diagnosis seen = job.diagnose(unknown);
  CHECK_MESSAGE(seen.by.starts_with("scan/model + "), seen.by);
  CHECK(seen.component == Component::node);
  CHECK(seen.nodes == std::vector<std::string>{"alpha"});
}

TEST_CASE("a job that the scheduler calls failed is asked about without any failure line") {
  ClaimCase job;
  job.answer = CauseClaim{FailureClass::user_script, Component::none, 2, "it gave up"};
  const std::string log = "step 1 loss 2.5\nI give up now\n";
  CHECK(job.diagnose(log).verdict == FailureClass::none);
  job.input.job = JobContext{};
  job.input.job->state = "FAILED";
  const Diagnosis made = job.diagnose(log);
  CHECK(made.verdict == FailureClass::user_script);
  CHECK(made.root_line == 2);
  CHECK(made.evidence.size() == 1);
  CHECK(made.root_confidence == made.confidence);  // both are the model's word
  Diagnosis cut = made;
  cut_below(made.confidence, cut);
  CHECK(cut.root_line == 2);
  job.answer->line = 1;  // progress
  CHECK(job.diagnose(log).verdict == FailureClass::none);
}

TEST_CASE("of all that can be said about a failure no machine is blamed without its words") {
  const auto known = words();
  const std::vector<std::string> lines = {"step 1 loss 2",
                                          "ValueError: shapes",
                                          "CUDA error: out of memory",
                                          "Killed",
                                          "OSError: [Errno 116] Stale file handle",
                                          "print('ECC error')",
                                          ""};
  int blamed = 0;
  for (const auto verdict : {FailureClass::none, FailureClass::infrastructure,
                             FailureClass::framework, FailureClass::user_script})
    for (const auto part : {Component::none, Component::gpu, Component::nvlink, Component::network,
                            Component::node, Component::storage, Component::other})
      for (const std::string& line : lines) {
        const bool holds = known.fault_of(claim(verdict, part), {line, {}, {}, {}}).empty();
        if (verdict != FailureClass::infrastructure || !holds) continue;
        const bool gpu = part == Component::gpu && line.contains("ECC");
        const bool storage = part == Component::storage && line.contains("Stale");
        CHECK_MESSAGE((gpu || storage), line);
        ++blamed;
      }
  CHECK(blamed == 2);
}

}  // namespace schedmate::failure
