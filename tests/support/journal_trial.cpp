// SPDX-License-Identifier: Apache-2.0
#include "tests/support/journal_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tests/support/faulty_disk.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/journal_history.hpp"

namespace schedmate::testing {
namespace {

using journal::Batch;
using journal::Journal;
using journal::Options;
using journal::Rules;

auto open_on(const FaultyDisk& disk, const Rules& rules, const std::string& name = "a") {
  const Options options{
      .path = "/j", .instance = name, .most_bytes = 0, .vfs = disk.vfs(), .rules = rules};
  return Journal::open(options, fixed_clock(at(1'000)));
}

/// "" or what is wrong with what a journal holds.
std::string content_fault(Journal& journal, const FaultyDisk& disk,
                          const std::vector<JournalContent>& allowed) {
  const auto content = content_of(journal);
  if (!content) return "it cannot be read: " + content.error().message;
  if (std::ranges::find(allowed, *content) == allowed.end())
    return fmt::format(
        "it holds what was not acknowledged, or lost what was ({} actions, {} "
        "events; {} and {} were acknowledged)",
        content->actions.size(), content->events.size(), allowed.front().actions.size(),
        allowed.front().events.size());
  const auto verdict = journal::verify({"/j", disk.vfs()});
  if (!verdict) return "the chain cannot be read: " + verdict.error().message;
  if (verdict->fault)
    return fmt::format("chain, entry {}: {}", verdict->fault->sequence, verdict->fault->what);
  return "";
}

/// A moment at which it may all end: the disk, and what the journal may hold then.
struct Moment {
  DiskImage disk;
  std::size_t acknowledged = 0;  ///< changes so far
  std::int64_t epoch = 0;
};

/// One history on a disk without faults, with each of its moments.
class History {
 public:
  History(std::uint64_t seed, const Rules& rules)
      : rules_(rules), random_(seed), disk_(mix(seed)) {}

  /// "" or what was wrong on the way.
  std::string run() {
    contents_.emplace_back();
    disk_.before_change = [this] {
      moments_.push_back({disk_.image(), contents_.size() - 1, journal_ ? journal_->epoch() : 0});
    };
    std::string fault = open();
    for (int i = 0; i < 8 && fault.empty(); ++i) fault = one_change();
    journal_.reset();
    disk_.before_change = nullptr;
    return fault;
  }

  [[nodiscard]] const std::vector<Moment>& moments() const { return moments_; }
  [[nodiscard]] std::vector<JournalContent> allowed(const Moment& moment) const {
    std::vector<JournalContent> contents{contents_.at(moment.acknowledged)};
    if (moment.acknowledged + 1 < contents_.size())
      contents.push_back(contents_.at(moment.acknowledged + 1));
    return contents;
  }

 private:
  std::string open() {
    journal_.reset();
    auto journal = open_on(disk_, rules_);
    if (!journal) return journal.error().message;
    journal_ = std::move(*journal);
    return content_fault(*journal_, disk_, {contents_.back()});
  }

  std::string one_change() {
    const double choice = random_.uniform();
    if (choice < 0.1) return open();
    if (choice < 0.2) return replace();
    if (choice < 0.4) return compact();
    const Batch batch = random_batch(contents_.back(), random_);
    const auto expected = after(contents_.back(), batch);
    if (const auto done = journal_->append(batch); !done) return done.error().message;
    contents_.push_back(expected);
    return content_fault(*journal_, disk_, {expected});
  }

  std::string compact() {
    if (const auto done = journal_->compact(static_cast<int>(random_.between(1, 12))); !done)
      return done.error().message;
    auto content = content_of(*journal_);
    if (!content) return content.error().message;
    if (auto fault = compaction_fault(contents_.back(), *content); !fault.empty()) return fault;
    content->next_event = contents_.back().next_event;
    contents_.push_back(*content);
    return content_fault(*journal_, disk_, {contents_.back()});
  }

  /// Another instance takes over; the old one must not write any more.
  std::string replace() {
    auto rival = open_on(disk_, rules_, "rival");
    if (!rival) return rival.error().message;
    const auto done = journal_->append({.kept = {{"name0", "of the one that was replaced"}}});
    if (done) return "a writer that was replaced wrote";
    if (done.error().code != ErrorCode::refused) return done.error().message;
    journal_ = std::move(*rival);
    return content_fault(*journal_, disk_, {contents_.back()});
  }

  Rules rules_;
  Random random_;
  FaultyDisk disk_;
  std::unique_ptr<Journal> journal_;
  std::vector<JournalContent> contents_;  ///< after each change that was acknowledged
  std::vector<Moment> moments_;
};

/// A way in which it all ends.
struct Ending {
  Loss loss;
  std::uint64_t seed;
};

/// Ends at the moment in this way, and goes on from there, until the power goes while it is opened
/// or just after. "" or what is wrong.
std::string fault_after(const History& history, const Moment& moment, const Ending& ending,
                        const Rules& rules) {
  FaultyDisk disk(ending.seed);
  disk.restore(moment.disk);
  disk.crash(ending.loss);
  std::optional<DiskImage> again;
  const auto ends_again = Random(mix(ending.seed)).below(20);
  disk.before_change = [&] {
    if (disk.changes() == ends_again) again = disk.image();
  };
  auto allowed = history.allowed(moment);
  std::int64_t epoch = moment.epoch;
  {
    const auto journal = open_on(disk, rules);
    if (!journal) return "it does not open: " + journal.error().message;
    disk.before_change = nullptr;
    if ((*journal)->epoch() <= epoch) return "the epoch did not rise";
    if (auto fault = content_fault(**journal, disk, allowed); !fault.empty()) return fault;
    if (!again) {
      again = disk.image();
      epoch = (*journal)->epoch();
      allowed = {content_of(**journal).value()};
    }
  }
  disk.restore(*again);
  disk.crash(Loss::some);
  const auto journal = open_on(disk, rules);
  if (!journal) return "it does not open after a second crash: " + journal.error().message;
  if ((*journal)->epoch() <= epoch) return "the epoch did not rise after a second crash";
  const auto fault = content_fault(**journal, disk, allowed);
  return fault.empty() ? "" : "after a second crash: " + fault;
}

/// A history on a disk with errors: "" or what is wrong. What an append that failed wrote may be
/// there or not, but after the next opening that is settled.
class Errors {
 public:
  Errors(std::uint64_t seed, const Rules& rules) : rules_(rules), random_(seed), disk_(mix(seed)) {}

  std::string run() {
    std::vector<JournalContent> allowed(1);
    for (int i = 0; i < 25; ++i) {
      break_something();
      if (auto fault = one_change(allowed); !fault.empty()) return fault;
    }
    return open_again(allowed);
  }
  [[nodiscard]] std::int64_t failures() const { return disk_.failures(); }

 private:
  void break_something() {
    const auto chance = [&] { return random_.uniform() < 0.3 ? 0.1 : 0; };
    disk_.faults = {.sync_error = chance(), .write_error = chance(), .read_error = chance()};
    if (random_.uniform() < 0.1) disk_.faults.capacity = 100'000;
  }

  /// Without errors, after a crash or none.
  std::string open_again(std::vector<JournalContent>& allowed) {
    constexpr std::array ways = {Loss::process, Loss::all, Loss::some};
    const auto way = static_cast<std::size_t>(random_.below(5));
    if (way < ways.size()) disk_.stop();
    journal_.reset();
    if (way < ways.size()) disk_.crash(ways.at(way));
    disk_.faults = {};
    auto journal = open_on(disk_, rules_);
    if (!journal) return "it does not open: " + journal.error().message;
    journal_ = std::move(*journal);
    if (journal_->epoch() <= epoch_) return "the epoch did not rise";
    epoch_ = journal_->epoch();
    if (auto fault = content_fault(*journal_, disk_, allowed); !fault.empty()) return fault;
    const auto content = content_of(*journal_).value();
    const auto next_event = std::ranges::find(allowed, content)->next_event;
    allowed = {content};
    allowed.front().next_event = next_event;
    return "";
  }

  std::string one_change(std::vector<JournalContent>& allowed) {
    if (!journal_ && !try_to_open())
      if (auto fault = open_again(allowed); !fault.empty()) return fault;
    const Batch batch = random_batch(allowed.front(), random_);
    const auto expected = after(allowed.front(), batch);
    const auto done = journal_->append(batch);
    if (done) {
      allowed = {expected};
      return "";
    }
    if (done.error().code != ErrorCode::unavailable) return done.error().message;
    allowed.push_back(expected);
    bool open = false;
    for (auto tries = random_.below(4); tries > 0 && !open; --tries) {
      const auto opened = journal_->reopen();
      if (!opened && opened.error().code == ErrorCode::refused)
        return "it refused itself: " + opened.error().message;
      open = opened.has_value();
    }
    if (open) {
      disk_.faults = {};
      if (auto fault = content_fault(*journal_, disk_, allowed); !fault.empty()) return fault;
      const auto content = content_of(*journal_).value();
      allowed = {*std::ranges::find(allowed, content)};
      epoch_ = journal_->epoch();
      return "";
    }
    return open_again(allowed);
  }

  /// With errors.
  bool try_to_open() {
    auto journal = open_on(disk_, rules_);
    if (!journal) return false;
    journal_ = std::move(*journal);
    epoch_ = journal_->epoch();
    return true;
  }

  Rules rules_;
  Random random_;
  FaultyDisk disk_;
  std::unique_ptr<Journal> journal_;
  std::int64_t epoch_ = 0;
};

constexpr std::array losses = {Loss::process, Loss::all, Loss::some, Loss::some};

}  // namespace

std::string fault_of_crashes(std::uint64_t seed, const journal::Rules& rules,
                             std::int64_t& crashes) {
  History history(seed, rules);
  if (auto fault = history.run(); !fault.empty()) return fmt::format("seed {}: {}", seed, fault);
  for (std::size_t i = 0; i < history.moments().size(); ++i) {
    for (std::size_t way = 0; way < losses.size(); ++way) {
      ++crashes;
      const Ending ending{losses.at(way), mix((seed << 20U) + 4 * i + way)};
      if (auto fault = fault_after(history, history.moments()[i], ending, rules); !fault.empty())
        return fmt::format("seed {}, crash {} of {}, way {}: {}", seed, i, history.moments().size(),
                           way, fault);
    }
  }
  return "";
}

std::string fault_of_errors(std::uint64_t seed, const journal::Rules& rules, std::int64_t& errors) {
  Errors history(seed, rules);
  const auto fault = history.run();
  errors += history.failures();
  return fault.empty() ? "" : fmt::format("seed {}: {}", seed, fault);
}

}  // namespace schedmate::testing
