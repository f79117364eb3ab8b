// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What matters of a kernel's log: faults of the machine and what it did to a job. Names and
/// numbers of processes are left out. No I/O, no clock.

#include <cstdint>
#include <map>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "log/witness/kernel_rules.hpp"
#include "probe/report.hpp"

namespace schedmate::probe {

class KernelSifter {
 public:
  /// Of a line; what is longer is cut.
  static constexpr std::size_t longest_line = 8192;
  /// Read between two take_out(); the rest is skipped and counted, however fast a log grows.
  static constexpr std::size_t most_bytes = std::size_t{4} << 20U;

  /// By the built-in rules and those of `folder` ("" = none). Errors: invalid.
  static Result<KernelSifter> load(const std::string& folder);

  /// Bytes of a log as text (dmesg, journalctl -k); lines may be cut anywhere.
  void take(std::string_view bytes, std::int64_t now_s);
  /// What comes next is another file: a line that was begun has no end.
  void restart();
  /// A record of /dev/kmsg. `now_us`: on the clock of its stamps. What a program wrote there is
  /// none of the kernel's.
  void take_record(std::string_view record, std::int64_t now_s, std::int64_t now_us);
  /// Which GPU is at which address; and Xids that only DCGM tells of, once it tells of another one
  /// than at first.
  void take(const Sample& sample);

  /// What was found since the last call, the same only once; at most most_events, the more severe
  /// first.
  [[nodiscard]] std::vector<KernelEvent> take_out();
  [[nodiscard]] std::uint64_t skipped_bytes() const { return skipped_; }

 private:
  explicit KernelSifter(witness::KernelRules rules, witness::XidTable xids);
  void take_line(std::string_view line, std::int64_t now_s);
  void judge(std::string_view message, std::int64_t at_s);
  bool may_read(std::size_t bytes);

  witness::KernelRules rules_;
  witness::XidTable xids_;
  std::string begun_;                                  // a line without its end
  std::map<std::string, unsigned, std::less<>> gpus_;  // by address
  std::map<std::string, std::uint64_t, std::less<>> last_xids_;
  std::map<std::string, KernelEvent, std::less<>> found_;  // by what makes them the same
  std::size_t read_ = 0;
  std::uint64_t skipped_ = 0;
};

/// The line without what tells of a process: its name, number, user.
[[nodiscard]] std::string without_processes(std::string_view message);

}  // namespace schedmate::probe
