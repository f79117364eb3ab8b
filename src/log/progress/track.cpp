// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "log/lines/lines.hpp"
#include "log/progress/put_questions.hpp"
#include "log/progress/track_with.hpp"

namespace schedmate {
namespace {

constexpr std::size_t first_bytes = std::size_t{1} << 18U;
constexpr std::size_t most_tail_bytes = std::size_t{1} << 24U;
constexpr std::uint64_t enough_progress_lines = 64;
constexpr std::size_t least_unknown_at_end = 6;  ///< lines of a shape that somebody is asked about

/// The end of a file, read back until it holds enough progress lines.
Result<progress::ProgressTracker> tracked(const ForeignPath& path, const progress::LogWords& words,
                                          ShapeReader* reader, std::string& fault) {
  for (std::size_t bytes = first_bytes;; bytes *= 8) {
    auto tail = lines::tail_of(path, bytes);
    if (!tail) return tl::unexpected(tail.error());
    fault = tail->fault;
    std::ranges::replace(tail->text, '\r', '\n');  // a bar is a line of any length
    std::optional<progress::UnknownShapes> unknown;
    if (reader != nullptr) unknown.emplace(words, least_unknown_at_end);
    progress::ProgressTracker tracker(words, std::move(unknown));
    lines::each_line_of(tail->text, [&](const lines::Line& line) {
      tracker.add(line.text);
      return true;
    });
    if (!tail->complete && tracker.lines() < enough_progress_lines && bytes < most_tail_bytes)
      continue;
    if (reader != nullptr) progress::put_questions(tracker, *reader);
    return tracker;
  }
}

/// How much an answer says.
int worth(const Progress& progress) {
  return (progress.step_time_s ? 4 : 0) + (progress.step ? 2 : 0) + (progress.loss ? 1 : 0);
}

template <class Value>
void fill(std::optional<Value>& here, const std::optional<Value>& there) {
  if (!here) here = there;
}

}  // namespace

Result<Progress> progress::track_with(const LogWords& words, const ForeignPath& log) {
  std::string fault;
  auto tracker = tracked(log, words, nullptr, fault);
  if (!tracker) return tl::unexpected(tracker.error());
  Progress made = tracker->now();
  if (!fault.empty()) made.unread.push_back(std::move(fault));
  return made;
}

Result<Progress> track(const std::string& path, const TrackOptions& options) {
  return track(std::span(&path, 1), options);
}

Result<Progress> track(std::span<const std::string> paths, const TrackOptions& options) {
  const auto words = progress::LogWords::load(options.rules);
  if (!words) return tl::unexpected(words.error());
  std::vector<Progress> found;
  std::vector<std::string> unread;
  std::optional<Error> error;
  for (const auto& path : paths) {
    std::string fault;
    auto tracker = tracked({path, options.access}, *words, options.reader.get(), fault);
    if (!fault.empty()) unread.push_back(std::move(fault));
    if (tracker)
      found.push_back(tracker->now());
    else if (!error)
      error = tracker.error();
  }
  if (found.empty())
    return tl::unexpected(error.value_or(Error{ErrorCode::invalid, "no log was given"}));
  std::ranges::stable_sort(found, std::greater{}, worth);
  Progress& best = found.front();
  for (const Progress& other : found) {
    fill(best.step, other.step);
    fill(best.total_steps, other.total_steps);
    fill(best.epoch, other.epoch);
    fill(best.total_epochs, other.total_epochs);
    fill(best.loss, other.loss);
    fill(best.throughput, other.throughput);
    best.confidence.insert(other.confidence.begin(), other.confidence.end());
  }
  best.unread = std::move(unread);
  return best;
}

Result<std::vector<Report>> reports_of(const std::string& path, const TrackOptions& options) {
  const auto words = progress::LogWords::load(options.rules);
  if (!words) return tl::unexpected(words.error());
  std::string fault;
  const auto tracker = tracked({path, options.access}, *words, nullptr, fault);
  if (!tracker) return tl::unexpected(tracker.error());
  return tracker->reports(progress::ProgressTracker::Clock::stamps);
}

}  // namespace schedmate
