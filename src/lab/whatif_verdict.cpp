// SPDX-License-Identifier: Apache-2.0
#include "lab/whatif_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/words.hpp"

namespace schedmate::lab {
namespace {

using whatif::Change;
using whatif::Effect;
using whatif::LowConfidenceReason;

/// Of fewer jobs each can turn the median or the mean.
constexpr std::uint64_t few_jobs = 20;

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

double ratio(const Change& change) { return std::exp(change.log_ratio); }

/// "75 % less time", "12 % more time", "5.0 times the time".
std::string more_or_less(double ratio) {
  if (ratio < 1) return fmt::format("{:.0f} % less time", 100 * (1 - ratio));
  if (ratio < 2) return fmt::format("{:.0f} % more time", 100 * (ratio - 1));
  return fmt::format("{:.1f} times the time", ratio);
}

std::string with_ratio(const WhatifPolicy& policy) {
  return fmt::format("{} (x{:.2f})", policy.label, ratio(policy.all.front()));
}

/// The policies with figures of their own for which this holds, in their order.
template <class Holds>
std::vector<const WhatifPolicy*> shown_policies(const WhatifAnswer& answer, Holds holds) {
  std::vector<const WhatifPolicy*> found;
  for (const WhatifPolicy& policy : answer.policies)
    if (is_shown(policy) && !policy.all.empty() && holds(policy)) found.push_back(&policy);
  return found;
}

bool goes(const WhatifPolicy& policy, Effect effect) {
  const Change& all = policy.all.front();
  return is_certain(policy, all) && all.verdict == effect;
}

/// Whoever leaves jobs unfinished looks fast on the others.
bool helps(const WhatifPolicy& policy) { return goes(policy, Effect::gains) && policy.left == 0; }

/// Those that help, the most helpful first.
std::vector<const WhatifPolicy*> helpful(const WhatifAnswer& answer) {
  auto found = shown_policies(answer, helps);
  std::ranges::stable_sort(
      found, {}, [](const WhatifPolicy* policy) { return policy->all.front().log_ratio; });
  return found;
}

std::string fidelity_of(const WhatifAnswer& answer) {
  const whatif::Fidelity& f = answer.fidelity;
  if (f.jobs == 0) {
    return "Nothing can be compared: every job started before the first end in the dump, so too "
           "little is known. Dump a longer period (sacct --starttime).";
  }
  const std::string allowed = fmt::format("{} would be allowed", time_in_words(f.allowed_s));
  const std::string near = f.median_error_s < 1 ? "when they really did, to the second"
                                                : fmt::format("within {} of when they really did",
                                                              time_in_words(f.median_error_s));
  if (!f.good()) {
    return fmt::format(
        "NOT good enough: with this model of your scheduler half of the {} start {} or more away "
        "from when they really did; {}. Nothing is compared. Give your scheduler's settings "
        "(--site slurm_backfill:..., or --site fifo if jobs start in order), or correct the nodes "
        "(--cluster).",
        counted(f.jobs, "job"), time_in_words(f.median_error_s), allowed);
  }
  return fmt::format(
      "Good enough: replayed with a model of your scheduler, half of the {} start {} ({}); the "
      "mean "
      "wait is {}, and was {} in reality.",
      counted(f.jobs, "job"), near, allowed, time_in_words(f.replay_wait_s),
      time_in_words(f.real_wait_s));
}

std::string wait_of(const Change& all) {
  if (std::abs(all.wait_s - all.replay_wait_s) < 0.5)
    return fmt::format("the mean wait stays at {}", time_in_words(all.wait_s));
  return fmt::format("the mean wait {} from {} to {}",
                     all.wait_s > all.replay_wait_s ? "RISES" : "falls",
                     time_in_words(all.replay_wait_s), time_in_words(all.wait_s));
}

std::string gains_of(const WhatifAnswer& answer) {
  if (!answer.fidelity.good()) return "Not known.";
  const auto good = helpful(answer);
  if (good.empty())
    return "None for certain: no policy that was tried is surely faster than what you have.";
  const WhatifPolicy& best = *good.front();
  const Change& all = best.all.front();
  std::string text = fmt::format(
      "{} helps most: a typical job takes {} from when it may run to its end (x{:.2f}, 95 % {:.2f} "
      "to {:.2f}), and {}.",
      best.label, more_or_less(ratio(all)), ratio(all), std::exp(all.low), std::exp(all.high),
      wait_of(all));
  std::vector<std::string> others;
  for (std::size_t i = 1; i < good.size(); ++i) others.push_back(with_ratio(*good[i]));
  return others.empty() ? text : text + " Also faster: " + joined(others) + ".";
}

/// What the groups of one policy say of who loses.
struct Losers {
  struct Some {
    std::vector<std::string> sizes;
    std::size_t users = 0;
    double worst = 0;  ///< ratio of the user that loses most
  };
  Some certain, perhaps;  ///< perhaps: they lose in this run, which may come from the model alone
  std::size_t users = 0;
  std::size_t unknown = 0;  ///< groups of which it is not even known whether they lose in the run
};

Losers losers_under(const WhatifPolicy& policy, std::string_view unit) {
  Losers found;
  const auto add = [&](const Change& change, bool is_user) {
    if (change.verdict == Effect::unclear) ++found.unknown;
    if (change.verdict != Effect::loses) return;
    Losers::Some& some = is_certain(policy, change) ? found.certain : found.perhaps;
    if (is_user) {
      ++some.users;
      some.worst = std::max(some.worst, ratio(change));
    } else {
      some.sizes.push_back(fmt::format("{} {}s (x{:.2f}, {})", change.name, unit, ratio(change),
                                       counted(change.jobs, "job")));
    }
  };
  for (const Change& size : policy.sizes) add(size, false);
  for (const Change& user : policy.users) add(user, true);
  found.users = policy.users.size();
  return found;
}

/// "" when there are none.
std::string losers_in_words(const Losers::Some& some, std::size_t users) {
  std::vector<std::string> parts;
  if (!some.sizes.empty()) parts.push_back("jobs of " + joined(some.sizes));
  if (some.users > 0)
    parts.push_back(
        fmt::format("{} of {} (at most x{:.2f})", some.users, counted(users, "user"), some.worst));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string losers_under_best(const WhatifAnswer& answer, const WhatifPolicy& best) {
  const Losers losers = losers_under(best, unit_name(answer));
  const std::string certain = losers_in_words(losers.certain, losers.users);
  const std::string perhaps = losers_in_words(losers.perhaps, losers.users);
  std::string text = certain.empty() ? fmt::format("Nobody for certain under {}", best.label)
                                     : fmt::format("Under {}: {}", best.label, certain);
  if (!perhaps.empty())
    text += fmt::format("{} perhaps {}", certain.empty() ? ", but" : ", and", perhaps);
  if (losers.unknown > 0)
    text += fmt::format("; not known for {} of users or sizes", counted(losers.unknown, "group"));
  return text + ".";
}

std::string losers_of(const WhatifAnswer& answer) {
  if (!answer.fidelity.good()) return "Not known.";
  std::string text;
  if (const auto good = helpful(answer); !good.empty())
    text = losers_under_best(answer, *good.front());
  std::vector<std::string> slower;
  for (const WhatifPolicy* policy :
       shown_policies(answer, [](const WhatifPolicy& each) { return goes(each, Effect::loses); }))
    slower.push_back(with_ratio(*policy));
  if (!slower.empty())
    text +=
        fmt::format("{}Slower than what you have: {}.", text.empty() ? "" : " ", joined(slower));
  return text.empty() ? "Nobody for certain." : text;
}

std::string failures_of(const WhatifAnswer& answer) {
  std::uint64_t jobs = 0;
  double hours = 0;
  double share = 0;
  std::map<std::string, std::uint64_t> by_cause;
  for (const whatif::Loss& loss : answer.losses) {
    jobs += loss.jobs;
    hours += loss.gpu_h;
    share += loss.share;
    by_cause[loss.cause] += loss.jobs;
  }
  const auto cancelled = std::ranges::count_if(answer.world.of, [&](std::uint32_t of) {
    return answer.accounting.jobs[of].state.starts_with("CANCELLED");
  });
  std::string text = "None: no job of the dump failed.";
  if (jobs > 0) {
    std::vector<std::pair<std::string, std::uint64_t>> causes(by_cause.begin(), by_cause.end());
    std::ranges::stable_sort(causes, std::greater{}, [](const auto& each) { return each.second; });
    std::vector<std::string> parts;
    for (const auto& [cause, count] : causes) parts.push_back(fmt::format("{} ({})", cause, count));
    text = fmt::format(
        "{} of {} failed, and took {:.1f} {} hours, {:.1f} % of all ({}). These are lost at most, "
        "and no policy here changes that.",
        jobs, counted(answer.world.trace.jobs.size(), "job"), hours, unit_name(answer), 100 * share,
        joined(parts));
  }
  if (cancelled > 0)
    text += fmt::format(" {} cancelled while running {} not counted.", counted(cancelled, "job"),
                        cancelled == 1 ? "is" : "are");
  return text;
}

/// Labels of the policies whose figures for all jobs are in doubt for this reason.
std::vector<std::string> doubted(const WhatifAnswer& answer, LowConfidenceReason doubt) {
  std::vector<std::string> labels;
  for (const WhatifPolicy* policy : shown_policies(answer, [&](const WhatifPolicy& each) {
         return each.oracle.empty() && each.all.front().doubt == doubt;
       }))
    labels.push_back(policy->label);
  return labels;
}

/// How large an effect must be.
std::string bounds_of(const Change& all) {
  const double factor = std::exp(whatif::model_error(all));
  if (factor < 1.0005) return "the replay meets what happened job by job";
  return fmt::format(
      "for a typical job the replay may be wrong by a factor of {:.2f}, so an effect from x{:.2f} "
      "to x{:.2f} is too small to tell",
      factor, 1 / factor, factor);
}

std::string confidence_of(const WhatifAnswer& answer) {
  if (!answer.fidelity.good()) return "Not at all: the replay is too far from what happened.";
  const auto all = shown_policies(answer, [](const WhatifPolicy&) { return true; });
  if (all.empty()) return "Nothing was compared.";
  const auto good = helpful(answer);
  std::string text = "Of no gain";
  if (!good.empty()) {
    const Change& best = good.front()->all.front();
    text = fmt::format("{} confidence in {}", capital(std::string(to_string(best.confidence))),
                       good.front()->label);
  }
  text += fmt::format(": {}.", bounds_of(all.front()->all.front()));
  const auto add = [&](LowConfidenceReason doubt, std::string_view sentence) {
    if (const auto labels = doubted(answer, doubt); !labels.empty())
      text += fmt::format(" {}: {}.", sentence, joined(labels));
  };
  add(LowConfidenceReason::replay_error, "Too small to tell, below the error of the replay");
  add(LowConfidenceReason::unclear, "Too small to tell, within the spread from job to job");
  add(LowConfidenceReason::near_to_past,
      "Cannot be told from what you have, being as near to what really happened as the replay");
  add(LowConfidenceReason::few_jobs, "Few jobs");
  if (answer.fidelity.jobs < few_jobs)
    text += fmt::format(" Only {}: a single one can decide the figures.",
                        counted(answer.fidelity.jobs, "job"));
  return text;
}

/// What the Advisor had to go by when it was not used.
std::string why_unused(const WhatifAnswer& answer) {
  const bool places = std::ranges::any_of(answer.world.of, [&](std::uint32_t of) {
    const AccountedJob& job = answer.accounting.jobs[of];
    return !job.work_dir.empty() || !job.submit_line.empty() || !job.name.empty();
  });
  return places ? "it counts only once it was right often enough, which it was not here"
                : "the dump has no WorkDir, SubmitLine or JobName, so it knew only each user's "
                  "latest jobs";
}

std::string advice_of(const WhatifAnswer& answer) {
  if (answer.policies.empty()) return "Not tried: nothing was compared.";
  std::vector<std::string> parts;
  for (const WhatifPolicy& policy : answer.policies) {
    if (!policy.takes_advice) continue;
    std::string part = fmt::format("for {} of {} in {}", policy.advised,
                                   counted(policy.jobs, "job"), policy.label);
    if (policy.advised == 0) part = fmt::format("for no job in {}", policy.label);
    if (!policy.same_as.empty())
      part +=
          fmt::format(", {} {}", policy.advised == 0 ? "which is" : "which changed nothing: it is",
                      policy.same_as == "replay" ? "the replay itself" : policy.same_as);
    if (policy.advised == 0) part += fmt::format(" ({})", why_unused(answer));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return "Not tried: none of the policies takes it (those with +sm do).";
  return fmt::format("Used {}.", fmt::join(parts, "; "));
}

std::vector<std::string> asides_of(const WhatifAnswer& answer) {
  std::vector<std::string> asides;
  for (const WhatifPolicy& policy : answer.policies) {
    const auto figures =
        policy.all.empty() ? "" : fmt::format(" (x{:.2f})", ratio(policy.all.front()));
    if (!is_shown(policy)) {
      asides.push_back(fmt::format("{} has no row: every job starts and ends as in {}{}.",
                                   policy.label,
                                   policy.same_as == "replay" ? "the replay" : policy.same_as,
                                   policy.host_alone ? figures : ""));
      continue;
    }
    if (policy.all.empty())
      asides.push_back(fmt::format("{}: no job can be compared.", policy.label));
    if (!policy.oracle.empty())
      asides.push_back(fmt::format(
          "{} looks into the future (estimate {}): {} for comparison only, nobody can have it.",
          policy.label, policy.oracle,
          policy.all.empty() ? "" : fmt::format("x{:.2f} is", ratio(policy.all.front()))));
    if (!policy.invented_workload.empty())
      asides.push_back(fmt::format(
          "{} looks at the GPU use of jobs, which a dump does not have: it is INVENTED here "
          "(workload {}), so its figures do not describe your jobs.",
          policy.label, policy.invented_workload));
    if (policy.left > 0)
      asides.push_back(fmt::format("{} leaves {} unfinished, which no figure has.", policy.label,
                                   counted(policy.left, "job")));
    for (const std::string& note : policy.notes)
      asides.push_back(fmt::format("{}: {}.", policy.label, note));
  }
  for (const std::string& note : answer.notes) asides.push_back(capital(note) + ".");
  return asides;
}

}  // namespace

bool is_shown(const WhatifPolicy& policy) { return policy.same_as.empty(); }

bool is_certain(const WhatifPolicy& policy, const Change& change) {
  return policy.oracle.empty() && policy.invented_workload.empty() &&
         change.verdict != Effect::unclear &&
         (change.confidence == whatif::Confidence::high ||
          change.confidence == whatif::Confidence::medium);
}

std::string_view word_for(const WhatifPolicy& policy, const Change& change) {
  if (!policy.oracle.empty()) return "looks into the future";
  if (!policy.invented_workload.empty()) return "on invented GPU use";
  const bool gains = change.verdict == Effect::gains;
  switch (change.doubt) {
    case LowConfidenceReason::none:
      return gains ? "gains" : "loses";
    case LowConfidenceReason::few_jobs:
      if (change.verdict == Effect::unclear) return "too few jobs";
      return gains ? "gains (few jobs)" : "loses (few jobs)";
    case LowConfidenceReason::unclear:
    case LowConfidenceReason::replay_error:
      return "too small to tell";
    case LowConfidenceReason::near_to_past:
      return "cannot tell";
    case LowConfidenceReason::gpu_use:
      return "on invented GPU use";
  }
  return "";
}

std::string time_in_words(double seconds) {
  return std::isfinite(seconds) ? in_words(Seconds(std::llround(seconds))) : "never";
}

std::string_view unit_name(const WhatifAnswer& answer) {
  return answer.cluster.resource == whatif::Resource::gpus ? "GPU" : "CPU";
}

std::vector<const WhatifPolicy*> ranked_policies(const WhatifAnswer& answer) {
  auto found = shown_policies(answer, [](const WhatifPolicy&) { return true; });
  const auto rank = [](const WhatifPolicy* policy) {
    const Change& all = policy->all.front();
    const bool to_be_had = policy->oracle.empty() && policy->invented_workload.empty();
    const int group = !to_be_had ? 3 : !is_certain(*policy, all) ? 1 : helps(*policy) ? 0 : 2;
    return std::pair(group, all.log_ratio);
  };
  std::ranges::stable_sort(found, {}, rank);
  return found;
}

WhatifVerdict make_verdict(const WhatifAnswer& answer) {
  const auto good = helpful(answer);
  return {.best = good.empty() ? "" : good.front()->label,
          .fidelity = fidelity_of(answer),
          .gains = gains_of(answer),
          .losers = losers_of(answer),
          .failures = failures_of(answer),
          .confidence = confidence_of(answer),
          .advice = advice_of(answer),
          .asides = asides_of(answer)};
}

}  // namespace schedmate::lab
