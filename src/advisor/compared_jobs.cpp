// SPDX-License-Identifier: Apache-2.0
#include "advisor/compared_jobs.hpp"

#include "advisor/advisor.hpp"
#include "advisor/advisor_on.hpp"

namespace schedmate::advisor {

const Described& ComparedJobs::describe(const Trace& trace, const Workload& workload,
                                        std::size_t row) {
  const Job& job = trace.jobs[row];
  const std::uint32_t facts = workload.facts_of_row[row];
  const std::uint32_t place = workload.place_of_row[row];
  const std::scoped_lock lock(mutex_);
  const auto [at, fresh] =
      described_.try_emplace({facts, place, static_cast<std::uint32_t>(job.gpus), job.user});
  Described& made = at->second;
  if (!fresh) return made;
  constexpr int usual_node = 8;
  const JobPlace where = place_at(workload, place);
  made.id = static_cast<std::uint32_t>(described_.size());
  made.submission.user = trace.users[job.user];
  made.submission.job = {
      where.root, ".", where.command, job.gpus, (job.gpus + usual_node - 1) / usual_node, ""};
  const FlagRules& rules = FlagRules::built_in();
  made.record = comparable_record(made.submission, facts_at(workload, facts), rules);
  made.flags = read_command_flags(where.command, rules);
  const auto next = static_cast<std::uint32_t>(fields_ids_.size());
  made.fields_id = fields_ids_.try_emplace(made.record.fields, next).first->second;
  made.row.emplace(made.record.fields);
  return made;
}

Similarity ComparedJobs::similarity_of(const Described& ours, const Described& theirs) {
  return similarities_.get(ours.fields_id, theirs.fields_id,
                           [&] { return similarity(*ours.row, *theirs.row); });
}

Repetition ComparedJobs::repetition_of(const Described& ours, const Described& theirs) {
  return repetitions_.get(ours.id, theirs.id, [&] {
    const bool same = ours.fields_id == theirs.fields_id;
    const Fields& fields = same ? theirs.record.fields : ours.record.fields;  // seen by address
    const Verdict verdict = judge({ours.submission, &fields, theirs.record},
                                  {ours.flags, theirs.flags}, FlagRules::built_in());
    return Repetition{verdict.relation, verdict.scale};
  });
}

std::shared_ptr<ComparedJobs> compared_jobs() { return std::make_shared<ComparedJobs>(); }

}  // namespace schedmate::advisor
