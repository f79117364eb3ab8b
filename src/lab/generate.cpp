// SPDX-License-Identifier: Apache-2.0
#include "lab/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <schedmate/trace.hpp>

#include "base/input.hpp"
#include "base/output.hpp"
#include "elastic/synthetic_tables.hpp"
#include "service/held_input.hpp"
#include "settings/data_files.hpp"
#include "trace/cluster_of_trace.hpp"
#include "trace/trace_text.hpp"

namespace schedmate::lab {
namespace {

constexpr std::string_view bundled_trace = "venus/venus_sept2020_days0-12.csv.gz";

struct ResampleSource {
  std::string spec;
  Trace trace;
  ClusterSpec cluster;
};

Result<ResampleSource> read_source(const settings::Session& session,
                                   const GenerateRequest& request) {
  ResampleSource source{request.from, {}, {}};
  if (request.from == "venus") {
    auto path = settings::data_file(bundled_trace);
    if (!path) return tl::unexpected(path.error());
    source.spec = "helios:" + *path;
  }
  ReadOptions options{.strict = session.settings.flag("strict"), .columns = {}};
  if (request.from == "venus") options.columns = {"cpu_num", "node_num"};
  auto trace = service::read_held(
      source.spec, [&](const std::string& spec) { return read_trace(spec, options); });
  if (!trace) return tl::unexpected(trace.error());
  source.trace = std::move(*trace);
  auto cluster = trace::cluster_of_trace(source.trace, request.cluster, request.from,
                                         "give it with --cluster FILE");
  if (!cluster) return tl::unexpected(cluster.error());
  source.cluster = std::move(*cluster);
  return source;
}

Result<void> check_numbers(const GenerateRequest& request) {
  constexpr std::int64_t most_jobs = 100'000'000;
  if (request.jobs < 1 || request.jobs > most_jobs) {
    return fail(ErrorCode::unsupported,
                fmt::format("--jobs {}: must be 1 to {}", request.jobs, most_jobs));
  }
  if (request.gpus < 1) {
    return fail(ErrorCode::unsupported, fmt::format("--gpus {}: must be at least 1", request.gpus));
  }
  if (!(request.load > 0) || !std::isfinite(request.load)) {
    return fail(ErrorCode::unsupported,
                fmt::format("--load {}: must be a number above 0, such as 0.9", request.load));
  }
  return {};
}

std::vector<std::string> quoted_all(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  std::ranges::transform(names, std::back_inserter(quoted), trace::quoted_csv);
  return quoted;
}

Result<void> write_resampled(const std::string& path, const Trace& source,
                             const synth::Resampled& drawn,
                             const settings::ShowProgress& progress) {
  auto file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  const auto users = quoted_all(source.users);
  const auto vcs = quoted_all(source.vcs);
  file->append("job_id,user,vc,gpu_num");
  for (const auto& [name, values] : source.columns) file->append("," + name);
  file->append(",state,submit_s,duration_s,syn_source_job\n");
  fmt::memory_buffer line;
  for (std::size_t i = 0; i < drawn.rows.size(); ++i) {
    const Job& job = source.jobs[drawn.rows[i]];
    line.clear();
    const auto end = std::back_inserter(line);
    fmt::format_to(end, "{},{},{},{}", i + 1, users[job.user], vcs[job.vc], job.gpus);
    for (const auto& [name, values] : source.columns)
      fmt::format_to(end, ",{}", values[drawn.rows[i]]);
    fmt::format_to(end, ",{},{},{},{}\n", trace::helios_state(job.state),
                   seconds_of(drawn.submits[i]), job.duration.count(), trace::quoted_csv(job.id));
    file->append({line.data(), line.size()});
    if (i % 65'536 == 0) progress(static_cast<double>(i) / static_cast<double>(drawn.rows.size()));
  }
  return file->commit();
}

}  // namespace

Result<synth::Resampled> generate_from(const settings::Session& session,
                                       const GenerateRequest& request) {
  if (auto ok = check_numbers(request); !ok) return tl::unexpected(ok.error());
  const auto source = read_source(session, request);
  if (!source) return tl::unexpected(source.error());
  auto drawn =
      synth::resample(source->trace, source->cluster,
                      {.jobs = request.jobs,
                       .gpus = request.gpus,
                       .load = request.load,
                       .seed = static_cast<std::uint64_t>(session.settings.whole("seed"))});
  if (!drawn) return drawn;
  const std::filesystem::path folder(request.out);
  if (auto made = make_folder(request.out); !made) return tl::unexpected(made.error());
  const settings::ShowProgress progress = session.progress("writing");
  const auto jobs = (folder / "jobs.csv").string();
  if (auto done = write_resampled(jobs, source->trace, *drawn, progress); !done)
    return tl::unexpected(done.error());
  const auto cluster = (folder / "cluster.toml").string();
  if (auto done = write_file(cluster, trace::cluster_toml(drawn->cluster)); !done)
    return tl::unexpected(done.error());
  return drawn;
}

Document resampled_document(const settings::Session& session, const GenerateRequest& request,
                            const synth::Resampled& drawn) {
  return {{"schema", "schedmate.generate.v1"},
          {"from", request.from},
          {"jobs", request.jobs},
          {"gpus", drawn.gpus},
          {"vcs", drawn.cluster.partitions.size()},
          {"load", request.load},
          {"span_s", drawn.span.count()},
          {"seed", session.settings.whole("seed")},
          {"out", request.out}};
}

Result<std::size_t> generate_elastic(const GenerateRequest& request) {
  const bool more = !request.from.empty() || !request.like.empty() || request.jobs != 0;
  if (more || request.out.empty())
    return fail(ErrorCode::unsupported,
                "--elastic FILE takes only --out DIR: the file says everything else");
  const auto text = read_file(request.elastic);
  if (!text) return tl::unexpected(text.error());
  const auto parameters = elastic::parse_synthetic_parameters(*text, request.elastic);
  if (!parameters) return tl::unexpected(parameters.error());
  const auto files = elastic::make_elastic_tables(*parameters);
  for (const elastic::SyntheticFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(request.out) / file.path;
    if (auto made = make_folder(path.parent_path().string()); !made)
      return tl::unexpected(made.error());
    if (auto done = write_file(path.string(), file.text); !done)
      return tl::unexpected(done.error());
  }
  return files.size();
}

Document elastic_files_document(const GenerateRequest& request, std::size_t files) {
  return {{"schema", "schedmate.generate.v1"},
          {"from", request.elastic},
          {"files", files},
          {"out", request.out}};
}

}  // namespace schedmate::lab
