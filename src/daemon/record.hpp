// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The daemon's journal, and the thread that writes it. Where the disk takes nothing there is none
/// for a while: it is opened again until it does.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <utility>

#include "daemon/arrival.hpp"
#include "daemon/worker.hpp"
#include "journal/journal.hpp"
#include "live/loop_options.hpp"

namespace schedmate::daemon {

class Record {
 public:
  struct Ways {
    std::function<void(Arrival)> tell;
    std::function<void(const std::string&)> report;
  };
  Record(journal::Options options, Clock clock, Ways ways)
      : options_(std::move(options)), clock_(std::move(clock)), ways_(std::move(ways)) {}

  /// Why nothing can be recorded; "": it can.
  [[nodiscard]] const std::string& lost() const { return lost_; }
  /// After an error of the disk it is lost. Errors: any other one, as it is.
  Result<void> lose(const Error& error);

  // While nothing that was asked is under way.
  /// Errors: those of Journal::open() but for the disk's.
  Result<void> open();
  /// What it holds, see past_in(); nothing where it is lost. Errors: as open().
  [[nodiscard]] Result<live::Past> past();
  /// No earlier daemon has given an event this id, or a later one.
  [[nodiscard]] std::uint64_t first_event() const {
    return journal_ ? static_cast<std::uint64_t>(journal_->epoch()) << 32U : 1;
  }

  /// Comes back as live::Appended.
  void append(journal::Batch batch);
  /// Where it is lost, now and then, it is opened again (true), which comes back as Reopened.
  bool try_again();
  /// Errors: as open().
  Result<void> take(const Reopened& reopened);

 private:
  Result<void> open_file();

  journal::Options options_;
  Clock clock_;
  Ways ways_;
  std::string lost_;
  bool is_trying_ = false;  // a Reopened is still to come
  std::chrono::nanoseconds next_try_{};
  std::unique_ptr<journal::Journal> journal_;
  Worker writer_;  // last: it uses what stands above
};

}  // namespace schedmate::daemon
