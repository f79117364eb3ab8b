// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a test needs that not every machine has. A test case says so and has no other way to it:
///   TEST_CASE("the real rows" * needs_shared("data/lucid")) { read(shared("data/lucid/input")); }
/// It then stands in the test suite "needs shared", which has an entry of its own in ctest (NEEDS
/// in CMakeLists.txt). Where the thing is absent its body is not run and the entry is skipped.
/// What `scripts/deps.sh test` installs is no such thing: without it tests fail.

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace schedmate::testing {

class Need {
 public:
  /// `suite` is "needs WORD"; `reason`, where the thing is absent, says what is missing.
  Need(const char* suite, std::string reason) : suite_(suite), reason_(std::move(reason)) {}
  void fill(doctest::detail::TestCase& test) const;

 private:
  const char* suite_;
  std::string reason_;
};

/// A file or folder of ../shared (or -DSCHEDMATE_SHARED=FOLDER): whole data sets.
[[nodiscard]] Need needs_shared(const std::string& path);
[[nodiscard]] Need needs_root();
[[nodiscard]] Need needs_ordinary_user();
/// Prometheus' own check of metrics.
[[nodiscard]] Need needs_promtool();
/// A file system in user space that a test can mount.
[[nodiscard]] Need needs_fuse();
/// Room in the address space, of which the sanitizers take all.
[[nodiscard]] Need needs_no_sanitizer();

/// Where it lies. Fails in a test case that does not need it.
[[nodiscard]] std::string shared(const std::string& path);

/// Tests of the run so far that were skipped: "NAME: needs ../shared/data/lucid".
[[nodiscard]] const std::vector<std::string>& skipped_tests();

}  // namespace schedmate::testing
