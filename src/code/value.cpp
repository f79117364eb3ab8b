// SPDX-License-Identifier: Apache-2.0
#include "code/value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace schedmate::code {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

const Value* step_into(const Value& value, std::string_view key) {
  if (const Dict* dict = value.entries()) return dict->find(key);
  const List* list = value.items();
  const auto index = parse_number<std::size_t>(key);
  return list != nullptr && index && *index < list->size() ? &(*list)[*index] : nullptr;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

}  // namespace

Value Value::list(List items, PlacePtr where) {
  return {std::make_shared<List>(std::move(items)), std::move(where)};
}
Value Value::dict(Dict entries, PlacePtr where) {
  return {std::make_shared<Dict>(std::move(entries)), std::move(where)};
}
List* Value::items() const {
  const auto* held = std::get_if<std::shared_ptr<List>>(&data);
  return held == nullptr ? nullptr : held->get();
}
Dict* Value::entries() const {
  const auto* held = std::get_if<std::shared_ptr<Dict>>(&data);
  return held == nullptr ? nullptr : held->get();
}
Object* Value::object() const {
  const auto* held = std::get_if<std::shared_ptr<Object>>(&data);
  return held == nullptr ? nullptr : held->get();
}

std::optional<double> Value::number() const {
  if (const bool* flag = boolean()) return *flag ? 1 : 0;
  if (const std::int64_t* whole = integer()) return static_cast<double>(*whole);
  if (const double* number = real()) return *number;
  if (const std::string* word = text()) return parse_number<double>(trim(*word));
  return std::nullopt;
}

std::optional<bool> Value::truth() const {
  return std::visit(
      Overloaded{
          [](const Unknown&) -> std::optional<bool> { return std::nullopt; },
          [](const None&) -> std::optional<bool> { return false; },
          [](const std::string& text) -> std::optional<bool> { return !text.empty(); },
          [](const std::shared_ptr<List>& list) -> std::optional<bool> { return !list->empty(); },
          [](const std::shared_ptr<Dict>& dict) -> std::optional<bool> { return !dict->empty(); },
          [](const std::shared_ptr<Object>&) -> std::optional<bool> { return std::nullopt; },
          [](const auto& number) -> std::optional<bool> { return number != 0; },
      },
      data);
}

Value Value::deep_copy() const {
  if (const List* list = items()) {
    List copy;
    for (const Value& item : *list) copy.push_back(item.deep_copy());
    return Value::list(std::move(copy), place);
  }
  if (const Dict* dict = entries()) {
    Dict copy;
    for (const auto& [key, value] : dict->all()) copy.set(key, value.deep_copy());
    return Value::dict(std::move(copy), place);
  }
  return *this;
}

namespace {
constexpr std::size_t few_entries = 32;
}

std::size_t Dict::index_of(std::string_view key) const {
  if (entries_.size() <= few_entries) {
    const auto found = std::ranges::find(entries_, key, &Entry::key);
    return static_cast<std::size_t>(found - entries_.begin());
  }
  const auto [first, last] = index_.equal_range(std::hash<std::string_view>()(key));
  const auto found =
      std::find_if(first, last, [&](const auto& held) { return entries_[held.second].key == key; });
  return found == last ? entries_.size() : found->second;
}

void Dict::add_to_index(std::size_t entry) {
  index_.emplace(std::hash<std::string_view>()(entries_[entry].key), entry);
}

const Value* Dict::find(std::string_view key) const {
  const auto index = index_of(key);
  return index == entries_.size() ? nullptr : &entries_[index].value;
}
Value* Dict::find(std::string_view key) {
  const auto index = index_of(key);
  return index == entries_.size() ? nullptr : &entries_[index].value;
}
Value& Dict::set(std::string_view key, Value value) {
  if (Value* held = find(key)) return *held = std::move(value);
  entries_.emplace_back(std::string(key), std::move(value));
  const auto size = entries_.size();
  for (auto i = size == few_entries + 1 ? 0 : size - 1; size > few_entries && i < size; ++i)
    add_to_index(i);
  return entries_.back().value;
}
bool Dict::erase(std::string_view key) {
  const auto index = index_of(key);
  if (index == entries_.size()) return false;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
  index_.clear();
  for (std::size_t i = 0; entries_.size() > few_entries && i < entries_.size(); ++i)
    add_to_index(i);
  return true;
}

const Value* find_path(const Value& root, std::string_view dotted) {
  const Value* at = &root;
  for (const auto key : split(dotted, '.')) {
    if (at != nullptr) at = step_into(*at, key);
  }
  return at;
}

bool set_path(Value& root, std::string_view dotted, Value value) {
  const auto dot = dotted.find('.');
  const auto key = dotted.substr(0, dot);
  if (root.is_unknown() || root.is_none()) root = Value::dict({}, root.place);
  if (dot == std::string_view::npos) {
    if (Dict* dict = root.entries()) {
      dict->set(key, std::move(value));
      return true;
    }
    auto* item = const_cast<Value*>(step_into(root, key));
    if (item != nullptr) *item = std::move(value);
    return item != nullptr;
  }
  auto* next = const_cast<Value*>(step_into(root, key));
  if (next == nullptr && root.entries() != nullptr) next = &root.entries()->set(key, {});
  return next != nullptr && set_path(*next, dotted.substr(dot + 1), std::move(value));
}

Value merged(const Value& below, const Value& above) {
  const Dict* under = below.entries();
  const Dict* over = above.entries();
  if (under == nullptr || over == nullptr) return above.deep_copy();
  Value result = below.deep_copy();
  for (const auto& [key, value] : over->all()) {
    const Value* old = under->find(key);
    result.entries()->set(key, old == nullptr ? value.deep_copy() : merged(*old, value));
  }
  return result;
}

std::string repr(const Value& value) {
  return std::visit(Overloaded{
                        [](const Unknown&) -> std::string { return "?"; },
                        [](const None&) -> std::string { return "None"; },
                        [](bool flag) -> std::string { return flag ? "True" : "False"; },
                        [](std::int64_t number) { return fmt::format("{}", number); },
                        [](double number) {
                          auto text = fmt::format("{}", number);
                          if (text.find_first_of(".einf") == std::string::npos) text += ".0";
                          return text;
                        },
                        [](const std::string& text) { return quoted(text); },
                        [](const std::shared_ptr<List>& list) {
                          std::string out = "[";
                          for (const Value& item : *list)
                            out += (out.size() > 1 ? ", " : "") + repr(item);
                          return out + "]";
                        },
                        [](const std::shared_ptr<Dict>& dict) {
                          std::string out = "{";
                          for (const auto& [key, item] : dict->all())
                            out += (out.size() > 1 ? ", " : "") + quoted(key) + ": " + repr(item);
                          return out + "}";
                        },
                        [](const std::shared_ptr<Object>&) -> std::string { return "<object>"; },
                    },
                    value.data);
}

}  // namespace schedmate::code
