// SPDX-License-Identifier: Apache-2.0
#include "tests/support/needs.hpp"

#include <unistd.h>

#include <deque>
#include <filesystem>
#include <string_view>
#include <vector>

namespace schedmate::testing {
namespace {

constexpr const char* shared_suite = "needs shared";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

const doctest::detail::TestCase* current_test() {
  const auto* const context = doctest::getContextOptions();
  return context == nullptr ? nullptr : context->currentTest;
}

std::vector<std::string>& skipped() {
  static std::vector<std::string> all;
  return all;
}

/// Runs in place of a test that lacks something.
void skip() {
  const auto* const test = current_test();
  skipped().push_back(std::string(test->m_name) + ": " + test->m_description);
}

std::string shared_place(const std::string& path) { return SCHEDMATE_SHARED "/" + path; }

Need need(const char* suite, bool is_there, const char* what) {
  return {suite, is_there ? "" : std::string("needs ") + what};
}

}  // namespace

void Need::fill(doctest::detail::TestCase& test) const {
  static std::deque<std::string> reasons;  // doctest keeps only where a text stands
  test.m_test_suite = suite_;
  if (reason_.empty()) return;
  test.m_description = reasons.emplace_back(reason_).c_str();
  test.m_test = skip;
}

Need needs_shared(const std::string& path) {
  const std::string place = shared_place(path);
  return {shared_suite, std::filesystem::exists(place) ? "" : "needs " + place};
}

Need needs_root() { return need("needs root", ::geteuid() == 0, "root"); }

Need needs_fuse() {
  const bool mounts = ::geteuid() == 0 && ::access("/dev/fuse", R_OK | W_OK) == 0;
  return need("needs fuse", mounts, "root and /dev/fuse");
}

Need needs_promtool() {
  return need("needs promtool", std::filesystem::exists("/usr/bin/promtool"),
              "promtool of Debian's prometheus");
}

Need needs_ordinary_user() { return need("needs user", ::geteuid() != 0, "an ordinary user"); }

Need needs_no_sanitizer() { return need("needs room", !is_sanitized, "no sanitizer"); }

std::string shared(const std::string& path) {
  const auto* const test = current_test();
  REQUIRE_MESSAGE((test != nullptr && std::string_view(test->m_test_suite) == shared_suite),
                  "a test that reads " << path << " says so with needs_shared()");
  return shared_place(path);
}

const std::vector<std::string>& skipped_tests() { return skipped(); }

}  // namespace schedmate::testing
