// SPDX-License-Identifier: Apache-2.0
#include "face/job_columns.hpp"

#include <limits>

namespace schedmate::face {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void TextColumn::clear() {
  all_.clear();
  begins_.clear();
}

void TextColumn::add(std::string_view text) {
  begins_.push_back(all_.size());
  all_ += text;
  all_ += '\0';
}

const char* const* TextColumn::table() {
  table_.clear();
  for (const std::size_t begin : begins_) table_.push_back(all_.data() + begin);
  return table_.data();
}

void JobColumns::clear() {
  ids_.clear();
  for (auto* column : {&numbers_, &users_}) column->clear();
  for (auto* column : {&gpus_, &scores_}) column->clear();
  for (auto* column : {&submits_, &entries_, &starts_, &attained_, &overheads_}) column->clear();
  for (auto* column : {&estimates_, &expected_, &p10_, &p50_, &p90_, &advised_, &gpu_util_,
                       &memory_util_, &memory_, &speeds_})
    column->clear();
  for (auto* column : {&running_, &sharing_, &alone_}) column->clear();
}

void JobColumns::add(JobId id, const JobInfo& job) {
  ids_.add(job.id);
  numbers_.push_back(index_of(id));
  users_.push_back(job.user);
  gpus_.push_back(job.gpus);
  submits_.push_back(seconds_of(job.submit));
  entries_.push_back(seconds_of(job.entered));
  estimates_.push_back(job.estimate.count());
  expected_.push_back(job.expected.count());
  const auto& around = job.distribution;
  p10_.push_back(around ? around->p10.count() : unknown);
  p50_.push_back(around ? around->p50.count() : unknown);
  p90_.push_back(around ? around->p90.count() : unknown);
  advised_.push_back(job.advised);
  add_profile(job.profile);
  add_state(job);
}

void JobColumns::add_profile(const Profile* profile) {
  const bool is_known = profile != nullptr;
  gpu_util_.push_back(is_known ? profile->gpu_util_pct : unknown);
  memory_util_.push_back(is_known ? profile->memory_util_pct : unknown);
  memory_.push_back(is_known ? profile->memory_mib : unknown);
  scores_.push_back(is_known ? profile->sharing_score : -1);
}

void JobColumns::add_state(const JobInfo& job) {
  running_.push_back(job.running ? 1 : 0);
  starts_.push_back(job.running ? seconds_of(job.run_since) : SCHEDMATE_NEVER);
  attained_.push_back(job.attained.count());
  overheads_.push_back(job.overhead.count());
  sharing_.push_back(job.sharing ? 1 : 0);
  alone_.push_back(job.alone ? 1 : 0);
  speeds_.push_back(job.speed.value_or(unknown));
}

const schedmate_jobs* JobColumns::fill(const JobMap<JobInfo>& jobs, std::span<const JobId> ids) {
  clear();
  for (const JobId id : ids) add(id, jobs.at(id));
  told_ = {.count = ids.size(),
           .number = numbers_.data(),
           .id = ids_.table(),
           .user = users_.data(),
           .gpus = gpus_.data(),
           .submit_s = submits_.data(),
           .entered_s = entries_.data(),
           .estimate_s = estimates_.data(),
           .expected_s = expected_.data(),
           .p10_s = p10_.data(),
           .p50_s = p50_.data(),
           .p90_s = p90_.data(),
           .advised = advised_.data(),
           .gpu_util_pct = gpu_util_.data(),
           .memory_util_pct = memory_util_.data(),
           .memory_mib = memory_.data(),
           .sharing_score = scores_.data(),
           .running = running_.data(),
           .run_since_s = starts_.data(),
           .attained_s = attained_.data(),
           .overhead_s = overheads_.data(),
           .sharing = sharing_.data(),
           .alone = alone_.data(),
           .speed = speeds_.data()};
  return &told_;
}

}  // namespace schedmate::face
