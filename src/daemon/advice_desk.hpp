// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Studies of code that was read when its job came, say before a restart: the advice that the
/// history has on that job is the answer, and nothing is read or written. Of others the script is
/// looked for (script_desk.hpp). A thread of its own asks the history. One thread asks here.

#include <cstdint>
#include <optional>
#include <schedmate/connector.hpp>
#include <utility>

#include "daemon/found_history.hpp"
#include "daemon/script_desk.hpp"

namespace schedmate::daemon {

class AdviceDesk {
 public:
  AdviceDesk(Studies& studies, settings::Session session)
      : studies_(studies), scripts_(studies), history_(std::move(session)) {}

  /// As ScriptDesk::read_by().
  void read_by(ScriptDesk::Read read) { scripts_.read_by(std::move(read)); }

  /// As Studies::make(); `ask` answers as long as this is there.
  void make(std::uint64_t loop, live::Study study, const reader::Ask& ask);

 private:
  /// Nothing: it was never advised on. Errors: those of the history.
  Result<std::optional<live::CodeFound>> given(const SeenJob& job);

  Studies& studies_;
  ScriptDesk scripts_;
  FoundHistory history_;  // of the worker's thread
  Worker worker_;         // last: it uses what stands above
};

}  // namespace schedmate::daemon
