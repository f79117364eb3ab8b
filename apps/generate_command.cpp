// SPDX-License-Identifier: Apache-2.0
#include "apps/generate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <schedmate/trace.hpp>

#include "trace/trace_text.hpp"
#include "apps/command.hpp"
#include "apps/like_command.hpp"
#include "synth/resample.hpp"
#include "base/input.hpp"
#include "base/output.hpp"
#include "base/words.hpp"
#include "elastic/made_tables.hpp"
#include "settings/data_files.hpp"

namespace schedmate {
namespace {

constexpr std::string_view bundled_trace = "venus/venus_sept2020_days0-12.csv.gz";

struct Source {
  std::string spec;
  Trace trace;
  ClusterSpec cluster;
};

Result<Source> read_source(const Session& session, const GenerateRequest& request) {
  Source source{request.from, {}, {}};
  if (request.from == "venus") {
    auto path = data_file(bundled_trace);
    if (!path) return tl::unexpected(path.error());
    source.spec = "helios:" + *path;
  }
  ReadOptions options{.strict = session.settings.flag("strict"), .columns = {}};
  if (request.from == "venus") options.columns = {"cpu_num", "node_num"};
  auto trace = read_trace(source.spec, options);
  if (!trace) return tl::unexpected(trace.error());
  source.trace = std::move(*trace);
  if (!request.cluster.empty()) {
    auto cluster = read_cluster(request.cluster);
    if (!cluster) return tl::unexpected(cluster.error());
    source.cluster = std::move(*cluster);
  } else if (source.trace.cluster) {
    source.cluster = std::move(*source.trace.cluster);
  } else {
    return fail(ErrorCode::unsupported,
                fmt::format("{} says nothing about its cluster: give it with --cluster FILE",
                            request.from));
  }
  return source;
}

Result<void> check(const GenerateRequest& request) {
  constexpr std::int64_t most_jobs = 100'000'000;
  if (request.jobs < 1 || request.jobs > most_jobs) {
    return fail(ErrorCode::unsupported,
                fmt::format("--jobs {}: 1 to {} are possible", request.jobs, most_jobs));
  }
  if (request.gpus < 1) {
    return fail(ErrorCode::unsupported, fmt::format("--gpus {}: at least 1", request.gpus));
  }
  if (!(request.load > 0) || !std::isfinite(request.load)) {
    return fail(ErrorCode::unsupported,
                fmt::format("--load {}: a number above 0 is needed, such as 0.9", request.load));
  }
  return {};
}

std::vector<std::string> quoted_all(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  std::ranges::transform(names, std::back_inserter(quoted), quoted_csv);
  return quoted;
}

Result<void> write_jobs(const std::string& path, const Trace& source, const Resampled& drawn,
                        const ShowProgress& progress) {
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
    fmt::format_to(end, ",{},{},{},{}\n", helios_state(job.state), seconds_of(drawn.submits[i]),
                   job.duration.count(), quoted_csv(job.id));
    file->append({line.data(), line.size()});
    if (i % 65'536 == 0) progress(static_cast<double>(i) / static_cast<double>(drawn.rows.size()));
  }
  return file->commit();
}

void print_answer(const Session& session, const GenerateRequest& request, const Resampled& drawn) {
  if (!session.json) {
    fmt::print("{} jobs for {} GPUs in {} VCs, load {} over {}, written to {}\n", request.jobs,
               drawn.gpus, drawn.cluster.partitions.size(), request.load, in_words(drawn.span),
               printable(request.out));
    return;
  }
  const nlohmann::ordered_json document = {{"schema", "schedmate.generate.v1"},
                                           {"from", request.from},
                                           {"jobs", request.jobs},
                                           {"gpus", drawn.gpus},
                                           {"vcs", drawn.cluster.partitions.size()},
                                           {"load", request.load},
                                           {"span_s", drawn.span.count()},
                                           {"seed", session.settings.whole("seed")},
                                           {"out", request.out}};
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

Result<void> resample_source(const Session& session, const GenerateRequest& request) {
  if (auto ok = check(request); !ok) return ok;
  const auto source = read_source(session, request);
  if (!source) return tl::unexpected(source.error());
  const auto drawn = resample(source->trace, source->cluster,
                              {.jobs = request.jobs,
                               .gpus = request.gpus,
                               .load = request.load,
                               .seed = static_cast<std::uint64_t>(session.settings.whole("seed"))});
  if (!drawn) return tl::unexpected(drawn.error());
  const std::filesystem::path folder(request.out);
  if (auto made = make_folder(request.out); !made) return made;
  const ShowProgress progress = session.progress("writing");
  const auto jobs = (folder / "jobs.csv").string();
  if (auto done = write_jobs(jobs, source->trace, *drawn, progress); !done) return done;
  const auto cluster = (folder / "cluster.toml").string();
  if (auto done = write_file(cluster, cluster_toml(drawn->cluster)); !done) return done;
  print_answer(session, request, *drawn);
  return {};
}

/// An elastic workload: tables, jobs and cluster.
Result<void> make_elastic(const Session& session, const GenerateRequest& request) {
  const bool more = !request.from.empty() || !request.like.empty() || request.jobs != 0;
  if (more || request.out.empty())
    return fail(ErrorCode::unsupported,
                "--elastic FILE goes with --out DIR alone: the file says everything else");
  const auto text = read_file(request.elastic);
  if (!text) return tl::unexpected(text.error());
  const auto parameters = parse_made_parameters(*text, request.elastic);
  if (!parameters) return tl::unexpected(parameters.error());
  const auto files = make_elastic_tables(*parameters);
  for (const MadeFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(request.out) / file.path;
    if (auto made = make_folder(path.parent_path().string()); !made) return made;
    if (auto done = write_file(path.string(), file.text); !done) return done;
  }
  if (session.json) {
    const nlohmann::ordered_json document = {{"schema", "schedmate.generate.v1"},
                                             {"from", request.elastic},
                                             {"files", files.size()},
                                             {"out", request.out}};
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{} files of an invented elastic workload, written to {}\n", files.size(),
               printable(request.out));
  }
  return {};
}

/// What belongs to --from only, and what excludes each other.
Result<void> check_like(const GenerateRequest& request) {
  const auto refuse = [](std::string_view what) {
    return fail(ErrorCode::unsupported, fmt::format("generate: --like and {}: give one", what));
  };
  if (!request.from.empty()) return refuse("--from");
  if (!std::isnan(request.load)) return refuse("--load");
  if (!request.cluster.empty()) return refuse("--cluster");
  return {};
}

/// Whether all is there that one of the three ways needs.
Result<void> check_complete(const GenerateRequest& request) {
  const auto is_there = [](bool given, std::string_view what) {
    return need(given, "generate", what);
  };
  const auto has_out = [&] { return is_there(!request.out.empty(), "--out DIR"); };
  if (!request.like.empty()) return check_like(request).and_then(has_out);
  if (!request.elastic.empty()) return {};
  return is_there(!request.from.empty(), "--from venus|FORMAT:PATH or --like CLUSTER")
      .and_then([&] { return is_there(std::isnan(request.days), "--like CLUSTER for --days"); })
      .and_then([&] { return is_there(request.most_gpus == 0, "--like CLUSTER for --most-gpus"); })
      .and_then([&] { return is_there(request.jobs != 0, "--jobs N"); })
      .and_then([&] { return is_there(request.gpus != 0, "--gpus G"); })
      .and_then([&] { return is_there(!std::isnan(request.load), "--load L"); })
      .and_then(has_out);
}

}  // namespace

Result<bool> run_generate(const Session& session, const GenerateRequest& request) {
  if (!request.elastic.empty()) return make_elastic(session, request).map([] { return true; });
  if (!request.like.empty()) return generate_like(session, request);
  return resample_source(session, request).map([] { return true; });
}

Command generate_command(const Parser& parser) {
  const auto request = std::make_shared<GenerateRequest>();
  CLI::App& command = parser.app;
  command.add_option("--from", request->from, "venus (bundled) or FORMAT:PATH")
      ->type_name("SOURCE");
  command
      .add_option("--like", request->like, "synthetic: acme-seren, acme-kalos, saturn or a file")
      ->type_name("CLUSTER");
  command.add_option("--elastic", request->elastic, "tables, jobs and cluster of elastic jobs")
      ->type_name("FILE");
  command.add_option("--jobs", request->jobs, "how many jobs")->type_name("N");
  command.add_option("--days", request->days, "how long, with --like; default: 30")->type_name("D");
  command.add_option("--gpus", request->gpus, "size of the cluster; with --like as published")
      ->type_name("G");
  command.add_option("--most-gpus", request->most_gpus, "of a job, with --like")->type_name("G");
  command.add_option("--load", request->load, "GPU time asked for / there is")->type_name("L");
  command.add_option("--cluster", request->cluster, "of the source; default: the trace's own")
      ->type_name("FILE");
  add_seed(parser, "of the draw");
  add_strict(parser, "a bad row of the source is an error");
  command.add_option("--out", request->out, "folder for jobs.csv and cluster.toml")
      ->type_name("DIR");
  for (const char* flag : {"--jobs", "--gpus", "--most-gpus"})  // in a request 0 is "not given"
    command.get_option(flag)->check([](const std::string& text) {
      const CLI::Range possible(std::int64_t{1}, std::numeric_limits<std::int64_t>::max());
      return possible(text).empty() ? "" : "a whole number of at least 1 is needed, not " + text;
    });
  command.footer(
      "Example:\n"
      "  schedmate generate --from venus --jobs 1000000 --gpus 100000 --load 0.9 --out big\n"
      "  schedmate generate --like acme-seren --days 30 --seed 1 --out seren\n"
      "  schedmate generate --elastic data/elastic/syn_tables.toml --out elastic");
  return {
      [request](const Call& call) {
        return run_generate(call.session, *request).map([](bool holds) { return holds ? 0 : 1; });
      },
      [request] { return check_complete(*request); }};
}

}  // namespace schedmate
