// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The failure lines of one log, collected in a single pass: tracebacks are followed for each rank,
/// of chained exceptions the first one is the cause, repetitions are kept once, memory is bounded.

#include <map>

#include "log/failure/locate.hpp"
#include "log/lines/lines.hpp"

namespace schedmate::failure {

class FailureScan {
 public:
  FailureScan(std::size_t file, const LocateInput& input) : file_(file), input_(input) {}
  void take(const lines::Line& line);

  [[nodiscard]] const std::vector<FailureLine>& found() const { return found_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  /// Where one rank is in its traceback.
  struct Trace {
    std::uint64_t begins = 0;  ///< 0: outside
    std::uint64_t seen = 0;    ///< its last line so far
    bool after_frame = false;
    bool wrapped = false;             ///< its exception quotes another traceback
    bool ignored = false;             ///< Python went on after it
    bool quoted = false;              ///< the first of a chain is another process's
    LineMark chain = LineMark::none;  ///< how the next exception hangs on the last one
    std::size_t last = nothing;       ///< the last exception, as index of found_
  };
  static constexpr std::size_t nothing = static_cast<std::size_t>(-1);

  void take_state(std::uint64_t number, std::string_view state);
  void take_mark(const FailureLine& at, LineMark mark);
  void take_plain(FailureLine at, bool failure);
  /// True: the line is code of a frame or otherwise no message.
  [[nodiscard]] bool is_code(const Trace& trace, std::string_view text) const;
  void drop_introduction(const FailureLine& at, const Trace& trace);
  void add_exception(FailureLine at, Trace& trace);
  /// Where it is kept: its own place, or that of the line it repeats.
  std::size_t add(FailureLine at);
  void shrink();
  void begin_run();
  void forget_traces();
  [[nodiscard]] bool may_belong(std::uint64_t number) const;
  /// The first lines of the log come again after a failure.
  [[nodiscard]] bool begins_again(std::uint64_t hash, const LineVerdict& verdict);

  std::size_t file_;
  const LocateInput& input_;
  std::vector<FailureLine> found_;
  std::map<int, Trace> traces_;
  std::vector<std::uint64_t> first_lines_;  ///< templates
  std::uint64_t lines_ = 0, progress_ = 0, announced_ = 0, first_again_ = 0;
  std::uint64_t trace_seen_ = 0;  ///< newest line of a traceback
  std::uint64_t trace_line_ = 0;  ///< at least the `seen` of every trace
  bool frame_open_ = false;       ///< unless it is set, no trace is `after_frame`
  std::uint64_t progress_line_ = 0;
  std::uint32_t run_ = 0, era_ = 0;
  std::uint64_t quiet_ = 0;  ///< ordinary lines since the last failure line
  std::string scratch_;
};

}  // namespace schedmate::failure
