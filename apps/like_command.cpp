// SPDX-License-Identifier: Apache-2.0
#include "apps/like_command.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <schedmate/trace.hpp>

#include "trace/trace_text.hpp"
#include "study/like_rows.hpp"
#include "study/like_trace.hpp"
#include "base/output.hpp"
#include "base/words.hpp"

namespace schedmate {
namespace {

constexpr std::size_t buffered_rows = 4096;

/// The other numbers are checked where the command line is read: here 0 is "not given".
Result<void> check_possible(const GenerateRequest& request) {
  if (!std::isnan(request.days) && !(request.days > 0 && request.days <= 100'000))
    return fail(ErrorCode::unsupported, "--days: a number above 0 and up to 100000 is needed");
  return {};
}

Result<void> write_jobs(const std::string& path, const Published& published, const Synthesis& drawn,
                        const ShowProgress& progress) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  std::string text = synth_header();
  for (std::size_t i = 0; i < drawn.jobs.size(); ++i) {
    append_synth_row(published, drawn, i, text);
    if (i % buffered_rows != 0) continue;
    file->append(text);
    text.clear();
    progress(static_cast<double>(i) / static_cast<double>(drawn.jobs.size()));
  }
  file->append(text);
  return file->commit();
}

Result<void> write_all(const Session& session, const GenerateRequest& request,
                       const Published& published, const Synthesis& drawn) {
  if (auto made = make_folder(request.out); !made) return made;
  const std::filesystem::path folder(request.out);
  const ShowProgress progress = session.progress("writing");
  if (auto done = write_jobs((folder / "jobs.csv").string(), published, drawn, progress); !done)
    return done;
  const std::string note =
      fmt::format("# Synthetic: drawn by schedmate generate --like from figures of {}.\n",
                  published.cluster.name);
  return write_file((folder / "cluster.toml").string(),
                    note + cluster_toml(cluster_of(published, drawn)));
}

/// Means over the jobs of the file, which differ from those that are checked where jobs were
/// capped.
struct WrittenMeans {
  double gpus = 0;
  double gpu_s = 0;
};
WrittenMeans written_means(const Synthesis& drawn) {
  WrittenMeans sum;
  for (const SynthJob& job : drawn.jobs) {
    sum.gpus += job.gpus;
    sum.gpu_s += static_cast<double>(job.gpus) * static_cast<double>(job.run_s);
  }
  const auto jobs = static_cast<double>(drawn.jobs.size());
  return {sum.gpus / jobs, sum.gpu_s / jobs};
}

nlohmann::ordered_json check_json(const Synthesis& drawn) {
  auto rows = nlohmann::ordered_json::array();
  for (const CheckRow& row : drawn.checks) {
    nlohmann::ordered_json each = {{"statistic", row.statistic}};
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

void print_json(const Session& session, const GenerateRequest& request, const Published& published,
                const Synthesis& drawn) {
  const InfrastructureShare infrastructure = infrastructure_share(published, drawn);
  const WrittenMeans written = written_means(drawn);
  const nlohmann::ordered_json document = {
      {"schema", "schedmate.generate.v1"},
      {"like", request.like},
      {"synthetic", true},
      {"jobs", drawn.jobs.size()},
      {"gpus", std::int64_t{drawn.nodes} * published.cluster.gpus_per_node},
      {"vcs", 1},
      {"load", drawn.load},
      {"span_s", drawn.span_s},
      {"seed", session.settings.whole("seed")},
      {"out", request.out},
      {"capped", drawn.capped},
      {"written_mean_gpus", written.gpus},
      {"written_mean_gpu_s", written.gpu_s},
      {"continued", drawn.continued},
      {"zero_gap_percent", drawn.gaps.zero_percent},
      {"gap_cv", drawn.gaps.cv},
      {"top_users_gpu_time_percent", drawn.top_users_percent},
      {"infrastructure_failed_percent", infrastructure.jobs_percent},
      {"infrastructure_failed_gpu_time_percent", infrastructure.gpu_time_percent},
      {"holds", drawn.holds()},
      {"checks", check_json(drawn)}};
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_text(const GenerateRequest& request, const Published& published,
                const Synthesis& drawn) {
  fmt::print("synthetic, like {}: {} jobs for {} GPUs, load {:.3f} over {}, written to {}\n",
             printable(published.cluster.name), drawn.jobs.size(),
             std::int64_t{drawn.nodes} * published.cluster.gpus_per_node, drawn.load,
             in_words(Seconds(drawn.span_s)), printable(request.out));
  if (drawn.capped > 0) {
    const WrittenMeans written = written_means(drawn);
    fmt::print(
        "{} jobs asked for more GPUs than a job may have: they ask for as many\n"
        "the table is of the draw before that; as written a job has {:.6g} GPUs and {:.6g} GPU s "
        "on average\n",
        drawn.capped, written.gpus, written.gpu_s);
  }
  const InfrastructureShare infrastructure = infrastructure_share(published, drawn);
  fmt::print(
      "not checked: {} failed jobs have a continuation; infrastructure is {:.1f} % of failures and "
      "{:.0f} % of their GPU time;\n  {:.1f} % of gaps are 0, their CV is {:.1f}; the top 5 % of "
      "users have {:.0f} % of the GPU time\n\n{}",
      drawn.continued, infrastructure.jobs_percent, infrastructure.gpu_time_percent,
      drawn.gaps.zero_percent, drawn.gaps.cv, drawn.top_users_percent, check_text(drawn));
  if (!drawn.holds())
    fmt::print(
        "\nA statistic is more than {:.0f} % off: fewer jobs scatter more, and a table can "
        "contradict itself.\n",
        100 * most_off);
}

}  // namespace

Result<bool> generate_like(const Session& session, const GenerateRequest& request) {
  if (auto ok = check_possible(request); !ok) return tl::unexpected(ok.error());
  const auto published = read_published(request.like);
  if (!published) return tl::unexpected(published.error());
  SynthesisOptions options;
  options.jobs = request.jobs;
  if (!std::isnan(request.days)) options.days = request.days;
  options.gpus = request.gpus;
  options.most_gpus = request.most_gpus;
  options.seed = static_cast<std::uint64_t>(session.settings.whole("seed"));
  const auto drawn = synthesize(*published, options);
  if (!drawn) return tl::unexpected(drawn.error());
  if (auto done = write_all(session, request, *published, *drawn); !done)
    return tl::unexpected(done.error());
  if (session.json) {
    print_json(session, request, *published, *drawn);
  } else {
    print_text(request, *published, *drawn);
  }
  return drawn->holds();
}

}  // namespace schedmate
