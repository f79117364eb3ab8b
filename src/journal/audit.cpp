// SPDX-License-Identifier: Apache-2.0
#include "journal/audit.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "base/sha256.hpp"
#include "core/action_json.hpp"
#include "journal/chain.hpp"
#include "journal/head.hpp"
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

/// What the chain tells of an action: of each step its entry, and the hash of what that tells.
struct Told {
  std::vector<Place> steps;
  bool from_plan = false;
  bool met = false;  ///< its row is there
};

/// 0 for anything else.
std::int64_t number_in(const Document& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// Whether the columns of its row say the same.
bool has_columns(const Action& action, const Query& row) {
  return row.integer(0) == action.id && row.text(1) == name_of(action.call.kind) &&
         row.text(2) == name_of(action.state()) &&
         row.integer(3) == std::int64_t{is_end(action.call.kind, action.state())} &&
         row.integer(4) == seconds_of(action.steps.back().when);
}

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
    auto entry = read_json(text, {});
    if (!entry || !entry->is_object()) return wrong(sequence, "its text is no JSON object");
    if (const auto number = entry->value("sequence", Document()); number != sequence)
      return wrong(sequence, "another entry stands in its place: " + in_one_line(number));
    if (chained(at_.hash, text) != hash)
      return wrong(sequence, "its hash does not fit its text and the entry before");
    at_ = {sequence, hash};
    if (verdict_.entries++ == 0) verdict_.first = sequence;
    remember(std::move(*entry));
  }

  /// Of an entry whose hash is right; its words are any that somebody could hash.
  void remember(Document entry) {
    const auto epoch = number_in(entry, "epoch");
    if (epoch < epoch_) wrong(at_.sequence, "its epoch is lower than the one before");
    epoch_ = epoch;
    if (entry.value("floor", Document()) == floor_.sequence &&
        entry.value("floor_hash", Document()) == floor_.hash)
      floor_told_ = true;
    if (const auto id = number_in(entry, "action"); id != 0) {
      Told& told = actions_[id];
      if (entry.contains("call")) told.from_plan = true;
      entry.erase("sequence");
      entry.erase("epoch");
      told.steps.push_back({at_.sequence, sha256(in_one_line(entry))});
    }
  }

  void check_ends() {
    if (at_.sequence < head_.sequence)
      return wrong(at_.sequence + 1,
                   fmt::format("it is missing, and all to the head, {}", head_.sequence));
    if (at_ != head_) return wrong(at_.sequence, "its hash is not that of the head");
    if (floor_ != Place() && !floor_told_)
      wrong(verdict_.first, "no entry tells of the checkpoint before it: older ones are gone");
  }

  void check_actions() {
    {
      Query rows(database_,
                 "SELECT id, kind, state, ended, when_s, sequence, body FROM actions ORDER BY id");
      while (!verdict_.fault && rows.next()) check_action(rows);
    }
    for (const auto& [id, told] : actions_)
      if (!verdict_.fault && !told.met)
        wrong(told.steps.back().sequence, fmt::format("action {} is gone", id));
  }

  void check_action(const Query& row) {
    const std::int64_t id = row.integer(0), sequence = row.integer(5);
    const auto action = read_action(row.text(6));
    if (!action || !has_columns(*action, row))
      return wrong(0, fmt::format("action {}: what is kept of it contradicts itself", id));
    if (const auto found = actions_.find(id); found != actions_.end())
      return check_steps(*action, sequence, found->second);
    if (sequence > floor_.sequence)
      wrong(sequence, fmt::format("it should be of action {}, which no entry tells of", id));
  }

  /// The last steps are those that the chain tells of; from the plan on, all of them are.
  void check_steps(const Action& action, std::int64_t sequence, Told& told) {
    told.met = true;
    const std::size_t kept = action.steps.size(), count = told.steps.size();
    const Place& last = told.steps.back();
    const auto another_state = [&] {
      wrong(last.sequence, fmt::format("action {} is kept in another state, {}", action.id,
                                       name_of(action.state())));
    };
    if (last.sequence != sequence || kept < count || (told.from_plan && kept > count))
      return another_state();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t step = kept - count + i;
      if (sha256(in_one_line(entry_of(action, step))) == told.steps[i].hash) continue;
      if (told.from_plan && i == 0)
        return wrong(told.steps[i].sequence,
                     fmt::format("action {} was planned otherwise", action.id));
      if (i + 1 == count) return another_state();
      return wrong(told.steps[i].sequence,
                   fmt::format("a step of action {} is kept otherwise, {}", action.id,
                               name_of(action.steps[step].state)));
    }
  }

  Database& database_;
  AuditVerdict verdict_;
  Place floor_, head_, at_;
  bool floor_told_ = false;
  std::int64_t epoch_ = 0;
  std::map<std::int64_t, Told> actions_;
};

/// Rows of the body alone.
Result<void> add_actions(Query& rows, std::vector<Action>& actions) {
  while (rows.next()) {
    auto action = read_action(rows.text(0));
    if (!action) return tl::unexpected(action.error());
    actions.push_back(std::move(*action));
  }
  return {};
}

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

Result<std::vector<Action>> read_actions(const JournalFile& file, const ActionsWanted& wanted) {
  const auto database = open_to_read(file);
  if (!database) return tl::unexpected(database.error());
  std::vector<Action> actions;
  // Whatever is in such a state is found by the index of what has not ended.
  const bool is_open = wanted.state && *wanted.state != ActionState::verified &&
                       !is_end(ActionKind::start, *wanted.state);
  const std::string text = fmt::format(
      "SELECT body FROM actions WHERE id > ?1 + CASE WHEN ?1 < 0 THEN "
      "(SELECT ifnull(max(id), 0) FROM actions) ELSE 0 END AND (?2 = 0 OR id < ?2) "
      "AND (?3 = '' OR state = ?3){} ORDER BY id DESC LIMIT ?4",
      is_open ? " AND ended = 0" : "");
  {
    Query rows(**database, text);
    rows.bind(wanted.since)
        .bind(wanted.before)
        .bind(wanted.state ? name_of(*wanted.state) : "")
        .bind(static_cast<std::int64_t>(wanted.limit));
    if (auto read = add_actions(rows, actions); !read) return tl::unexpected(read.error());
  }
  if (auto read = (*database)->take_error(); !read) return tl::unexpected(read.error());
  return actions;
}

Result<std::vector<Action>> read_actions(const JournalFile& file,
                                         const std::vector<std::int64_t>& ids) {
  const auto database = open_to_read(file);
  if (!database) return tl::unexpected(database.error());
  std::vector<Action> actions;
  for (const std::int64_t id : ids) {
    Query rows(**database, "SELECT body FROM actions WHERE id = ?");
    rows.bind(id);
    if (auto read = add_actions(rows, actions); !read) return tl::unexpected(read.error());
  }
  if (auto read = (*database)->take_error(); !read) return tl::unexpected(read.error());
  return actions;
}

Result<std::vector<std::int64_t>> actions_about(const JournalFile& file, const std::string& job,
                                                std::size_t most) {
  const auto database = open_to_read(file);
  if (!database) return tl::unexpected(database.error());
  std::vector<std::int64_t> ids;
  {
    const std::string about = "\"job\":" + in_one_line(Document(job));  // as long as rows
    Query rows(**database,
               "SELECT id FROM actions WHERE instr(body, ?) > 0 ORDER BY id DESC LIMIT ?");
    rows.bind(about).bind(static_cast<std::int64_t>(most));
    while (rows.next()) ids.push_back(rows.integer(0));
  }
  if (auto read = (*database)->take_error(); !read) return tl::unexpected(read.error());
  return ids;
}

Result<AuditVerdict> verify(const JournalFile& file) {
  Result<std::optional<Head>> head = std::nullopt;
  if (file.vfs.empty()) head = HeadFile::read_of(file.path);  // first: the journal may go on
  const auto database = open_to_read(file);
  if (!database) return tl::unexpected(database.error());
  AuditVerdict verdict = Walk(**database).run();
  std::string lost = !head ? head.error().message : *head ? lost_since(**head, **database) : "";
  if (!lost.empty() && !verdict.fault) verdict.fault = AuditFault{0, std::move(lost)};
  if (auto read = (*database)->take_error(); !read) return tl::unexpected(read.error());
  return verdict;
}

}  // namespace schedmate::journal
