// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A restart truncates the log of a job where the cluster does not append: the end of it is kept in
/// the state folder before, as the reader gives it (redacted, at most 1 MiB), the last ones only.

#include <functional>
#include <schedmate/connector.hpp>
#include <string>

#include "reader/client.hpp"

namespace schedmate::daemon {

class KeptLogs {
 public:
  static constexpr std::size_t most = 200;  ///< files

  explicit KeptLogs(const std::string& state_dir) : folder_(state_dir + "/logs") {}

  /// STATE_DIR/logs/JOB.RESTARTS.log
  [[nodiscard]] std::string path_of(const SeenJob& job) const;
  /// `then` is called once, by any thread, also where nothing could be kept. Nothing is written
  /// once this is gone.
  void keep(const SeenJob& job, reader::Client& reader, std::function<void()> then) const;

 private:
  std::string folder_;
};

/// The text of the reader's answer.
[[nodiscard]] std::string text_of_tail(const Document& tail);
/// All but the last ones are removed.
void forget_old_logs(const std::string& folder, std::size_t most);

}  // namespace schedmate::daemon
