// SPDX-License-Identifier: Apache-2.0
#include "apps/book_pages.hpp"

namespace schedmate {

void add_front_page(Document& book) {
  book.heading(1, "Evaluation");
  book.paragraph(
      "Written by schedmate evaluate from the CSV files alone. The number behind a figure, as in "
      ":22, is its line in the experiment's CSV; that line has the command which makes it again.");
  book.heading(2, "What is evidence and what is construction");
  book.list(
      {"Evidence: submissions, GPU counts, users, virtual clusters and run times of Venus and "
       "Philly are real rows. What a host scheduler does with them is replayed to the second.",
       "Construction: no public trace has names, code or logs. Models, metadata, directories, "
       "commands, GPU profiles and the speeds of pairs are made up by a recipe (workload_sha256). "
       "Saturn-like and Acme-like rows are drawn from published tables and wholly synthetic.",
       "The gain of an arm over its host on made-up metadata is construction: the recipe decides "
       "how much there is to be read. The only evidence for reading code is what the Advisor gains "
       "over last_k, which reads nothing, and over the controls, in which what it reads belongs to "
       "other jobs of the same GPU count (metadata alone; metadata, directory and command). "
       "The columns `over ...` show these differences."});
  book.heading(2, "How figures are made");
  book.list(
      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): sentences of several lines
      {"Each experiment runs host and arms on the same perturbations: every submission comes 0, 1 "
       "or 2 s later, drawn by the perturbation's seed; the workload goes along with the rows. "
       "Jobs "
       "of the warm-up (the first days, stated with each experiment) are in no figure.",
       "ln ratio: mean over jobs of ln(JCT arm / JCT host), below 0 is faster; then the mean over "
       "perturbations with its 95 % interval (Student's t, paired).",
       "safe: the upper one-sided 95 % bound of that mean is at most ln 1.02; arms with advice "
       "above it are marked EXCEEDS.",
       "average JCT x: mean JCT of the host / mean JCT of the arm, as the paper's Figure 12d. p50, "
       "p99: nearest rank, in seconds. slowed: share of jobs with over twice the host's JCT.",
       "share of oracle: sum ln(host/arm) / sum ln(host/oracle), bootstrap over perturbations; "
       "only where the oracle's gain has a lower 95 % limit above 2 %, else there is no head-room.",
       "packed: GPU time on GPUs that another job had first / GPU time held.",
       "ARM.last_k: the mean of the user's last three jobs stands in for the Advisor; ARM.oracle: "
       "true durations, in full; ARM.metadata, ARM.all: the controls; ARM.unshrunk: advice in full "
       "from the first job on (shrink=false)."});
}

std::string construction_note() {
  return "Made-up metadata: a gain over the host is construction; evidence for reading code are "
         "the "
         "columns over last_k, over metadata and over all alone (below 0: better than the "
         "control).";
}

std::string elastic_note() {
  return "Elastic jobs: perturbations are ways to break ties between equal allocations; each draws "
         "what the Advisor misreads anew. matched: jobs that began with what similar jobs showed "
         "instead of being profiled; sm: found by the Advisor on made-up metadata; finished: among "
         "jobs that are done alone; wrong, shuffled: of another application, of any. Matches are "
         "taken over only while the latest ones were mostly right (unguarded: always): where all "
         "are wrong that is soon no more, and what sm gains over wrong and shuffled is what "
         "reading "
         "code adds, on made-up metadata. average JCT longer by, 95 %: upper one-sided "
         "bound, safe up to 2 %. Tables and trainings are measured ones of Sia's artifact, or, "
         "under the name syn, made up.";
}

void add_limits_page(Document& book) {
  book.heading(2, "What this does not show");
  book.list(
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
       "How long schedulers take, power, money, and users who would act on estimates."});
}

}  // namespace schedmate
