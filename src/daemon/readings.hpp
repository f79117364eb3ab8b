// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The routes that are answered from logs and trees of users. schedmate-reader reads them, each
/// with the rights of the job's owner or of whoever asks; here nothing of theirs is opened.

#include <memory>
#include <optional>
#include <string>

#include "daemon/model_desk.hpp"
#include "http/options.hpp"
#include "live/jobs.hpp"
#include "reader/client.hpp"

namespace schedmate::daemon {

/// Where it logs, absolute. Errors: not_found.
[[nodiscard]] Result<std::string> log_path_of(const SeenJob& job);

/// Whether a route is one of them.
[[nodiscard]] bool is_reading(const http::Request& request);

/// What the reader is asked. Errors: not_found (no such job, or no log that is known), refused
/// (another's log), invalid.
[[nodiscard]] Result<reader::Request> reading_of(const http::Request& request,
                                                 const live::Jobs& jobs);

class Readings {
 public:
  /// `socket` is that of the reader; "": there is none. What rules leave open of what is read is
  /// put to the models of the session's settings.
  Readings(const std::string& socket, const settings::Session& session);

  /// Null: there is none.
  [[nodiscard]] reader::Client* client() { return reader_.get(); }
  /// For requests that is_reading() holds of; waits for nobody.
  void take(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
            const live::Jobs& jobs);

 private:
  std::unique_ptr<ModelDesk> models_;       // null: none are set
  std::unique_ptr<reader::Client> reader_;  // it asks them
};

}  // namespace schedmate::daemon
