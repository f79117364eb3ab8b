// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "base/words.hpp"
#include "screen/generate_text.hpp"

namespace schedmate {
namespace {

Result<int> run_elastic_tables(const CommandCall& call, const lab::GenerateRequest& request) {
  const auto files = lab::generate_elastic(request);
  if (!files) return tl::unexpected(files.error());
  if (call.json)
    call.console.json(lab::elastic_files_document(request, *files));
  else
    call.console.text(fmt::format("{} files of a synthetic elastic workload, written to {}\n",
                                  *files, printable(request.out)));
  return 0;
}

/// 1 where the trace is written but a drawn statistic is too far off the published one.
Result<int> run_like(const CommandCall& call, const lab::GenerateRequest& request) {
  const auto trace = lab::generate_like(call.session, request);
  if (!trace) return tl::unexpected(trace.error());
  if (call.json)
    call.console.json(lab::synthetic_document(call.session, request, *trace));
  else
    call.console.text(screen::synthetic_text(request, *trace));
  return trace->drawn.holds() ? 0 : 1;
}

Result<int> run_generate(const CommandCall& call, const lab::GenerateRequest& request) {
  if (!request.elastic.empty()) return run_elastic_tables(call, request);
  if (!request.like.empty()) return run_like(call, request);
  const auto drawn = lab::generate_from(call.session, request);
  if (!drawn) return tl::unexpected(drawn.error());
  if (call.json)
    call.console.json(lab::resampled_document(call.session, request, *drawn));
  else
    call.console.text(screen::resampled_text(request, *drawn));
  return 0;
}

/// What belongs to --from only, and what excludes each other.
Result<void> check_like(const lab::GenerateRequest& request) {
  const auto refuse = [](std::string_view what) {
    return fail(ErrorCode::unsupported,
                fmt::format("generate: --like cannot be combined with {}", what));
  };
  if (!request.from.empty()) return refuse("--from");
  if (!std::isnan(request.load)) return refuse("--load");
  if (!request.cluster.empty()) return refuse("--cluster");
  return {};
}

/// Whether all is there that one of the three ways needs.
Result<void> check_complete(const lab::GenerateRequest& request) {
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

Command generate_command(const Parser& parser) {
  const auto request = std::make_shared<lab::GenerateRequest>();
  CLI::App& command = parser.app;
  command.add_option("--from", request->from, "venus (bundled) or FORMAT:PATH")
      ->type_name("SOURCE");
  command
      .add_option("--like", request->like,
                  "cluster to imitate: acme-seren, acme-kalos, saturn or a file")
      ->type_name("CLUSTER");
  command
      .add_option("--elastic", request->elastic,
                  "make tables, jobs and cluster of a synthetic elastic workload")
      ->type_name("FILE");
  command.add_option("--jobs", request->jobs, "number of jobs")->type_name("N");
  command.add_option("--days", request->days, "length in days, with --like; default: 30")
      ->type_name("D");
  command
      .add_option("--gpus", request->gpus, "GPUs of the cluster; default with --like: as published")
      ->type_name("G");
  command.add_option("--most-gpus", request->most_gpus, "most GPUs of a job, with --like")
      ->type_name("G");
  command.add_option("--load", request->load, "requested GPU time / available GPU time")
      ->type_name("L");
  command
      .add_option("--cluster", request->cluster,
                  "cluster file of the source; default: the trace's own")
      ->type_name("FILE");
  add_seed(parser, "random seed");
  add_strict(parser, "treat a bad row of the source as an error");
  command.add_option("--out", request->out, "folder for jobs.csv and cluster.toml")
      ->type_name("DIR");
  for (const char* flag : {"--jobs", "--gpus", "--most-gpus"})  // in a request 0 is "not given"
    takes_whole(*command.get_option(flag), 1);
  constexpr double any = 1e15;  // what they may be says the service
  for (const char* flag : {"--days", "--load"}) takes_number(*command.get_option(flag), -any, any);
  command.footer(
      "Example:\n"
      "  schedmate generate --from venus --jobs 1000000 --gpus 100000 --load 0.9 --out big\n"
      "  schedmate generate --like acme-seren --days 30 --seed 1 --out seren\n"
      "  schedmate generate --elastic data/elastic/syn_tables.toml --out elastic");
  return {[request](const CommandCall& call) { return run_generate(call, *request); },
          [request] { return check_complete(*request); }};
}

}  // namespace schedmate
