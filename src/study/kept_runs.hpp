// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What single runs of an experiment gave, a file each, so that a run that was interrupted goes on
/// where it stopped and several machines with one folder share the work
/// (docs/formats/experiment.md).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/evaluate_estimates.hpp"
#include "study/figures.hpp"

namespace schedmate::study {

/// Which of the runs are made here: each `of`-th, beginning with number `index`, from 0.
struct Shard {
  std::size_t index = 0, of = 1;
};
/// "K/N", 1 <= K <= N <= 10000. Errors: unsupported.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);

/// What one run gave, as numbers; their meaning is that of the code that wrote them.
using RunNumbers = std::vector<double>;

/// Reads in the order in which they were appended. What is missing is NaN, and then is_whole() is
/// false.
class NumberReader {
 public:
  explicit NumberReader(std::span<const double> numbers) : left_(numbers) {}
  double next();
  /// A number of things that are at most one number each.
  std::size_t next_count();
  /// Whether all that was asked for was there, and nothing else.
  [[nodiscard]] bool is_whole() const { return !is_short_ && left_.empty(); }

 private:
  std::span<const double> left_;
  bool is_short_ = false;
};

/// How each kind of value is written, and read back.
void append_numbers(RunNumbers& numbers, const Figures& value);
void append_numbers(RunNumbers& numbers, const EstimateErrors& value);
void append_numbers(RunNumbers& numbers, const std::vector<double>& value);
void take_numbers(NumberReader& numbers, Figures& value);
void take_numbers(NumberReader& numbers, EstimateErrors& value);
void take_numbers(NumberReader& numbers, std::vector<double>& value);

/// One run of an experiment: the trace and the point by their place in its file, the perturbation
/// from 0.
struct RunName {
  std::size_t trace = 0, point = 0, perturbation = 0;
};

/// How many runs an experiment has: one for each trace, point and perturbation.
struct RunCounts {
  std::size_t traces = 1, points = 1, perturbations = 1;
};

/// The runs of one experiment with the same inputs and code. Threads: any.
class KeptRuns {
 public:
  /// `folder` is made with the first file.
  KeptRuns(std::string folder, Shard shard, const RunCounts& counts)
      : folder_(std::move(folder)), shard_(shard), counts_(counts) {}

  /// Whether some runs are made elsewhere, so that there are no rows yet.
  [[nodiscard]] bool is_part() const { return shard_.of > 1; }
  [[nodiscard]] bool is_own(const RunName& run) const;
  /// Of all shards, and of this one.
  [[nodiscard]] std::size_t count() const {
    return counts_.traces * counts_.points * counts_.perturbations;
  }
  [[nodiscard]] std::size_t own_count() const {
    return count() / shard_.of + (shard_.index < count() % shard_.of ? 1 : 0);
  }
  /// None where the run was not kept, or its file is not whole.
  [[nodiscard]] std::optional<RunNumbers> find(const RunName& run) const;
  /// Errors: of writing it.
  [[nodiscard]] Result<void> keep(const RunName& run, std::span<const double> numbers) const;

 private:
  [[nodiscard]] std::string path_of(const RunName& run) const;
  std::string folder_;
  Shard shard_;
  RunCounts counts_;
};

/// What a run gives: as it was kept, or as make() gives it, which is kept then; none where it is
/// another shard's. Values is a vector of what append_numbers() and take_numbers() have. Errors: of
/// make(), of keeping.
template <class Values, class Make>
Result<std::optional<Values>> kept_or_made(const KeptRuns& runs, const RunName& run,
                                           const Make& make) {
  if (!runs.is_own(run)) return std::nullopt;
  if (const auto numbers = runs.find(run)) {
    NumberReader reader(*numbers);
    Values values(reader.next_count());
    for (auto& value : values) take_numbers(reader, value);
    if (reader.is_whole()) return values;
  }
  Result<Values> made = make();
  if (!made) return tl::unexpected(made.error());
  RunNumbers numbers{static_cast<double>(made->size())};
  for (const auto& value : *made) append_numbers(numbers, value);
  if (auto kept = runs.keep(run, numbers); !kept) return tl::unexpected(kept.error());
  return std::move(*made);
}

}  // namespace schedmate::study
