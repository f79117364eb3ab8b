// SPDX-License-Identifier: Apache-2.0
#include "store/lists.hpp"

namespace schedmate::store {
namespace {

// Texts in a store hold no NUL, so that it can stand between two of them.
std::string list(std::string_view kind, std::string_view first, std::string_view second = {}) {
  std::string name(kind);
  name += first;
  name += '\0';
  name += second;
  return name;
}

std::string text_list(std::uint64_t text_id) { return list("text:", std::to_string(text_id)); }

template <class T>
bool agrees(const std::optional<T>& wanted, const T& is) {
  return !wanted || *wanted == is;
}

}  // namespace

std::array<std::string, 5> lists_of(const JobRecord& record) {
  return {list("all", ""), list("user:", record.user), list("root:", record.user, record.root),
          list("entry:", record.user, record.entry), text_list(record.text_id)};
}

std::string failure_list(const std::string& fingerprint) { return list("failure:", fingerprint); }

std::string narrowest_list(const JobFilter& filter) {
  if (filter.fingerprint) return failure_list(*filter.fingerprint);
  if (filter.text_id) return text_list(*filter.text_id);
  if (filter.user && filter.root) return list("root:", *filter.user, *filter.root);
  if (filter.user && filter.entry) return list("entry:", *filter.user, *filter.entry);
  if (filter.user) return list("user:", *filter.user);
  return list("all", "");
}

bool matches(const JobFilter& filter, const JobRecord& record) {
  const bool ended = record.outcome.has_value();
  return agrees(filter.user, record.user) && agrees(filter.root, record.root) &&
         agrees(filter.entry, record.entry) && agrees(filter.text_id, record.text_id) &&
         (!filter.finished || ended) &&
         (!filter.fingerprint || (ended && *filter.fingerprint == record.outcome->fingerprint)) &&
         (!filter.state || (ended && *filter.state == record.outcome->state)) &&
         (!filter.since || record.submit >= *filter.since);
}

void make_brief(JobRecord& record) {
  record.facts_json.clear();
  if (!record.outcome) return;
  record.outcome->log_summary.clear();
  record.outcome->progress.clear();
}

}  // namespace schedmate::store
