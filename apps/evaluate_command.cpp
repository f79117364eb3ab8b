// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluate_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "apps/book.hpp"
#include "apps/cluster_text.hpp"
#include "apps/evaluate_runs.hpp"
#include "apps/evaluate_trace.hpp"
#include "apps/words.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/sha256.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

/// What makes the rows again: settings that change them are in it, threads are not.
std::string command_of(const Session& session, const EvaluateRequest& request,
                       const ExperimentFile& experiment) {
  std::string command = fmt::format("schedmate evaluate {} --out {}", experiment.path, request.out);
  constexpr auto no_matter = std::to_array<std::string_view>({"threads", "report", "state_dir"});
  for (const SettingRow& row : setting_rows()) {
    const std::string origin = session.settings.origin(row.key);
    if (origin == "default" || origin == "mode") continue;
    if (std::ranges::find(no_matter, row.key) != no_matter.end()) continue;
    command += fmt::format(" --set {}={}", row.key, session.settings.text(row.key));
  }
  return command;
}

/// DIR/NAME.csv and, beside it, what it was made of.
struct Places {
  std::string csv, manifest;
};
Places places_of(const EvaluateRequest& request, const ExperimentFile& experiment) {
  const fs::path folder(request.out);
  return {(folder / (experiment.name + ".csv")).string(),
          (folder / (experiment.name + ".manifest")).string()};
}

/// Of the experiment's inputs and of the CSV, so that neither may change unnoticed.
std::string manifest_of(const std::string& inputs, std::string_view csv) {
  return fmt::format("inputs {}\ncsv {}\n", inputs, sha256(csv));
}

bool is_there(const Places& places, const std::string& inputs) {
  std::error_code error;
  if (!fs::exists(places.csv, error) || !fs::exists(places.manifest, error)) return false;
  const auto csv = read_file(places.csv);
  const auto manifest = read_file(places.manifest);
  return csv && manifest && *manifest == manifest_of(inputs, *csv);
}

Result<void> run_one(const Session& session, const EvaluateRequest& request,
                     const ExperimentFile& experiment) {
  const Places places = places_of(request, experiment);
  const std::string command = command_of(session, request, experiment);
  const auto inputs = fingerprint_of(experiment, command);
  if (!inputs) return tl::unexpected(inputs.error());
  if (is_there(places, *inputs)) {
    fmt::print("{}: is there already\n", printable(places.csv));
    return {};
  }
  const auto rows = run_experiment(
      {session, experiment, command, static_cast<int>(session.settings.whole("threads"))});
  if (!rows) return tl::unexpected(rows.error());
  std::string csv = csv_header();
  for (const FigureRow& row : *rows) csv += csv_line(row);
  if (auto done = write_file(places.csv, csv); !done) return done;
  if (auto done = write_file(places.manifest, manifest_of(*inputs, csv)); !done) return done;
  fmt::print("{}: {} rows\n", printable(places.csv), rows->size());
  return {};
}

Result<std::vector<ExperimentFile>> read_all(const std::vector<std::string>& paths) {
  std::vector<ExperimentFile> experiments;
  for (const std::string& path : paths) {
    auto experiment = read_experiment(path);
    if (!experiment) return tl::unexpected(experiment.error());
    const auto same = std::ranges::find(experiments, experiment->name, &ExperimentFile::name);
    if (same != experiments.end())
      return fail(ErrorCode::unsupported,
                  fmt::format("{} and {} would write the same CSV", same->path, experiment->path));
    experiments.push_back(std::move(*experiment));
  }
  return experiments;
}

/// The documents that cite these CSVs: one in their folder, one where it was asked for.
Result<void> write_books(const EvaluateRequest& request,
                         const std::vector<ExperimentFile>& experiments) {
  const auto book_in = [&](const fs::path& folder) -> Result<Document> {
    std::vector<Chapter> chapters;
    for (const ExperimentFile& experiment : experiments) {
      const std::string csv = places_of(request, experiment).csv;
      auto rows = read_rows_of(csv);
      if (!rows) return tl::unexpected(rows.error());
      const fs::path target = fs::absolute(csv).lexically_relative(fs::absolute(folder));
      chapters.push_back({experiment, std::move(*rows), target.generic_string()});
    }
    return evaluation_book(chapters);
  };
  const fs::path out(request.out);
  const auto page = book_in(out.lexically_normal());
  if (!page) return tl::unexpected(page.error());
  const std::string path = (out / "evaluation.html").string();
  if (auto done = write_file(path, page->html("SchedMate: evaluation")); !done) return done;
  fmt::print("{}\n", printable(path));
  if (request.book.empty()) return {};
  const fs::path folder = fs::path(request.book).lexically_normal().parent_path();
  if (!folder.empty())
    if (auto made = make_folder(folder.string()); !made) return made;
  const auto book = book_in(folder.empty() ? fs::path(".") : folder);
  if (!book) return tl::unexpected(book.error());
  if (auto done = write_file(request.book, book->markdown()); !done) return done;
  fmt::print("{}\n", printable(request.book));
  return {};
}

}  // namespace

Result<void> evaluate_command(const Session& session, const EvaluateRequest& request) {
  const auto experiments = read_all(request.files);
  if (!experiments) return tl::unexpected(experiments.error());
  if (auto made = make_folder(request.out); !made) return made;
  for (const ExperimentFile& experiment : *experiments)
    if (auto done = run_one(session, request, experiment); !done) return done;
  return write_books(request, *experiments);
}

}  // namespace schedmate
