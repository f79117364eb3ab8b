// SPDX-License-Identifier: Apache-2.0
#include "journal/chain.hpp"

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "core/action_json.hpp"

namespace schedmate::journal {

using sqlite::Query;

std::string chained(std::string_view before, std::string_view entry) {
  return sha256(std::string(before) + "\n" + std::string(entry));
}

Document entry_of(const Action& action, std::size_t step) {
  const ActionStep& made = action.steps.at(step);
  Document entry;
  entry["when_s"] = seconds_of(made.when);
  entry["by"] = made.by;
  entry["action"] = action.id;
  entry["state"] = name_of(made.state);
  entry["seen"] = made.note;
  if (step > 0) return entry;
  entry["call"] = call_document(action.call);
  entry["why"] = action.why;
  entry["mode"] = name_of(action.mode);
  entry["before"] = action.before;
  entry["undoes"] = action.undoes;
  return entry;
}

NewEntries::NewEntries(sqlite::Database& database) {
  Query query(database, "SELECT epoch, head_sequence, head_hash FROM state");
  if (!query.next()) return;
  epoch_ = query.integer(0);
  sequence_ = query.integer(1);
  hash_ = query.text(2);
}

std::int64_t NewEntries::add(const Document& told) {
  const std::int64_t sequence = ++sequence_;
  Document entry{{"sequence", sequence}};
  entry.update(told);
  entry["epoch"] = epoch_;
  const std::string text = in_one_line(entry);
  hash_ = chained(hash_, text);
  rows_.push_back({sequence, text, hash_});
  return sequence;
}

std::int64_t NewEntries::add(const Action& action) {
  return add(entry_of(action, action.steps.size() - 1));
}

std::int64_t NewEntries::add(const ActionStep& step, std::string_view what, const Document& more) {
  Document entry{
      {"when_s", seconds_of(step.when)}, {"by", step.by}, {"what", what}, {"seen", step.note}};
  entry.update(more);
  return add(entry);
}

void NewEntries::write(sqlite::Database& database) const {
  if (rows_.empty()) return;
  for (const Row& row : rows_)
    Query(database, "INSERT INTO audit VALUES (?, ?, ?)")
        .bind(row.sequence)
        .bind(row.entry)
        .bind(row.hash)
        .run();
  Query(database, "UPDATE state SET head_sequence = ?, head_hash = ?")
      .bind(sequence_)
      .bind(hash_)
      .run();
  Query(database, "UPDATE chain_head SET sequence = ?, hash = ?").bind(sequence_).bind(hash_).run();
}

}  // namespace schedmate::journal
