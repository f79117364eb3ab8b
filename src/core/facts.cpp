// SPDX-License-Identifier: Apache-2.0
#include <schedmate/facts.hpp>

namespace schedmate {

const Fact* Facts::find(std::string_view field) const {
  const auto held = facts.find(field);
  if (held != facts.end()) return &held->second;
  const auto other = extra.find(field);
  return other == extra.end() ? nullptr : &other->second;
}

}  // namespace schedmate
