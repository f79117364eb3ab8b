// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The template of a line: what stays when numbers, addresses, paths and quoted names are taken
/// out. Equal events have equal templates, so that rules run once for each of them.
///
/// One pass, no regular expressions. A number of at most four characters stays where it says what
/// happened: behind "exitcode", "signal", "Errno", "status", "code" and "Xid".

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace schedmate::lines {

[[nodiscard]] std::uint64_t template_hash(std::string_view line);

/// The same as text: '#' for what holds a digit, '/' for a path, '\'' for a quoted name; runs of
/// spaces, bars and rules are one character.
[[nodiscard]] std::string template_of(std::string_view line);

/// What was found out about a template. Of fixed size: what was not asked for lately is forgotten.
template <class Value>
class TemplateCache {
 public:
  [[nodiscard]] const Value* find(std::uint64_t hash) const {
    for (const Slot& slot : set_of(hash))
      if (slot.used && slot.hash == hash) return &slot.value;
    return nullptr;
  }
  void keep(std::uint64_t hash, Value value) {
    auto& slots = set_of(hash);
    for (std::size_t i = ways - 1; i > 0; --i) slots[i] = slots[i - 1];
    slots[0] = {hash, value, true};
    ++misses_;
  }
  /// How many templates had to be looked at.
  [[nodiscard]] std::uint64_t misses() const { return misses_; }

 private:
  static constexpr std::size_t sets = std::size_t{1} << 14U;
  static constexpr std::size_t ways = 4;
  struct Slot {
    std::uint64_t hash = 0;
    Value value{};
    bool used = false;
  };
  using Set = std::array<Slot, ways>;
  [[nodiscard]] const Set& set_of(std::uint64_t hash) const { return (*slots_)[hash % sets]; }
  [[nodiscard]] Set& set_of(std::uint64_t hash) { return (*slots_)[hash % sets]; }

  std::unique_ptr<std::array<Set, sets>> slots_ = std::make_unique<std::array<Set, sets>>();
  std::uint64_t misses_ = 0;
};

}  // namespace schedmate::lines
