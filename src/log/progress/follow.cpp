// SPDX-License-Identifier: Apache-2.0
#include <schedmate/progress.hpp>
#include <utility>

#include "log/lines/grown_file.hpp"
#include "log/lines/lines.hpp"
#include "log/progress/put_questions.hpp"

namespace schedmate {
namespace {

constexpr std::uint64_t tail_bytes = std::uint64_t{1} << 18U;
/// Lines of a shape that somebody is asked about: more than at the end of a log, more will come.
constexpr std::size_t least_unknown_so_far = 12;

}  // namespace

class ProgressFollower::State {
 public:
  State(ForeignPath path, progress::LogWords words, std::shared_ptr<ShapeReader> reader)
      : words_(std::move(words)),
        reader_(std::move(reader)),
        file_(std::move(path), tail_bytes),
        tracker_(words_, reader_
                             ? std::optional(progress::UnknownShapes(words_, least_unknown_so_far))
                             : std::nullopt) {}

  void ask() {
    if (reader_) progress::put_questions(tracker_, *reader_);
  }

  bool poll(double now_s) {
    tracker_.arrives_at(now_s);
    return file_.read([this](std::string_view piece) { add(piece); }, [this] { half_.clear(); });
  }
  [[nodiscard]] const progress::ProgressTracker& tracker() const { return tracker_; }

 private:
  /// Lines, and states of bars, as far as they are whole.
  void add(std::string_view piece) {
    while (true) {
      const auto end = piece.find_first_of("\r\n");
      const auto part = piece.substr(0, end);
      half_.append(part.substr(0, lines::most_line_bytes - half_.size()));
      if (end == std::string_view::npos) return;
      if (!half_.empty()) tracker_.add(half_);
      half_.clear();
      piece.remove_prefix(end + 1);
    }
  }

  progress::LogWords words_;
  std::shared_ptr<ShapeReader> reader_;
  lines::GrownFile file_;
  progress::ProgressTracker tracker_;
  std::string half_;  ///< of a line that is still written
};

ProgressFollower::ProgressFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgressFollower::ProgressFollower(ProgressFollower&&) noexcept = default;
ProgressFollower& ProgressFollower::operator=(ProgressFollower&&) noexcept = default;
ProgressFollower::~ProgressFollower() = default;

Result<ProgressFollower> ProgressFollower::open(std::string path, const TrackOptions& options) {
  auto words = progress::LogWords::load(options.rules);
  if (!words) return tl::unexpected(words.error());
  return ProgressFollower(std::make_unique<State>(ForeignPath(std::move(path), options.access),
                                                  std::move(*words), options.reader));
}

bool ProgressFollower::poll(double now_s) { return state_->poll(now_s); }

void ProgressFollower::ask() { state_->ask(); }

Progress ProgressFollower::now() const { return state_->tracker().now(); }

std::vector<Report> ProgressFollower::reports() const {
  return state_->tracker().reports(progress::ProgressTracker::Clock::arrival);
}

}  // namespace schedmate
