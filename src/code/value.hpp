// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Values read from commands, configs and code, each with the place it was written at. One type for
/// all readers, so that a flag's value can travel from the command through a config into a
/// constructor call and still show its line.

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <schedmate/facts.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace schedmate::code {

/// Where a value was written. `from` leads on to what it was made of: `a // b` has the place of the
/// expression, from the place of `a`.
struct Place {
  std::string file;  ///< relative to the root, or "<command>", "<request>"
  int line = 0;      ///< 1-based; 0 for <command> and <request>
  std::string text;  ///< the line without margins; for <command> the part, verbatim
  FactSource source = FactSource::code;
  std::shared_ptr<const Place> from;
  bool swept = false;  ///< each run of the job has another one
};
using PlacePtr = std::shared_ptr<const Place>;

/// Whether a value at `place` was made of what stands at `source`, which may be the same place.
[[nodiscard]] inline bool comes_from(const PlacePtr& place, const Place* source) {
  for (const Place* at = place.get(); at != nullptr; at = at->from.get()) {
    if (at == source) return true;
  }
  return false;
}

class Value;
using List = std::vector<Value>;
class Dict;

/// What only a running program has: functions, classes, instances. See python/observation.hpp.
struct Object {
  virtual ~Object() = default;
};

/// Not known. `may_be` lists the values that branches left open, empty when nothing is known.
struct Unknown {
  std::shared_ptr<const List> may_be;
};
struct None {};

class Value {
 public:
  using Data = std::variant<Unknown, None, bool, std::int64_t, double, std::string,
                            std::shared_ptr<List>, std::shared_ptr<Dict>, std::shared_ptr<Object>>;
  Data data;
  PlacePtr place;

  Value() = default;
  Value(Data what, PlacePtr where = {}) : data(std::move(what)), place(std::move(where)) {}
  /// A template, so that the number 0 is no null pointer to a text.
  template <std::same_as<const char*> Text>
  Value(Text text) : data(std::string(text)) {}

  static Value list(List items, PlacePtr where = {});  ///< tuples and sets too
  static Value dict(Dict entries, PlacePtr where = {});
  static Value none(PlacePtr where = {}) { return {None{}, std::move(where)}; }

  [[nodiscard]] bool is_unknown() const { return std::holds_alternative<Unknown>(data); }
  [[nodiscard]] bool is_none() const { return std::holds_alternative<None>(data); }
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&data); }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  [[nodiscard]] const double* real() const { return std::get_if<double>(&data); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] List* items() const;     ///< nullptr when not a list; shared by copies
  [[nodiscard]] Dict* entries() const;   ///< nullptr when not a dict; shared by copies
  [[nodiscard]] Object* object() const;  ///< nullptr when not an object
  /// Integer, real or boolean as a number; also a text that is wholly a number ("1e-3").
  [[nodiscard]] std::optional<double> number() const;
  /// As Python's bool(): nothing when unknown or an object.
  [[nodiscard]] std::optional<bool> truth() const;
  /// A copy that shares nothing with this one (lists and dicts are handles otherwise).
  [[nodiscard]] Value deep_copy() const;
};

/// A mapping with text keys that keeps the order of insertion (other keys are written as Python's
/// str() would). Keys are looked for one by one while there are few, by hash beyond that: a
/// vocabulary in JSON has 50,000.
class Dict {
 public:
  struct Entry {
    std::string key;
    Value value;
  };
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  Value& set(std::string_view key, Value value);  ///< replaces in place or appends
  bool erase(std::string_view key);
  [[nodiscard]] const std::vector<Entry>& all() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  [[nodiscard]] std::size_t index_of(std::string_view key) const;  ///< size() when absent
  void add_to_index(std::size_t entry);
  std::vector<Entry> entries_;
  /// Hash of the key -> place in entries_; empty while there are few.
  std::unordered_multimap<std::size_t, std::size_t> index_;
};

/// "a.b.c" in nested dicts (list items by number); nullptr when a step is missing.
[[nodiscard]] const Value* find_path(const Value& root, std::string_view dotted);
/// Sets "a.b.c", making dicts on the way; false when a step is neither dict nor absent.
bool set_path(Value& root, std::string_view dotted, Value value);
/// Deep merge: dicts entry by entry, anything else is replaced. Neither argument is changed.
[[nodiscard]] Value merged(const Value& below, const Value& above);
/// For messages and tests: Python's repr() with dicts and lists, objects as <object>.
[[nodiscard]] std::string repr(const Value& value);

}  // namespace schedmate::code
