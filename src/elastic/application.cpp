// SPDX-License-Identifier: Apache-2.0
#include "elastic/application.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/input.hpp"
#include "base/table_reader.hpp"
#include "base/text.hpp"
#include "elastic/table_row.hpp"

namespace schedmate::elastic {
namespace {

namespace fs = std::filesystem;

constexpr double longest_step_s = 1e6;
constexpr double largest_batch = 1e7;
constexpr std::int64_t largest_total_batch = 100'000'000;

MeasuredStep step_of(TableRow& row) {
  MeasuredStep step;
  step.batch = row.whole("local_bsz", {1, largest_batch});
  step.sample.step_s = row.number("step_time", {1e-9, longest_step_s});
  step.sample.sync_s = row.number("sync_time", {0, longest_step_s});
  if (step.sample.sync_s >= step.sample.step_s)
    row.refuse("sync_time must be shorter than step_time, which includes it");
  return step;
}

Result<std::optional<StepTable>> read_steps(const fs::path& folder, const std::string& type) {
  const std::string placements = (folder / fmt::format("placements-{}.csv", type)).string();
  const std::string scalability = (folder / fmt::format("scalability-{}.csv", type)).string();
  std::error_code error;
  if (!fs::exists(placements, error)) return std::nullopt;
  const auto text = read_file(placements);
  if (!text) return tl::unexpected(text.error());
  auto steps = parse_placements(*text, placements);
  if (!steps) return tl::unexpected(steps.error());
  if (fs::exists(scalability, error)) {
    const auto wider_text = read_file(scalability);
    if (!wider_text) return tl::unexpected(wider_text.error());
    const auto wider = parse_scalability(*wider_text, scalability);
    if (!wider) return tl::unexpected(wider.error());
    steps->insert(steps->end(), wider->begin(), wider->end());
  }
  return StepTable(*steps);
}

/// The batches of the files validation-BATCH.csv, ascending.
std::vector<std::int64_t> batches_in(const fs::path& folder) {
  constexpr std::string_view prefix = "validation-";
  std::vector<std::int64_t> batches;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || entry.path().extension() != ".csv") continue;
    const auto batch =
        parse_number<std::int64_t>(entry.path().stem().string().substr(prefix.size()));
    const bool plain = batch && name == fmt::format("validation-{}.csv", *batch);
    if (plain && *batch >= 1 && *batch <= largest_total_batch) batches.push_back(*batch);
  }
  std::ranges::sort(batches);
  return batches;
}

Result<TrainingTable> read_trainings(const fs::path& folder) {
  std::vector<TrainingRun> runs;
  for (const std::int64_t batch : batches_in(folder)) {
    const std::string path = (folder / fmt::format("validation-{}.csv", batch)).string();
    const auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    auto run = parse_training(*text, path, static_cast<double>(batch));
    if (!run) return tl::unexpected(run.error());
    if (!runs.empty() && runs[0].progress.size() != run->progress.size())
      return fail(ErrorCode::invalid,
                  fmt::format("{}: has {} epochs but must have {}, like the other validation files",
                              path, run->progress.size(), runs[0].progress.size()));
    runs.push_back(std::move(*run));
  }
  if (runs.empty())
    return fail(
        ErrorCode::not_found,
        fmt::format("{}: has no validation-BATCH.csv to show how it trains; add at least one",
                    folder.string()));
  return TrainingTable(std::move(runs));
}

void read_cap(TableReader& reader, ApplicationTraits& traits) {
  std::string type;
  double batch = 1;
  reader.text("type", type);
  reader.number("atomic_batch", batch, {1, largest_batch});
  if (!traits.most_batch.emplace(type, batch).second)
    reader.refuse("type", fmt::format("the cap of {} is given twice", type));
}

void read_model(TableReader& reader, ApplicationTraits& traits) {
  if (traits.model) reader.refuse("name", "an application must have only one model");
  ApplicationModel model;
  reader.text("name", model.name);
  reader.text("family", model.family);
  reader.text("type", model.type);
  reader.text("task", model.task);
  reader.text("task_type", model.task_type);
  reader.text("dataset", model.dataset);
  reader.text("framework", model.framework);
  reader.text("optimizer", model.optimizer);
  reader.text("precision", model.precision);
  reader.number("params_m", model.params_m, {0, 1e9});
  reader.number("learning_rate", model.learning_rate, {0, 1e6});
  reader.number("epochs", model.epochs, {0, 1e9});
  traits.model = std::move(model);
}

void read_traits(TableReader& row, std::vector<ApplicationTraits>& all) {
  ApplicationTraits traits;
  row.text("name", traits.name);
  row.number("restart_s", traits.restart_s, {0, 1e6});
  row.number("believed_restart_s", traits.believed_restart_s, {0, 1e6});
  row.number("slowdown", traits.slowdown, {0.01, 1000});
  row.maybe_tables("cap", [&](TableReader& cap) { read_cap(cap, traits); });
  row.maybe_tables("model", [&](TableReader& model) { read_model(model, traits); });
  if (!is_folder_name(traits.name))
    row.refuse("name",
               "name is a folder of the tables; it must not contain '/' and must not be '..'");
  if (std::ranges::find(all, traits.name, &ApplicationTraits::name) != all.end())
    row.refuse("name", fmt::format("the application {} is listed twice; names must be unique",
                                   traits.name));
  all.push_back(std::move(traits));
}

/// The largest batch that is used on a GPU type; 0 where it was not measured.
Result<double> capped_batch(const ApplicationTraits& traits, const std::string& type,
                            const std::optional<StepTable>& steps) {
  if (!steps) return 0;
  const auto cap = traits.most_batch.find(type);
  if (cap == traits.most_batch.end()) return steps->most_batch();
  if (cap->second >= steps->least_batch()) return std::min(steps->most_batch(), cap->second);
  return fail(ErrorCode::invalid,
              fmt::format("application {}: the cap of {}, atomic_batch = {}, must be at least {}, "
                          "the smallest measured batch",
                          traits.name, type, cap->second, steps->least_batch()));
}

}  // namespace

Result<std::vector<MeasuredStep>> parse_placements(std::string_view csv, const std::string& file) {
  std::vector<MeasuredStep> steps;
  const auto done = parse_table(csv, file, [&](TableRow& row) {
    MeasuredStep step = step_of(row);
    auto placement = parse_placement(row.text("placement"));
    if (!placement) {
      row.refuse("placement must be GPUs by node, such as 44 or 16-16");
      return;
    }
    step.nodes = static_cast<std::int32_t>(placement->size());
    step.replicas = replicas_of(*placement);
    step.placement = std::move(*placement);
    steps.push_back(std::move(step));
  });
  if (!done) return tl::unexpected(done.error());
  if (std::ranges::find(steps, 1, &MeasuredStep::replicas) == steps.end())
    return fail(
        ErrorCode::invalid,
        fmt::format("{}: no row for placement 1; the step time on one GPU is needed", file));
  return steps;
}

Result<std::vector<MeasuredStep>> parse_scalability(std::string_view csv, const std::string& file) {
  std::vector<MeasuredStep> steps;
  const auto done = parse_table(csv, file, [&](TableRow& row) {
    MeasuredStep step = step_of(row);
    step.nodes = row.whole("num_nodes", {1, 4096});
    step.replicas = row.whole("num_replicas", {1, 65'536});
    if (step.replicas < step.nodes)
      row.refuse("num_replicas must be at least num_nodes: one on each node");
    steps.push_back(std::move(step));
  });
  if (!done) return tl::unexpected(done.error());
  return steps;
}

Result<TrainingRun> parse_training(std::string_view csv, const std::string& file, double batch) {
  TrainingRun run{batch, {}, {}};
  const auto done = parse_table(csv, file, [&](TableRow& row) {
    const double before = run.progress.empty() ? 0 : run.progress.back();
    const double progress = row.number("progress", {0, 1e15});
    if (!(progress > before)) row.refuse("progress must be above 0 and increase from row to row");
    run.progress.push_back(progress);
    run.noise.push_back(
        {row.number("grad_sqr", {-1e300, 1e300}), row.number("grad_var", {-1e300, 1e300})});
  });
  if (!done) return tl::unexpected(done.error());
  if (run.progress.empty())
    return fail(ErrorCode::invalid, fmt::format("{}: no row: at least one epoch is needed", file));
  return run;
}

Result<std::vector<ApplicationTraits>> parse_applications(std::string_view toml,
                                                          const std::string& file) {
  std::vector<ApplicationTraits> all;
  const auto done = TableReader::read(toml, file, [&](TableReader& reader) {
    reader.tables("application", [&](TableReader& row) { read_traits(row, all); });
  });
  if (!done) return tl::unexpected(done.error());
  return all;
}

Result<Application> read_application(const std::string& folder, const ApplicationTraits& traits,
                                     const ElasticCluster& cluster) {
  const fs::path own = fs::path(folder) / traits.name;
  auto training = read_trainings(own);
  if (!training) return tl::unexpected(training.error());
  Application application{traits, std::move(*training), {}, {}};
  bool measured = false;
  for (const GpuType& type : cluster.types) {
    auto steps = read_steps(own, type.name);
    if (!steps) return tl::unexpected(steps.error());
    const auto most = capped_batch(traits, type.name, *steps);
    if (!most) return tl::unexpected(most.error());
    measured = measured || steps->has_value();
    application.tables.push_back(std::move(*steps));
    application.most_batch_of_type.push_back(*most);
  }
  if (!measured)
    return fail(ErrorCode::not_found,
                fmt::format("{}: no placements-TYPE.csv for any GPU type of the cluster {}",
                            own.string(), cluster.name));
  return application;
}

}  // namespace schedmate::elastic
