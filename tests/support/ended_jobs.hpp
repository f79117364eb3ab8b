// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Jobs that have ended, and a history that is away until it comes back.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <schedmate/store.hpp>
#include <string>
#include <vector>

#include "daemon/end_queue.hpp"
#include "sqlite/database.hpp"
#include "tests/support/cluster_site.hpp"
#include "tests/support/need.hpp"

namespace schedmate::testing {

/// With code to be read.
inline SeenJob training_job(const std::string& id, std::int64_t submitted_s = 1000) {
  SeenJob job;
  job.id = id;
  job.user = "ann";
  job.name = "train";
  job.partition = "gpu";
  job.gpus = 4;
  job.dir = "/r";
  job.command = "python train.py";
  job.submitted = at(submitted_s);
  return job;
}

/// Nothing is known of its code.
inline daemon::Ended ended_job(const std::string& id, Seconds ran = Seconds(60),
                               std::int64_t submitted_s = 1000) {
  daemon::Ended end{.job = training_job(id, submitted_s)};
  end.job.dir.clear();
  end.job.started = at(submitted_s + 60);
  end.job.ended = *end.job.started + ran;
  end.job.phase = JobPhase::ended;
  end.job.end_state = EndState::completed;
  return end;
}

/// As the queue of ends does it.
inline void keep_ends(daemon::Historian& historian, const std::vector<daemon::Ended>& ends) {
  std::vector<daemon::EndRecord> records;
  for (const daemon::Ended& end : ends) records.push_back(need(daemon::Historian::end_record(end)));
  need(historian.keep(records));
}

class AwayHistory {
 public:
  [[nodiscard]] settings::Session session() const {
    settings::Session made = site_.session();
    need(made.settings.set("store", where(), "test"));
    return made;
  }
  /// The folder of its file, which was not there.
  void come_back() const { std::filesystem::create_directory(site_.here.path("history")); }
  /// Its table of jobs is gone, for whoever has it open, too.
  void damage() const {
    const auto database =
        need(sqlite::Database::open({.path = site_.here.path("history") + "/history.sqlite"}));
    database->run("DROP TABLE jobs");
    need(database->take_error());
  }
  [[nodiscard]] std::string ends_file() const { return site_.here.path("ends.sqlite"); }
  /// Another process looks at it.
  [[nodiscard]] std::optional<JobRecord> kept(const std::string& id) const {
    return need(store()->get(id));
  }
  [[nodiscard]] std::unique_ptr<Store> store() const { return need(open_store(where())); }

 private:
  [[nodiscard]] std::string where() const {
    return "sqlite:" + site_.here.path("history") + "/history.sqlite";
  }
  ClusterSite site_;
};

}  // namespace schedmate::testing
