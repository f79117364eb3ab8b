// SPDX-License-Identifier: Apache-2.0
#include "log/failure/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/inner_stamp.hpp"
#include "log/lines/lines.hpp"

namespace schedmate::failure {
namespace {

constexpr std::uint64_t lines_before = 400;  ///< that show what is usual
constexpr std::size_t most_text = 120;
constexpr std::size_t enough_gaps = 5;
constexpr double shortest_silence = 600;  ///< seconds
constexpr double unusual = 5;             ///< times the longest gap before

struct Before {
  std::string last;              ///< the last progress line
  std::optional<double> silent;  ///< seconds without a line before the end
};

/// Seconds from `a` to `b` of one clock.
std::optional<double> between(const lines::Stamp& a, const lines::Stamp& b) {
  if (a.dated != b.dated) return std::nullopt;
  const double seconds = b.seconds - a.seconds;
  if (seconds >= 0) return seconds;
  return a.dated ? std::nullopt : std::optional(seconds + 86400);
}

/// The gaps between the time stamps of a log.
class Gaps {
 public:
  void add(const lines::Stamp& stamp) {
    if (last_)
      if (const auto gap = between(*last_, stamp)) {
        longest_ = std::max(longest_, newest_.value_or(0));
        newest_ = gap;
        ++count_;
      }
    last_ = stamp;
  }
  /// Something was printed, nobody knows when.
  void lose() {
    longest_ = std::max(longest_, newest_.value_or(0));
    newest_.reset();
    last_.reset();
  }
  /// The last one, where it is far longer than any before.
  [[nodiscard]] std::optional<double> silence() const {
    const bool unheard = newest_ && count_ > enough_gaps && *newest_ >= shortest_silence &&
                         *newest_ > unusual * longest_;
    return unheard ? newest_ : std::nullopt;
  }

 private:
  std::optional<lines::Stamp> last_;
  std::optional<double> newest_;
  double longest_ = 0;
  std::size_t count_ = 0;
};

Result<Before> read_before(const ForeignPath& path, const FailureLine& root) {
  Before before;
  Gaps gaps;
  std::string clean;
  std::string body;
  const auto take = [&](const lines::Line& line) {
    const auto states = lines::states_of(lines::without_escapes(line.text, clean));
    if (states.empty()) return line.number < root.line;
    if (line.number == root.progress_line) before.last = trim(states.back()).substr(0, most_text);
    lines::PrefixedLine read = lines::read_prefixes(states.back());
    lines::extract_stamp(read, body);
    if (read.time)
      gaps.add(*read.time);
    else if (line.number == root.progress_line)
      gaps.lose();
    return line.number < root.line;
  };
  const auto from = root.progress_line > lines_before ? root.progress_line - lines_before : 1;
  if (auto done = lines::each_line(path, take, from); !done) return tl::unexpected(done.error());
  before.silent = gaps.silence();
  return before;
}

}  // namespace

Result<void> name_hang(const ForeignPath& path, const FailureLine& root,
                       lines::FailureVerdict& verdict) {
  const bool named = verdict.reason.starts_with(hung);
  if ((!named && !verdict.outside) || root.progress_line == 0 || root.progress_line >= root.line)
    return {};
  const auto before = read_before(path, root);
  if (!before) return tl::unexpected(before.error());
  if (verdict.outside && !before->silent) return {};
  if (verdict.outside)
    verdict.reason = fmt::format("{}nothing was printed for {:.0f} minutes, then {}", hung,
                                 *before->silent / 60, verdict.reason);
  verdict.reason += fmt::format("; last seen: line {}: {}", root.progress_line, before->last);
  return {};
}

}  // namespace schedmate::failure
