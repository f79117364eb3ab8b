// SPDX-License-Identifier: Apache-2.0

/// storm: seeded disasters for the live loop (docs/storm.md).

#include <fmt/format.h>
#include <malloc.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "tests/storm/storm.hpp"

namespace schedmate::storm {
namespace {

struct Asked {
  Options options;
  std::uint64_t first = 1, last = 100;
  std::string plant;
  bool json = false, shrinks = false, every_boundary = false, goes_on = false;
};

constexpr std::string_view usage =
    "usage: storm --seeds A:B [--faults LIST] [--until SECONDS] [--kill-at N | --kill-everywhere]\n"
    "             [--plant RULE] [--trace] [--shrink] [--keep-going] [--json]\n"
    "LIST: all, none, or names with commas; -NAME takes one away. Exit 1: a rule was violated.\n";

void print_help() {
  fmt::print("{}\nfaults:\n", usage);
  for (const Fault fault : all_faults) fmt::print("  {:<24} {}\n", name_of(fault), text_of(fault));
  fmt::print("\nrules that --plant switches off:\n ");
  for (const std::string_view rule : plants()) fmt::print(" {}", rule);
  fmt::print("\n");
}

Result<void> read_seeds(std::string_view text, Asked& asked) {
  const auto parts = split(text, ':');
  const auto first = parse_number<std::uint64_t>(parts.front());
  const auto last = parse_number<std::uint64_t>(parts.back());
  if (!first || !last || parts.size() > 2 || *last < *first)
    return fail(ErrorCode::invalid, "--seeds takes A:B");
  asked.first = *first;
  asked.last = *last;
  return {};
}

Result<void> read_value(std::string_view name, std::string_view value, Asked& asked) {
  if (name == "--seeds") return read_seeds(value, asked);
  if (name == "--plant") {
    asked.plant = value;
    return plant(value, asked.options);
  }
  if (name == "--faults") {
    auto faults = fault_set_of(value);
    if (!faults) return tl::unexpected(faults.error());
    asked.options.faults = *faults;
    return {};
  }
  const auto number = parse_number<std::int64_t>(value);
  if (!number || *number < 0)
    return fail(ErrorCode::invalid, fmt::format("{} takes a whole number", name));
  if (name == "--until")
    asked.options.until = Seconds(*number);
  else
    asked.options.kill_at = *number;
  return {};
}

Result<Asked> read(std::span<char*> words) {
  Asked asked;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--trace") {
      asked.options.trace = true;
    } else if (word == "--json") {
      asked.json = true;
    } else if (word == "--shrink") {
      asked.shrinks = true;
    } else if (word == "--kill-everywhere") {
      asked.every_boundary = true;
    } else if (word == "--keep-going") {
      asked.goes_on = true;
    } else if (word == "--seeds" || word == "--plant" || word == "--faults" || word == "--until" ||
               word == "--kill-at") {
      if (++i == words.size())
        return fail(ErrorCode::invalid, fmt::format("{} takes a value", word));
      if (auto done = read_value(word, words[i], asked); !done) return tl::unexpected(done.error());
    } else {
      return fail(ErrorCode::invalid, fmt::format("unknown word '{}'", word));
    }
  }
  return asked;
}

void report(const Asked& asked, const Options& options, const Outcome& outcome) {
  const Violation& violation = *outcome.violation;
  if (asked.json) {
    fmt::print("{}\n", nlohmann::json{{"seed", options.seed},
                                      {"rule", violation.rule},
                                      {"what", violation.what},
                                      {"at_s", static_cast<double>(violation.when) / 1000},
                                      {"command", command_of(options, asked.plant)}}
                           .dump());
    return;
  }
  for (const std::string& line : outcome.trace) fmt::print("{}\n", line);
  fmt::print("seed {}: {}: {} (at {:.1f} s)\n  world: {}\n  faults: {}\n  alone: {}\n",
             options.seed, violation.rule, violation.what,
             static_cast<double>(violation.when) / 1000, outcome.world, text_of(outcome.drawn),
             command_of(options, asked.plant));
}

void report_shrunk(const Asked& asked, const Options& options, const Violation& violation) {
  const Options small = shrink(options, violation);
  const Outcome again = run(small);
  fmt::print("shrunk:\n");
  report(asked, small, again);
}

struct Sum {
  std::int64_t runs = 0, failed = 0, boundaries = 0, kills = 0, restarts = 0, calls = 0;
  std::int64_t tests = 0, halves = 0, found = 0;
};

/// Whether to go on.
bool one(const Asked& asked, const Options& options, Sum& sum) {
  const Outcome outcome = run(options);
  ++sum.runs;
  sum.boundaries += outcome.boundaries;
  sum.kills += outcome.kills;
  sum.restarts += outcome.restarts;
  sum.calls += outcome.calls;
  sum.tests += outcome.tests;
  sum.halves += outcome.halves;
  sum.found += outcome.found;
  if (!outcome.violation) {
    if (options.trace)
      for (const std::string& line : outcome.trace) fmt::print("{}\n", line);
    return true;
  }
  ++sum.failed;
  report(asked, options, outcome);
  if (asked.shrinks) report_shrunk(asked, options, *outcome.violation);
  (void)std::fflush(stdout);
  return asked.goes_on;
}

bool everywhere(const Asked& asked, Options options, Sum& sum) {
  const std::int64_t boundaries = run(options).boundaries;
  for (options.kill_at = 0; options.kill_at < boundaries; ++options.kill_at)
    if (!one(asked, options, sum)) return false;
  return true;
}

/// One thread, a run after the other: no locks, and memory stays for the next run.
void use_one_thread() {
  constexpr int much = 256 << 20;
  mallopt(M_TRIM_THRESHOLD, much);
  mallopt(M_MMAP_THRESHOLD, much);
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int storm_main(std::span<char*> words) {
  use_one_thread();
  if (!words.empty() && std::string_view(words.front()) == "--help") {
    print_help();
    return 0;
  }
  const auto asked = read(words);
  if (!asked) {
    fmt::print(stderr, "storm: {}\n{}", asked.error().message, usage);
    return 2;
  }
  Sum sum;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t seed = asked->first; seed <= asked->last; ++seed) {
    Options options = asked->options;
    options.seed = seed;
    if (!(asked->every_boundary ? everywhere(*asked, options, sum) : one(*asked, options, sum)))
      break;
  }
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (asked->json)
    fmt::print("{}\n", nlohmann::json{{"runs", sum.runs},
                                      {"failed", sum.failed},
                                      {"boundaries", sum.boundaries},
                                      {"kills", sum.kills},
                                      {"starts", sum.restarts},
                                      {"calls", sum.calls},
                                      {"tests", sum.tests},
                                      {"halves", sum.halves},
                                      {"found", sum.found},
                                      {"took_s", took}}
                           .dump());
  else
    fmt::print(
        "{} runs ({:.1f} a second), {} starts of the daemon, {} kills, {} boundaries, {} "
        "calls: {}\n",
        sum.runs, static_cast<double>(sum.runs) / took, sum.restarts, sum.kills, sum.boundaries,
        sum.calls, sum.failed == 0 ? "all rules hold" : fmt::format("{} violated", sum.failed));
  return sum.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace schedmate::storm

int main(int count, char** words) {
  return schedmate::storm::storm_main(std::span(words, static_cast<std::size_t>(count)).subspan(1));
}
