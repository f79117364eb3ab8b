// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <schedmate/store.hpp>

#include "base/text.hpp"
#include "store/rows.hpp"

namespace schedmate {
namespace {

using Open = Result<std::unique_ptr<Store>> (*)(const std::string&, const StoreOptions&);
constexpr std::array openers{
#define STORE(name, summary) Open{store::open_##name},
#include "store/stores.def"
#undef STORE
};

}  // namespace

std::span<const StoreRow> store_rows() {
  static constexpr std::array rows{
#define STORE(name, summary) StoreRow{#name, summary},
#include "store/stores.def"
#undef STORE
  };
  return rows;
}

Result<std::unique_ptr<Store>> open_store(std::string_view spec, const StoreOptions& options) {
  const auto colon = std::min(spec.find(':'), spec.size());
  const auto kind = spec.substr(0, colon);
  const auto rows = store_rows();
  const auto row = std::ranges::find(rows, kind, &StoreRow::name);
  if (row == rows.end()) {
    std::vector<std::string_view> names;
    for (const StoreRow& each : rows) names.push_back(each.name);
    return fail(ErrorCode::not_found,
                unknown_name("store", kind, names) + "; write sqlite:PATH or redis:HOST:PORT");
  }
  const std::string where(spec.substr(std::min(colon + 1, spec.size())));
  return openers[static_cast<std::size_t>(row - rows.begin())](where, options);
}

Result<std::vector<JobRecord>> Store::list(const JobFilter& filter) {
  std::vector<JobRecord> found;
  const auto done = each(filter, [&](JobRecord record) {
    found.push_back(std::move(record));
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return found;
}

}  // namespace schedmate
