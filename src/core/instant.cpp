// SPDX-License-Identifier: Apache-2.0
#include "core/instant.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace schedmate {

void put_instant(Document& document, const std::string& name, std::optional<SimTime> when) {
  document[name] = nullptr;
  document[name + "_s"] = nullptr;
  if (!when) return;
  document[name + "_s"] = seconds_of(*when);
  const std::time_t unix_s = seconds_of(*when);
  std::tm utc{};
  if (::gmtime_r(&unix_s, &utc) != nullptr)
    document[name] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

}  // namespace schedmate
