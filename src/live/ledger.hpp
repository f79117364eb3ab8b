// SPDX-License-Identifier: Apache-2.0
#pragma once

/// GPU time that attempts have used, by day and user, and what of it was lost, by cause. Fed once
/// by the end of each attempt; what changed is kept in the batch that tells of that end, so that a
/// restart neither loses nor doubles it. Values.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <schedmate/connector.hpp>
#include <schedmate/diagnosis.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "journal/journal.hpp"

namespace schedmate::live {

/// Why the work of an attempt is lost: as the cluster says, and where it only says that the job
/// failed, or reached its limit, as its log does. One that was completed or cancelled, or of which
/// nobody knows how it ended, lost nothing.
enum class LossCause : std::uint8_t {
  node_fail,
  failed,
  out_of_memory,
  timeout,
  cancelled,  ///< a place in rows that were kept; nothing is lost by it
  preempted,
  requeued,
  infrastructure,
  framework,
  user_script,
};
inline constexpr int loss_causes = static_cast<int>(LossCause::user_script) + 1;
[[nodiscard]] std::string_view name_of(LossCause cause);
/// How it is counted, in a sentence.
[[nodiscard]] std::string_view method_of(LossCause cause);
[[nodiscard]] std::optional<LossCause> loss_of(EndState state);

/// What samples of GPUs say of an attempt.
struct Sampled {
  std::int64_t gpu_s = 0;       ///< between samples that follow each other
  std::int64_t idle_gpu_s = 0;  ///< of these, with nothing done at both ends
};

/// Of attempts that have ended.
struct GpuTime {
  struct Loss {
    std::int64_t gpu_s = 0, attempts = 0;
  };
  std::int64_t used_gpu_s = 0;
  std::int64_t jobs = 0;  ///< that ran and have ended for good
  std::array<Loss, loss_causes> lost{};
  Loss repeats{};     ///< that were avoided
  Sampled sampled{};  ///< of used_gpu_s
  void add(const GpuTime& other);
  [[nodiscard]] std::int64_t lost_gpu_s() const;
};

class Ledger {
 public:
  /// Rows of a day and a user. What is older than a year, and the oldest beyond `most`, become a
  /// row of the user without a day.
  explicit Ledger(std::size_t most = 20'000) : most_(most) {}

  /// An attempt has ended; all its GPU time belongs to the day (UTC) of its end.
  void note(const SeenJob& ended, SimTime now, const Sampled& sampled = {});
  /// What its log says of one that has been noted; to be told once.
  void explain(const SeenJob& ended, FailureClass verdict);
  /// It would have been started again, to fail again after at least so long.
  void note_avoided(const SeenJob& ended, Seconds run);

  using Day = std::int64_t;  ///< since 1970; before_days: what was summed
  static constexpr Day before_days = INT64_MIN;
  [[nodiscard]] const std::map<Day, std::map<std::string, GpuTime>>& days() const { return days_; }
  /// When it began to count; nothing while nothing has ended.
  [[nodiscard]] std::optional<SimTime> since() const { return since_; }

  /// What is to be kept in the journal since the last call; and from there.
  [[nodiscard]] std::vector<journal::Kept> take();
  /// All that was kept; what has another name is passed over.
  void restore(const std::map<std::string, std::string>& kept);

 private:
  using Row = std::pair<Day, std::string>;
  GpuTime* row_of(const SeenJob& ended);
  void sum_oldest(Day today);
  std::size_t most_, rows_ = 0;
  std::map<Day, std::map<std::string, GpuTime>> days_;  // by user
  std::optional<SimTime> since_;
  bool is_new_ = false;  // since_ was not kept yet
  std::set<Row> changed_;
};

}  // namespace schedmate::live
