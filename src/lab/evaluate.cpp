// SPDX-License-Identifier: Apache-2.0
#include "lab/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <span>

#include "base/output.hpp"
#include "evaluation_report/evaluation_report.hpp"
#include "study/experiment_csv.hpp"

namespace schedmate::lab {
namespace {

namespace fs = std::filesystem;
using evaluation_report::Chapter;
using study::CsvStanding;
using study::ExperimentFile;

/// Why a CSV is not shown; "" where it is.
std::string_view why_not_shown(CsvStanding standing) {
  switch (standing) {
    case CsvStanding::current:
    case CsvStanding::earlier_code:
    case CsvStanding::other_inputs:
      return "";
    case CsvStanding::never_run:
      return "Not run yet";
    case CsvStanding::other_csv:
      return "Its CSV does not match its manifest (changed by hand?)";
  }
  return "";
}

/// Those that are run, then those that are cited.
Result<std::vector<ExperimentFile>> read_all(const EvaluateRequest& request) {
  std::vector<std::string> paths = request.files;
  paths.insert(paths.end(), request.cited.begin(), request.cited.end());
  std::vector<ExperimentFile> experiments;
  for (const std::string& path : paths) {
    auto experiment = study::read_experiment(path);
    if (!experiment) return tl::unexpected(experiment.error());
    const auto same = std::ranges::find(experiments, experiment->name, &ExperimentFile::name);
    if (same != experiments.end()) {
      const bool runs = experiments.size() < request.files.size();
      return fail(ErrorCode::unsupported,
                  runs ? fmt::format("{} and {} would write the same CSV", same->path, path)
                       : fmt::format("--cite {}: {} already has that CSV; leave one of them out",
                                     path, same->path));
    }
    experiments.push_back(std::move(*experiment));
  }
  return experiments;
}

/// An experiment in the reports that are in `folder`.
Result<Chapter> chapter_of(const settings::Session& session, const ExperimentFile& experiment,
                           const std::string& out, const fs::path& folder) {
  const auto places = study::csv_places(experiment, out);
  const auto origin = study::origin_of(session, experiment, out)
                          .value_or(study::origin_without_inputs(experiment, out));
  const auto state = study::csv_state(places, origin);
  if (!state) return tl::unexpected(state.error());
  Chapter chapter{experiment, {}, {}, {}};
  if (const std::string_view fault = why_not_shown(state->standing); !fault.empty()) {
    chapter.origin = fmt::format("{}: no figures until {} has made them.", fault,
                                 study::command_of(session, experiment, out));
    return chapter;
  }
  const bool has_other_inputs = state->standing == CsvStanding::other_inputs;
  chapter.is_earlier = has_other_inputs || state->standing == CsvStanding::earlier_code;
  if (has_other_inputs)
    chapter.origin = fmt::format(
        "Made from earlier inputs (the experiment file or what it names has changed since); {} "
        "makes it anew.",
        study::command_of(session, experiment, out));
  else if (chapter.is_earlier)
    chapter.origin =
        fmt::format("Made by an earlier version of the program (code {:.12}).", state->code);
  else if (state->code != origin.code)
    chapter.origin = fmt::format(
        "Made by code {:.12}; the current code gives the same in the first two perturbations.",
        state->code);
  auto rows = evaluation_report::read_rows_of(places.csv);
  if (!rows) return tl::unexpected(rows.error());
  chapter.rows = std::move(*rows);
  chapter.target =
      fs::absolute(places.csv).lexically_relative(fs::absolute(folder)).generic_string();
  return chapter;
}

/// Experiments and the folder of their CSVs.
struct ReportSource {
  const settings::Session& session;
  std::span<const ExperimentFile> experiments;
  const std::string& out;

  /// As reports in `folder` cite them.
  [[nodiscard]] Result<std::vector<Chapter>> chapters(const fs::path& folder) const {
    std::vector<Chapter> all;
    for (const ExperimentFile& experiment : experiments) {
      auto chapter = chapter_of(session, experiment, out, folder);
      if (!chapter) return tl::unexpected(chapter.error());
      all.push_back(std::move(*chapter));
    }
    return all;
  }
};

/// The folder beside the report with a page for each experiment, of its name without the ending.
fs::path pages_of(const std::string& report) { return fs::path(report).replace_extension(); }

/// Markdown: the report, and a page for each experiment.
Result<void> write_markdown(const ReportSource& source, const std::string& path) {
  const fs::path report = fs::path(path).lexically_normal();
  const fs::path folder = report.has_parent_path() ? report.parent_path() : fs::path(".");
  const fs::path pages = pages_of(path);
  if (auto made = make_folder(pages.string()); !made) return made;
  const auto chapters = source.chapters(folder);
  if (!chapters) return tl::unexpected(chapters.error());
  const auto front = evaluation_report::evaluation_front(*chapters, pages.filename().string());
  if (auto done = write_file(path, front.markdown()); !done) return done;
  const auto cited = source.chapters(pages);
  if (!cited) return tl::unexpected(cited.error());
  for (const Chapter& chapter : *cited) {
    const fs::path file = pages / (chapter.experiment.name + ".md");
    if (auto done =
            write_file(file.string(), evaluation_report::experiment_page(chapter).markdown());
        !done)
      return done;
  }
  return {};
}

/// The documents that cite these CSVs: one page in their folder, Markdown where it was asked for.
Result<void> write_evaluation_report(const ReportSource& source, const EvaluateRequest& request,
                                     const std::string& page) {
  const auto chapters = source.chapters(fs::path(request.out).lexically_normal());
  if (!chapters) return tl::unexpected(chapters.error());
  const auto report = evaluation_report::whole_report(*chapters);
  if (auto done = write_file(page, report.html("SchedMate: evaluation")); !done) return done;
  return request.report.empty() ? Result<void>() : write_markdown(source, request.report);
}

/// Whether a cited CSV still belongs to its inputs cannot be known where they are not.
std::vector<AbsentInputs> find_absent(const ReportSource& cited) {
  std::vector<AbsentInputs> absent;
  for (const ExperimentFile& experiment : cited.experiments)
    if (const auto origin = study::origin_of(cited.session, experiment, cited.out); !origin)
      absent.push_back({experiment.name, origin.error().message});
  return absent;
}

}  // namespace

Result<Evaluation> evaluate(const settings::Session& session, const EvaluateRequest& request,
                            const std::function<void(const ExperimentDone&)>& ran) {
  if (!request.report.empty() && fs::path(request.report).extension() != ".md")
    return fail(ErrorCode::unsupported,
                fmt::format("--book {}: the name must end in .md", request.report));
  auto experiments = read_all(request);
  if (!experiments) return tl::unexpected(experiments.error());
  if (auto made = make_folder(request.out); !made) return tl::unexpected(made.error());
  const std::size_t count = request.files.size();
  for (const ExperimentFile& experiment : *experiments | std::views::take(count)) {
    const auto rows = study::make_csv(session, experiment, request.out);
    if (!rows) return tl::unexpected(rows.error());
    ran({study::csv_places(experiment, request.out).csv, *rows});
  }
  Evaluation evaluation{.experiments = std::move(*experiments),
                        .chapters = {},
                        .absent = {},
                        .page = (fs::path(request.out) / "evaluation.html").string()};
  const std::span<const ExperimentFile> all(evaluation.experiments);
  const ReportSource source{session, all, request.out};
  if (auto done = write_evaluation_report(source, request, evaluation.page); !done)
    return tl::unexpected(done.error());
  evaluation.absent = find_absent({session, all.subspan(count), request.out});
  auto chapters = ReportSource{session, all.first(count), request.out}.chapters(".");
  if (!chapters) return tl::unexpected(chapters.error());
  evaluation.chapters = std::move(*chapters);
  return evaluation;
}

Result<std::vector<ShardMade>> evaluate_shard(const settings::Session& session,
                                              const EvaluateRequest& request,
                                              const std::function<void(const ShardMade&)>& ran) {
  const auto shard = study::parse_shard(request.shard);
  if (!shard) return tl::unexpected(shard.error());
  if (!request.report.empty() || !request.cited.empty())
    return fail(ErrorCode::unsupported,
                "--shard makes no report: leave --cite and --book to the run without --shard that "
                "follows the last of them");
  const auto experiments = read_all(request);
  if (!experiments) return tl::unexpected(experiments.error());
  if (auto made = make_folder(request.out); !made) return tl::unexpected(made.error());
  std::vector<ShardMade> all;
  for (const ExperimentFile& experiment : *experiments) {
    const auto done = study::make_shard(session, experiment, request.out, *shard);
    if (!done) return tl::unexpected(done.error());
    all.push_back({study::csv_places(experiment, request.out).csv, *done});
    ran(all.back());
  }
  return all;
}

}  // namespace schedmate::lab
