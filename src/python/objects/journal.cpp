// SPDX-License-Identifier: Apache-2.0
#include "python/objects/journal.hpp"

#include <algorithm>
#include <map>

namespace schedmate::python {
namespace {

constexpr std::size_t most_possibilities = 12;

void add_possibility(List& all, const Value& value) {
  if (all.size() >= most_possibilities) return;
  const auto* open = std::get_if<Unknown>(&value.data);
  if (open != nullptr && open->may_be != nullptr) {
    for (const Value& each : *open->may_be) add_possibility(all, each);
    return;
  }
  const auto known = std::ranges::any_of(all, [&](const Value& each) { return same(each, value); });
  if (!known) all.push_back(value);
}

bool same_lists(const List& a, const List& b) { return &a == &b || (a.empty() && b.empty()); }

std::optional<Value> copy_of(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional(*value);
}

List joined_lists(const List& a, const List& b) {
  List all = a.size() >= b.size() ? a : b;
  const auto common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) all[i] = joined(a[i], b[i]);
  return all;
}

/// A name that only one branch sets is used later only where that branch ran.
std::optional<Value> either(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (!a) return b;
  if (!b) return a;
  return joined(*a, *b);
}

}  // namespace

bool same(const Value& a, const Value& b) {
  if (a.data.index() != b.data.index()) return false;
  if (const List* list = a.items()) return same_lists(*list, *b.items());
  if (const Dict* dict = a.entries()) {
    return dict == b.entries() || (dict->empty() && b.entries()->empty());
  }
  if (a.object() != nullptr) return a.object() == b.object();
  if (const auto* text = a.text()) return *text == *b.text();
  if (const auto* whole = a.integer()) return *whole == *b.integer();
  if (const auto* real = a.real()) return *real == *b.real();
  if (const auto* flag = a.boolean()) return *flag == *b.boolean();
  if (const auto* open = std::get_if<Unknown>(&a.data))
    return open->may_be == std::get<Unknown>(b.data).may_be;
  return a.is_none();
}

Value joined(const Value& a, const Value& b) {
  if (same(a, b)) return a;
  auto all = std::make_shared<List>();
  add_possibility(*all, a);
  add_possibility(*all, b);
  return {Unknown{std::move(all)}, b.place ? b.place : a.place};
}

void Journal::set(const DictPtr& dict, std::string_view key, Value value) {
  if (!branches_.empty()) {
    branches_.back().changes.push_back({dict, std::string(key), copy_of(dict->find(key))});
  }
  dict->set(key, std::move(value));
}

void Journal::erase(const DictPtr& dict, std::string_view key) {
  if (!branches_.empty()) {
    branches_.back().changes.push_back({dict, std::string(key), copy_of(dict->find(key))});
  }
  dict->erase(key);
}

void Journal::clear(const DictPtr& dict) {
  if (!branches_.empty()) {
    for (const auto& entry : dict->all())
      branches_.back().changes.push_back({dict, entry.key, entry.value});
  }
  *dict = {};
}

void Journal::touch(const ListPtr& list) {
  if (branches_.empty()) return;
  auto& lists = branches_.back().lists;
  if (std::ranges::find(lists, list, &Outcome::Items::list) != lists.end()) return;
  lists.push_back({list, *list, {}});
  copied += list->size();
}

void Journal::begin() { branches_.emplace_back(); }

Outcome Journal::outcome_of(Branch& branch) const {
  Outcome outcome;
  std::map<std::pair<const Dict*, std::string_view>, bool> seen;
  for (Change& change : branch.changes) {
    // The first change of a key knows what was there before the branch.
    if (!seen.emplace(std::pair(change.dict.get(), std::string_view(change.key)), true).second)
      continue;
    outcome.entries.push_back(
        {change.dict, change.key, change.before, copy_of(change.dict->find(change.key))});
  }
  for (auto& items : branch.lists) {
    outcome.lists.push_back({items.list, std::move(items.before), *items.list});
  }
  return outcome;
}

Outcome Journal::take_back() {
  Branch branch = std::move(branches_.back());
  branches_.pop_back();
  Outcome outcome = outcome_of(branch);
  for (const auto& entry : outcome.entries) {
    if (entry.before) {
      entry.dict->set(entry.key, *entry.before);
    } else {
      entry.dict->erase(entry.key);
    }
  }
  for (const auto& items : outcome.lists) *items.list = items.before;
  return outcome;
}

Outcome Journal::keep() {
  Branch branch = std::move(branches_.back());
  branches_.pop_back();
  Outcome outcome = outcome_of(branch);
  if (branches_.empty()) return outcome;
  // What the inner branch changed, the one around it changed too.
  auto& outer = branches_.back();
  for (const auto& entry : outcome.entries)
    outer.changes.push_back({entry.dict, entry.key, entry.before});
  for (const auto& items : outcome.lists) {
    if (std::ranges::find(outer.lists, items.list, &Outcome::Items::list) == outer.lists.end())
      outer.lists.push_back({items.list, items.before, {}});
  }
  return outcome;
}

void Journal::apply(const Outcome& outcome) {
  for (const auto& entry : outcome.entries) {
    if (entry.after) {
      set(entry.dict, entry.key, *entry.after);
    } else {
      erase(entry.dict, entry.key);
    }
  }
  for (const auto& items : outcome.lists) {
    touch(items.list);
    *items.list = items.after;
  }
}

void Journal::apply_either(const Outcome& a, const Outcome& b) {
  std::map<std::pair<const Dict*, std::string_view>, const Outcome::Entry*> others;
  for (const auto& entry : b.entries)
    others.emplace(std::pair(entry.dict.get(), std::string_view(entry.key)), &entry);
  for (const auto& entry : a.entries) {
    const auto other = others.find({entry.dict.get(), entry.key});
    const auto& unlike = other == others.end() ? entry.before : other->second->after;
    if (const auto value = either(entry.after, unlike)) set(entry.dict, entry.key, *value);
    if (other != others.end()) others.erase(other);
  }
  for (const auto& entry : b.entries) {
    if (!others.contains({entry.dict.get(), entry.key})) continue;
    if (const auto value = either(entry.before, entry.after)) set(entry.dict, entry.key, *value);
  }
  for (const auto& items : a.lists) {
    touch(items.list);
    const auto other = std::ranges::find(b.lists, items.list, &Outcome::Items::list);
    const List& unlike = other == b.lists.end() ? items.before : other->after;
    if (unlike.size() != items.after.size()) open.insert(items.list);
    *items.list = joined_lists(items.after, unlike);
  }
  for (const auto& items : b.lists) {
    if (std::ranges::find(a.lists, items.list, &Outcome::Items::list) != a.lists.end()) continue;
    touch(items.list);
    if (items.before.size() != items.after.size()) open.insert(items.list);
    *items.list = joined_lists(items.before, items.after);
  }
}

}  // namespace schedmate::python
