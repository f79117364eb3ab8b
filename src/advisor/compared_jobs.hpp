// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What admission and search make of the jobs of a workload and of each pair of them. It depends on
/// nothing that happens in a replay, so replays of the same jobs share it.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <schedmate/job_record.hpp>
#include <schedmate/workload.hpp>
#include <unordered_map>

#include "advisor/admission.hpp"
#include "advisor/match.hpp"

namespace schedmate::advisor {

/// A job as admission and search see it, one for each set of facts, place, GPU count and user.
struct Described {
  std::uint32_t id = 0;
  Submission submission;
  JobRecord record;  ///< without id and outcome
  CommandFlags flags;
  std::uint32_t fields_id = 0;  ///< equal for equal fields
  std::optional<FieldRow> row;  ///< of record.fields
};

/// A later submission against an earlier one of the same user and directory.
struct Repetition {
  FlagClass relation = FlagClass::another_job;
  double scale = 1;
};

/// Threads may share it.
class ComparedJobs {
 public:
  /// Stays where it is. Every call must be for the same workload, its rows in any order.
  const Described& describe(const Trace& trace, const Workload& workload, std::size_t row);
  Similarity similarity_of(const Described& ours, const Described& theirs);
  Repetition repetition_of(const Described& ours, const Described& theirs);

 private:
  /// Answers by pair, forgotten when they are too many.
  template <class Answer>
  class Pairs {
   public:
    template <class Make>
    Answer get(std::uint32_t ours, std::uint32_t theirs, const Make& make) {
      const std::uint64_t key = (std::uint64_t{ours} << 32U) | theirs;
      Shard& shard = shards_[(ours ^ theirs) % shards_.size()];
      {
        const std::scoped_lock lock(shard.mutex);
        if (const auto found = shard.answers.find(key); found != shard.answers.end())
          return found->second;
      }
      const Answer answer = make();
      const std::scoped_lock lock(shard.mutex);
      constexpr std::size_t most = 100'000;
      if (shard.answers.size() > most) shard.answers.clear();
      shard.answers.emplace(key, answer);
      return answer;
    }

   private:
    struct Shard {
      std::mutex mutex;
      std::unordered_map<std::uint64_t, Answer> answers;
    };
    std::array<Shard, 16> shards_;
  };

  std::mutex mutex_;
  std::map<std::array<std::uint32_t, 4>, Described> described_;  // by facts, place, GPUs, user
  std::map<Fields, std::uint32_t> fields_ids_;
  Pairs<Similarity> similarities_;  // by fields_id
  Pairs<Repetition> repetitions_;   // by id
};

}  // namespace schedmate::advisor
