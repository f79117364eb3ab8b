// SPDX-License-Identifier: Apache-2.0
/// Running jobs that would share their GPUs, kept so that a waiting job looks at each of them once:
/// what kept two jobs apart does not change while both are here.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/job.hpp>
#include <vector>

namespace schedmate::policy {

class Partners {
 public:
  struct Resident {
    JobId id{};
    std::uint64_t started = 0;  ///< number of its start
    double priority = 0;
    double memory_mib = 0;  ///< of each GPU
    int sharing_score = 0;
  };
  /// Number of an offer, in the order of offers; 0 = before all of them.
  using Mark = std::uint64_t;

  Mark offer(int gpus, const Resident& resident) {
    of_size_[gpus].offers.push_back({++last_, true, resident});
    return last_;
  }

  /// Nothing happens when it was withdrawn or taken before.
  void withdraw(int gpus, Mark mark) {
    const auto size = of_size_.find(gpus);
    if (size == of_size_.end()) return;
    Offers& all = size->second;
    const auto at = std::ranges::lower_bound(all.offers, mark, {}, &Offer::mark);
    if (at != all.offers.end() && at->mark == mark && at->open) close(all, *at);
  }

  /// Of those with as many GPUs that `may_share` the one that started first, which is withdrawn.
  /// `seen`: offers up to there were refused before; moves on when all are.
  template <class MayShare>
  std::optional<JobId> take_first(int gpus, Mark& seen, const MayShare& may_share) {
    const auto size = of_size_.find(gpus);
    if (size == of_size_.end()) return std::nullopt;
    Offers& all = size->second;
    Offer* first = nullptr;
    for (auto at = all.offers.rbegin(); at != all.offers.rend() && at->mark > seen; ++at) {
      const bool earlier = first == nullptr || at->resident.started < first->resident.started;
      if (at->open && earlier && may_share(at->resident)) first = &*at;
    }
    seen = last_;
    if (first == nullptr) return std::nullopt;
    const JobId id = first->resident.id;
    close(all, *first);
    return id;
  }

 private:
  struct Offer {
    Mark mark = 0;
    bool open = true;
    Resident resident;
  };
  struct Offers {
    std::vector<Offer> offers;  // by mark
    std::size_t closed = 0;
  };

  /// Closed offers stay until they are half of all.
  static void close(Offers& all, Offer& offer) {
    offer.open = false;
    if (++all.closed * 2 <= all.offers.size()) return;
    std::erase_if(all.offers, [](const Offer& each) { return !each.open; });
    all.closed = 0;
  }

  std::map<int, Offers> of_size_;  // by GPUs
  Mark last_ = 0;
};

}  // namespace schedmate::policy
