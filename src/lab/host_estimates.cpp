// SPDX-License-Identifier: Apache-2.0
#include "lab/host_estimates.hpp"

#include <fmt/format.h>

#include <schedmate/trace.hpp>
#include <utility>

#include "core/entering_job.hpp"
#include "service/held_input.hpp"
#include "trace/cluster_of_trace.hpp"

namespace schedmate::lab {

Result<SimTime> instant_of(std::int64_t time_s) {
  constexpr std::int64_t latest_s = 1'000'000'000'000'000;
  if (time_s >= -latest_s && time_s <= latest_s) return at(time_s);
  return fail(ErrorCode::invalid, fmt::format("no trace lasts to second {}", time_s));
}

Result<std::unique_ptr<HostEstimates>> HostEstimates::open(const settings::Session& session,
                                                           const HostEstimatesRequest& request) {
  auto made = std::make_unique<HostEstimates>(session);
  if (auto read = made->read(request); !read) return tl::unexpected(read.error());
  return made;
}

Result<void> HostEstimates::read(const HostEstimatesRequest& request) {
  const auto policy = study::parse_policy(request.policy);
  if (!policy) return tl::unexpected(policy.error());
  if (auto plain = study::check_not_elastic({&*policy, 1}); !plain) return plain;
  const ReadOptions options{.strict = session_.settings.flag("strict"),
                            .columns = study::estimate_columns({&*policy, 1})};
  auto trace = service::read_held(
      request.trace, [&](const std::string& spec) { return read_trace(spec, options); });
  if (!trace) return tl::unexpected(trace.error());
  trace_ = std::move(*trace);
  const auto cluster =
      trace::cluster_of_trace(trace_, request.cluster, request.trace, "name one in \"cluster\"");
  if (!cluster) return tl::unexpected(cluster.error());
  workloads_.emplace(session_.settings, trace_);
  const study::ReplayInput input{.session = session_,
                                 .trace = trace_,
                                 .cluster = *cluster,
                                 .workloads = *workloads_,
                                 .explained_row = std::nullopt};
  auto made = study::estimates_of(input, *policy);
  if (!made) return tl::unexpected(made.error());
  if (made->workload != nullptr) profiles_.emplace(trace_, made->workload->workload);
  fresh_ = std::move(made->estimator);
  for (std::size_t row = 0; row < trace_.jobs.size(); ++row)
    rows_.try_emplace(trace_.jobs[row].id, row);
  return {};
}

Result<std::size_t> HostEstimates::row_of(std::string_view id) const {
  if (const auto found = rows_.find(id); found != rows_.end()) return found->second;
  return fail(ErrorCode::not_found, fmt::format("job '{}': no such job in the trace", id));
}

const Estimator& HostEstimates::of(std::size_t row) {
  return of_vc_.try_emplace(trace_.jobs[row].vc, fresh_).first->second;
}

Result<HostEstimates::Answer> HostEstimates::predict(std::string_view id, std::int64_t now_s) {
  const auto row = row_of(id);
  if (!row) return tl::unexpected(row.error());
  const auto now = instant_of(now_s);
  if (!now) return tl::unexpected(now.error());
  Answer answer{of(*row)({known_job(trace_, *row), *now})};
  if (!answer.prediction.use) return answer;
  const SharingRule rule = trace_.packing == nullptr ? SharingRule() : trace_.packing->sharing;
  answer.sharing_score = profile_of(*answer.prediction.use, rule).sharing_score;
  return answer;
}

Result<void> HostEstimates::learn(std::string_view id, std::int64_t end_s) {
  const auto row = row_of(id);
  if (!row) return tl::unexpected(row.error());
  const auto end = instant_of(end_s);
  if (!end) return tl::unexpected(end.error());
  of(*row).learn(finished_job(trace_, *row, *end));
  return {};
}

}  // namespace schedmate::lab
