// SPDX-License-Identifier: Apache-2.0
#include "trace/packing_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/input.hpp"
#include "base/text.hpp"
#include "trace/values.hpp"

namespace schedmate {
namespace {

/// The released table has no pairs with these; its simulator runs them at full speed.
constexpr std::array<std::string_view, 4> unmeasured_models = {"NeuMF", "ResNet50", "BERT",
                                                               "Transformer"};
constexpr std::size_t most_profiles = 2000;  // the matrix of pairs stays below 64 MB
constexpr double most_memory_mib = 16.0 * 1024 * 1024;
constexpr double fastest = 10.0;  // times the speed alone; real ones reach 1.5

tl::unexpected<Error> bad_field(const trace::CsvRows& rows, trace::Column column,
                                std::string_view kind) {
  return fail(ErrorCode::invalid, fmt::format("{}:{}:{}: {} is not {}", rows.name(), rows.line(),
                                              rows.position(column), rows.header()[column], kind));
}

Result<double> real_between(const trace::CsvRows& rows, trace::Column column,
                            std::pair<double, double> range) {
  const auto value = parse_number<double>(rows.field(column));
  if (value && *value >= range.first && *value <= range.second) return *value;
  return bad_field(rows, column, fmt::format("a number from {} to {}", range.first, range.second));
}

Result<int> whole_between(const trace::CsvRows& rows, trace::Column column,
                          std::pair<int, int> range) {
  const auto value = trace::parse_whole(rows.field(column));
  if (value && *value >= range.first && *value <= range.second) return static_cast<int>(*value);
  return bad_field(rows, column,
                   fmt::format("a whole number from {} to {}", range.first, range.second));
}

/// One side of a pair, "model1" or "model2" and so on.
struct Side {
  trace::Column model = trace::absent, dataset = trace::absent, batch_size = trace::absent,
                mixed_precision = trace::absent;
  trace::Column gpus = trace::absent, speed = trace::absent;
};

Result<Side> find_side(const trace::CsvRows& rows, std::string_view digit) {
  Side side;
  const std::array<std::pair<trace::Column*, std::string_view>, 6> wanted = {{
      {&side.model, "model"},
      {&side.dataset, "dataset"},
      {&side.batch_size, "batchsize"},
      {&side.mixed_precision, "amp"},
      {&side.gpus, "gpu_num"},
      {&side.speed, "speed"},
  }};
  for (const auto& [place, name] : wanted) {
    const auto column = rows.need(fmt::format("{}{}", name, digit));
    if (!column) return tl::unexpected(column.error());
    *place = *column;
  }
  return side;
}

struct Member {
  std::uint32_t profile = no_index;
  int gpus = 1;
  double speed = 1;
};

Result<Member> read_member(const trace::CsvRows& rows, const Side& side,
                           const trace::ProfileIndex& profiles) {
  const auto batch = whole_between(rows, side.batch_size, {0, 1'000'000});
  const auto amp = whole_between(rows, side.mixed_precision, {0, 1});
  const auto gpus = whole_between(rows, side.gpus, {1, 1024});
  const auto speed = real_between(rows, side.speed, {1e-3, fastest});
  for (const auto* value : {&batch, &amp, &gpus}) {
    if (!*value) return tl::unexpected(value->error());
  }
  if (!speed) return tl::unexpected(speed.error());
  const auto found = profiles.find({std::string(rows.field(side.model)),
                                    std::string(rows.field(side.dataset)), *batch, *amp == 1});
  return Member{found == profiles.end() ? no_index : found->second, *gpus, *speed};
}

}  // namespace

trace::ProfileIndex trace::index_profiles(const PackingTables& tables) {
  trace::ProfileIndex index;
  for (std::uint32_t i = 0; i < tables.profiles.size(); ++i) {
    const Profile& each = tables.profiles[i];
    index.emplace(
        trace::ProfileKey(each.model, each.dataset, each.batch_size, each.mixed_precision), i);
  }
  return index;
}

Result<trace::ProfileColumns> trace::find_profile_columns(const trace::CsvRows& rows,
                                                          std::string_view score) {
  trace::ProfileColumns columns;
  const std::array<std::pair<trace::Column*, std::string_view>, 8> wanted = {{
      {&columns.model, "model"},
      {&columns.dataset, "dataset"},
      {&columns.batch_size, "batchsize"},
      {&columns.mixed_precision, "amp"},
      {&columns.gpu_util, "gpu_util"},
      {&columns.memory_util, "gmem_util"},
      {&columns.memory, "gmem"},
      {&columns.score, score},
  }};
  for (const auto& [place, name] : wanted) {
    const auto column = rows.need(name);
    if (!column) return tl::unexpected(column.error());
    *place = *column;
  }
  columns.interference_free = rows.find("interference_free");
  return columns;
}

Result<Profile> trace::read_profile(const trace::CsvRows& rows,
                                    const trace::ProfileColumns& columns) {
  Profile profile;
  profile.model = rows.field(columns.model);
  profile.dataset = rows.field(columns.dataset);
  const auto batch = whole_between(rows, columns.batch_size, {0, 1'000'000});
  const auto amp = whole_between(rows, columns.mixed_precision, {0, 1});
  const auto score = whole_between(rows, columns.score, {0, 2});
  const auto free = columns.interference_free == trace::absent
                        ? Result<int>(std::ranges::count(unmeasured_models, profile.model) > 0)
                        : whole_between(rows, columns.interference_free, {0, 1});
  for (const auto* value : {&batch, &amp, &score, &free}) {
    if (!*value) return tl::unexpected(value->error());
  }
  const auto util = real_between(rows, columns.gpu_util, {0, 100});
  const auto memory_util = real_between(rows, columns.memory_util, {0, 100});
  const auto memory = real_between(rows, columns.memory, {0, most_memory_mib});
  for (const auto* value : {&util, &memory_util, &memory}) {
    if (!*value) return tl::unexpected(value->error());
  }
  profile.batch_size = *batch;
  profile.mixed_precision = *amp == 1;
  profile.sharing_score = *score;
  profile.interference_free = *free == 1;
  profile.gpu_util_pct = *util;
  profile.memory_util_pct = *memory_util;
  profile.memory_mib = *memory;
  return profile;
}

Result<std::vector<Profile>> trace::parse_profiles(std::string_view text, const std::string& name) {
  auto rows = trace::CsvRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const auto columns = trace::find_profile_columns(*rows, "label");
  if (!columns) return tl::unexpected(columns.error());
  std::vector<Profile> profiles;
  std::set<trace::ProfileKey> known;
  while (rows->next()) {
    const auto refuse = [&](std::string_view why) {
      return fail(ErrorCode::invalid, fmt::format("{}:{}: {}", name, rows->line(), why));
    };
    if (!rows->fault().empty()) return refuse(rows->fault());
    auto profile = trace::read_profile(*rows, *columns);
    if (!profile) return tl::unexpected(profile.error());
    if (!known
             .emplace(profile->model, profile->dataset, profile->batch_size,
                      profile->mixed_precision)
             .second) {
      return refuse("this configuration is listed twice");
    }
    if (profiles.size() == most_profiles) return refuse("more than 2,000 configurations");
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

Result<void> trace::parse_pairs(std::string_view text, const std::string& name,
                                PackingTables& tables) {
  auto rows = trace::CsvRows::open(text, name);
  if (!rows) return tl::unexpected(rows.error());
  const auto left = find_side(*rows, "1");
  const auto right = find_side(*rows, "2");
  if (!left || !right) return tl::unexpected((left ? right : left).error());
  const trace::ProfileIndex index = trace::index_profiles(tables);
  const std::size_t size = tables.profiles.size();
  tables.pairs.assign(size * size, PairRate{});
  while (rows->next()) {
    if (!rows->fault().empty()) {
      return fail(ErrorCode::invalid, fmt::format("{}:{}: {}", name, rows->line(), rows->fault()));
    }
    const auto first = read_member(*rows, *left, index);
    const auto second = read_member(*rows, *right, index);
    if (!first || !second) return tl::unexpected((first ? second : first).error());
    // Speeds on one GPU stand for all widths, as in the released simulator.
    if (first->gpus != 1 || second->gpus != 1) continue;
    if (first->profile == no_index || second->profile == no_index) continue;
    // Each pair stands in the file once. The second assignment is skipped for a configuration
    // paired with itself, where "who came first" is all there is.
    tables.pairs[first->profile * size + second->profile] = {first->speed, second->speed};
    if (first->profile != second->profile) {
      tables.pairs[second->profile * size + first->profile] = {second->speed, first->speed};
    }
  }
  return {};
}

Result<PackingTables> read_packing_tables(const std::string& profiles_csv,
                                          const std::string& pairs_csv) {
  const auto profiles_text = read_file(profiles_csv);
  if (!profiles_text) return tl::unexpected(profiles_text.error());
  auto profiles = trace::parse_profiles(*profiles_text, profiles_csv);
  if (!profiles) return tl::unexpected(profiles.error());
  PackingTables tables;
  tables.profiles = std::move(*profiles);
  const auto pairs_text = read_file(pairs_csv);
  if (!pairs_text) return tl::unexpected(pairs_text.error());
  if (const auto read = trace::parse_pairs(*pairs_text, pairs_csv, tables); !read) {
    return tl::unexpected(read.error());
  }
  return tables;
}

}  // namespace schedmate
