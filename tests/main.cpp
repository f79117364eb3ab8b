// SPDX-License-Identifier: Apache-2.0
/// main() of all test programs. Exit code 77 (ctest: skipped) where every test case that was run is
/// one that needs something absent; see tests/support/needs.hpp.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

#include "tests/support/near.hpp"
#include "tests/support/needs.hpp"

namespace {

namespace testing = schedmate::testing;

/// Counts the test cases that the filters chose.
class Chosen : public doctest::IReporter {
 public:
  explicit Chosen(const doctest::ContextOptions& /*options*/) { plain = needy = 0; }
  inline static int plain = 0, needy = 0;

  void test_case_start(const doctest::TestCaseData& test) override {
    ++(std::string_view(test.m_test_suite).starts_with("needs ") ? needy : plain);
  }
  void report_query(const doctest::QueryData& /*data*/) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*test*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*signature*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*data*/) override {}
  void log_message(const doctest::MessageData& /*data*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*test*/) override {}
};
REGISTER_LISTENER("chosen", 1, Chosen);

/// The exit code of a run without failures.
int verdict() {
  const auto& skipped = testing::skipped_tests();
  for (const auto& each : skipped) std::printf("skipped: %s\n", each.c_str());
  if (Chosen::plain + Chosen::needy == 0) {
    std::printf("no test case has such a name\n");
    return 1;
  }
  if (skipped.empty()) return 0;
  if (Chosen::plain == 0) return 77;
  std::printf("tests that may be skipped need an entry of their own in ctest: NEEDS\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--halve") testing::halve_what_is_near();
  }
  doctest::Context context(argc, argv);
  const int failed = context.run();
  return failed != 0 || context.shouldExit() ? failed : verdict();
}
