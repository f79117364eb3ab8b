// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/tidy/code.hpp"
#include "tests/tidy/rules.hpp"
#include "tests/tidy/written_tree.hpp"

namespace schedmate::tidy {
namespace {

/// Names of the variables that are found, each with its line.
std::string state_in(const std::string& code) {
  std::string all;
  for (const auto& variable : find_static_state(blank_non_code(code))) {
    all += (all.empty() ? "" : " ") + variable.name + ":" + std::to_string(variable.line);
  }
  return all;
}

std::string clocks_in(const std::string& code) {
  return listed(check_clocks(file("src/core/a.cpp", code)));
}

}  // namespace

TEST_CASE("variables of a namespace are found unless they are constant") {
  CHECK(state_in("int a = 1;\nstd::map<int, const char*> b;\nstd::atomic<int> c{0};") ==
        "a:1 b:2 c:3");
  CHECK(state_in("namespace n {\nnamespace {\nFoo a[3];\n}\n}") == "a:3");
  CHECK(state_in("const char* a = \"\"; const char* const b = \"\"; char* const c = d;") ==
        "a:1 c:1");
  CHECK(state_in("const std::unique_ptr<Foo> a; const std::shared_ptr<const Foo> b;") == "a:1");
  CHECK(state_in("void (*a)(int) = nullptr;") == "a:1");
  CHECK(state_in("extern int a; extern const std::string_view b;") == "a:1");
  CHECK(state_in("constexpr int a = 1; const std::map<int, int> b = {{1, 2}};").empty());
}

TEST_CASE("statics of a function and of a class are found unless they are constant") {
  CHECK(state_in("int f() {\n  static int calls = 0;\n  return ++calls;\n}") == "calls:2");
  CHECK(state_in("int f() { static std::mutex m; static Foo g(1, 2); static Foo h{1}; }") ==
        "m:1 g:1 h:1");
  CHECK(state_in("int f() { if (a) { thread_local std::string buffer; } }") == "buffer:1");
  CHECK(state_in("auto a() { return g([&] {\n  static std::once_flag once;\n}); }") == "once:2");
  CHECK(state_in("class C {\n public:\n  static int count;\n  inline static Foo last{};\n};") ==
        "count:3 last:4");
  CHECK(state_in("int f() { static const auto t = [] { Foo a; return a; }(); return t; }").empty());
  CHECK(state_in("struct S { static Foo make(int a); static constexpr int n = 1; int m = 0; };")
            .empty());
}

TEST_CASE("what only looks like a variable is none") {
  CHECK(
      state_in("using A = std::vector<int>; typedef int B; struct C; enum class D { e };").empty());
  CHECK(state_in("template <class T> T f(T a); static int g(int b) { int c = b; return c; }")
            .empty());
  CHECK(
      state_in("C::C(int a) : a_{a}, b_{2} { int d = 1; }\nbool operator==(const C& a) { x = 1; }")
          .empty());
  CHECK(state_in("int f() { struct L { static bool g(int); int h; }; L l; return l.h; }").empty());
}

TEST_CASE("state is a finding below src and include, not in programs or tests") {
  const auto in = [](const std::string& path) {
    return listed(check_static_state(file(path, "\nint calls = 0;\n")));
  };
  CHECK(in("src/core/a.cpp") == "2: state that all threads share: calls\n");
  CHECK(in("include/schedmate/a.hpp") == "2: state that all threads share: calls\n");
  CHECK(in("apps/a.cpp").empty());
  CHECK(in("src/core/a_test.cpp").empty());
}

TEST_CASE("a clock is found under whatever name it is read") {
  const std::string reads = "1: reads a clock\n";
  for (const char* const code :
       {"auto t = std::chrono::steady_clock::now();", "auto t = Clock :: now();",
        "auto t = file_time_type::clock::now();", "auto f = &std::chrono::utc_clock::now;",
        "auto t = std::time(nullptr);", "auto t = time(NULL);", "auto t = ::time( &when );",
        "::clock_gettime(CLOCK_REALTIME, &t);", "gettimeofday(&t, nullptr);",
        "::timespec_get(&t, 1);", "auto t = std::clock();", "auto t = clock();",
        "::getrusage(RUSAGE_SELF, &usage);"}) {
    CAPTURE(code);
    CHECK(clocks_in(code) == reads);
  }
}

TEST_CASE("what only looks like a clock is none") {
  for (const char* const code :
       {"using Clock = std::chrono::steady_clock;", "Clock::time_point deadline;",
        "Shares FreeMap::now(const Request& request) const {", "Progress Tracker::now() const {",
        "auto t = options.clock.now();", "seconds time(int a);", "a.time(0); std::clock_t t;",
        "// steady_clock::now()", "auto s = \"time(nullptr)\";"}) {
    CAPTURE(code);
    CHECK(clocks_in(code).empty());
  }
}

TEST_CASE("clocks are read in one place, in benchmarks and in tests") {
  const auto in = [](const std::string& path) {
    return check_clocks(file(path, "auto t = std::chrono::steady_clock::now();")).size();
  };
  CHECK(in("src/sim/a.cpp") == 1);
  CHECK(in("apps/a.cpp") == 1);
  CHECK(in("src/settings/clock.cpp") == 0);
  CHECK(in("bench/a.cpp") == 0);
  CHECK(in("src/sim/a_test.cpp") == 0);
}

}  // namespace schedmate::tidy
