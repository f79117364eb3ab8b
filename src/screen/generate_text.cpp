// SPDX-License-Identifier: Apache-2.0
#include "screen/generate_text.hpp"

#include <fmt/format.h>

#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate::screen {
namespace {

/// Statistics asked and drawn.
std::string check_text(const synth::Synthesis& drawn) {
  std::vector<std::vector<std::string>> cells = {{"statistic", "of", "asked", "drawn", "off"}};
  for (const synth::CheckRow& row : synth::worst_rows(drawn.checks)) {
    std::string of = printable(row.of);
    if (row.at > 0) of += fmt::format("{}at {}, the worst", of.empty() ? "" : " ", row.at);
    cells.push_back({row.statistic, of.empty() ? "all" : of, fmt::format("{:.6g}", row.asked),
                     fmt::format("{:.6g}", row.drawn),
                     fmt::format("{:.1f} %{}", 100 * row.off, row.holds() ? "" : "  too far")});
  }
  return aligned(cells);
}

std::string unchecked_text(const lab::SyntheticTrace& trace) {
  const synth::Synthesis& drawn = trace.drawn;
  return fmt::format(
      "not checked: {} failed jobs have a continuation; infrastructure is {:.1f} % of failures and "
      "{:.0f} % of their GPU time;\n  {:.1f} % of gaps are 0, their CV is {:.1f}; the top 5 % of "
      "users have {:.0f} % of the GPU time\n",
      drawn.continued, trace.infrastructure.jobs_percent, trace.infrastructure.gpu_time_percent,
      drawn.gaps.zero_percent, drawn.gaps.cv, drawn.top_users_percent);
}

}  // namespace

std::string resampled_text(const lab::GenerateRequest& request, const synth::Resampled& drawn) {
  return fmt::format("{} jobs for {} GPUs in {} VCs, load {} over {}, written to {}\n",
                     request.jobs, drawn.gpus, drawn.cluster.partitions.size(), request.load,
                     in_words(drawn.span), printable(request.out));
}

std::string synthetic_text(const lab::GenerateRequest& request, const lab::SyntheticTrace& trace) {
  const synth::Synthesis& drawn = trace.drawn;
  std::string text =
      fmt::format("synthetic, like {}: {} jobs for {} GPUs, load {:.3f} over {}, written to {}\n",
                  printable(trace.cluster), drawn.jobs.size(), trace.gpus, drawn.load,
                  in_words(Seconds(drawn.span_s)), printable(request.out));
  if (drawn.capped > 0)
    text += fmt::format(
        "{} jobs were drawn with more GPUs than a job may have and were cut to that limit\nthe "
        "table shows the draw before the cut; a written job has {:.6g} GPUs and {:.6g} GPU s on "
        "average\n",
        drawn.capped, trace.written.gpus, trace.written.gpu_s);
  text += unchecked_text(trace) + "\n" + check_text(drawn);
  if (!drawn.holds())
    text += fmt::format(
        "\nA statistic is more than {:.0f} % off: a small draw scatters more, and published tables "
        "can be inconsistent.\n",
        100 * synth::most_off);
  return text;
}

}  // namespace schedmate::screen
