// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/text_safety.hpp"
#include "base/words.hpp"
#include "lab/whatif_verdict.hpp"

namespace schedmate::lab {
namespace {

using whatif::Change;

/// The class of a word's colour: what may be believed stands out.
std::string_view tone_of(const WhatifPolicy& policy, const Change& change) {
  if (!is_certain(policy, change)) return "open";
  return change.verdict == whatif::Effect::gains ? "gains" : "loses";
}

/// Its first words, up to a colon or full stop, are the answer in short.
std::string sentence(std::string_view name, const std::string& text) {
  std::size_t in_short = text.find(' ');  // after a mark that a blank follows, so in no number
  while (in_short != std::string::npos && !std::string_view(":.,;").contains(text[in_short - 1]))
    in_short = text.find(' ', in_short + 1);
  in_short = std::min(in_short, text.size());
  return fmt::format("<dt>{}</dt><dd><strong>{}</strong>{}</dd>\n", name,
                     html_escape(text.substr(0, in_short)), html_escape(text.substr(in_short)));
}

std::string verdict_html(const WhatifVerdict& verdict) {
  return "<dl class=\"verdict\">\n" + sentence("Can the replay be trusted?", verdict.fidelity) +
         sentence("What would be gained?", verdict.gains) +
         sentence("Who would lose?", verdict.losers) +
         sentence("What do failures cost?", verdict.failures) +
         sentence("How sure is this?", verdict.confidence) +
         sentence("SchedMate’s advice", verdict.advice) + "</dl>\n";
}

std::string table_head(std::string_view corner) {
  return fmt::format(
      "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">{}</th>"
      "<th scope=\"col\" class=\"text\">verdict</th>"
      "<th scope=\"col\">time to the end<small>replay = 1</small></th>"
      "<th scope=\"col\">95 %<small>interval</small></th>"
      "<th scope=\"col\">mean wait<small>now → then</small></th>"
      "<th scope=\"col\">really<small>waited</small></th>"
      "<th scope=\"col\">jobs<small>&nbsp;</small></th></tr></thead><tbody>\n",
      corner);
}

std::string row(const std::string& name, const WhatifPolicy& policy, const Change& change) {
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"text\"><span class=\"word {}\">{}</span></td>"
      "<td>× {:.2f}</td><td>{:.2f} – {:.2f}</td><td>{} → {}</td><td>{}</td><td>{}</td></tr>\n",
      html_escape(name), tone_of(policy, change), word_for(policy, change),
      std::exp(change.log_ratio), std::exp(change.low), std::exp(change.high),
      time_in_words(change.replay_wait_s), time_in_words(change.wait_s),
      time_in_words(change.real_wait_s), change.jobs);
}

std::string policies_html(const WhatifAnswer& answer) {
  std::string html = table_head("policy");
  for (const WhatifPolicy* policy : ranked_policies(answer))
    html += row(policy->label, *policy, policy->all.front());
  return html + "</tbody></table></div>\n";
}

std::string asides_html(const WhatifVerdict& verdict) {
  if (verdict.asides.empty()) return "";
  std::string html = "<ul class=\"notes\">\n";
  for (const std::string& aside : verdict.asides)
    html += fmt::format("<li>{}</li>\n", html_escape(aside));
  return html + "</ul>\n";
}

/// Sizes and users of one policy, folded away.
std::string groups_html(const WhatifAnswer& answer, const WhatifPolicy& policy) {
  std::string html =
      fmt::format("<details><summary>{}: who gains and who loses, by {}s and users</summary>\n",
                  html_escape(policy.label), unit_name(answer));
  html += table_head("who");
  for (const Change& size : policy.sizes)
    html += row(fmt::format("{} {}{}", size.name, unit_name(answer), size.name == "1" ? "" : "s"),
                policy, size);
  std::vector<Change> users = policy.users;
  std::ranges::stable_sort(users, {}, &Change::log_ratio);
  for (const Change& user : users) html += row("user " + user.name, policy, user);
  return html + "</tbody></table></div></details>\n";
}

std::string losses_html(const WhatifAnswer& answer) {
  if (answer.losses.empty()) return "";
  std::string html = fmt::format(
      "<details><summary>Failures by state</summary>\n<div class=\"scroll\"><table><thead><tr>"
      "<th scope=\"col\">state</th><th scope=\"col\" class=\"text\">cause</th>"
      "<th scope=\"col\" class=\"text\">confidence in the cause</th><th scope=\"col\">jobs</th>"
      "<th scope=\"col\">{} hours</th><th scope=\"col\">of all</th></tr></thead><tbody>\n",
      unit_name(answer));
  for (const whatif::Loss& loss : answer.losses)
    fmt::format_to(std::back_inserter(html),
                   "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td class=\"text\">{}"
                   "</td><td>{}</td><td>{:.2f}</td><td>{:.1f} %</td></tr>\n",
                   html_escape(loss.state), html_escape(loss.cause),
                   whatif::to_string(loss.confidence), loss.jobs, loss.gpu_h, 100 * loss.share);
  return html + "</tbody></table></div></details>\n";
}

std::string replay_html(const WhatifAnswer& answer) {
  const whatif::Fidelity& f = answer.fidelity;
  std::string html = fmt::format(
      "<details><summary>The replay and the cluster</summary>\n<ul class=\"notes\">\n"
      "<li>Model of your scheduler: {}.</li>\n",
      html_escape(answer.site));
  for (const WhatifSite& site : answer.tried)
    if (site.spec != answer.site)
      html += fmt::format("<li>Also tried, and further off (median {}): {}.</li>\n",
                          time_in_words(site.median_error_s), html_escape(site.spec));
  if (f.jobs > 0)
    html +=
        fmt::format("<li>Starts of {}: median {} off, 90 % within {}, {:.1f} % within 60 s.</li>\n",
                    counted(f.jobs, "job"), time_in_words(f.median_error_s),
                    time_in_words(f.p90_error_s), 100 * f.within_60_s);
  html += fmt::format("<li>{} ran before the record is complete and are in no figure.</li>\n",
                      counted(f.pinned, "job"));
  for (std::size_t i = 0; i < answer.cluster.spec.partitions.size(); ++i) {
    const PartitionSpec& vc = answer.cluster.spec.partitions[i];
    html +=
        fmt::format("<li>{}: {} of {} {}s.</li>\n", html_escape(vc.name), counted(vc.nodes, "node"),
                    vc.gpus_per_node * answer.cluster.unit[i], unit_name(answer));
  }
  for (const std::string& note : answer.cluster.notes)
    html += fmt::format("<li>{}</li>\n", html_escape(note));
  return html + "</ul></details>\n";
}

}  // namespace

ReportOpening whatif_opening(const WhatifAnswer& answer) {
  std::string html = verdict_html(answer.verdict);
  if (!answer.policies.empty()) {
    html += "<h2>Policies against what you have</h2>\n" + policies_html(answer);
    html +=
        "<p class=\"soft\">Time to the end counts from when a job may run to its end: at × 0.5 a "
        "typical job (geometric mean) takes half as long as in the replay of your scheduler, which "
        "is “now”. “Too small to tell” is an effect below the error of the replay or within the "
        "spread from job to job; “cannot tell” is a run as near to what really happened as the "
        "replay.</p>\n";
  }
  html += asides_html(answer.verdict);
  html += "<h2>Details</h2>\n" + replay_html(answer) + losses_html(answer);
  for (const WhatifPolicy* policy : ranked_policies(answer)) html += groups_html(answer, *policy);
  html += "<h2>The runs</h2>\n";
  return {fmt::format("What another scheduler would change ({})", answer.dump), html};
}

}  // namespace schedmate::lab
