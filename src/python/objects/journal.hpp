// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What undecided branches change. While a branch runs, each change of a name, field, dict or list
/// is written down with what was there before, so that it can be taken back, the other branch run
/// from the same state, and both outcomes joined.

#include <memory>
#include <optional>
#include <set>

#include "python/objects/value_names.hpp"

namespace schedmate::python {

using DictPtr = std::shared_ptr<Dict>;
using ListPtr = std::shared_ptr<List>;

/// Two values that may both be: the same, or unknown with both as possibilities.
[[nodiscard]] Value joined(const Value& a, const Value& b);
/// Surely the same value (objects by identity).
[[nodiscard]] bool same(const Value& a, const Value& b);

/// What a branch changed, as it left it.
struct Outcome {
  struct Entry {
    DictPtr dict;
    std::string key;
    std::optional<Value> before, after;  ///< nothing: not there
  };
  struct Items {
    ListPtr list;
    List before, after;
  };
  std::vector<Entry> entries;
  std::vector<Items> lists;
};

class Journal {
 public:
  // Every change of the program's state goes through these.
  void set(const DictPtr& dict, std::string_view key, Value value);
  void erase(const DictPtr& dict, std::string_view key);
  void clear(const DictPtr& dict);
  /// To be called before the list is changed in place.
  void touch(const ListPtr& list);

  void begin();
  /// Lists whose length is not known: a loop or a branch adds to them, nobody knows how often.
  std::set<ListPtr> open;
  /// Items copied so far, so that whoever makes many copies of large lists pays for it.
  std::size_t copied = 0;
  /// Ends the innermost branch and takes its changes back.
  [[nodiscard]] Outcome take_back();
  /// Ends the innermost branch and leaves its changes in place.
  [[nodiscard]] Outcome keep();

  void apply(const Outcome& outcome);
  /// One of the two happened.
  void apply_either(const Outcome& a, const Outcome& b);

 private:
  struct Change {
    DictPtr dict;
    std::string key;
    std::optional<Value> before;
  };
  struct Branch {
    std::vector<Change> changes;
    std::vector<Outcome::Items> lists;
  };
  [[nodiscard]] Outcome outcome_of(Branch& branch) const;
  std::vector<Branch> branches_;
};

}  // namespace schedmate::python
