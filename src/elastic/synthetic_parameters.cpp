// SPDX-License-Identifier: Apache-2.0
#include "elastic/synthetic_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include "base/table_reader.hpp"

namespace schedmate::elastic {
namespace {

constexpr std::int32_t largest_synthetic_batch = 1 << 20;
constexpr Bounds some_figure{1e-6, 1e9};
constexpr Bounds figure_or_none{0, 1e9};

/// It stands in paths, in TOML quotes and in CSV as it is.
void read_plain_name(TableReader& reader, std::string_view key, std::string& out) {
  reader.text(key, out);
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  if (!std::ranges::all_of(out, plain))
    reader.refuse(key, fmt::format("{} must consist of letters, digits, '_' and '-'", key));
}

template <class Row, class Name>
void check_synthetic_name(TableReader& reader, const std::vector<Row>& before,
                          const std::string& name, Name name_of) {
  if (std::ranges::find(before, name, name_of) == before.end()) return;
  reader.refuse("name", fmt::format("{} is listed twice; names must be unique", name));
}

void read_synthetic_type(TableReader& reader, std::vector<SyntheticGpuType>& types) {
  SyntheticGpuType type{};
  GpuType& gpus = type.gpus;
  read_plain_name(reader, "name", gpus.name);
  reader.whole("nodes", gpus.nodes, {1, 10'000});
  reader.whole("gpus_per_node", gpus.gpus_per_node, {1, 16});
  reader.whole("measured_nodes", gpus.measured_nodes, {1, 16});
  reader.number("memory_gib", type.memory_gib, some_figure);
  reader.number("peak_tflops", type.peak_tflops, some_figure);
  reader.number("node_gb_per_s", type.node_gb_per_s, some_figure);
  reader.number("network_gb_per_s", type.network_gb_per_s, some_figure);
  reader.number("hop_s", type.hop_s, {0, 1});
  check_synthetic_name(reader, types, gpus.name,
                       [](const SyntheticGpuType& each) { return each.gpus.name; });
  types.push_back(std::move(type));
}

void read_synthetic_step(TableReader& reader, SyntheticApplication& application,
                         const std::vector<SyntheticGpuType>& types) {
  reader.number("sample_gflop", application.sample_gflop, some_figure);
  reader.numbers("efficiency", application.efficiency, {1e-3, 1});
  reader.number("step_s", application.step_s, {1e-6, 1000});
  reader.number("gradient_mb", application.gradient_mb, some_figure);
  reader.number("overlap", application.overlap, {1, 10});
  if (application.efficiency.size() != types.size())
    reader.refuse(
        "efficiency",
        fmt::format("efficiency must list {} numbers, one for each [[type]]", types.size()));
}

void read_synthetic_memory(TableReader& reader, SyntheticApplication& application,
                           const std::vector<SyntheticGpuType>& types) {
  reader.number("fixed_gib", application.fixed_gib, figure_or_none);
  reader.number("sample_gib", application.sample_gib, some_figure);
  reader.whole("least_batch", application.least_batch, {1, largest_synthetic_batch});
  if (!std::has_single_bit(static_cast<std::uint32_t>(application.least_batch)))
    reader.refuse("least_batch", "least_batch must be a power of two");
  for (const SyntheticGpuType& type : types) {
    if (largest_batch_in_memory(application, type) >= application.least_batch) continue;
    reader.refuse("least_batch", fmt::format("{} samples per GPU need {} GiB, but a GPU of type {} "
                                             "has {}; lower fixed_gib, sample_gib or least_batch",
                                             application.least_batch,
                                             application.fixed_gib +
                                                 application.sample_gib * application.least_batch,
                                             type.gpus.name, type.memory_gib));
  }
}

/// Times that tables can hold: none too long, and computing not lost in the digits of the exchange.
void check_synthetic_pace(TableReader& reader, const SyntheticApplication& application,
                          const std::vector<SyntheticGpuType>& types) {
  constexpr double longest_s = 1e5;
  constexpr double most_exchange = 1000;
  for (std::size_t place = 0; place < types.size(); ++place) {
    const SyntheticGpuType& type = types[place];
    if (place >= application.efficiency.size()) return;  // has been refused
    const double sample_s =
        application.sample_gflop / (1000 * type.peak_tflops * application.efficiency[place]);
    const double gigabytes_per_s = std::min(type.node_gb_per_s, type.network_gb_per_s);
    const std::int32_t members = type.gpus.gpus_per_node + type.gpus.measured_nodes;
    const double exchange_s =
        2 * (application.gradient_mb / 1000 / gigabytes_per_s + members * type.hop_s);
    if (sample_s * largest_batch_in_memory(application, type) > longest_s)
      reader.refuse("sample_gflop",
                    fmt::format("a step on {} must take at most {} s", type.gpus.name, longest_s));
    const double shortest_s = application.step_s + sample_s * application.least_batch;
    if (exchange_s > most_exchange * shortest_s)
      reader.refuse(
          "gradient_mb",
          fmt::format("the exchange on {} must take at most {} times as long as computing",
                      type.gpus.name, most_exchange));
  }
}

void read_synthetic_training(TableReader& reader, SyntheticApplication& application) {
  reader.wholes("batches", application.batches, {1, 1e8});
  reader.whole("epochs", application.epochs, {2, 10'000});
  reader.whole("phases", application.phases, {2, 10'000});
  reader.number("epoch_samples", application.epoch_samples, {1, 1e9});
  reader.number("noise_first", application.noise_first, some_figure);
  reader.number("noise_last", application.noise_last, some_figure);
  reader.number("squared_last", application.squared_last, some_figure);
  reader.number("lag", application.lag, {0, 1});
  if (application.phases > application.epochs)
    reader.refuse("phases", fmt::format("there must not be more phases than the {} epochs",
                                        application.epochs));
  if (std::ranges::adjacent_find(application.batches, std::greater_equal<>()) !=
      application.batches.end())
    reader.refuse("batches", "batches must increase: training starts with the first");
  if (!application.batches.empty() && application.batches.front() < application.least_batch)
    reader.refuse("batches", fmt::format("batches must not start below least_batch = {}",
                                         application.least_batch));
}

void read_synthetic_demand(TableReader& reader, SyntheticApplication& application,
                           const std::vector<SyntheticGpuType>& types) {
  std::int32_t most = 1;
  for (const SyntheticGpuType& type : types)
    most = std::max(most, type.gpus.measured_nodes * type.gpus.gpus_per_node);
  reader.number("weight", application.weight, figure_or_none);
  reader.wholes("replicas", application.replicas, {1, static_cast<double>(most)});
  if (application.replicas.empty() || application.batches.empty()) return;
  const std::int32_t fit = application.batches.back() / application.least_batch;
  if (std::ranges::max(application.replicas) > fit)
    reader.refuse("replicas", fmt::format("replicas must be at most {}: the largest batch has only "
                                          "that many parts of least_batch",
                                          fit));
}

/// Passed on as it is, so that all keys of docs/formats/elastic.md must be there.
void read_synthetic_model(TableReader& reader, SyntheticApplication& application) {
  if (!application.model.empty()) reader.refuse("name", "an application must have only one model");
  for (const char* key : {"name", "family", "type", "task", "task_type", "dataset", "framework",
                          "optimizer", "precision"}) {
    std::string value;
    reader.text(key, value);
    if (value.find_first_of("\"\\") != std::string::npos)
      reader.refuse(key, fmt::format("{} must not contain a quote or a backslash", key));
    application.model.emplace_back(key, fmt::format("\"{}\"", value));
  }
  for (const char* key : {"params_m", "learning_rate", "epochs"}) {
    double value = 0;
    reader.number(key, value, {0, 1e6});
    application.model.emplace_back(key, fmt::format("{}", value));
  }
}

void read_synthetic_application(TableReader& reader, SyntheticParameters& made) {
  SyntheticApplication application;
  read_plain_name(reader, "name", application.name);
  reader.number("restart_s", application.restart_s, {0, 1e6});
  reader.number("believed_restart_s", application.believed_restart_s, {0, 1e6});
  reader.number("slowdown", application.slowdown, {0.01, 1000});
  read_synthetic_step(reader, application, made.types);
  read_synthetic_memory(reader, application, made.types);
  check_synthetic_pace(reader, application, made.types);
  read_synthetic_training(reader, application);
  read_synthetic_demand(reader, application, made.types);
  reader.maybe_tables("model", [&](TableReader& row) { read_synthetic_model(row, application); });
  check_synthetic_name(reader, made.applications, application.name,
                       [](const SyntheticApplication& each) { return each.name; });
  made.applications.push_back(std::move(application));
}

void read_synthetic_jobs(TableReader& reader, SyntheticParameters& made) {
  SyntheticJobs& jobs = made.jobs;
  reader.whole("seed", jobs.seed, {0, 2e9});
  reader.whole("count", jobs.count, {1, 100'000});
  reader.number("hours", jobs.hours, {0.01, 10'000});
  reader.number("burst_start_h", jobs.burst_start_h, figure_or_none);
  reader.number("burst_h", jobs.burst_h, figure_or_none);
  reader.number("burst_share", jobs.burst_share, {0, 1});
  reader.wholes("batch_factors", jobs.batch_factors, {1, 1000});
  if (jobs.burst_start_h + jobs.burst_h > jobs.hours)
    reader.refuse("burst_h", fmt::format("the burst must end within the {} hours", jobs.hours));
  const auto weighs = [](const SyntheticApplication& each) { return each.weight > 0; };
  if (std::ranges::none_of(made.applications, weighs))
    reader.refuse("count", "at least one [[application]] must have a weight above 0");
}

}  // namespace

std::int32_t largest_batch_in_memory(const SyntheticApplication& application,
                                     const SyntheticGpuType& type) {
  const double fits = (type.memory_gib - application.fixed_gib) / application.sample_gib;
  if (!(fits >= 1)) return 0;
  const double most = std::min<double>(fits, largest_synthetic_batch);
  return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(most)));
}

Result<SyntheticParameters> parse_synthetic_parameters(std::string_view toml,
                                                       const std::string& file) {
  SyntheticParameters made;
  const auto done = TableReader::read(toml, file, [&](TableReader& reader) {
    read_plain_name(reader, "tables", made.tables);
    read_plain_name(reader, "cluster", made.cluster);
    reader.tables("type", [&](TableReader& row) { read_synthetic_type(row, made.types); });
    reader.tables("application", [&](TableReader& row) { read_synthetic_application(row, made); });
    reader.table("jobs", [&](TableReader& row) { read_synthetic_jobs(row, made); });
  });
  if (!done) return tl::unexpected(done.error());
  return made;
}

}  // namespace schedmate::elastic
