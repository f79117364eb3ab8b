// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ends of jobs that wait for the history on the disk, in an SQLite file that is there only while
/// some wait. What add() acknowledged survives a kill and a power cut. A file that cannot be read,
/// or is of another program, is set aside under another name. One thread at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/end_record.hpp"
#include "sqlite/database.hpp"

namespace schedmate::daemon {

class WaitingEnds {
 public:
  struct Options {
    /// In a folder of one's own that is there.
    std::string path{};
    /// Of more the oldest are dropped; bytes of their texts.
    std::int64_t most_ends = 200'000, most_bytes = std::int64_t{256} << 20;
    /// A file system of SQLite's, for tests on a disk that fails; "" = the machine's.
    std::string vfs{};
  };
  using Report = std::function<void(const std::string& line)>;

  WaitingEnds(Options options, Report report)
      : options_(std::move(options)), report_(std::move(report)) {}

  /// What an earlier process left. Errors: unavailable.
  Result<void> look();
  /// Behind those that wait, all or none of them. Where one waits of the same job and submission
  /// the new one is kept instead; of an old one nothing then. Errors: unavailable.
  Result<void> add(std::span<const EndRecord> ends);
  struct Batch {
    std::vector<EndRecord> ends;
    std::int64_t last = 0;         ///< place of the last, readable or not; 0: there is none
    std::uint64_t unreadable = 0;  ///< among them, and left out
  };
  /// Those that have waited longest. Errors: unavailable.
  Result<Batch> oldest(std::size_t most);
  /// These, up to a place that oldest() gave, wait no more. After an error they still are in the
  /// file, and go with the next change; this process does not give them again.
  Result<void> remove(std::int64_t place);

  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(totals_.ends); }
  /// For want of room, or set aside.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Totals {
    std::int64_t ends = 0, bytes = 0;
  };
  /// Opens the file where it is not. One that is of no use is set aside for a new one.
  template <class Work>
  auto on_file(const Work& work) -> decltype(work());
  Result<void> open();
  bool set_aside(const Error& why);
  Result<void> write(std::span<const EndRecord> ends);
  void put(const EndRecord& end, Totals& totals);
  std::uint64_t make_room(Totals& totals);
  Result<Batch> read(std::size_t most);
  void forget_given();
  void leave_no_file();

  Options options_;
  Report report_;
  std::unique_ptr<sqlite::Database> database_;
  Totals totals_;           // of those that wait
  std::int64_t given_ = 0;  // up to this place they wait no more, though they may be in the file
  std::vector<std::pair<std::int64_t, std::int64_t>> read_;  // places and bytes that oldest() gave
  std::uint64_t dropped_ = 0;
};

}  // namespace schedmate::daemon
