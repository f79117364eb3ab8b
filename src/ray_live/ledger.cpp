// SPDX-License-Identifier: Apache-2.0
#include "ray_live/ledger.hpp"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "replay/wire.hpp"
#include "sqlite/schema.hpp"

namespace schedmate::ray_live {
namespace {

using sqlite::Query;

// A number never comes back for another job: AUTOINCREMENT is not needed, as `next` is kept.
constexpr const char* first_version = R"(
CREATE TABLE jobs (number INTEGER PRIMARY KEY, ended_s INTEGER, body TEXT NOT NULL) STRICT;
CREATE INDEX jobs_ended ON jobs (ended_s);
CREATE TABLE drains (node TEXT PRIMARY KEY, reason TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
)";
constexpr std::array versions = {first_version};
constexpr sqlite::Schema schema{.application_id = 0x5363526c,  // "ScRl"
                                .steps = versions,
                                .pragmas = R"(
PRAGMA synchronous = FULL;
PRAGMA journal_mode = WAL;
PRAGMA journal_size_limit = 4194304;
)"};

Document nodes_document(const std::vector<NodeGpus>& nodes) {
  Document made = Document::array();
  for (const NodeGpus& node : nodes) made.push_back({{"node", node.node}, {"gpus", node.gpus}});
  return made;
}

std::string body_of(const Entry& entry) {
  Document made{{"job", replay::job_document(entry.seen)},
                {"exit_code", entry.seen.exit_code},
                {"exit_signal", entry.seen.exit_signal},
                {"stage", static_cast<int>(entry.stage)},
                {"ending", static_cast<int>(entry.ending)},
                {"launches", entry.launches},
                {"session", entry.session},
                {"start_by_s", seconds_of(entry.start_by)},
                {"where", nodes_document(entry.where)},
                {"shared_with", entry.shared_with},
                {"counted", entry.counted},
                {"excluded", entry.excluded},
                {"unstarted", entry.unstarted}};
  return made.dump(-1, ' ', false, Document::error_handler_t::replace);
}

/// The library throws on what is missing or of another kind.
Entry entry_of(const Document& body) {
  Entry made;
  made.seen = replay::read_job(body.at("job")).value();
  made.seen.exit_code = body.at("exit_code");
  made.seen.exit_signal = body.at("exit_signal");
  made.stage = static_cast<Stage>(body.at("stage").get<int>());
  made.ending = static_cast<Ending>(body.at("ending").get<int>());
  made.launches = body.at("launches");
  made.session = body.at("session");
  made.start_by = at(body.at("start_by_s").get<std::int64_t>());
  for (const Document& node : body.at("where"))
    made.where.push_back({node.at("node"), node.at("gpus").get<std::vector<std::int32_t>>()});
  made.shared_with = body.at("shared_with");
  made.counted = body.at("counted");
  made.excluded = body.at("excluded").get<std::vector<std::string>>();
  made.unstarted = body.at("unstarted");
  return made;
}

Result<Entry> read_entry(const std::string& body) {
  const auto read = read_json(body, {});
  if (!read) return tl::unexpected(read.error());
  try {
    return entry_of(*read);
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid, error.what());
  }
}

std::optional<std::int64_t> number_of(const std::string& id) {
  return parse_number<std::int64_t>(id);
}

}  // namespace

Result<Ledger> Ledger::open(const std::string& path, const std::string& new_instance) {
  auto file = sqlite::Database::open({.path = path, .what = "Ray's queue"});
  if (!file) return tl::unexpected(file.error());
  Ledger made;
  made.file_ = std::move(*file);
  if (auto ready = prepare(*made.file_, schema, schema.newest()); !ready)
    return tl::unexpected(ready.error());
  made.instance_ = new_instance;
  if (auto read = made.read(); !read) return tl::unexpected(read.error());
  return made;
}

Result<void> Ledger::read() {
  {
    Query known(*file_, "SELECT value FROM kept WHERE name = 'instance'");
    if (known.next()) instance_ = known.text(0);
  }
  sqlite::Transaction change(*file_);
  Query(*file_, "INSERT OR IGNORE INTO kept VALUES ('instance', ?)").bind(instance_).run();
  Query(*file_, "INSERT OR IGNORE INTO kept VALUES ('next', '1')").run();
  if (auto written = change.commit(); !written) return written;
  Query next(*file_, "SELECT value FROM kept WHERE name = 'next'");
  if (next.next()) next_ = number_of(next.text(0)).value_or(1);
  Query rows(*file_, "SELECT number, body FROM jobs ORDER BY number");
  while (rows.next()) {
    auto entry = read_entry(rows.text(1));
    if (!entry)
      return fail(ErrorCode::invalid, fmt::format("{}: job {}: {}", file_->place().path,
                                                  rows.integer(0), entry.error().message));
    next_ = std::max(next_, rows.integer(0) + 1);
    entries_.emplace(rows.integer(0), std::move(*entry));
  }
  Query drains(*file_, "SELECT node, reason FROM drains");
  while (drains.next()) drains_[drains.text(0)] = drains.text(1);
  return file_->take_error();
}

const Entry* Ledger::find(const std::string& id) const {
  const auto number = number_of(id);
  const auto found = number ? entries_.find(*number) : entries_.end();
  return found != entries_.end() && found->second.seen.id == id ? &found->second : nullptr;
}

const Entry* Ledger::with_token(const std::string& token) const {
  if (token.empty()) return nullptr;
  for (const auto& [number, entry] : entries_)
    if (entry.seen.token == token) return &entry;
  return nullptr;
}

std::string Ledger::ray_id(const Entry& entry) const {
  return fmt::format("sm-{}-{}-{}", instance_, entry.seen.id, entry.launches);
}

Result<std::string> Ledger::add(Entry entry) {
  const std::int64_t number = next_;
  entry.seen.id = std::to_string(number);
  const std::string body = body_of(entry), after = std::to_string(number + 1);
  sqlite::Transaction change(*file_);
  Query(*file_, "INSERT INTO jobs VALUES (?, NULL, ?)").bind(number).bind(body).run();
  Query(*file_, "UPDATE kept SET value = ? WHERE name = 'next'").bind(after).run();
  if (auto written = change.commit(); !written) return tl::unexpected(written.error());
  ++next_;
  return entries_.emplace(number, std::move(entry)).first->second.seen.id;
}

Result<void> Ledger::put(Entry entry) {
  const std::int64_t number = number_of(entry.seen.id).value_or(0);
  const std::string body = body_of(entry);
  const bool is_over = entry.seen.phase == JobPhase::ended && entry.seen.ended.has_value();
  const std::optional<std::int64_t> ended =
      is_over ? std::optional(seconds_of(*entry.seen.ended)) : std::nullopt;
  sqlite::Transaction change(*file_);
  Query(*file_, "UPDATE jobs SET ended_s = ?, body = ? WHERE number = ?")
      .bind(ended)
      .bind(body)
      .bind(number)
      .run();
  if (auto written = change.commit(); !written) return written;
  entries_.at(number) = std::move(entry);
  return {};
}

Result<void> Ledger::forget(SimTime ended_before) {
  sqlite::Transaction change(*file_);
  Query(*file_, "DELETE FROM jobs WHERE ended_s < ?").bind(seconds_of(ended_before)).run();
  if (auto written = change.commit(); !written) return written;
  std::erase_if(entries_, [&](const auto& each) {
    const SeenJob& seen = each.second.seen;
    return seen.phase == JobPhase::ended && seen.ended && *seen.ended < ended_before;
  });
  return {};
}

Result<void> Ledger::drain(const std::string& node, const std::string& reason) {
  sqlite::Transaction change(*file_);
  if (reason.empty())
    Query(*file_, "DELETE FROM drains WHERE node = ?").bind(node).run();
  else
    Query(*file_, "INSERT OR REPLACE INTO drains VALUES (?, ?)").bind(node).bind(reason).run();
  if (auto written = change.commit(); !written) return written;
  if (reason.empty())
    drains_.erase(node);
  else
    drains_[node] = reason;
  return {};
}

}  // namespace schedmate::ray_live
