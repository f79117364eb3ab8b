// SPDX-License-Identifier: Apache-2.0

/// `schedmate probe`: what runs on compute nodes (src/probe).

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/words.hpp"
#include "probe/request.hpp"

namespace schedmate {
namespace {

struct ProbeFlags {
  probe::ProbeRequest request;
  std::string derive_key;
};

std::string number_cell(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("{:.0f} {}", *value, unit) : std::string("-");
}

std::string report_words(const probe::Report& report) {
  std::string text;
  for (const probe::Sample& sample : report.samples) {
    if (!sample.error.empty()) text += fmt::format("GPUs: {}\n", printable(sample.error));
    for (const probe::GpuSample& gpu : sample.gpus)
      text +=
          fmt::format("GPU {}: {}, {} of {}, {}, {}{}\n", gpu.index, number_cell(gpu.used_pct, "%"),
                      number_cell(gpu.memory_used_mib, "MiB"),
                      number_cell(gpu.memory_total_mib, "MiB"), number_cell(gpu.temperature_c, "C"),
                      number_cell(gpu.power_w, "W"), gpu.lost ? ", LOST" : "");
  }
  if (!report.kernel_error.empty())
    text += fmt::format("kernel's log: {}\n", printable(report.kernel_error));
  for (const probe::KernelEvent& event : report.events)
    text += fmt::format("{}: {}: {}\n", name_of(event.severity), printable(event.rule),
                        printable(event.text));
  return text;
}

Result<int> run_probe(const CommandCall& call, const ProbeFlags& flags) {
  if (!flags.derive_key.empty()) {
    const auto line = probe::key_line_for(call.session, flags.derive_key);
    if (!line) return tl::unexpected(line.error());
    call.console.verbatim(*line);
    return 0;
  }
  const auto options = probe::options_of(call.session, flags.request);
  if (!options) return tl::unexpected(options.error());
  if (!flags.request.once)
    return done(
        probe::run(*options, {.clock = call.session.clock,
                              .stopped = [] { return false; },
                              .report = [&](const std::string& line) { call.console.warn(line); },
                              .seed = mix(hash_bytes(options->key.node))}));
  const auto report = probe::look_once(*options, call.session.clock);
  if (!report) return tl::unexpected(report.error());
  if (call.json)
    call.console.json(Document::parse(probe::report_text(*report)));
  else
    call.console.text(report_words(*report));
  return 0;
}

}  // namespace

Command probe_command(const Parser& parser) {
  const auto flags = std::make_shared<ProbeFlags>();
  CLI::App& app = parser.app;
  app.add_option("--node", flags->request.node, "name of this node, as the cluster has it")
      ->type_name("NAME");
  add_setting(parser, "--address", "probe.address", "daemon: unix:PATH or http://HOST:PORT");
  add_setting(parser, "--every", "probe.every_s", "seconds between two samples");
  add_setting(parser, "--dcgm", "probe.dcgm", "read the dcgm-exporter at this URL instead of NVML");
  app.add_option("--nvml-from", flags->request.nvml_from,
                 "read GPUs from this file, which may grow, instead of NVML")
      ->type_name("FILE");
  app.add_option("--kernel-log", flags->request.kernel_log, "follow this file instead of /dev/kmsg")
      ->type_name("FILE");
  app.add_flag("--once", flags->request.once, "print one sample; send nothing");
  app.add_option("--derive-key", flags->derive_key,
                 "print the key file of this node, from the secret of probe.secret_file")
      ->type_name("NODE");
  app.footer("Examples:\n  schedmate probe --once --json\n  schedmate probe --derive-key gpu-01");
  return {.run = [flags](const CommandCall& call) { return run_probe(call, *flags); },
          .check = [flags]() -> Result<void> {
            if (flags->derive_key.empty() || !flags->request.once) return {};
            return fail(ErrorCode::unsupported,
                        "probe: --once and --derive-key do not go together");
          }};
}

}  // namespace schedmate
