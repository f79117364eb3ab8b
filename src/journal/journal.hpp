// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the daemon decided, did and saw, in one SQLite file (docs/actions.md). What append()
/// acknowledged survives a kill and a power cut; what it refused is not there. One writer: a lock
/// beside the file for this machine, and for any other an epoch, which every change checks in its
/// own transaction. One thread at a time.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <schedmate/action.hpp>
#include <schedmate/clock.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "journal/audit.hpp"
#include "journal/head.hpp"
#include "sqlite/database.hpp"

namespace schedmate::journal {

class NewEntries;

/// Names of kept values, which open() and reopen() write: why the file may not be what was on
/// record, until somebody agrees that it goes on, and what was agreed to last.
inline constexpr const char* doubt_name = "doubt";
inline constexpr const char* agreed_name = "doubt agreed to";

/// Rules of the journal, for tests that show that the absence of each is found.
struct Rules {
  bool synchronous = true;      ///< a commit waits for the disk
  bool one_transaction = true;  ///< the audit entry is written with what it tells of
  bool check_epoch = true;      ///< a writer that was replaced writes nothing
  bool rewrite_log = true;      ///< what a failed sync left is written again before it is read
  bool keeps_open = true;       ///< compaction leaves actions that are at no end
};

struct Options {
  /// In a folder of one's own that is there; FILE.lock and FILE.head lie beside it.
  std::string path{};
  std::string instance{};  ///< who writes: "HOST:PID", never that of another writer
  /// compact() removes what is oldest while more than that is in use.
  std::int64_t most_bytes = std::int64_t{64} << 20;
  /// A file system of SQLite's; "" = the machine's. With one nothing is locked: the epoch decides.
  std::string vfs{};
  Rules rules{};
};

/// Anything else that the live loop must know after a restart: a job's life that was told, a node
/// that was seen.
struct Event {
  std::int64_t id = 0;    ///< given by the journal, from 1 on; never used again
  std::string kind{};     ///< one of few words
  std::string subject{};  ///< a job, a node
  std::string body{};     ///< JSON
  SimTime when{};
  bool operator==(const Event&) const = default;
};

/// What an operator did that is no action ("breaker closed"), for the audit chain.
struct Remark {
  std::string what{};
  SimTime when{};
  std::string by{};
  std::string note{};
};

struct NewStep {
  std::int64_t action = 0;
  ActionStep step;
};

/// A value that is kept under a name until it is replaced, or removed by an empty one.
struct Kept {
  std::string name{}, value{};
};

/// All of it or nothing, in this order.
struct Batch {
  std::vector<NewStep> steps{};   ///< of actions that are in the file
  std::vector<Action> actions{};  ///< new, with all their steps so far; ids from next_action() on
  std::vector<Remark> remarks{};
  std::vector<Event> events{};  ///< their ids are not read
  std::vector<Kept> kept{};
};

/// What compact() removed, by kind and (of actions) last state.
struct Summary {
  std::string what;  ///< "action" or "event"
  std::string kind, state;
  std::int64_t number = 0;
  SimTime first{}, last{};
  bool operator==(const Summary&) const = default;
};

class Journal {
  struct Key {};

 public:
  /// Opens or makes the file and takes the next epoch. Errors: refused (another process holds the
  /// lock; the file or folder is not one's own), invalid (not a journal, or a newer one),
  /// unavailable.
  static Result<std::unique_ptr<Journal>> open(const Options& options, const Clock& clock);

  Journal(Key, Options options, Clock clock)  ///< by open() only
      : options_(std::move(options)), clock_(std::move(clock)) {}

  /// After an error of the disk: opens the file anew, and takes the next epoch unless another
  /// instance did meanwhile. Errors: those of open() and append().
  Result<void> reopen();

  [[nodiscard]] std::int64_t epoch() const { return epoch_; }

  /// One transaction, one wait for the disk. Errors, with nothing written: refused (another
  /// instance has taken over: this one must not act any more), invalid (a step that does not
  /// follow, an id that is not next, a text that is too long: docs/actions.md), not_found (no such
  /// action), conflict (a target that another action in flight has), unavailable (the disk). After
  /// the last, whether the batch is there is open until reopen(), and everything else fails until
  /// then.
  Result<void> append(const Batch& batch);

  /// The id of the next new action.
  Result<std::int64_t> next_action();
  /// Those that are not at an end, by id: to be taken up after a restart.
  Result<std::vector<Action>> open_actions();
  Result<std::vector<Action>> actions(std::int64_t since, std::size_t limit);  ///< ids after it
  Result<std::optional<Action>> action(std::int64_t id);
  Result<std::vector<Event>> events(std::int64_t since, std::size_t limit);  ///< ids after it
  /// The newest of this kind about this subject that compact() left.
  Result<std::optional<Event>> last_event(const std::string& kind, const std::string& subject);
  Result<std::optional<std::string>> kept(const std::string& name);
  Result<std::map<std::string, std::string>> all_kept();
  Result<std::vector<Summary>> summaries();

  /// One small step, a transaction of its own: while more than most_bytes is in use, up to `rows`
  /// (2 at least) of the oldest events, or of the oldest audit entries with the ended actions that
  /// no later entry tells of, go to the summary. Gives how many rows went, 0 = nothing to do.
  /// Errors: those of append().
  Result<std::int64_t> compact(int rows = 500);

 private:
  Result<void> open_file();
  Result<void> compare_with_head();
  Result<void> check_chain();
  /// The epoch that this instance took, even if it was not told so.
  Result<void> find_epoch();
  Result<void> take_epoch();
  /// One transaction around `change`, which gets the entries that it adds to the chain. An error of
  /// the disk breaks the journal.
  Result<void> change(const std::function<Result<void>(NewEntries& entries)>& change);
  Result<void> check_epoch();
  /// The journal fails from here on: with unavailable, whatever SQLite called it.
  tl::unexpected<Error> break_by(const Error& error);

  Options options_;
  Clock clock_;
  Descriptor lock_;
  std::optional<HeadFile> head_;
  std::unique_ptr<sqlite::Database> database_;
  std::int64_t epoch_ = 0;                 ///< 0: none taken yet
  std::optional<Error> broken_;            ///< the disk failed
  std::map<std::int64_t, Action> open_{};  ///< OpenActions of change.hpp
};

}  // namespace schedmate::journal
