// SPDX-License-Identifier: Apache-2.0
#include "apps/command_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <system_error>

namespace schedmate {
namespace {

Result<void> read_config(const CommandLine& line, const Environment& environment,
                         Settings& settings) {
  if (!line.config.empty()) return settings.read_file(line.config);
  if (environment.config_home.empty()) return {};
  const std::string usual = environment.config_home + "/schedmate/config.toml";
  std::error_code error;
  return std::filesystem::exists(usual, error) ? settings.read_file(usual) : Result<void>();
}

Result<void> take_pairs(const CommandLine& line, Settings& settings) {
  for (const std::string& pair : line.settings) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      return fail(ErrorCode::unsupported, fmt::format("--set {}: key=value is needed", pair));
    }
    const std::string_view text(pair);
    if (auto done = settings.set(text.substr(0, equals), text.substr(equals + 1), "--set"); !done)
      return done;
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

}  // namespace

Result<void> check_complete(const CommandLine& line) {
  const auto need = [&](bool given, std::string_view what) -> Result<void> {
    if (given) return {};
    return fail(ErrorCode::unsupported,
                fmt::format("{0}: {1} is missing (schedmate {0} --help)", line.command, what));
  };
  if (line.command == "simulate") {
    return need(!line.simulate.trace.empty(), "--trace FORMAT:PATH")
        .and_then([&] { return need(!line.simulate.policies.empty(), "--policy NAME"); })
        .and_then([&] { return need(!line.simulate.out.empty(), "--out DIR"); });
  }
  if (line.command == "generate" && !line.generate.like.empty()) {
    return check_like(line.generate).and_then([&] {
      return need(!line.generate.out.empty(), "--out DIR");
    });
  }
  if (line.command == "generate" && line.generate.elastic.empty()) {
    return need(!line.generate.from.empty(), "--from venus|FORMAT:PATH or --like CLUSTER")
        .and_then([&] { return need(std::isnan(line.generate.days), "--like CLUSTER for --days"); })
        .and_then(
            [&] { return need(line.generate.most_gpus == 0, "--like CLUSTER for --most-gpus"); })
        .and_then([&] { return need(line.generate.jobs != 0, "--jobs N"); })
        .and_then([&] { return need(line.generate.gpus != 0, "--gpus G"); })
        .and_then([&] { return need(!std::isnan(line.generate.load), "--load L"); })
        .and_then([&] { return need(!line.generate.out.empty(), "--out DIR"); });
  }
  if (line.command == "evaluate") {
    return need(!line.evaluate.files.empty() || !line.evaluate.cited.empty(), "FILE.toml")
        .and_then([&] { return need(!line.evaluate.out.empty(), "--out DIR"); });
  }
  if (line.command == "whatif") return need(!line.whatif.sacct.empty(), "--sacct FILE");
  const auto need_job = [&](const JobRequest& job) {
    return need(!job.root.empty(), "DIR").and_then([&] {
      return need(!job.command.empty(), "--command C");
    });
  };
  if (line.command == "facts") return need_job(line.facts.job);
  if (line.command == "ask" && line.ask.question.empty())
    return fail(ErrorCode::unsupported,
                "ask: which log, and what? (schedmate ask LOG \"how fast is it?\")");
  if (line.command == "track" && line.track.logs.empty())
    return fail(ErrorCode::unsupported, "track: which log? (schedmate track LOG)");
  if (line.command == "track" && line.track.follow && line.track.logs.size() > 1)
    return fail(ErrorCode::unsupported, "track --follow takes one log; start it for each rank");
  if (line.command == "advise") {
    return need_job(line.advise.job).and_then([&] {
      return need(!line.advise.user.empty(), "--user U");
    });
  }
  if (line.command == "diagnose") return need(!line.diagnose.logs.empty(), "LOG");
  if (line.command == "history") return need(!line.history.action.empty(), "an action");
  return need(line.command != "completion" || !line.shell.empty(), "bash, zsh or fish");
}

Result<Settings> settle(const CommandLine& line, const Environment& environment) {
  Settings settings;
  if (auto done = read_config(line, environment, settings); !done)
    return tl::unexpected(done.error());
  if (auto done = take_pairs(line, settings); !done) return tl::unexpected(done.error());
  struct Flag {
    std::string_view key, flag;
    const std::string& value;
  };
  const std::string strict = line.strict ? "true" : "";
  for (const Flag& each : {Flag{"mode", "--mode", line.mode},
                           {"report", "--report", line.report},
                           {"seed", "--seed", line.seed},
                           {"threads", "--threads", line.threads},
                           {"state_dir", "--state-dir", line.state_dir},
                           {"estimate", "--estimate", line.estimate},
                           {"similarity", "--similarity", line.similarity},
                           {"llm.use", "--llm", line.llm},
                           {"embedder.kind", "--embedder", line.embedder},
                           {"strict", "--strict", strict}}) {
    if (each.value.empty()) continue;
    if (auto done = settings.set(each.key, each.value, each.flag); !done)
      return tl::unexpected(done.error());
  }
  return settings;
}

}  // namespace schedmate
