// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A copy of a job's folder as it is when the job is submitted: it may wait for hours, and runs
/// what was submitted though its owner edits on.

#include <cstddef>
#include <cstdint>
#include <schedmate/result.hpp>
#include <string>

#include "settings/environment.hpp"

namespace schedmate::service {

struct SnapshotLimits {
  std::uint64_t large = std::uint64_t{16} << 20U;  ///< bytes; a larger file is linked
  std::size_t files = 100'000;                     ///< entries in all
  std::uint64_t bytes = std::uint64_t{1} << 30U;   ///< copied in all
};

struct SnapshotPlace {
  std::string folder;  ///< in which they are (base/own_files.hpp)
  std::string key;     ///< of the submission: those with an equal one share a copy
};

struct Snapshot {
  std::string root;        ///< of the copy
  std::string dir;         ///< the job's folder in it
  std::size_t copied = 0;  ///< 0: it was there
  std::size_t linked = 0;
  std::uint64_t bytes = 0;
};

/// Of `dir`, or of the whole git work tree in which it is and which does not ignore it, into a new
/// folder, which only its owner may enter and which is whole or absent. Copied is what git does
/// not ignore; linked to where it is are ignored and large files, .git, what may not be read, and
/// what is neither file nor folder: so data stays where it is, and what a job writes into an
/// ignored folder comes there. Without git all else is copied. Nothing is left of one that failed.
/// Errors: not_found (no such folder), invalid (more than the limits), refused (others may write
/// into that folder), unavailable (disk full and the like).
[[nodiscard]] Result<Snapshot> take_snapshot(const settings::Environment& environment,
                                             const std::string& dir, const SnapshotPlace& place,
                                             const SnapshotLimits& limits = {});

/// Of a job that was not submitted, where one was taken. What it links to stays.
void drop_snapshot(const Snapshot& snapshot);

}  // namespace schedmate::service
