// SPDX-License-Identifier: Apache-2.0
#include "advisor/replayed_jobs.hpp"

#include <algorithm>

#include "advisor/experience.hpp"
#include "advisor/scaling.hpp"
#include "base/check.hpp"

namespace schedmate::advisor {
namespace {

Embedder lexical_embedder() {
  auto embedder = make_embedder("lexical");
  SCHEDMATE_CHECK(embedder.has_value(), "lexical is built in");
  return std::move(*embedder);
}

/// Keeps the latest `most`: nobody looks farther back.
void insert_ended(std::vector<ReplayedJob>& jobs, const ReplayedJob& ended, std::size_t most) {
  jobs.insert(std::ranges::upper_bound(jobs, ended.row, {}, &ReplayedJob::row), ended);
  if (jobs.size() > most) jobs.erase(jobs.begin());
}

}  // namespace

static_assert(PastJobs<ReplayedJobs>);

ReplayedJobs::ReplayedJobs(ComparedJobs& compared, bool lengths)
    : compared_(compared),
      looked_at_(lengths ? experience::misses : experience::errors),
      embedder_(lexical_embedder()) {
  auto store = open_store("memory");
  SCHEDMATE_CHECK(store.has_value(), "memory is built in");
  texts_ = std::move(*store);
  auto index = open_index(*texts_, embedder_);
  SCHEDMATE_CHECK(index.has_value(), "an index in memory needs nothing");
  index_ = std::move(*index);
}

void ReplayedJobs::add(const ReplayedJob& job) {
  User& user = users_[job.user];
  insert_ended(user.ended, job, looked_at_);
  insert_ended(user.by_entry[job.described->record.entry], job, submissions_of_an_entry);
  insert_ended(all_, job, looked_at_);
  if (const auto text = text_id_of(*job.described); text != 0)
    insert_ended(by_text_[text], job, jobs_of_a_text);
}

void ReplayedJobs::look_from(const Described& ours, std::uint32_t user) {
  ours_ = &ours;
  user_ = user;
  alike_to_.reset();
}

Result<std::vector<SimilarText>> ReplayedJobs::nearest() {
  if (text_id_of(*ours_) == 0) return {};
  const auto fresh = index_->refresh();
  auto texts = index_->nearest(ours_->record.text, nearest_texts);
  SCHEDMATE_CHECK(fresh.has_value() && texts.has_value(), "an index in memory does not fail");
  return texts;
}

Verdict ReplayedJobs::verdict_on(const ReplayedJob& earlier) const {
  Verdict verdict;
  if (ours_->record.root != earlier.described->record.root) return verdict;
  const Repetition repetition = compared_.repetition_of(*ours_, *earlier.described);
  verdict.relation = repetition.relation;
  verdict.scale = repetition.scale;
  return verdict;
}

Similarity ReplayedJobs::similarity_to(const ReplayedJob& earlier) {
  if (alike_to_ != earlier.described->fields_id)
    alike_ = compared_.similarity_of(*ours_, *earlier.described);
  alike_to_ = earlier.described->fields_id;
  return alike_;
}

double ReplayedJobs::scale_from(const ReplayedJob& earlier) const {
  return scale_between(ours_->record.fields, earlier.described->record.fields).factor;
}

const ReplayedJobs::EndedJobs* ReplayedJobs::jobs_of_entry() const {
  const auto known = users_.find(user_);
  if (known == users_.end()) return nullptr;
  const auto entry = known->second.by_entry.find(ours_->record.entry);
  return entry == known->second.by_entry.end() ? nullptr : &entry->second;
}

std::uint64_t ReplayedJobs::text_id_of(const Described& job) {
  const std::string& text = job.record.text;
  if (text.empty()) return 0;
  const auto [known, fresh] = text_ids_.try_emplace(text, text_ids_.size() + 1);
  if (!fresh) return known->second;
  JobRecord record;
  record.id = std::to_string(known->second);
  record.text = text;
  SCHEDMATE_CHECK(texts_->put(record).has_value(), "memory takes every record");
  const auto last = texts_->last_text();
  SCHEDMATE_CHECK(last.has_value() && *last == known->second, "texts are numbered in order");
  return known->second;
}

}  // namespace schedmate::advisor
