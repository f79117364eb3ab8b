// SPDX-License-Identifier: Apache-2.0
#include "core/entering_job.hpp"

namespace schedmate {

JobInfo entering_job(const KnownJob& job, const Prediction& prediction, SimTime now) {
  JobInfo info;
  info.id = job.id;
  info.user = job.user;
  info.gpus = job.gpus;
  info.submit = job.submit;
  info.entered = now;
  info.estimate = prediction.run_time;
  info.expected = prediction.expected.count() > 0 ? prediction.expected : prediction.run_time;
  info.distribution = prediction.distribution;
  info.advised = prediction.advised;
  info.profile = job.profile;
  return info;
}

Profile profile_of(const GpuUse& use, const SharingRule& sharing) {
  Profile profile;
  profile.gpu_util_pct = use.gpu_util_pct;
  profile.memory_util_pct = use.memory_util_pct;
  profile.memory_mib = use.memory_mib;
  profile.sharing_score = sharing.score(profile);
  return profile;
}

}  // namespace schedmate
