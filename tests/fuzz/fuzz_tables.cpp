// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "trace/lucid_forecast.hpp"
#include "trace/packing_tables.hpp"

namespace schedmate::fuzz {

/// Profiles, then pairs of them, then a forecast: parts of the input, a line of '#' apart.
void fuzz_tables(std::string_view input) {
  const auto part = [&] {
    const std::size_t end = input.find("\n#\n");
    const std::string_view text = input.substr(0, end);
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + 3);
    return text;
  };
  PackingTables tables;
  if (auto profiles = trace::parse_profiles(part(), "profiles"))
    tables.profiles = std::move(*profiles);
  if (trace::parse_pairs(part(), "pairs", tables)) {
    const std::size_t size = tables.profiles.size();
    SCHEDMATE_CHECK(tables.pairs.size() == size * size, "pairs are a square");
    for (const PairRate& pair : tables.pairs) {
      SCHEDMATE_CHECK(pair.newcomer > 0 && pair.resident > 0, "speeds are above zero");
    }
  }
  if (const auto forecast = trace::parse_lucid_forecast(part(), "forecast")) {
    SCHEDMATE_CHECK(forecast->step > Seconds(0), "rows go forward");
    SCHEDMATE_CHECK(!forecast->jobs.empty() && forecast->jobs.size() == forecast->gpus.size(),
                    "both columns are full");
  }
}

}  // namespace schedmate::fuzz
