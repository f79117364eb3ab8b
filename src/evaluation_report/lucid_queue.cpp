// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/lucid_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <schedmate/scheduler.hpp>
#include <string_view>

namespace schedmate::evaluation_report {
namespace {

constexpr std::string_view lucid_sm = "lucid+sm";

bool has_figure(const Chapter& chapter, std::string_view figure) {
  return std::ranges::any_of(chapter.rows,
                             [&](const FigureLine& at) { return at.row.figure == figure; });
}

bool has_policy(const Chapter& chapter, std::string_view name) {
  return std::ranges::any_of(chapter.rows,
                             [&](const FigureLine& at) { return at.row.policy.starts_with(name); });
}

std::string_view settings_of_lucid_sm() {
  const auto rows = policy_rows();
  const auto row = std::ranges::find(rows, lucid_sm, &PolicyRow::name);
  return row == rows.end() ? std::string_view() : row->preset;
}

}  // namespace

bool is_before_queue(const Chapter& chapter) {
  if (is_elastic(chapter.experiment) || chapter.experiment.estimates) return false;
  // The bound came with the queue: an arm has had both figures since.
  return has_figure(chapter, "jct_ratio") && !has_figure(chapter, "bound");
}

bool has_lucids_queue(const Chapter& chapter) {
  return is_before_queue(chapter) && has_policy(chapter, lucid_sm);
}

std::string queue_note(const Chapter& chapter) {
  if (is_before_queue(chapter)) {
    std::string note =
        "These rows are older than the queue of lucid+sm: all perturbations have the same jobs and "
        "workload, and differ in submissions and failures alone.";
    if (has_lucids_queue(chapter))
      note +=
          " lucid+sm is lucid with advice=advisor,bypass=all,cancel=slowdown here, and has Lucid's "
          "queue.";
    if (has_policy(chapter, "schedmate"))
      note += " schedmate orders by expected GPU time here, and not by expected run time.";
    return note;
  }
  if (!has_policy(chapter, lucid_sm)) return "";
  if (chapter.is_earlier)
    return "lucid+sm has a queue of its own in these rows (a reservation, packing that pays, "
           "ageing). Its settings may have been others than those of this version.";
  return fmt::format("lucid+sm is lucid with {} here: it has a queue of its own.",
                     settings_of_lucid_sm());
}

std::string age_of(const Chapter& chapter) {
  if (has_lucids_queue(chapter)) return " (Lucid's queue)";
  return is_before_queue(chapter) || chapter.is_earlier ? " (an earlier version)" : "";
}

}  // namespace schedmate::evaluation_report
