// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whoever makes the loop's studies: schedmate-reader reads a job's code, log or failure with the
/// rights of its owner, the history says what that means; and the history learns how jobs ended.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/end_queue.hpp"
#include "daemon/historian.hpp"
#include "daemon/shared_readings.hpp"
#include "daemon/worker.hpp"
#include "live/events.hpp"
#include "reader/client.hpp"

namespace schedmate::daemon {

class Studies {
 public:
  /// `loop`: which one asked, as each numbers its studies anew.
  using Take = std::function<void(std::uint64_t loop, live::Studied)>;

  /// `take` is called by other threads, once for each study; `report` with lines for the log.
  Studies(const settings::Session& session, Take take, WaitingEnds::Report report = {})
      : take_(std::move(take)),
        shared_(most_readings(session)),
        historian_(session),
        ends_(historian_, {.disk = {.path = session.state_dir() + "/ends.sqlite"}},
              std::move(report)) {}

  /// Waits for nobody. `ask` answers no more once this is gone; empty: nothing can be read.
  void make(std::uint64_t loop, const live::Study& study, const reader::Ask& ask);
  /// One is not to be made: somebody else has what it finds, or it cannot be.
  void settle(std::uint64_t loop, std::uint64_t study, Result<live::Finding> finding) {
    take_(loop, {study, std::move(finding)});
  }
  /// For somebody who asks about facts as the reader gave them: as Historian::advise(). Any thread;
  /// `take` is called by another.
  void advise(service::AdviseRequest request, Document facts, reader::Take take);
  /// It has ended; what was found of it, and measured of its GPUs.
  void remember(const live::Attempt& attempt, const live::Life* life, const probe::JobUse* use);
  /// What an earlier daemon has left on the disk. The journal is this process's by then, and so is
  /// the folder. `jobs`: as the journal has them. Those that have ended, for which the earlier one
  /// may have had no time, are remembered with seen().
  void begin(const live::Jobs& jobs);
  /// After the first reading: the cluster tells more of them than the journal.
  void seen(const live::Jobs& jobs, const live::Lives& lives);
  /// Ends that the history could not take for now are given to it again.
  void try_again();
  [[nodiscard]] HistoryEnds ends() { return ends_.counts(); }

 private:
  using Answer = std::function<void(Result<live::Finding>)>;
  /// At a time: as few as this machine reads fast, or for workers that may be many.
  [[nodiscard]] static std::size_t most_readings(const settings::Session& session);
  /// Jobs that were submitted alike and wait for advice, with what was read last of their code.
  struct Alike {
    SharedReadings::Read facts;
    std::vector<SeenJob> jobs;
    std::vector<Answer> answers;
  };
  void advise(const SeenJob& job, const SharedReadings::Read& facts, const Answer& answer);
  void advise_all(const std::string& key);
  void remember(Ended end);
  void give_ends();

  Take take_;
  std::mutex mutex_;
  std::map<std::string, Alike> alike_;
  SharedReadings shared_;
  Historian historian_;  // of the worker's thread
  EndQueue ends_;
  std::vector<live::Attempt> ended_before_;  // of the loop's thread, until the first reading
  Worker worker_;                            // last: it uses what stands above
};

/// What the reader is asked for a study. Errors: not_found where the cluster does not tell enough.
[[nodiscard]] Result<reader::Request> reading_for(const live::Study& study);

}  // namespace schedmate::daemon
