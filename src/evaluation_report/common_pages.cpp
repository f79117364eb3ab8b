// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/common_pages.hpp"

namespace schedmate::evaluation_report {

namespace {

void add_method(Page& report) {
  report.heading(2, "How figures are made");
  report.list(
      // NOLINTBEGIN(bugprone-suspicious-missing-comma): sentences of several lines
      {"Each experiment runs host and arms on the same perturbations. Each draws anew all that is "
       "drawn: the workload (templates, GPU use, metadata), synthetic traces, failures, and "
       "submissions that come 0, 1 or 2 s later. In rows that are older than the queue of lucid+sm "
       "(their pages say so) only failures and submissions differ. Jobs of the warm-up (the first "
       "days, stated with each experiment) count in no figure.",
       "ln ratio: mean over jobs of ln(JCT arm / JCT host), below 0 is faster; then the mean over "
       "perturbations with its 95 % interval (Student's t, paired) as ±. A figure without an "
       "interval is a bound, or was the same in all perturbations.",
       "safe: the upper one-sided 95 % bound of that mean is at most ln 1.02, and so is that of "
       "the average JCT (longer by, 95 %), which older rows do not have; arms with advice above it "
       "are marked EXCEEDS.",
       "average JCT x: mean JCT of the host / mean JCT of the arm, as the paper's Figure 12d. "
       "bound x: mean JCT of the host / mean duration (zero waiting, no sharing), which no "
       "scheduler exceeds; share of bound: how much of it the arm gets, bootstrap over "
       "perturbations; older rows have neither. p50, p99: nearest rank, in seconds. slowed: share "
       "of jobs with over twice "
       "the host's JCT.",
       "share of oracle: sum ln(host/arm) / sum ln(host/oracle), bootstrap over perturbations. It "
       "is given only where the lower 95 % limit of the oracle's gain is above 2 %; otherwise "
       "there is no head-room. The oracle knows true durations and GPU use under the arm's own "
       "settings. It is not a bound: other settings may do better with this knowledge (see What "
       "bounds the gain below), and a host that plans with limits can gain from wrong durations.",
       "packed: GPU time on GPUs that another job held first / total GPU time held.",
       "ARM.last_k: ARM with the user's last three jobs of that size in place of the Advisor: "
       "nothing is read. advice=last_k:use gives their mean duration and GPU use, advice=last_k "
       "(older rows) the duration alone. ARM.oracle: with true durations and GPU use, without "
       "shrinkage (advice=oracle:use,shrink=false). ARM.own, ARM.all: the controls, in which the "
       "Advisor reads metadata, directory and command of another job with the same GPU count: one "
       "of the same user and virtual cluster (workload_shuffle=own), or any (all). ARM.metadata "
       "(older rows): only the metadata is another job's. "
       "ARM.unshrunk: full advice from the first job on (shrink=false). The text below each table "
       "explains its other labels; {at} in a policy is the swept value. Figures and tables of the "
       "paper are shown with last_k, the oracle and both controls. safety_... has only the "
       "controls; sweeps and decompositions have only the arms that they compare. Tables omit "
       "figures that are the same in all rows. Tables of sweeps also omit average JCT, p50, p99, "
       "makespan and packed, which are in the CSVs.",
       "Horus starts one job per minute in a virtual cluster, as released (decision 0007). Each "
       "synthetic cluster is one virtual cluster, so its queue keeps growing there. Horus and QSSF "
       "run no profiler, so where profiles are free (fig12_free_...) they behave as in the "
       "chapters where profiles cost time, and are not repeated.",
       "Lucid's profiler has two nodes, of which a cluster of one virtual cluster lends only one, "
       "as released (decision 0002): on the Saturn-like and Acme-like rows lucid and lucid+sm have "
       "one more node of GPUs than the schedulers without a profiler.",
       "Table 2 and elastic jobs have no warm-up: Table 2's 82 jobs are submitted within 55 hours, "
       "most elastic jobs within eight hours and those of newtrace within two days, so a warm-up "
       "of three days would leave none.",
       "Elastic jobs: perturbations are ways to break ties between equal allocations; each one "
       "also redraws the Advisor's misreadings. matched: jobs that started with what similar jobs "
       "showed instead of being profiled. sm: matches found by the Advisor. finished: matches only "
       "among finished jobs. wrong: matches from another application. shuffled: matches from any "
       "application. Matches are used only while the latest ones were mostly right (unguarded: "
       "always); if all are wrong, this soon stops. average JCT longer by, 95 %: upper one-sided "
       "bound, safe up to 2 %. Step-time tables and trainings were measured in Sia's artifact; "
       "those named syn are made up."});
  // NOLINTEND(bugprone-suspicious-missing-comma)
}

}  // namespace

void add_front_page(Page& report, const std::vector<std::string>& not_from_reading) {
  report.heading(1, "Evaluation");
  report.paragraph(
      "schedmate evaluate writes this page from the CSV files alone. The number after a figure, "
      "such as :22, is its line in the experiment's CSV; that line has the command that reproduces "
      "the figure.");
  report.heading(2, "What is evidence and what is construction");
  std::vector<std::string> points{
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      "Evidence: submissions, GPU counts, users, virtual clusters and run times of Venus and "
      "Philly are real rows. Schedulers that use only these are replayed to the second; Lucid and "
      "Horus also see made-up profiles.",
      "Construction: no public trace has names, code or logs. Models, metadata, directories, "
      "commands, GPU profiles and the speeds of pairs are made up by a recipe (workload_sha256). "
      "Saturn-like and Acme-like rows are drawn from published tables and are entirely synthetic.",
      "The gain of an arm over its host on made-up metadata is construction: the recipe decides "
      "how much there is to read. The only evidence for reading code is what the Advisor gains "
      "over last_k, which reads nothing, and over the controls, in which it reads what belongs to "
      "other jobs with the same GPU count. On made-up metadata this is construction, too: a gain "
      "shows that the written text helps, but not what users really write. The columns over ... "
      "show these differences, below 0 where the Advisor is better. With advice=last_k:use last_k "
      "predicts GPU use as the Advisor does; with advice=last_k (older rows) it predicts none, so "
      "in Lucid, where the ln ratio gains most by profiles that are skipped, a gain over it says "
      "little."};
  points.insert(points.end(), not_from_reading.begin(), not_from_reading.end());
  report.list(points);
  add_method(report);
}

std::string estimates_note() {
  return "Duration errors come from real rows where the rows are real. Which jobs are similar is "
         "made up, and so is GPU use: the recipe makes similar jobs use GPUs alike. within, use "
         "within: share of all jobs, including those without an estimate.";
}

void add_limits_page(Page& report) {
  report.heading(2, "What this does not show");
  report.list(
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      {"Whether the Advisor reads real repositories of these clusters correctly: none are "
       "available. Its error rates come from other public repositories "
       "(data/extraction_errors.toml).",
       "What sharing GPUs costs: no pair was measured on a GPU; the speeds come from a model "
       "fitted to published means (data/interference.toml).",
       "Whether users of these clusters change their resubmissions as the recipe draws it.",
       "The paper's own traces of Acme and Saturn, Mars, and its physical cluster: not published. "
       "The synthetic traces match the published marginal tables, not the joint distribution.",
       "Variation beyond what perturbations draw: an interval describes these rows, not other "
       "months, clusters or users.",
       "Two virtual clusters, or the same one in another month, are not independent samples.",
       "Failures: their rate is a setting, and the rows of Venus and Philly do not say which of "
       "their FAILED jobs the infrastructure broke.",
       "How the paper profiled jobs for Sia in Table 3: it does not say. We use 0, 20 and 120 s on "
       "each GPU type. Its third row cannot be the trace that it names.",
       "How well the constants work elsewhere: when to trust advice and GPU use, how long Tiresias "
       "defers, and the settings of lucid+sm's queue were chosen on the same Venus, Philly and "
       "Saturn-like rows that are reported here, the queue's on the Acme-like ones, too (decision "
       "0012).",
       "That no job is slower: safe refers to means over jobs. Some jobs are slower (slowed), and "
       "where the rows have no longer by, the average JCT may be longer.",
       "Framework and script failures that end a job for good: a FAILED row ends as in the trace "
       "and never fails again; the handler either leaves it alone or restarts it without effect.",
       "Table 2's jobs: plain draws of 82 jobs have a fraction of its work (table2_simulated). In "
       "draws with all of its work (table2_work) one job is 76 to 93 % of the work (data/table2), "
       "so its start time decides all figures, including those with true durations.",
       "The Failure Handler's gain by itself: a failed job releases its GPUs. The standalone "
       "scheduler never preempts, so the failure of a job that holds most of a cluster has the "
       "effect of a preemption. In fig13_recovery rare failures are the slower case (sm_rare), and "
       "the worst short delay is 0, with which a failed job gets its GPUs back before any other "
       "job.",
       "What packing costs before a job is known: jobs without a profile, such as those that are "
       "too large for the profiler, are packed by their true profile, as in the released Lucid; sm "
       "does this only where nothing predicts them. In Table 2, where the profiler is one node, "
       "these are jobs on more than 4 GPUs.",
       "Retrieval at its hardest: a template is misread once, in the same way for all its jobs. "
       "Directory and command are never misread, so resubmissions match by construction.",
       "Late advice in hosts other than Lucid: their jobs enter the queue at submission, so with "
       "any latency the host schedules them without advice (ablation_latency covers only Lucid).",
       "Interference of large jobs: jobs on more than 8 GPUs are never packed, so the stronger "
       "interference of large models affects only jobs on up to 8 GPUs.",
       "The run time of the schedulers, power, cost, and users who react to estimates."});
}

}  // namespace schedmate::evaluation_report
