// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A disk in memory that fails as disks do, as a file system of SQLite's: by seed, and the same
/// each time. Writes are kept back until a sync. When the power goes, each sector (512 bytes) that
/// was written since holds any of the versions that it had since, so writes are torn, lost and
/// reordered. Everything is one thread's.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace schedmate::testing {

struct DiskFaults {
  /// Chances of each operation to fail.
  double sync_error = 0;   ///< and what it should have kept is lost unless it is written again
  double lost_sync = 0;    ///< it succeeds, and keeps nothing: the next one may
  double write_error = 0;  ///< a part of it is written
  double read_error = 0;   ///< a part of it is read
  /// Bytes of all files together, above which a write fails, half done.
  std::size_t capacity = std::numeric_limits<std::size_t>::max();
};

enum class Loss : std::uint8_t {
  process,  ///< killed: what was written is there, and what was not synced still is not
  all,      ///< the power went: what was not synced is gone
  some,     ///< of what was not synced, anything may be there
};

/// What lies on a disk: a value, so that one moment can be tried again and again.
struct DiskImage {
  struct File {
    std::string synced, seen;  ///< as the platter has it, and as a reader sees it
    /// Sectors that were written since the platter's version, and what they held between that and
    /// what is seen, oldest first.
    std::map<std::size_t, std::vector<std::string>> waiting;
    std::set<std::size_t> abandoned;  ///< those among them that no sync will keep any more
    std::vector<std::size_t> sizes;   ///< of the file, since the platter's
    bool named = false;               ///< its name survives a power cut
    bool promised = false;            ///< a sync said that it kept what it did not
  };
  std::map<std::string, File> files;
  std::map<std::string, File> deleted;  ///< those whose deletion may not survive
};

class FaultyDisk {
 public:
  explicit FaultyDisk(std::uint64_t seed);
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk();  ///< all its files are closed

  /// Its name for SQLite.
  [[nodiscard]] const std::string& vfs() const;

  DiskFaults faults;
  /// Called before each operation that changes the disk (write, truncate, sync, delete): a moment
  /// at which it may all end.
  std::function<void()> before_change;

  /// From here on every operation fails, until crash(). Files can be closed.
  void stop();
  /// The power goes, or only the process; then the disk works again. All files are closed.
  void crash(Loss loss);

  [[nodiscard]] const DiskImage& image() const;
  void restore(const DiskImage& image);  ///< all files are closed

  [[nodiscard]] std::int64_t changes() const;  ///< operations so far that changed it
  [[nodiscard]] std::int64_t syncs() const;
  /// Crashes that may have lost what a sync said it kept.
  [[nodiscard]] std::int64_t losses() const;
  [[nodiscard]] std::int64_t failures() const;  ///< operations that failed by chance or for room

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace schedmate::testing
