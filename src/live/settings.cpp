// SPDX-License-Identifier: Apache-2.0
#include "live/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace schedmate::live {
namespace {

constexpr std::string_view of_any = "schedmate:";

}  // namespace

Mode Modes::of(Area area) const {
  switch (area) {
    case Area::order:
      return order;
    case Area::recover:
      return recover;
    case Area::pack:
      return pack;
    case Area::annotate:
      return annotate;
    case Area::notify:
      return notify;
  }
  return Mode::observe;
}

Area area_of(const ActionCall& call) {
  using enum ActionKind;
  switch (call.kind) {
    case requeue_excluding:
    case drain_node:
    case undrain_node:
    case release_spare:
    case test_nodes:
      return Area::recover;
    case evict:
    case start:
      return call.shared_with.empty() ? Area::order : Area::pack;
    case ActionKind::annotate:
      return Area::annotate;
    case ActionKind::notify:
      return Area::notify;
    default:
      return Area::order;
  }
}

bool disturbs(ActionKind kind) {
  using enum ActionKind;
  return kind == hold || kind == evict || kind == requeue_excluding || kind == drain_node ||
         kind == cancel || kind == test_nodes;
}

std::string mark_of(const Settings& settings, std::int64_t action) {
  return fmt::format("schedmate:{}/{}", settings.instance, action);
}

std::string_view told_to_all(std::string_view reason) {
  return reason.starts_with(of_any) ? reason.substr(0, reason.find(' ')) : reason;
}

bool is_foreign_mark(const Settings& settings, std::string_view text) {
  if (!text.starts_with(of_any)) return false;
  const std::string_view rest = text.substr(of_any.size());
  const std::size_t slash = rest.find('/');
  const auto is_of_name = [](char each) {
    return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '-' || each == '.' ||
           each == '_';
  };
  return slash != std::string_view::npos && slash + 1 < rest.size() &&
         std::isdigit(static_cast<unsigned char>(rest[slash + 1])) != 0 &&
         std::ranges::all_of(rest.substr(0, slash), is_of_name) &&
         rest.substr(0, slash) != settings.instance;
}

std::optional<std::int64_t> marked_by(const Settings& settings, std::string_view text) {
  const std::string own = fmt::format("schedmate:{}/", settings.instance);
  if (!text.starts_with(own)) return std::nullopt;
  const std::string_view rest = text.substr(own.size());
  return parse_number<std::int64_t>(rest.substr(0, rest.find_first_not_of("0123456789")));
}

}  // namespace schedmate::live
