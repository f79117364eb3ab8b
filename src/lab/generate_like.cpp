// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "lab/generate.hpp"
#include "study/like_rows.hpp"
#include "study/like_trace.hpp"
#include "trace/trace_text.hpp"

namespace schedmate::lab {
namespace {

constexpr std::size_t buffered_rows = 4096;

/// The other numbers are checked where the command line is read: here 0 is "not given".
Result<void> check_possible(const GenerateRequest& request) {
  if (!std::isnan(request.days) && !(request.days > 0 && request.days <= 100'000))
    return fail(ErrorCode::unsupported, "--days: must be a number above 0 and at most 100000");
  return {};
}

Result<void> write_synthetic(const std::string& path, const synth::Published& published,
                             const synth::Synthesis& drawn,
                             const settings::ShowProgress& progress) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  std::string text = study::synth_header();
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    study::append_synth_row(published, drawn, i, text);
    if (i % buffered_rows != 0) continue;
    file->append(text);
    text.clear();
    progress(static_cast<double>(i) / static_cast<double>(drawn.jobs.size()));
  }
  file->append(text);
  return file->commit();
}

Result<void> write_synthetic_trace(const settings::Session& session, const GenerateRequest& request,
                                   const synth::Published& published,
                                   const synth::Synthesis& drawn) {
  if (auto made = make_folder(request.out); !made) return made;
  const std::filesystem::path folder(request.out);
  const settings::ShowProgress progress = session.progress("writing");
  if (auto done = write_synthetic((folder / "jobs.csv").string(), published, drawn, progress);
      !done)
    return done;
  const std::string note =
      fmt::format("# Synthetic: drawn by schedmate generate --like from figures of {}.\n",
                  published.cluster.name);
  return write_file((folder / "cluster.toml").string(),
                    note + trace::cluster_toml(study::cluster_of(published, drawn)));
}

FileMeans written_means(const synth::Synthesis& drawn) {
  FileMeans sum;
  for (const synth::SynthJob& job : drawn.jobs) {
    sum.gpus += job.gpus;
    sum.gpu_s += static_cast<double>(job.gpus) * static_cast<double>(job.run_s);
  }
  const auto jobs = static_cast<double>(drawn.jobs.size());
  return {sum.gpus / jobs, sum.gpu_s / jobs};
}

InfrastructureShare infrastructure_share(const synth::Published& published,
                                         const synth::Synthesis& drawn) {
  double jobs = 0;
  double gpu_s = 0;
  double all_jobs = 0;
  double all_gpu_s = 0;
  for (const synth::SynthJob& job : drawn.jobs) {
    if (job.cause < 0) continue;
    const double seconds = static_cast<double>(job.gpus) * static_cast<double>(job.run_s);
    all_jobs += 1;
    all_gpu_s += seconds;
    if (published.causes[static_cast<std::size_t>(job.cause)].kind != "infrastructure") continue;
    jobs += 1;
    gpu_s += seconds;
  }
  if (all_jobs == 0) return {};
  return {100 * jobs / all_jobs, 100 * gpu_s / all_gpu_s};
}

Document checks_document(const synth::Synthesis& drawn) {
  Document rows = Document::array();
  for (const synth::CheckRow& row : drawn.checks) {
    Document each = {{"statistic", row.statistic}};
    if (!row.of.empty()) each["of"] = row.of;
    if (row.at > 0) each["at"] = row.at;
    each["asked"] = row.asked;
    each["drawn"] = row.drawn;
    each["off_percent"] = 100 * row.off;
    each["holds"] = row.holds();
    rows.push_back(std::move(each));
  }
  return rows;
}

}  // namespace

Result<SyntheticTrace> generate_like(const settings::Session& session,
                                     const GenerateRequest& request) {
  if (auto ok = check_possible(request); !ok) return tl::unexpected(ok.error());
  const auto published = study::read_published(request.like);
  if (!published) return tl::unexpected(published.error());
  synth::SynthesisOptions options;
  options.jobs = request.jobs;
  if (!std::isnan(request.days)) options.days = request.days;
  options.gpus = request.gpus;
  options.most_gpus = request.most_gpus;
  options.seed = static_cast<std::uint64_t>(session.settings.whole("seed"));
  auto drawn = synth::synthesize(*published, options);
  if (!drawn) return tl::unexpected(drawn.error());
  if (auto done = write_synthetic_trace(session, request, *published, *drawn); !done)
    return tl::unexpected(done.error());
  SyntheticTrace trace{.cluster = published->cluster.name,
                       .gpus = std::int64_t{drawn->nodes} * published->cluster.gpus_per_node,
                       .drawn = {},
                       .infrastructure = infrastructure_share(*published, *drawn),
                       .written = written_means(*drawn)};
  trace.drawn = *std::move(drawn);
  return trace;
}

Document synthetic_document(const settings::Session& session, const GenerateRequest& request,
                            const SyntheticTrace& trace) {
  const synth::Synthesis& drawn = trace.drawn;
  return {{"schema", "schedmate.generate.v1"},
          {"like", request.like},
          {"synthetic", true},
          {"jobs", drawn.jobs.size()},
          {"gpus", trace.gpus},
          {"vcs", 1},
          {"load", drawn.load},
          {"span_s", drawn.span_s},
          {"seed", session.settings.whole("seed")},
          {"out", request.out},
          {"capped", drawn.capped},
          {"written_mean_gpus", trace.written.gpus},
          {"written_mean_gpu_s", trace.written.gpu_s},
          {"continued", drawn.continued},
          {"zero_gap_percent", drawn.gaps.zero_percent},
          {"gap_cv", drawn.gaps.cv},
          {"top_users_gpu_time_percent", drawn.top_users_percent},
          {"infrastructure_failed_percent", trace.infrastructure.jobs_percent},
          {"infrastructure_failed_gpu_time_percent", trace.infrastructure.gpu_time_percent},
          {"holds", drawn.holds()},
          {"checks", checks_document(drawn)}};
}

}  // namespace schedmate::lab
