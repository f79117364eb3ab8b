// SPDX-License-Identifier: Apache-2.0
#include <schedmate/known_job.hpp>

namespace schedmate {

KnownJob known_job(const Trace& trace, std::size_t row) {
  const Job& job = trace.jobs[row];
  const bool measured = trace.packing != nullptr && job.profile != no_index;
  return {.number = row,
          .id = job.id,
          .user = job.user,
          .vc = job.vc,
          .gpus = job.gpus,
          .submit = job.submit,
          .profile = measured ? &trace.packing->profiles[job.profile] : nullptr};
}

FinishedJob finished_job(const Trace& trace, std::size_t row, SimTime end) {
  const Job& job = trace.jobs[row];
  return {known_job(trace, row), end, job.duration, job.state};
}

const std::vector<double>* Truth::column(std::string_view name) const {
  const auto found = trace_->columns.find(name);
  return found == trace_->columns.end() ? nullptr : &found->second;
}

std::string Truth::columns() const {
  std::string names;
  for (const auto& [name, values] : trace_->columns) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace schedmate
