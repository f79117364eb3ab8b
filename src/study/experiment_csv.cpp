// SPDX-License-Identifier: Apache-2.0
#include "study/experiment_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>

#include "base/input.hpp"
#include "base/output.hpp"
#include "base/sha256.hpp"
#include "study/elastic_experiment.hpp"
#include "study/evaluate_runs.hpp"
#include "study/evaluate_trace.hpp"

namespace schedmate::embedded {
extern const std::string_view replay_code;
extern const std::string_view elastic_code;
}  // namespace schedmate::embedded

namespace schedmate::study {
namespace {

namespace fs = std::filesystem;

/// What a CSV was made of, so that nothing of it changes unnoticed.
struct Manifest {
  std::string inputs, code, csv;
  std::string sample;  ///< hash of what its first perturbations alone give; "" = not taken
  std::string same;    ///< a later code that gave the same sample
};

std::string text_of(const Manifest& manifest) {
  std::string text =
      fmt::format("inputs {}\ncode {}\ncsv {}\n", manifest.inputs, manifest.code, manifest.csv);
  if (!manifest.sample.empty()) text += fmt::format("sample {}\n", manifest.sample);
  if (!manifest.same.empty()) text += fmt::format("same {}\n", manifest.same);
  return text;
}

/// Words that are missing are empty.
Manifest read_manifest(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return {};
  std::istringstream words(*text);
  std::map<std::string, std::string> values;
  for (std::string key, value; words >> key >> value;) values[key] = value;
  return {values["inputs"], values["code"], values["csv"], values["sample"], values["same"]};
}

std::string code_of(bool elastic) {
  std::string all(elastic ? embedded::elastic_code : embedded::replay_code);
  const settings::Settings usual;
  for (const settings::SettingRow& row : settings::setting_rows())
    if (elastic ? decides_elastic_rows(row.key) : decides_rows(row.key))
      all += fmt::format("\n{}={}", row.key, usual.text(row.key));
  return sha256(all);
}

/// The CSVs of the first `counts[i]` perturbations, for each i.
Result<std::vector<std::string>> csvs_of(const EvaluationInput& input, bool elastic,
                                         std::span<const std::size_t> counts) {
  const auto rows = elastic ? run_elastic_experiment(input, counts) : run_experiment(input, counts);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<std::string> csvs(counts.size(), csv_header());
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (const FigureRow& row : (*rows)[i]) csvs[i] += csv_line(row);
  return csvs;
}

/// What the first of them give alone says whether later code gives the same: a tenth of the work.
std::size_t sample_size(const ExperimentFile& experiment) {
  return static_cast<std::size_t>(std::min<std::int64_t>(experiment.perturbations, 2));
}

/// An experiment, and the folder of its CSV.
struct CsvRequest {
  const settings::Session& session;
  const ExperimentFile& experiment;
  const std::string& out;
  Shard shard;
  [[nodiscard]] CsvPlaces places() const { return csv_places(experiment, out); }
  [[nodiscard]] EvaluationInput input(const RowsOrigin& origin) const {
    constexpr std::size_t prefix = 12;
    const std::string same = sha256(origin.inputs + origin.code).substr(0, prefix);
    const RunCounts counts{origin.elastic ? 1 : experiment.traces.size(), experiment.points.size(),
                           static_cast<std::size_t>(experiment.perturbations)};
    return {session, experiment, command_of(session, experiment, out),
            static_cast<int>(session.settings.whole("threads")),
            KeptRuns(fmt::format("{}/{}", places().runs, same), shard, counts)};
  }
};

/// Whether the CSV stands as it is. Where later code gives the same sample the manifest says so.
Result<bool> stands(const CsvRequest& request, const RowsOrigin& origin) {
  const CsvPlaces places = request.places();
  const auto state = csv_state(places, origin);
  if (!state) return tl::unexpected(state.error());
  Manifest manifest = read_manifest(places.manifest);
  const bool current = state->standing == CsvStanding::current;
  if (state->standing != CsvStanding::earlier_code || manifest.sample.empty()) return current;
  const std::array counts{sample_size(request.experiment)};
  const auto csvs = csvs_of(request.input(origin), origin.elastic, counts);
  if (!csvs) return tl::unexpected(csvs.error());
  const std::string sample = sha256(csvs->front());
  if (manifest.sample != sample) return false;
  manifest.same = origin.code;
  if (auto done = write_file(places.manifest, text_of(manifest)); !done)
    return tl::unexpected(done.error());
  return true;
}

}  // namespace

CsvPlaces csv_places(const ExperimentFile& experiment, const std::string& out) {
  const fs::path folder(out);
  return {(folder / (experiment.name + ".csv")).string(),
          (folder / (experiment.name + ".manifest")).string(),
          (folder / (experiment.name + ".runs")).string()};
}

std::string command_of(const settings::Session& session, const ExperimentFile& experiment,
                       const std::string& out) {
  std::string command = fmt::format("schedmate evaluate {} --out {}", experiment.path, out);
  constexpr auto no_matter = std::to_array<std::string_view>({"threads", "report", "state_dir"});
  for (const settings::SettingRow& row : settings::setting_rows()) {
    const std::string origin = session.settings.origin(row.key);
    if (origin == "default" || origin == "mode") continue;
    if (std::ranges::find(no_matter, row.key) != no_matter.end()) continue;
    command += fmt::format(" --set {}={}", row.key, session.settings.text(row.key));
  }
  return command;
}

Result<RowsOrigin> origin_of(const settings::Session& session, const ExperimentFile& experiment,
                             const std::string& out) {
  const auto elastic = is_elastic_experiment(experiment);
  if (!elastic) return tl::unexpected(elastic.error());
  const std::string command = command_of(session, experiment, out);
  auto inputs = *elastic ? elastic_fingerprint(session.settings, experiment, command)
                         : fingerprint_of(session.settings, experiment, command);
  if (!inputs) return tl::unexpected(inputs.error());
  return RowsOrigin{*elastic, std::move(*inputs), code_of(*elastic)};
}

RowsOrigin origin_without_inputs(const ExperimentFile& experiment, const std::string& out) {
  const bool elastic = is_elastic_experiment(experiment).value_or(false);
  return {elastic, read_manifest(csv_places(experiment, out).manifest).inputs, code_of(elastic)};
}

Result<CsvState> csv_state(const CsvPlaces& places, const RowsOrigin& origin) {
  const Manifest kept = read_manifest(places.manifest);
  const auto state = [&](CsvStanding standing) { return CsvState{standing, kept.code}; };
  std::error_code error;
  if (!fs::exists(places.csv, error)) return state(CsvStanding::never_run);
  const auto csv = read_file(places.csv);
  if (!csv) return tl::unexpected(csv.error());
  if (kept.csv != sha256(*csv)) return state(CsvStanding::other_csv);
  if (kept.inputs != origin.inputs) return state(CsvStanding::other_inputs);
  return state(kept.code == origin.code || kept.same == origin.code ? CsvStanding::current
                                                                    : CsvStanding::earlier_code);
}

Result<std::optional<std::size_t>> make_csv(const settings::Session& session,
                                            const ExperimentFile& experiment,
                                            const std::string& out) {
  const CsvRequest request{session, experiment, out, {}};
  const auto origin = origin_of(session, experiment, out);
  if (!origin) return tl::unexpected(origin.error());
  const auto there = stands(request, *origin);
  if (!there) return tl::unexpected(there.error());
  std::error_code left;  // what cannot be removed is in nobody's way
  if (*there) {
    fs::remove_all(request.places().runs, left);
    return std::nullopt;
  }
  const std::array counts{static_cast<std::size_t>(experiment.perturbations),
                          sample_size(experiment)};
  const auto csvs = csvs_of(request.input(*origin), origin->elastic, counts);
  if (!csvs) return tl::unexpected(csvs.error());
  const std::string& csv = (*csvs)[0];
  const Manifest manifest{origin->inputs, origin->code, sha256(csv), sha256((*csvs)[1]), {}};
  const CsvPlaces places = request.places();
  if (auto done = write_file(places.csv, csv); !done) return tl::unexpected(done.error());
  if (auto done = write_file(places.manifest, text_of(manifest)); !done)
    return tl::unexpected(done.error());
  fs::remove_all(places.runs, left);
  return static_cast<std::size_t>(std::ranges::count(csv, '\n') - 1);
}

Result<ShardDone> make_shard(const settings::Session& session, const ExperimentFile& experiment,
                             const std::string& out, Shard shard) {
  const CsvRequest request{session, experiment, out, shard};
  const auto origin = origin_of(session, experiment, out);
  if (!origin) return tl::unexpected(origin.error());
  const auto there = stands({session, experiment, out, {}}, *origin);
  if (!there) return tl::unexpected(there.error());
  const EvaluationInput input = request.input(*origin);
  ShardDone done;
  done.is_csv_there = *there;
  done.all = input.runs.count();
  done.runs = input.runs.own_count();
  if (done.is_csv_there) return done;
  const std::array counts{static_cast<std::size_t>(experiment.perturbations)};
  const auto ran = csvs_of(input, origin->elastic, counts);
  if (!ran) return tl::unexpected(ran.error());
  return done;
}

}  // namespace schedmate::study
