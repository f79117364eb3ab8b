// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <schedmate/diagnosis.hpp>

namespace schedmate {
namespace {

template <class Value, std::size_t size>
std::string_view pick(const std::array<std::string_view, size>& names, Value value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view name_of(FailureClass verdict) {
  constexpr auto names = std::to_array<std::string_view>(
      {"none", "infrastructure", "framework", "user_script", "other"});
  return pick(names, verdict);
}

std::string_view name_of(Component component) {
  constexpr auto names = std::to_array<std::string_view>(
      {"none", "gpu", "nvlink", "network", "node", "storage", "other"});
  return pick(names, component);
}

std::string_view name_of(LineRole role) {
  constexpr auto names = std::to_array<std::string_view>({"cause", "cascade", "teardown"});
  return pick(names, role);
}

std::string_view name_of(Recommendation recommendation) {
  constexpr auto names = std::to_array<std::string_view>(
      {"restart_same", "restart_elsewhere", "do_not_restart", "test_first", "notify"});
  return pick(names, recommendation);
}

}  // namespace schedmate
