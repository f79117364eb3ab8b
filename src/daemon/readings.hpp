// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The routes that are answered from logs and trees of users. schedmate-reader reads them, each
/// with the rights of the job's owner or of whoever asks, here or on the machines of workers; in
/// this process nothing of theirs is opened.

#include <memory>
#include <optional>
#include <string>

#include "daemon/model_desk.hpp"
#include "daemon/worker_desk.hpp"
#include "http/options.hpp"
#include "live/jobs.hpp"
#include "reader/client.hpp"

namespace schedmate::daemon {

class Studies;

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
  /// `socket` is that of the reader; "": there is none here. Code is read here, and `studies`
  /// advise on it. What rules leave open of what is read is put to the models of the session's
  /// settings. Workers are asked where the settings name a queue; `report` gets a line for the log
  /// when they are lost, by any thread.
  Readings(const std::string& socket, const settings::Session& session, Studies& studies,
           const std::function<void(const std::string&)>& report);

  Readings(const Readings&) = delete;
  Readings& operator=(const Readings&) = delete;
  /// Whoever still waits for workers is told, and may ask the reader for more.
  ~Readings() { workers_.reset(); }

  /// Null: there is none here.
  [[nodiscard]] reader::Client* client() { return reader_.get(); }
  /// Whoever reads; empty: nobody.
  [[nodiscard]] reader::Ask asker();
  /// Zeros where no workers are configured.
  [[nodiscard]] WorkerDesk::Counts of_workers() const;
  /// For requests that is_reading() holds of; waits for nobody.
  void take(const http::Request& request, const std::shared_ptr<http::Answer>& answer,
            const live::Jobs& jobs);

 private:
  void ask(reader::Request request, reader::Take take);
  void read_here(reader::Request request, const reader::Take& take);

  Studies& studies_;
  std::unique_ptr<ModelDesk> models_;       // null: none are set
  std::unique_ptr<reader::Client> reader_;  // it asks them
  std::unique_ptr<WorkerDesk> workers_;     // null: none; what they do not read that one does
};

}  // namespace schedmate::daemon
