// SPDX-License-Identifier: Apache-2.0

/// docs/formats/cluster.md: the cluster as TOML.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/text.hpp"
#include "trace/builder.hpp"
#include "trace/readers.hpp"

namespace schedmate {
namespace {

constexpr std::array<std::string_view, 5> settings = {"nodes", "gpus_per_node", "gpu_type",
                                                      "gpu_memory_mib", "round_s"};

class ClusterReader {
 public:
  explicit ClusterReader(const std::string& name) : name_(name) {}

  Result<ClusterSpec> read(const toml::table& file) {
    PartitionSpec defaults;
    if (const auto done = read_settings(file, "vc", defaults); !done) {
      return tl::unexpected(done.error());
    }
    ClusterSpec cluster;
    const toml::node* const list = file.get("vc");
    if (list == nullptr) {
      defaults.name = whole_cluster;
      cluster.partitions.push_back(defaults);
    } else if (!list->is_array_of_tables()) {
      return refuse(*list, "vc must be a list of tables, each headed [[vc]]");
    } else {
      for (const toml::node& each : *list->as_array()) {
        auto vc = read_vc(*each.as_table(), defaults);
        if (!vc) return tl::unexpected(vc.error());
        cluster.partitions.push_back(std::move(*vc));
      }
    }
    for (const PartitionSpec& each : cluster.partitions) {
      if (each.nodes > 0) continue;
      return fail(ErrorCode::invalid,
                  fmt::format("{}: VC '{}' has no nodes; set nodes = N in it or at the top", name_,
                              each.name));
    }
    return cluster;
  }

 private:
  tl::unexpected<Error> refuse(const toml::node& at, std::string_view why) const {
    return fail(ErrorCode::invalid, fmt::format("{}:{}:{}: {}", name_, at.source().begin.line,
                                                at.source().begin.column, why));
  }

  Result<PartitionSpec> read_vc(const toml::table& table, const PartitionSpec& defaults) {
    PartitionSpec vc = defaults;
    const toml::node* const name = table.get("name");
    if (name == nullptr || !name->is_string() || name->as_string()->get().empty()) {
      return refuse(name == nullptr ? table : *name, "a VC needs name = \"...\"");
    }
    vc.name = name->as_string()->get();
    if (!names_.insert(vc.name).second) {
      return refuse(*name, fmt::format("a VC called '{}' came before", vc.name));
    }
    if (const auto done = read_settings(table, "name", vc); !done) {
      return tl::unexpected(done.error());
    }
    return vc;
  }

  /// Every key of the table except `other`, which the caller reads.
  Result<void> read_settings(const toml::table& table, std::string_view other,
                             PartitionSpec& spec) const {
    for (const auto& [key, value] : table) {
      if (key.str() == other) continue;
      auto done = read_setting(key, value, spec);
      if (done) continue;
      if (done.error().code != ErrorCode::not_found) return done;
      std::vector<std::string_view> names(settings.begin(), settings.end());
      names.push_back(other);
      return fail(ErrorCode::invalid,
                  fmt::format("{}:{}:{}: {}", name_, key.source().begin.line,
                              key.source().begin.column, unknown_name("key", key.str(), names)));
    }
    return {};
  }

  Result<void> read_setting(const toml::key& key, const toml::node& value,
                            PartitionSpec& spec) const {
    const std::string_view name = key.str();
    if (name == "gpu_type") {
      if (!value.is_string()) return refuse(value, "gpu_type must be a text in quotes");
      spec.gpu_type = value.as_string()->get();
      return {};
    }
    std::int64_t number = 0;
    const auto take = [&](std::int64_t most) -> Result<void> {
      const auto* const whole = value.as_integer();
      if (whole == nullptr || whole->get() < 1 || whole->get() > most) {
        return refuse(value, fmt::format("{} must be a whole number from 1 to {}", name, most));
      }
      number = whole->get();
      return {};
    };
    Result<void> done;
    if (name == "nodes") {
      done = take(1'000'000);
      if (done) spec.nodes = static_cast<int>(number);
    } else if (name == "gpus_per_node") {
      done = take(64);
      if (done) spec.gpus_per_node = static_cast<int>(number);
    } else if (name == "gpu_memory_mib") {
      done = take(16'777'216);
      if (done) spec.gpu_memory_mib = number;
    } else if (name == "round_s") {
      done = take(86'400);
      if (done) spec.round = Seconds(number);
    } else {
      done = fail(ErrorCode::not_found, "");
    }
    return done;
  }

  const std::string& name_;
  std::set<std::string> names_;
};

}  // namespace

Result<ClusterSpec> parse_cluster(std::string_view text, const std::string& name) {
  try {
    return ClusterReader(name).read(toml::parse(text, name));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid, fmt::format("{}:{}:{}: {}", name, error.source().begin.line,
                                                error.source().begin.column, error.description()));
  }
}

Result<ClusterSpec> read_cluster(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_cluster(*text, path);
}

}  // namespace schedmate
