// SPDX-License-Identifier: Apache-2.0
#include "journal/audit.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/action_json.hpp"
#include "journal/chain.hpp"
#include "journal/schema.hpp"

namespace schedmate::journal {
namespace {

using sqlite::Database;
using sqlite::Query;

Result<std::unique_ptr<Database>> open_to_read(const JournalFile& file) {
  std::error_code unknown;
  if (file.vfs.empty() && !std::filesystem::exists(file.path, unknown) && !unknown)
    return fail(ErrorCode::unavailable,
                fmt::format("{}: there is no journal yet; schedmated keeps it in its state folder "
                            "(--state-dir)",
                            file.path));
  auto database = Database::open({.path = file.path,
                                  .busy_timeout = busy_timeout,
                                  .what = "journal",
                                  .read_only = true,
                                  .vfs = file.vfs});
  if (!database) return database;
  if (auto newest = check_newest(**database, journal_schema()); !newest)
    return tl::unexpected(newest.error());
  (*database)->run("BEGIN");  // all that follows sees one state
  return database;
}

struct Place {
  std::int64_t sequence = 0;
  std::string hash;
  bool operator==(const Place&) const = default;
};

/// A walk along the chain, from the checkpoint on.
class Walk {
 public:
  explicit Walk(Database& database) : database_(database) {}

  AuditVerdict run() {
    read_places();
    {
      Query rows(database_, "SELECT sequence, entry, hash FROM audit ORDER BY sequence");
      while (!verdict_.fault && rows.next()) take(rows);
    }
    if (!verdict_.fault) check_ends();
    if (!verdict_.fault) check_actions();
    verdict_.last = at_.sequence;
    verdict_.head = at_.hash;
    return verdict_;
  }

 private:
  void wrong(std::int64_t sequence, std::string what) {
    if (!verdict_.fault) verdict_.fault = AuditFault{sequence, std::move(what)};
  }

  void read_places() {
    Query query(database_,
                "SELECT floor_sequence, floor_hash, head_sequence, head_hash, sequence, hash "
                "FROM state, chain_head");
    if (!query.next()) return wrong(0, "the head of the chain is gone");
    floor_ = at_ = {query.integer(0), query.text(1)};
    head_ = {query.integer(2), query.text(3)};
    if (head_ != Place{query.integer(4), query.text(5)})
      wrong(0, "the two copies of the head differ");
  }

  void take(const Query& row) {
    const std::int64_t sequence = row.integer(0);
    const std::string text = row.text(1);
    const std::string hash = row.text(2);
    if (sequence <= at_.sequence)
      return wrong(sequence, fmt::format("it stands before the checkpoint at {}", at_.sequence));
    if (sequence > at_.sequence + 1) return wrong(at_.sequence + 1, "it is missing");
    if (sequence > head_.sequence)
      return wrong(sequence, fmt::format("it was added after the head, {}", head_.sequence));
    const Document entry = Document::parse(text, nullptr, false);
    if (!entry.is_object()) return wrong(sequence, "its text is no JSON object");
    if (const auto number = entry.value("sequence", Document()); number != sequence)
      return wrong(sequence, "another entry stands in its place: " + in_one_line(number));
    if (chained(at_.hash, text) != hash)
      return wrong(sequence, "its hash does not fit its text and the entry before");
    at_ = {sequence, hash};
    if (verdict_.entries++ == 0) verdict_.first = sequence;
    remember(entry);
  }

  /// Of an entry whose hash is right, so its words are as they were written.
  void remember(const Document& entry) {
    const std::int64_t sequence = at_.sequence;
    const auto epoch = entry.value("epoch", std::int64_t{0});
    if (epoch < epoch_) wrong(sequence, "its epoch is lower than the one before");
    epoch_ = epoch;
    if (entry.value("what", "") == "compacted")
      checkpoint_ = {entry.value("floor", std::int64_t{0}), entry.value("floor_hash", "")};
    if (const auto id = entry.value("action", std::int64_t{0}); id != 0) {
      Seen& seen = actions_[id];
      seen.last = sequence;
      if (entry.contains("call")) seen.plan = entry;
      seen.step = entry;
    }
  }

  void check_ends() {
    if (at_.sequence < head_.sequence)
      return wrong(at_.sequence + 1,
                   fmt::format("it is missing, and all to the head, {}", head_.sequence));
    if (at_ != head_) return wrong(at_.sequence, "its hash is not that of the head");
    if (checkpoint_ != floor_)
      wrong(floor_.sequence + 1, "no entry tells of the checkpoint before it: older ones are gone");
  }

  void check_actions() {
    {
      Query rows(database_, "SELECT id, state, sequence, body FROM actions ORDER BY id");
      while (!verdict_.fault && rows.next())
        check_action(rows.integer(0), rows.text(1), rows.integer(2), rows.text(3));
    }
    for (const auto& [id, seen] : actions_)
      if (!verdict_.fault && !seen.met) wrong(seen.last, fmt::format("action {} is gone", id));
  }

  void check_action(std::int64_t id, const std::string& state, std::int64_t sequence,
                    const std::string& body) {
    const auto action = read_action(body);
    if (!action || action->id != id || name_of(action->state()) != state)
      return wrong(0, fmt::format("action {}: what is kept of it contradicts itself", id));
    const auto found = actions_.find(id);
    if (found == actions_.end()) {
      if (sequence > floor_.sequence)
        wrong(sequence, fmt::format("it should be of action {}, which no entry tells of", id));
      return;
    }
    Seen& seen = found->second;
    seen.met = true;
    const ActionStep& step = action->steps.back();
    const bool same_step = seen.last == sequence && seen.step.value("state", "") == state &&
                           seen.step.value("when_s", std::int64_t{0}) == seconds_of(step.when) &&
                           seen.step.value("by", "") == step.by &&
                           seen.step.value("seen", "") == step.note;
    if (!same_step)
      return wrong(seen.last, fmt::format("action {} is kept in another state, {}", id, state));
    if (seen.plan.is_null()) return;
    const bool same_plan = seen.plan.value("call", Document()) == call_document(action->call) &&
                           seen.plan.value("why", Document()) == Document(action->why) &&
                           seen.plan.value("mode", "") == name_of(action->mode) &&
                           seen.plan.value("before", "") == action->before &&
                           seen.plan.value("undoes", std::int64_t{0}) == action->undoes;
    if (!same_plan) wrong(seen.last, fmt::format("action {} was planned otherwise", id));
  }

  struct Seen {
    std::int64_t last = 0;
    Document plan, step;
    bool met = false;  ///< its row is there
  };
  Database& database_;
  AuditVerdict verdict_;
  Place floor_, head_, at_, checkpoint_;
  std::int64_t epoch_ = 0;
  std::map<std::int64_t, Seen> actions_;
};

}  // namespace

std::string journal_path(const std::string& state_dir) { return state_dir + "/journal.sqlite"; }

Result<std::vector<AuditEntry>> audit_entries(const JournalFile& file, std::int64_t since,
                                              std::size_t limit) {
  const auto database = open_to_read(file);
  if (!database) return tl::unexpected(database.error());
  std::vector<AuditEntry> entries;
  {
    Query rows(**database,
               "SELECT sequence, entry, hash FROM audit WHERE sequence > ?1 + CASE WHEN ?1 < 0 "
               "THEN (SELECT head_sequence FROM state) ELSE 0 END ORDER BY sequence LIMIT ?2");
    rows.bind(since).bind(static_cast<std::int64_t>(limit));
    while (rows.next()) entries.push_back({rows.integer(0), rows.text(1), rows.text(2)});
  }
  if (auto read = (*database)->take_error(); !read) return tl::unexpected(read.error());
  return entries;
}

Result<AuditVerdict> verify(const JournalFile& file) {
  const auto database = open_to_read(file);
  if (!database) return tl::unexpected(database.error());
  AuditVerdict verdict = Walk(**database).run();
  if (auto read = (*database)->take_error(); !read) return tl::unexpected(read.error());
  return verdict;
}

}  // namespace schedmate::journal
