// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue that Ray lacks, and what was asked of it: jobs that wait, are about to be started or
/// run, with their attempts, and drained nodes. Each change is on the disk before anything is asked
/// of Ray, so that a daemon that was killed knows which attempts there may be. One thread.

#include <map>
#include <memory>
#include <optional>
#include <schedmate/connector.hpp>
#include <string>
#include <vector>

#include "sqlite/database.hpp"

namespace schedmate::ray_live {

/// Where an attempt is.
enum class Stage : std::uint8_t {
  none,   ///< there is none: the job waits or has ended
  asked,  ///< Ray was asked to start it, and has not said whether it does
  taken,  ///< Ray has it
};

/// What was asked of Ray besides, and has not shown yet.
enum class Ending : std::uint8_t { none, evict, cancel, requeue };

struct Entry {
  SeenJob seen;  ///< as it is shown
  Stage stage = Stage::none;
  Ending ending = Ending::none;
  std::int64_t launches = 0;  ///< attempts so far: each has an id of its own
  std::string session{};      ///< of the head that was asked; of its driver, behind a slash
  SimTime start_by{};         ///< later than this the attempt does not begin any more
  std::vector<NodeGpus> where{};
  std::string shared_with{};
  bool counted = false;                 ///< Ray counts its GPUs
  std::vector<std::string> excluded{};  ///< nodes on which it must not start
  std::int64_t unstarted = 0;           ///< attempts in a row that never ran

  [[nodiscard]] bool holds_gpus() const { return stage != Stage::none; }
  [[nodiscard]] bool is_by_driver() const { return session.contains('/'); }
};

class Ledger {
 public:
  using Entries = std::map<std::int64_t, Entry>;

  /// Opens or makes the file. Errors: those of sqlite::Database; invalid (it is damaged).
  static Result<Ledger> open(const std::string& path, const std::string& new_instance);

  [[nodiscard]] const Entries& entries() const { return entries_; }
  [[nodiscard]] const Entry* find(const std::string& id) const;
  [[nodiscard]] const Entry* with_token(const std::string& token) const;
  /// By which this ledger's attempts are known to Ray; drawn once.
  [[nodiscard]] const std::string& instance() const { return instance_; }
  /// What Ray knows its present attempt by.
  [[nodiscard]] std::string ray_id(const Entry& entry) const;

  /// With the next number as its id. Errors: unavailable.
  [[nodiscard]] Result<std::string> add(Entry entry);
  /// As it is from now on. Errors: unavailable; what stands here is then as before.
  [[nodiscard]] Result<void> put(Entry entry);
  /// Those that ended before. Errors: unavailable.
  [[nodiscard]] Result<void> forget(SimTime ended_before);

  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& drains() const {
    return drains_;
  }
  /// "": it is in service. Errors: unavailable.
  [[nodiscard]] Result<void> drain(const std::string& node, const std::string& reason);

 private:
  Ledger() = default;
  Result<void> read();
  std::unique_ptr<sqlite::Database> file_;
  std::string instance_;
  Entries entries_;
  std::map<std::string, std::string, std::less<>> drains_;
  std::int64_t next_ = 1;
};

}  // namespace schedmate::ray_live
