// SPDX-License-Identifier: Apache-2.0
#include "study/like_rows.hpp"

#include <fmt/format.h>

#include <iterator>

#include "trace/trace_text.hpp"
#include "base/words.hpp"

namespace schedmate::study {

std::string synth_header() {
  return "job_id,user,vc,gpu_num,state,submit_s,duration_s,syn_type,syn_failure_reason,"
         "syn_failure_class,syn_failure_component,syn_time_to_failure_s,syn_restart_manual_s,"
         "syn_parent,syn_remaining_s\n";
}

void append_synth_row(const Published& published, const Synthesis& drawn, std::size_t index,
                      std::string& text) {
  const SynthJob& job = drawn.jobs[index];
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "{},syn_u{:03},{},{},{},{},{},{},", index + 1, job.user + 1,
                 quoted_csv(published.cluster.vc), job.gpus, helios_state(synth_states[job.state]),
                 job.submit_s, job.run_s, quoted_csv(published.cluster.types[job.type].name));
  if (job.cause >= 0) {
    const FailureCause& cause = published.causes[static_cast<std::size_t>(job.cause)];
    fmt::format_to(end, "{},{},{},{},{},", cause.reason, cause.kind, cause.component, job.run_s,
                   job.restart_s);
  } else {
    text += ",,,,,";
  }
  if (job.parent != no_job) {
    fmt::format_to(end, "{},{}\n", job.parent + 1, job.remaining_s);
  } else {
    text += ",\n";
  }
}

std::string check_text(const Synthesis& drawn) {
  std::vector<std::vector<std::string>> cells = {{"statistic", "of", "asked", "drawn", "off"}};
  for (const CheckRow& row : worst_rows(drawn.checks)) {
    std::string of = printable(row.of);
    if (row.at > 0) of += fmt::format("{}at {}, the worst", of.empty() ? "" : " ", row.at);
    cells.push_back({row.statistic, of.empty() ? "all" : of, fmt::format("{:.6g}", row.asked),
                     fmt::format("{:.6g}", row.drawn),
                     fmt::format("{:.1f} %{}", 100 * row.off, row.holds() ? "" : "  too far")});
  }
  return aligned(cells);
}

InfrastructureShare infrastructure_share(const Published& published, const Synthesis& drawn) {
  double jobs = 0;
  double gpu_s = 0;
  double all_jobs = 0;
  double all_gpu_s = 0;
  for (const SynthJob& job : drawn.jobs) {
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

}  // namespace schedmate::study
