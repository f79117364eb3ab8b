// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <sstream>

#include "evaluation_report/book.hpp"
#include "evaluation_report/book_text.hpp"
#include "trace/trace_text.hpp"
#include "apps/command.hpp"
#include "study/elastic_experiment.hpp"
#include "study/evaluate_runs.hpp"
#include "study/evaluate_trace.hpp"
#include "apps/version.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/sha256.hpp"
#include "base/words.hpp"

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

/// What decides the rows of an experiment.
struct Origin {
  bool elastic = false;
  std::string inputs;  ///< fingerprint
  std::string code;    ///< hash of the sources and of the defaults of settings
};

std::string code_of(bool elastic) {
  std::string all(elastic ? version().elastic_code : version().replay_code);
  const Settings usual;
  for (const SettingRow& row : setting_rows())
    if (elastic ? decides_elastic_rows(row.key) : decides_rows(row.key))
      all += fmt::format("\n{}={}", row.key, usual.text(row.key));
  return sha256(all);
}

Result<Origin> origin_of(const Session& session, const EvaluateRequest& request,
                         const ExperimentFile& experiment) {
  const auto elastic = is_elastic_experiment(experiment);
  if (!elastic) return tl::unexpected(elastic.error());
  const std::string command = command_of(session, request, experiment);
  auto inputs = *elastic ? elastic_fingerprint(session.settings, experiment, command)
                         : fingerprint_of(session.settings, experiment, command);
  if (!inputs) return tl::unexpected(inputs.error());
  return Origin{*elastic, std::move(*inputs), code_of(*elastic)};
}

/// How a CSV stands to what would be made now.
enum class Standing : std::uint8_t { current, earlier_code, never_run, other_csv, other_inputs };

Result<Standing> standing_of(const Places& places, const Origin& origin) {
  std::error_code error;
  if (!fs::exists(places.csv, error)) return Standing::never_run;
  const auto csv = read_file(places.csv);
  if (!csv) return tl::unexpected(csv.error());
  const Manifest kept = read_manifest(places.manifest);
  if (kept.csv != sha256(*csv)) return Standing::other_csv;
  if (kept.inputs != origin.inputs) return Standing::other_inputs;
  return kept.code == origin.code || kept.same == origin.code ? Standing::current
                                                              : Standing::earlier_code;
}

/// Why a CSV is not shown; "" where it is.
std::string_view fault_of(Standing standing) {
  switch (standing) {
    case Standing::current:
    case Standing::earlier_code:
      return "";
    case Standing::never_run:
      return "Not run yet";
    case Standing::other_csv:
      return "Its CSV is not the one that its manifest tells of (changed by hand?)";
    case Standing::other_inputs:
      return "Its inputs changed since it was run";
  }
  return "";
}

/// Of an experiment whose inputs are not on this machine: they are taken for those of its CSV, so
/// that a book says the same on any machine.
Origin origin_without_inputs(const Places& places, const ExperimentFile& experiment) {
  const bool elastic = is_elastic_experiment(experiment).value_or(false);
  return {elastic, read_manifest(places.manifest).inputs, code_of(elastic)};
}

EvaluationInput input_of(const Session& session, const EvaluateRequest& request,
                         const ExperimentFile& experiment) {
  return {session, experiment, command_of(session, request, experiment),
          static_cast<int>(session.settings.whole("threads"))};
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

/// Whether the CSV stands as it is. Where later code gives the same sample the manifest says so.
Result<bool> stands(const Session& session, const EvaluateRequest& request,
                    const ExperimentFile& experiment, const Origin& origin) {
  const Places places = places_of(request, experiment);
  const auto standing = standing_of(places, origin);
  if (!standing) return tl::unexpected(standing.error());
  Manifest manifest = read_manifest(places.manifest);
  const bool current = *standing == Standing::current;
  if (*standing != Standing::earlier_code || manifest.sample.empty()) return current;
  const std::array counts{sample_size(experiment)};
  const auto csvs = csvs_of(input_of(session, request, experiment), origin.elastic, counts);
  if (!csvs) return tl::unexpected(csvs.error());
  const std::string sample = sha256(csvs->front());
  if (manifest.sample != sample) return false;
  manifest.same = origin.code;
  if (auto done = write_file(places.manifest, text_of(manifest)); !done)
    return tl::unexpected(done.error());
  return true;
}

Result<void> run_one(const Session& session, const EvaluateRequest& request,
                     const ExperimentFile& experiment) {
  const Places places = places_of(request, experiment);
  const auto origin = origin_of(session, request, experiment);
  if (!origin) return tl::unexpected(origin.error());
  const auto there = stands(session, request, experiment, *origin);
  if (!there) return tl::unexpected(there.error());
  if (*there) {
    if (!session.json) fmt::print("{}: is there already\n", printable(places.csv));
    return {};
  }
  const std::array counts{static_cast<std::size_t>(experiment.perturbations),
                          sample_size(experiment)};
  const auto csvs = csvs_of(input_of(session, request, experiment), origin->elastic, counts);
  if (!csvs) return tl::unexpected(csvs.error());
  const std::string& csv = (*csvs)[0];
  const std::string& sample = (*csvs)[1];
  const Manifest manifest{origin->inputs, origin->code, sha256(csv), sha256(sample), {}};
  if (auto done = write_file(places.csv, csv); !done) return done;
  if (auto done = write_file(places.manifest, text_of(manifest)); !done) return done;
  if (!session.json)
    fmt::print("{}: {} rows\n", printable(places.csv), std::ranges::count(csv, '\n') - 1);
  return {};
}

/// Those that are run, then those that are cited.
Result<std::vector<ExperimentFile>> read_all(const EvaluateRequest& request) {
  std::vector<std::string> paths = request.files;
  paths.insert(paths.end(), request.cited.begin(), request.cited.end());
  std::vector<ExperimentFile> experiments;
  for (const std::string& path : paths) {
    auto experiment = read_experiment(path);
    if (!experiment) return tl::unexpected(experiment.error());
    const auto same = std::ranges::find(experiments, experiment->name, &ExperimentFile::name);
    if (same != experiments.end()) {
      const bool runs = experiments.size() < request.files.size();
      return fail(ErrorCode::unsupported,
                  runs ? fmt::format("{} and {} would write the same CSV", same->path, path)
                       : fmt::format("--cite {}: {} has that CSV already; leave one of them out",
                                     path, same->path));
    }
    experiments.push_back(std::move(*experiment));
  }
  return experiments;
}

/// An experiment in the books that stand in `folder`.
Result<Chapter> chapter_of(const Session& session, const EvaluateRequest& request,
                           const ExperimentFile& experiment, const fs::path& folder) {
  const Places places = places_of(request, experiment);
  const Origin origin =
      origin_of(session, request, experiment).value_or(origin_without_inputs(places, experiment));
  const auto standing = standing_of(places, origin);
  if (!standing) return tl::unexpected(standing.error());
  Chapter chapter{experiment, {}, {}, {}};
  if (const std::string_view fault = fault_of(*standing); !fault.empty()) {
    chapter.origin = fmt::format("{}: no figures here until {} has made them.", fault,
                                 command_of(session, request, experiment));
    return chapter;
  }
  const Manifest manifest = read_manifest(places.manifest);
  chapter.by_earlier_code = *standing == Standing::earlier_code;
  if (chapter.by_earlier_code)
    chapter.origin =
        fmt::format("Made by an earlier state of the program (code {:.12}).", manifest.code);
  else if (manifest.code != origin.code)
    chapter.origin = fmt::format(
        "Made by code {:.12}; the present code gives the same in its first two perturbations.",
        manifest.code);
  auto rows = read_rows_of(places.csv);
  if (!rows) return tl::unexpected(rows.error());
  chapter.rows = std::move(*rows);
  chapter.target =
      fs::absolute(places.csv).lexically_relative(fs::absolute(folder)).generic_string();
  return chapter;
}

std::string page_of(const EvaluateRequest& request) {
  return (fs::path(request.out) / "evaluation.html").string();
}

Result<std::vector<Chapter>> chapters_of(const Session& session, const EvaluateRequest& request,
                                         std::span<const ExperimentFile> experiments,
                                         const fs::path& folder) {
  std::vector<Chapter> chapters;
  for (const ExperimentFile& experiment : experiments) {
    auto chapter = chapter_of(session, request, experiment, folder);
    if (!chapter) return tl::unexpected(chapter.error());
    chapters.push_back(std::move(*chapter));
  }
  return chapters;
}

/// The folder beside the book with a page for each experiment: book/ of book.md.
fs::path pages_of(const std::string& book) { return fs::path(book).replace_extension(); }

/// Markdown: the book, and a page for each experiment.
Result<void> write_markdown(const Session& session, const EvaluateRequest& request,
                            std::span<const ExperimentFile> experiments) {
  const fs::path book = fs::path(request.book).lexically_normal();
  const fs::path folder = book.has_parent_path() ? book.parent_path() : fs::path(".");
  const fs::path pages = pages_of(request.book);
  if (auto made = make_folder(pages.string()); !made) return made;
  const auto chapters = chapters_of(session, request, experiments, folder);
  if (!chapters) return tl::unexpected(chapters.error());
  const Document front = evaluation_front(*chapters, pages.filename().string());
  if (auto done = write_file(request.book, front.markdown()); !done) return done;
  const auto cited = chapters_of(session, request, experiments, pages);
  if (!cited) return tl::unexpected(cited.error());
  for (const Chapter& chapter : *cited) {
    const fs::path file = pages / (chapter.experiment.name + ".md");
    if (auto done = write_file(file.string(), experiment_page(chapter).markdown()); !done)
      return done;
  }
  return {};
}

/// The documents that cite these CSVs: one page in their folder, Markdown where it was asked for.
Result<void> write_books(const Session& session, const EvaluateRequest& request,
                         std::span<const ExperimentFile> experiments) {
  const auto chapters =
      chapters_of(session, request, experiments, fs::path(request.out).lexically_normal());
  if (!chapters) return tl::unexpected(chapters.error());
  const std::string page = evaluation_book(*chapters).html("SchedMate: evaluation");
  if (auto done = write_file(page_of(request), page); !done) return done;
  return request.book.empty() ? Result<void>() : write_markdown(session, request, experiments);
}

/// What the experiments that were asked for gave, and where it is written.
Result<void> tell(const Session& session, const EvaluateRequest& request,
                  std::span<const ExperimentFile> experiments) {
  const auto chapters = chapters_of(session, request, experiments, ".");
  if (!chapters) return tl::unexpected(chapters.error());
  const std::string page = page_of(request);
  if (session.json) {
    fmt::print("{}", json_of(*chapters, page, request.book));
    return {};
  }
  for (const Chapter& chapter : *chapters) fmt::print("{}", text_of(chapter));
  fmt::print("\nwritten to {}\n", printable(page));
  if (!request.book.empty()) fmt::print("written to {}\n", printable(request.book));
  return {};
}

/// Whether a cited CSV still belongs to its inputs cannot be known where they are not.
void tell_absent_inputs(const Session& session, const EvaluateRequest& request,
                        std::span<const ExperimentFile> cited) {
  for (const ExperimentFile& experiment : cited)
    if (const auto origin = origin_of(session, request, experiment); !origin)
      fmt::print(stderr, "schedmate: {}: shown as it was run, its inputs are not here: {}\n",
                 experiment.name, origin.error().message);
}

}  // namespace

Result<void> run_evaluate(const Session& session, const EvaluateRequest& request) {
  if (!request.book.empty() && fs::path(request.book).extension() != ".md")
    return fail(ErrorCode::unsupported,
                fmt::format("--book {}: a name that ends in .md is needed", request.book));
  const auto experiments = read_all(request);
  if (!experiments) return tl::unexpected(experiments.error());
  if (auto made = make_folder(request.out); !made) return made;
  for (const ExperimentFile& experiment : *experiments | std::views::take(request.files.size()))
    if (auto done = run_one(session, request, experiment); !done) return done;
  if (auto done = write_books(session, request, *experiments); !done) return done;
  tell_absent_inputs(session, request, std::span(*experiments).subspan(request.files.size()));
  return tell(session, request, std::span(*experiments).first(request.files.size()));
}

Command evaluate_command(const Parser& parser) {
  const auto request = std::make_shared<EvaluateRequest>();
  CLI::App& command = parser.app;
  command.add_option("files", request->files, "experiments (TOML)")->type_name("FILE");
  command.add_option("--cite", request->cited, "experiments whose CSVs are shown without a run")
      ->type_name("FILE");
  command.add_option("--out", request->out, "folder for the CSVs")->type_name("DIR");
  command.add_option("--book", request->book, "Markdown, and a folder of its pages")
      ->type_name("FILE");
  add_threads(parser, "perturbations at the same time");
  command.footer(
      "Example:\n  schedmate evaluate experiments/fig12_venus_heavy.toml --out evaluation");
  return {[request](const Call& call) { return done(run_evaluate(call.session, *request)); },
          [request] {
            return need(!request->files.empty() || !request->cited.empty(), "evaluate", "FILE.toml")
                .and_then([&] { return need(!request->out.empty(), "evaluate", "--out DIR"); });
          }};
}

}  // namespace schedmate
