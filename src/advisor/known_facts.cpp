// SPDX-License-Identifier: Apache-2.0
#include "advisor/known_facts.hpp"

#include <fmt/format.h>

#include "advisor/admission.hpp"
#include "core/facts_json.hpp"

namespace schedmate::advisor {
namespace {

/// The user's last submission of this entry from this directory, with its facts.
Result<std::optional<JobRecord>> last_run(const Submission& submission, const AdvisorParts& parts) {
  constexpr std::size_t looked_at = 16;
  JobFilter filter;
  filter.user = submission.user;
  const JobSource& job = submission.job;
  filter.entry =
      read_command_flags(job.command, parts.rules, folder_of(job.root, job.workdir)).entry;
  filter.limit = looked_at;
  filter.brief = true;
  std::string id;
  const auto look = [&](const JobRecord& record) {
    const bool fits = record.root == submission.job.root && record.id != submission.id &&
                      record.workdir == submission.job.workdir;
    if (fits) id = record.id;
    return !fits;
  };
  if (auto done = parts.store.each(filter, look); !done) return tl::unexpected(done.error());
  if (id.empty()) return std::nullopt;
  return parts.store.get(id);
}

bool same_request(const JobSource& ours, const JobRecord& theirs) {
  return ours.gpus == theirs.gpus && ours.nodes == theirs.nodes && ours.gpu_type == theirs.gpu_type;
}

struct KnownFactsLookup {
  const Submission& submission;
  const JobRecord& last;
  const Facts& before;
};

/// The facts of the last run, made those of this one, while its files are as they were.
Result<bool> recall(const KnownFactsLookup& from, const AdvisorParts& parts, KnownFacts& known) {
  const JobSource& job = from.submission.job;
  if (from.last.closure.empty() || !same_request(job, from.last)) return false;
  auto closure = find_closure(parts.store, job.root, from.last.closure);
  if (!closure) return tl::unexpected(closure.error());
  if (!*closure || !parts.tree.unchanged(job.root, (*closure)->files)) return false;
  auto facts = carry_over(from.before, from.last.command, job.command, parts.rules);
  if (!facts) return false;
  known.facts = std::move(*facts);
  known.facts.wall_ms = 0;
  known.facts.model = {};
  known.closure = std::move(**closure);
  known.remembered = true;
  return true;
}

Result<void> read_again(const Submission& submission, const AdvisorParts& parts,
                        KnownFacts& known) {
  auto facts = parts.read_facts(submission.job);
  if (!facts) return tl::unexpected(facts.error());
  known.facts = std::move(*facts);
  auto closure = parts.tree.read(submission.job.root, known.facts.files_read);
  if (closure)
    known.closure = std::move(*closure);
  else
    known.notes.push_back("the files will be read again next time: " + closure.error().message);
  return {};
}

/// With the same commit checked out, other content of the files means uncommitted changes.
void compare(const JobRecord& last, const Facts& before, KnownFacts& known) {
  known.previous = last.id;
  known.changes = changed_facts(before, known.facts);
  const bool same_files = known.closure.hash == last.closure;
  const bool same_commit =
      !known.commit.empty() && field(last.fields, "git_commit") == known.commit;
  if (!same_files && same_commit)
    known.notes.push_back(fmt::format("files changed since job {} without a commit", last.id));
}

}  // namespace

Result<KnownFacts> know_facts(const Submission& submission, const AdvisorParts& parts) {
  KnownFacts known;
  const auto last = last_run(submission, parts);
  if (!last) return tl::unexpected(last.error());
  std::optional<Facts> before;
  if (*last)
    if (auto facts = read_facts_json((*last)->facts_json)) before = std::move(*facts);
  if (before) {
    const auto done = recall({submission, **last, *before}, parts, known);
    if (!done) return tl::unexpected(done.error());
  }
  if (!known.remembered)
    if (auto done = read_again(submission, parts, known); !done)
      return tl::unexpected(done.error());
  known.commit = git_commit(parts.tree, submission.job.root);
  if (before) compare(**last, *before, known);
  return known;
}

}  // namespace schedmate::advisor
