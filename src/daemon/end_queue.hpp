// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ends of jobs on their way into the history, in the order in which they came. Where the history
/// takes them at once they are written nowhere else; what it does not take goes to the disk, and is
/// given again until it has been acknowledged, by another process if need be. In memory is only
/// what nobody has had time for, or what neither history nor disk took.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <schedmate/result.hpp>
#include <span>
#include <utility>
#include <vector>

#include "daemon/historian.hpp"
#include "daemon/history_ends.hpp"
#include "daemon/waiting_ends.hpp"

namespace schedmate::daemon {

class EndQueue {
 public:
  struct Options {
    WaitingEnds::Options disk{};
    std::size_t most_in_memory = 50'000;  ///< of more the oldest are dropped
  };

  /// `report` is called by the historian's thread.
  EndQueue(Historian& historian, const Options& options, WaitingEnds::Report report)
      : historian_(historian),
        report_(report),
        most_(options.most_in_memory),
        waiting_(options.disk, std::move(report)) {}

  /// Any thread. Whether work() is to be called now.
  [[nodiscard]] bool put(Ended end);
  /// Any thread, once in a while, first to look for what an earlier process left: history and disk
  /// are asked again. Whether work() is to be called now.
  [[nodiscard]] bool try_again();
  /// Any thread. work() was to be called, and try_again() has come before it.
  [[nodiscard]] bool is_late();
  [[nodiscard]] HistoryEnds counts();

  /// The historian's thread: a part of what there is to do. Whether it is to be called again.
  [[nodiscard]] bool work();

 private:
  bool ask();
  bool take();
  std::size_t give(std::span<const EndRecord> ends);
  void give_held();
  void give_waiting();
  void keep_held();
  bool worked(const Result<void>& done);

  Historian& historian_;
  WaitingEnds::Report report_;

  std::mutex mutex_;
  std::size_t most_;
  std::deque<Ended> queue_;
  bool is_asked_ = false;  // work() is to be called
  bool is_stuck_ = false;  // neither history nor disk takes anything until try_again()
  bool is_again_ = true;   // try_again() has come
  bool is_unread_ = true;  // what an earlier process left is not known
  std::uint64_t out_of_queue_ = 0;
  HistoryEnds counts_;  // but for what waits

  // Of the historian's thread.
  WaitingEnds waiting_;
  std::vector<EndRecord> held_;  // out of the queue, and not out of hand
  HistoryEnds news_;             // for counts_
  bool has_looked_ = false;
  bool is_unreadable_ = false;  // what waits on the disk: the others go before it
  bool is_resting_ = false;     // the history is away, and asked no more until try_again()
  bool is_told_ = false;        // that the disk fails
};

}  // namespace schedmate::daemon
