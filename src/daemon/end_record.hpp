// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a job ended, as the history takes it, and as text while it waits for that.

#include <cstdint>
#include <schedmate/job_record.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::daemon {

struct EndRecord {
  JobRecord record;     ///< with its outcome; without secrets
  bool is_old = false;  ///< it had ended before this daemon began: what is on record of it stays
  /// Where it stands on the disk, from 1 on: what is on record of a later end stays. 0: nowhere.
  std::int64_t place = 0;
};

/// One JSON object, without the place. Of the record what a cluster tells of a job: no facts, no
/// advice.
[[nodiscard]] std::string end_text(const EndRecord& end);
/// What end_text() made. Errors: invalid.
[[nodiscard]] Result<EndRecord> read_end(std::string_view text);

}  // namespace schedmate::daemon
