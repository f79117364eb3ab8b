// SPDX-License-Identifier: Apache-2.0
#include "daemon/end_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace schedmate::daemon {
namespace {

/// The history may be back soon, or once somebody has given the right password.
bool is_away(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout ||
         error.code == ErrorCode::refused;
}

/// The history is as it should be.
bool is_of_job(const Error& error) {
  return error.code == ErrorCode::conflict || error.code == ErrorCode::not_found;
}

}  // namespace

/// With the mutex held.
bool EndQueue::ask() {
  if (is_asked_ || is_stuck_) return false;
  is_asked_ = true;
  return true;
}

bool EndQueue::put(Ended end) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(end));
  if (queue_.size() > most_) {
    queue_.pop_front();
    ++counts_.dropped;
  }
  return ask();
}

bool EndQueue::try_again() {
  const std::lock_guard lock(mutex_);
  if (!is_unread_ && out_of_queue_ == 0 && queue_.empty()) return false;
  is_again_ = true;
  is_stuck_ = false;
  return ask();
}

bool EndQueue::is_late() {
  const std::lock_guard lock(mutex_);
  return is_asked_ && is_again_;
}

HistoryEnds EndQueue::counts() {
  const std::lock_guard lock(mutex_);
  HistoryEnds made = counts_;
  made.waiting = queue_.size() + out_of_queue_;
  return made;
}

bool EndQueue::work() {
  const bool is_again = take();
  if (is_again && !has_looked_) has_looked_ = worked(waiting_.look());
  if (waiting_.size() > 0) {
    keep_held();  // behind what waits already
    if (!is_resting_) give_waiting();
  }
  is_unreadable_ = is_unreadable_ && waiting_.size() > 0;
  if (waiting_.size() == 0 || is_unreadable_) give_held();
  is_resting_ = is_resting_ || is_unreadable_;
  const std::lock_guard lock(mutex_);
  const std::uint64_t dropped = waiting_.dropped();
  counts_.kept += news_.kept;
  counts_.refused += news_.refused;
  counts_.dropped += dropped - news_.dropped;
  news_ = {.dropped = dropped};
  is_unread_ = !has_looked_;
  out_of_queue_ = held_.size() + waiting_.size();
  is_stuck_ = !held_.empty() && is_resting_;
  const bool is_more = !queue_.empty() || (out_of_queue_ > 0 && !is_resting_);
  return is_more && ask();
}

/// Whether try_again() has come.
bool EndQueue::take() {
  constexpr std::size_t most_at_once = 1'000;
  std::vector<Ended> taken;
  bool is_again = false;
  {
    const std::lock_guard lock(mutex_);
    is_asked_ = false;
    is_again = std::exchange(is_again_, false);
    if (held_.empty()) {
      const auto end =
          queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), most_at_once));
      taken.assign(std::move_iterator(queue_.begin()), std::move_iterator(end));
      queue_.erase(queue_.begin(), end);
      out_of_queue_ += taken.size();
    }
  }
  if (is_again) is_resting_ = false;
  for (const Ended& end : taken) {
    auto record = Historian::end_record(end);
    if (record)
      held_.push_back(*std::move(record));
    else
      ++news_.refused;
  }
  return is_again;
}

/// How many from the front are out of hand; fewer than all: the history is away.
std::size_t EndQueue::give(std::span<const EndRecord> ends) {
  if (ends.empty() || !historian_.open()) return 0;
  const auto all = historian_.keep(ends);
  if (all) news_.kept += ends.size();
  if (all) return ends.size();
  if (is_away(all.error())) return 0;
  // Where one cannot be kept the others are. A history that takes nothing is damaged.
  constexpr std::size_t enough = 10;
  std::size_t kept = 0, refused = 0, i = 0;
  bool is_damaged = false;
  for (; i < ends.size() && (kept > 0 || !is_damaged || refused < enough); ++i) {
    const auto one = historian_.keep(ends.subspan(i, 1));
    if (!one && is_away(one.error())) break;
    is_damaged = is_damaged || (!one && !is_of_job(one.error()));
    ++(one ? kept : refused);
  }
  if (kept == 0 && is_damaged) return 0;
  news_.kept += kept;
  news_.refused += refused;
  return i;
}

void EndQueue::give_held() {
  if (held_.empty()) return;
  if (!is_resting_) {
    const std::size_t given = give(held_);
    is_resting_ = given < held_.size();
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(given));
  }
  keep_held();
}

void EndQueue::keep_held() {
  if (!held_.empty() && worked(waiting_.add(held_))) held_.clear();
}

void EndQueue::give_waiting() {
  constexpr std::size_t most_at_once = 500;
  const auto batch = waiting_.oldest(most_at_once);
  (void)worked(batch.map([](const auto&) {}));
  is_unreadable_ = !batch || batch->last == 0;
  if (is_unreadable_) return;
  const std::size_t given = give(batch->ends);
  is_resting_ = given < batch->ends.size();
  if (!is_resting_) news_.refused += batch->unreadable;
  const std::int64_t last = !is_resting_ ? batch->last
                            : given > 0  ? batch->ends[given - 1].place
                                         : 0;
  if (last > 0) (void)worked(waiting_.remove(last));
}

/// What fails on the disk is told once, until it works again.
bool EndQueue::worked(const Result<void>& done) {
  if (!done && !std::exchange(is_told_, true) && report_)
    report_("ends of jobs that the history does not take are not on the disk: " +
            done.error().message);
  if (done) is_told_ = false;
  return done.has_value();
}

}  // namespace schedmate::daemon
