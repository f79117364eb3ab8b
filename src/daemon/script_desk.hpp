// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Studies of code whose command the cluster does not tell, but keeps as a script: that is read
/// first, in a thread of its own. One thread asks.

#include <cstdint>
#include <functional>
#include <schedmate/connector.hpp>
#include <string>
#include <utility>

#include "daemon/studies.hpp"
#include "daemon/worker.hpp"

namespace schedmate::daemon {

class ScriptDesk {
 public:
  explicit ScriptDesk(Studies& studies) : studies_(studies) {}

  /// Null, as at first: the cluster keeps none. Before the first study.
  using Read = std::function<Result<std::string>(const SeenJob& job)>;
  void read_by(Read read) { read_ = std::move(read); }

  /// As Studies::make(); `ask` answers as long as this is there.
  void make(std::uint64_t loop, live::Study study, const reader::Ask& ask) {
    const bool needs_script = study.what == live::Study::What::code && study.job.command.empty();
    if (!needs_script || !read_) return studies_.make(loop, study, ask);
    worker_.ask([this, loop, ask, study = std::move(study)]() mutable {
      auto script = read_(study.job);
      if (!script) return studies_.settle(loop, study.number, tl::unexpected(script.error()));
      study.job.command = std::move(*script);
      studies_.make(loop, study, ask);
    });
  }

 private:
  Studies& studies_;
  Read read_;
  Worker worker_;  // last: it uses what stands above
};

}  // namespace schedmate::daemon
