// SPDX-License-Identifier: Apache-2.0
#include "face/round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lab/host_estimates.hpp"

namespace schedmate::face {

tl::unexpected<Error> Round::impossible(Error error) {
  if (!fault_) fault_ = error;
  return tl::unexpected(std::move(error));
}

Result<const JobInfo*> Round::find(std::uint32_t job) const {
  const JobInfo* const found = view_.jobs.find(JobId{job});
  if (found != nullptr) return found;
  return fail(ErrorCode::not_found,
              fmt::format("no job {} waits or runs in this virtual cluster", job));
}

Result<const JobInfo*> Round::waiting(std::uint32_t job) const {
  auto found = find(job);
  if (!found) return found;
  const JobId id{job};
  const auto name = [&] { return fmt::format("job {} ({})", job, (*found)->id); };
  if (!view_.cluster.allocation(id).empty())
    return fail(ErrorCode::conflict,
                fmt::format("{} has its GPUs already: it cannot start twice", name()));
  for (const auto gone : {view_.ended, view_.withdrawn})
    if (std::ranges::find(gone, id) != gone.end())
      return fail(ErrorCode::conflict, fmt::format("{} has ended: it cannot start", name()));
  return found;
}

Result<void> Round::check_holds(std::uint32_t job) const {
  const auto found = find(job);
  if (!found) return tl::unexpected(found.error());
  if (!view_.cluster.allocation(JobId{job}).empty()) return {};
  return fail(ErrorCode::conflict,
              fmt::format("job {} ({}) does not run: it has no GPUs to leave", job, (*found)->id));
}

Result<bool> Round::start(std::uint32_t job) {
  const auto found = waiting(job);
  if (!found) return impossible(found.error());
  return plan_.start(JobId{job}, (*found)->gpus);
}

Result<void> Round::check_slice(const schedmate_slice& slice) const {
  const Cluster& cluster = view_.cluster;
  if (slice.node >= cluster.node_end() || !cluster.usable(slice.node))
    return fail(ErrorCode::not_found, fmt::format("no node {} is up", slice.node));
  const int per_node = cluster.gpus_per_node();
  const int highest = 63 - std::countl_zero(slice.gpus);
  if (slice.gpus == 0 || highest >= per_node)
    return fail(ErrorCode::invalid,
                fmt::format("node {}: its GPUs are 0 to {}, and bits {:#x} are no set of them",
                            slice.node, per_node - 1, slice.gpus));
  for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
    const int gpu = std::countr_zero(rest);
    const std::size_t others = cluster.residents(slice.node, gpu).size();
    if (others > 0 && !shares_)
      return fail(ErrorCode::conflict,
                  fmt::format("GPU {} of node {} is another job's, and the policy does not say "
                              "that it shares",
                              gpu, slice.node));
    if (others >= static_cast<std::size_t>(Cluster::max_sharing))
      return fail(
          ErrorCode::conflict,
          fmt::format("GPU {} of node {} has {} jobs: it takes no more", gpu, slice.node, others));
  }
  return {};
}

Result<Placement> Round::checked(const JobInfo& job, std::span<const schedmate_slice> where) const {
  Placement placement;
  int gpus = 0;
  for (const schedmate_slice& slice : where) {
    if (auto sound = check_slice(slice); !sound) return tl::unexpected(sound.error());
    if (std::ranges::find(placement, slice.node, &Slice::node) != placement.end())
      return fail(ErrorCode::invalid, fmt::format("node {} is given twice", slice.node));
    placement.push_back({slice.node, slice.gpus});
    gpus += std::popcount(slice.gpus);
  }
  if (gpus == job.gpus) return placement;
  return fail(ErrorCode::invalid,
              fmt::format("job {} asks for {} GPUs and is given {}", job.id, job.gpus, gpus));
}

Result<bool> Round::start_on(std::uint32_t job, std::span<const schedmate_slice> where) {
  const auto found = waiting(job);
  if (!found) return impossible(found.error());
  auto placement = checked(**found, where);
  if (!placement) return impossible(placement.error());
  plan_.start_on(JobId{job}, *std::move(placement));
  return true;
}

Result<bool> Round::preempt(std::uint32_t job) {
  if (const auto holds = check_holds(job); !holds) return impossible(holds.error());
  plan_.preempt(JobId{job});
  return true;
}

Result<bool> Round::evict(std::uint32_t job) {
  if (const auto holds = check_holds(job); !holds) return impossible(holds.error());
  plan_.evict(JobId{job});
  return true;
}

Result<bool> Round::wake_at(std::int64_t time_s) {
  const auto time = lab::instant_of(time_s);
  if (!time) return impossible(time.error());
  plan_.wake_at(*time);
  return true;
}

Result<bool> Round::fits(std::int32_t gpus) const {
  if (gpus < 1)
    return fail(ErrorCode::invalid, fmt::format("{} GPUs: a gang has at least 1", gpus));
  return view_.cluster.fits(gpus);
}

schedmate_gpus Round::gpus() const {
  const Cluster& cluster = view_.cluster;
  return {.total = cluster.total_gpus(),
          .free = cluster.free_gpus(),
          .stranded = cluster.stranded_gpus(),
          .per_node = cluster.gpus_per_node(),
          .nodes = cluster.node_count()};
}

Result<const schedmate_jobs*> Round::jobs(std::span<const std::uint32_t> numbers) {
  memory_.ids.clear();
  for (const std::uint32_t number : numbers) {
    if (const auto found = find(number); !found) return tl::unexpected(found.error());
    memory_.ids.push_back(JobId{number});
  }
  return memory_.asked.fill(view_.jobs, memory_.ids);
}

std::span<const std::uint64_t> Round::free_masks() {
  memory_.masks.clear();
  for (std::uint32_t node = 0; node < view_.cluster.node_end(); ++node)
    memory_.masks.push_back(view_.cluster.free_mask(node));
  return memory_.masks;
}

Result<std::span<const schedmate_slice>> Round::held(std::uint32_t job) {
  if (const auto found = find(job); !found) return tl::unexpected(found.error());
  memory_.slices.clear();
  for (const Slice& slice : view_.cluster.allocation(JobId{job}))
    memory_.slices.push_back({.node = slice.node, .gpus = slice.gpus});
  return memory_.slices;
}

Result<std::span<const std::uint32_t>> Round::residents(std::uint32_t node, std::int32_t gpu) {
  const Cluster& cluster = view_.cluster;
  if (node >= cluster.node_end() || gpu < 0 || gpu >= cluster.gpus_per_node())
    return fail(ErrorCode::not_found, fmt::format("there is no GPU {} of node {}", gpu, node));
  memory_.residents.clear();
  for (const JobId id : cluster.residents(node, gpu)) memory_.residents.push_back(index_of(id));
  return memory_.residents;
}

}  // namespace schedmate::face
