// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/front_pages.hpp"

namespace schedmate::evaluation_report {

namespace {

void add_method(Page& report) {
  report.heading(2, "How figures are made");
  report.list(
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      {"Each experiment runs host and arms on the same perturbations: every submission comes 0, 1 "
       "or 2 s later, drawn by the perturbation's seed; the workload goes along with the rows. "
       "Jobs of the warm-up (the first days, stated with each experiment) are in no figure.",
       "ln ratio: mean over jobs of ln(JCT arm / JCT host), below 0 is faster; then the mean over "
       "perturbations with its 95 % interval (Student's t, paired) as ±; a figure without one is a "
       "bound or was the same in all of them.",
       "safe: the upper one-sided 95 % bound of that mean is at most ln 1.02; arms with advice "
       "above it are marked EXCEEDS.",
       "average JCT x: mean JCT of the host / mean JCT of the arm, as the paper's Figure 12d. p50, "
       "p99: nearest rank, in seconds. slowed: share of jobs with over twice the host's JCT.",
       "share of oracle: sum ln(host/arm) / sum ln(host/oracle), bootstrap over perturbations; "
       "only where the oracle's gain has a lower 95 % limit above 2 %, else there is no head-room. "
       "The oracle has true durations and GPU use under the arm's own settings; it is no bound: "
       "other settings may do better with them (below: What bounds the gain), and a host that "
       "plans on limits can gain from wrong durations.",
       "packed: GPU time on GPUs that another job had first / GPU time held.",
       "ARM.last_k: ARM with the mean of the user's last three jobs for the Advisor "
       "(advice=last_k); ARM.oracle: with true durations, in full "
       "(advice=oracle:use,shrink=false); ARM.metadata, ARM.all: the controls (workload_shuffle); "
       "ARM.unshrunk: advice in full from the first job on (shrink=false). Under each table stands "
       "what its other labels are; {at} in a policy is the swept value. last_k, the oracle and "
       "both controls stand beside the comparisons of figures and tables; safety_... has the "
       "controls, sweeps and decompositions only the arms that are distinguished in them. Tables "
       "leave out figures that are the same in all rows; those of sweeps also average JCT, p50, "
       "p99, makespan and packed, which the CSVs have.",
       "Horus starts one job a minute in a virtual cluster, as released (decision 0007): in the "
       "synthetic clusters, which are one virtual cluster each, its queue has no end. Horus and "
       "QSSF run no profiler: where profiles cost nothing (fig12_free_...) they do what they do in "
       "the chapters where they are paid, and are not repeated.",
       "Lucid's profiler has two nodes, of which a cluster of one virtual cluster lends only one, "
       "as released (decision 0002): on the Saturn-like and Acme-like rows lucid and lucid+sm have "
       "one node of GPUs more than the schedulers that profile nobody.",
       "No warm-up is left out of Table 2, whose 82 jobs come within 55 hours, nor of elastic jobs "
       "(the most within eight hours, newtrace's within two days): three days of it would leave "
       "none.",
       "Elastic jobs: perturbations are ways to break ties between equal allocations; each draws "
       "what the Advisor misreads again. matched: jobs that began with what similar jobs showed "
       "instead of being profiled; sm: found by the Advisor; finished: among jobs that are done "
       "alone; wrong, shuffled: of another application, of any. Matches are taken over only while "
       "the latest ones were mostly right (unguarded: always): where all are wrong that is soon no "
       "more. average JCT longer by, 95 %: upper one-sided bound, safe up to 2 %. Tables and "
       "trainings are measured ones of Sia's artifact, or, under the name syn, made up."});
}

}  // namespace

void add_front_page(Page& report, const std::vector<std::string>& not_from_reading) {
  report.heading(1, "Evaluation");
  report.paragraph(
      "Written by schedmate evaluate from the CSV files alone. The number behind a figure, as in "
      ":22, is its line in the experiment's CSV; that line has the command which makes it again.");
  report.heading(2, "What is evidence and what is construction");
  std::vector<std::string> points{
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      "Evidence: submissions, GPU counts, users, virtual clusters and run times of Venus and "
      "Philly are real rows. What a scheduler that looks at these alone does with them is replayed "
      "to the second; Lucid and Horus see made-up profiles, too.",
      "Construction: no public trace has names, code or logs. Models, metadata, directories, "
      "commands, GPU profiles and the speeds of pairs are made up by a recipe (workload_sha256). "
      "Saturn-like and Acme-like rows are drawn from published tables and wholly synthetic.",
      "The gain of an arm over its host on made-up metadata is construction: the recipe decides "
      "how much there is to be read. What the Advisor gains over last_k, which reads nothing, and "
      "over the controls, in which what it reads belongs to other jobs of the same GPU count "
      "(metadata alone; metadata, directory and command), is the only evidence for reading code, "
      "and on made-up metadata that is construction, too: where it is one, what is written is what "
      "helps, and that says nothing of what users write. The columns over ... have these "
      "differences, below 0 where the Advisor is better. last_k predicts no GPU use: in Lucid, "
      "where profiles are most of the gain, being better than last_k says little."};
  points.insert(points.end(), not_from_reading.begin(), not_from_reading.end());
  report.list(points);
  add_method(report);
}

std::string estimates_note() {
  return "Errors of durations are those of real rows where the rows are real; which jobs are alike "
         "is made up, and so is GPU use: that similar jobs have the same use is the recipe's "
         "doing. within, use within: share of all jobs, those without an estimate included.";
}

void add_limits_page(Page& report) {
  report.heading(2, "What this does not show");
  report.list(
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      {"Whether the Advisor reads real repositories of these clusters rightly: there are none. The "
       "rates of its errors come from other public repositories (data/extraction_errors.toml).",
       "What sharing GPUs costs: no pair was measured on a GPU; the speeds are a model fitted to "
       "published means (data/interference.toml).",
       "Whether users of these clusters resubmit with changes as the recipe draws them.",
       "The paper's own traces of Acme and Saturn, Mars, and its physical cluster: not published. "
       "The synthetic ones meet published marginal tables, not the joint distribution.",
       "Variation beyond the jitter of submissions: an interval is about these rows, not about "
       "other months, clusters or users.",
       "Two virtual clusters, or the same one in another month, are not independent samples.",
       "Failures: their rate is a setting, and the rows of Venus and Philly do not say which of "
       "their FAILED jobs the infrastructure broke.",
       "How Sia was profiled in the paper's Table 3: it does not say; 0, 20 and 120 s on each GPU "
       "type are ours, and its third row cannot be the trace of its name.",
       "What the constants of the protection are worth elsewhere: from when on advice and GPU use "
       "are believed, and how long Tiresias defers, was chosen on Venus, Philly and the "
       "Saturn-like rows that are reported here (decision 0012).",
       "That nobody is slower: safe is said of the mean over jobs of ln JCT; single jobs are "
       "slower (slowed), and the average JCT may be.",
       "Failures of framework and script that end a job for good: a FAILED row ends as the trace "
       "has it, is never broken again, and the handler either leaves it alone or restarts it "
       "without effect.",
       "Table 2's jobs: plain draws of 82 have a fraction of its work (table2_simulated), and in "
       "those that have it (table2_work) one job is 76 to 93 % of the work (data/table2): by when "
       "it happens to begin all figures turn, those of true durations included.",
       "The Failure Handler's gain by itself: a failed job gives its GPUs up, and as the "
       "standalone scheduler takes none away, a failure of a job that holds most of a cluster does "
       "what preemption would. In fig13_recovery rare failures are the slower case (sm_rare), and "
       "a delay of 0, by which a failed job has its GPUs back before anyone else, the worst short "
       "one.",
       "What packing costs before a job is known: jobs that nobody profiled, as those that are "
       "larger than the profiler takes, are packed by their true profile, as in the released "
       "Lucid; by sm where nothing predicts them. In Table 2, whose profiler is one node, these "
       "are jobs on more than 4 GPUs.",
       "Retrieval at its hardest: a template is misread once, in the same way for all its jobs, "
       "and directory and command never, so resubmissions match by construction.",
       "Late advice in other hosts than Lucid: there jobs enter their queue at submission, so any "
       "latency leaves them the host's own way (ablation_latency is Lucid's alone).",
       "Interference of large jobs: those on more than 8 GPUs are never packed, so that it is "
       "heavier for large models acts on up to 8 GPUs alone.",
       "How long schedulers take, power, money, and users who would act on estimates."});
}

}  // namespace schedmate::evaluation_report
