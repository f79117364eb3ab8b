// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A replay in another process (server.hpp).

#include <schedmate/connector.hpp>
#include <string>
#include <unordered_map>

#include "base/descriptor.hpp"
#include "base/document.hpp"

namespace schedmate::replay {

class RemoteCluster final : public Connector {
 public:
  explicit RemoteCluster(std::string socket) : socket_(std::move(socket)) {}

  Result<Abilities> abilities(Deadline within) override;
  Result<Listing> list(SimTime ended_since, Deadline within) override;
  Result<std::optional<SeenJob>> job(const std::string& id, Deadline within) override;
  CallReply call(const ActionCall& call, Deadline within) override;
  Result<std::optional<std::string>> find_submission(const std::string& token,
                                                     Deadline within) override;

  struct Time {
    SimTime now, next;  ///< when something happens by itself; `never`: the trace is over
  };
  /// Where time waits for its client it goes on to what happens next, but not beyond `to`.
  Result<Time> advance(SimTime to, Deadline within);

 private:
  /// Connects if need be; after an error the connection is closed.
  Result<Document> ask(Document request, Deadline within);
  void merge(Listing changes);
  Result<Document> ask_once(const std::string& line, Deadline within);

  std::string socket_;
  Descriptor connection_;
  std::int64_t asked_ = 0;  // requests: an answer names its own
  std::string rest_;        // read, but not asked for yet
  // The cluster as it was last read: of the next reading only changes are asked for.
  Listing last_{.version = -1, .now = {}, .jobs = {}, .ended_since = {}, .nodes = {}};
  std::unordered_map<std::string, std::size_t> places_;  // of its jobs
};

}  // namespace schedmate::replay
