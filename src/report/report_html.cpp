// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <map>
#include <schedmate/report.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/text_safety.hpp"
#include "report/chart_data.hpp"
#include "report/columns.hpp"
#include "report/html_tables.hpp"
#include "report/run_notes.hpp"

namespace schedmate {

// Files of third_party/uplot and src/report/page, compiled in by cmake/Embed.cmake.
namespace embedded {
extern const std::string_view uplot_js;
extern const std::string_view uplot_css;
extern const std::string_view report_js;
extern const std::string_view report_css;
}  // namespace embedded

namespace {

std::string whole(std::uint64_t value) {
  return report::number(static_cast<double>(value), {1, "", 0});
}

std::string fact(std::string_view name, const std::string& value, const std::string& note) {
  return fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>\n", name, value, note);
}

std::string cluster_fact(const Experiment& experiment) {
  std::int64_t gpus = 0;
  std::int64_t nodes = 0;
  for (const PartitionSpec& part : experiment.cluster.partitions) {
    nodes += part.nodes;
    gpus += std::int64_t{part.nodes} * part.gpus_per_node;
  }
  return fact(
      "Cluster", whole(static_cast<std::uint64_t>(gpus)) + " GPUs",
      fmt::format("{} node{} in {} virtual cluster{}, {}", whole(static_cast<std::uint64_t>(nodes)),
                  nodes == 1 ? "" : "s", experiment.cluster.partitions.size(),
                  experiment.cluster.partitions.size() == 1 ? "" : "s",
                  experiment.cluster_spec.empty() ? "as the trace says"
                                                  : html_escape(experiment.cluster_spec)));
}

std::string facts(const Experiment& experiment, std::span<const RunSummary> runs) {
  const std::vector<Job>& jobs = experiment.trace.jobs;
  const double days =
      jobs.empty()
          ? 0
          : static_cast<double>((jobs.back().submit - jobs.front().submit).count()) / 86400;
  std::set<std::string> modes;
  std::set<std::uint64_t> seeds;
  for (const RunSummary& run : runs) {
    modes.insert(html_escape(run.run.mode));
    seeds.insert(run.run.seed);
  }
  const std::size_t known = experiment.trace.users.size();
  const std::string users = known > 1 ? whole(known) + " users" : "users not distinguished";
  std::string html = "<dl class=\"facts\">\n";
  html += fact("Trace", whole(jobs.size()) + " jobs",
               fmt::format("{}, {:.1f} days, {}", users, days, html_escape(experiment.trace_spec)));
  html += cluster_fact(experiment);
  if (!runs.empty()) {
    html += fact("Offered load", report::number(runs[0].offered_load, {0.01, "%", 1}) + " %",
                 "of the GPU time between first and last submission");
  }
  html += fact(
      "Mode", fmt::format("{}", fmt::join(modes, ", ")),
      fmt::format("seed {}, program {}", fmt::join(seeds, ", "), html_escape(experiment.commit)));
  return html + "</dl>\n";
}

// Labels that left out equally many jobs share a line: most often all of them.
std::string unfinished(std::span<const RunSummary> runs) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::string>> labels;
  for (const RunSummary& run : runs) {
    if (run.finished != run.jobs) {
      labels[{run.infeasible, run.stalled}].push_back(html_escape(run.run.label));
    }
  }
  std::string items;
  for (const auto& [counts, names] : labels) {
    fmt::format_to(
        std::back_inserter(items),
        "<li>{}: jobs larger than their virtual cluster: {}; jobs that never ended: "
        "{}.</li>\n",
        names.size() == runs.size() ? "every policy" : fmt::format("{}", fmt::join(names, ", ")),
        whole(counts.first), whole(counts.second));
  }
  return items;
}

// Whatever is not in the averages.
std::string omissions(const Experiment& experiment, std::span<const RunSummary> runs) {
  std::string items;
  for (const auto& [reason, rows] : experiment.trace.report.dropped) {
    fmt::format_to(std::back_inserter(items), "<li>trace: {} of {} rows were dropped: {}.</li>\n",
                   whole(rows), whole(experiment.trace.report.rows), html_escape(reason));
  }
  items += unfinished(runs);
  if (items.empty()) return "<p>Nothing: every row became a job and every job finished.</p>\n";
  return "<ul>\n" + items + "</ul>\n";
}

std::string figure(std::string_view name, std::string_view title, std::string_view note) {
  return fmt::format(
      "<figure><figcaption>{1}<span>{2}</span></figcaption>"
      "<div class=\"plot\" data-figure=\"{0}\" role=\"img\" aria-label=\"{1}: {2}\"></div>"
      "</figure>\n",
      name, title, note);
}

std::string figures() {
  return "<div id=\"legend\" role=\"group\" aria-label=\"Policies shown\"></div>\n"
         "<div class=\"figures\">\n" +
         figure("jct", "Job completion time", "share of jobs done within the time, log axis") +
         figure("queue", "Queueing delay", "share of jobs that waited at most the time, log axis") +
         figure("utilisation", "GPUs in use", "share of all GPUs, over days since the start") +
         figure("queued", "Queue length", "waiting jobs, over days since the start") + "</div>\n";
}

// Of an opened page the verdict says which differences mean anything, so none is marked here.
std::string results(std::span<const RunSummary> runs, bool opened) {
  std::string html = fmt::format(
      "<h2>{}</h2>\n<p class=\"soft\">Means and quantiles over finished jobs{}. JCT is end minus "
      "submission; slowdown is JCT over run time (at least 10 s); fairness is JCT over that on a "
      "user's equal share of the virtual cluster, 1 being fair.</p>\n",
      opened ? "All figures of each run" : "Results",
      opened ? ", those of the warm-up, too" : "; the best value of a column stands out");
  html += report::results_html(runs, !opened);
  std::string items;
  for (const report::RunNote& note : report::run_notes(runs)) {
    std::vector<std::string> labels;
    for (const std::string& label : note.labels) labels.push_back(html_escape(label));
    fmt::format_to(std::back_inserter(items), "<li>{}: {}.</li>\n", fmt::join(labels, ", "),
                   html_escape(note.text));
  }
  return items.empty() ? html : html + "<ul class=\"notes\">\n" + items + "</ul>\n";
}

// No network, whatever the page holds.
constexpr std::string_view page_head =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

}  // namespace

std::string report_html(const Experiment& experiment, std::span<const RunSummary> runs) {
  return report_html(experiment, runs, {});
}

std::string report_html(const Experiment& experiment, std::span<const RunSummary> runs,
                        const ReportOpening& opening) {
  const bool opened = !opening.html.empty();
  const std::string title =
      opened ? html_escape(opening.title)
             : fmt::format("{} {} on {}", runs.size(), runs.size() == 1 ? "policy" : "policies",
                           html_escape(experiment.trace_spec));
  std::string html(page_head);
  html += "<title>SchedMate: " + title + "</title>\n<style>";
  html += embedded::uplot_css;
  html += embedded::report_css;
  html += "</style>\n</head>\n<body>\n<header><h1>" + title +
          "</h1><button id=\"theme\" hidden></button></header>\n";
  html += opening.html;
  html += facts(experiment, runs);
  html += results(runs, opened);
  html +=
      "<h2>Distributions and time</h2>\n<p class=\"soft screen\">A click on a name hides or shows "
      "its "
      "line. Drag across a figure to zoom, double-click to return.</p>\n"
      "<noscript><p>The figures need JavaScript; the tables do not.</p></noscript>\n";
  html += figures();
  html +=
      "<h2>Average queueing delay by job size</h2>\n<p class=\"soft\">Bars compare the policies "
      "within a column.</p>\n";
  html += report::waiting_html(runs);
  html += "<h2>Left out</h2>\n" + omissions(experiment, runs);
  html += "<h2>Settings</h2>\n" + report::settings_html(runs);
  html += fmt::format("<footer>Written by schedmate {}.</footer>\n",
                      opened ? "whatif. Definitions: docs/formats/whatif.md and summary-json.md"
                             : "simulate. Definitions: docs/formats/summary-json.md");
  html += "<script type=\"application/json\" id=\"data\">" + report::chart_data(runs) +
          "</script>\n<script>";
  html += embedded::uplot_js;
  html += "</script>\n<script>";
  html += embedded::report_js;
  return html + "</script>\n</body>\n</html>\n";
}

}  // namespace schedmate
