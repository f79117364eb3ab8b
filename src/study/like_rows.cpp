// SPDX-License-Identifier: Apache-2.0
#include "study/like_rows.hpp"

#include <fmt/format.h>

#include <iterator>

#include "trace/trace_text.hpp"

namespace schedmate::study {

std::string synth_header() {
  return "job_id,user,vc,gpu_num,state,submit_s,duration_s,syn_type,syn_failure_reason,"
         "syn_failure_class,syn_failure_component,syn_time_to_failure_s,syn_restart_manual_s,"
         "syn_parent,syn_remaining_s\n";
}

void append_synth_row(const synth::Published& published, const synth::Synthesis& drawn,
                      std::size_t index, std::string& text) {
  const synth::SynthJob& job = drawn.jobs[index];
  const auto end = std::back_inserter(text);
  fmt::format_to(end, "{},syn_u{:03},{},{},{},{},{},{},", index + 1, job.user + 1,
                 trace::quoted_csv(published.cluster.vc), job.gpus,
                 trace::helios_state(synth::synth_states[job.state]), job.submit_s, job.run_s,
                 trace::quoted_csv(published.cluster.types[job.type].name));
  if (job.cause >= 0) {
    const synth::FailureCause& cause = published.causes[static_cast<std::size_t>(job.cause)];
    fmt::format_to(end, "{},{},{},{},{},", cause.reason, cause.kind, cause.component, job.run_s,
                   job.restart_s);
  } else {
    text += ",,,,,";
  }
  if (job.parent != synth::no_job) {
    fmt::format_to(end, "{},{}\n", job.parent + 1, job.remaining_s);
  } else {
    text += ",\n";
  }
}

}  // namespace schedmate::study
