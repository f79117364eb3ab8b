// SPDX-License-Identifier: Apache-2.0
#include "daemon/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.hpp"
#include "core/entering_job.hpp"
#include "probe/gate.hpp"

namespace schedmate::daemon {
namespace {

constexpr std::int64_t longest_delay_s = 7200;  // a probe keeps about an hour
constexpr std::size_t most_places = 64, most_xids = 32;

bool has_gpu(const std::vector<std::int32_t>& gpus, unsigned index) {
  return std::ranges::find(gpus, static_cast<std::int32_t>(index)) != gpus.end();
}

std::optional<double> memory_share(const probe::GpuSample& gpu) {
  if (!gpu.memory_used_mib || !gpu.memory_total_mib) return std::nullopt;
  return std::round(1000 * *gpu.memory_used_mib / *gpu.memory_total_mib) / 10;
}

/// How long ago, by the node's clock, which may be somewhat off; nothing for times that cannot be.
std::optional<Seconds> age_of(std::int64_t at_s, std::int64_t wall_s) {
  if (at_s > wall_s + probe::Gate::window_s || at_s < wall_s - longest_delay_s) return std::nullopt;
  return Seconds(std::max<std::int64_t>(wall_s - at_s, 0));
}

}  // namespace

void Probes::follow(const SeenJob& job, SimTime now) {
  const bool runs = job.phase == JobPhase::running && job.started;
  auto found = uses_.find(job.id);
  if (!runs && found == uses_.end()) return;
  if (found == uses_.end()) found = uses_.try_emplace(job.id).first;
  Use& use = found->second;
  leave(job, use, now);
  if (!runs) return;
  const bool is_other_job = use.submitted != job.submitted;
  if (is_other_job || use.restarts != job.restarts) use.use = {};
  if (is_other_job) use.profile = nullptr;
  use.submitted = job.submitted;
  use.restarts = job.restarts;
  place(job, use);
}

Document Probes::kept() const {
  Document jobs = Document::array();
  for (const auto& [job, use] : uses_)
    if (use.use.summary().readings > 0)
      jobs.push_back({{"job", job},
                      {"submitted_s", seconds_of(use.submitted)},
                      {"restarts", use.restarts},
                      {"use", use.use.kept()}});
  return jobs;
}

void Probes::restore(const Document& kept) {
  if (!kept.is_array()) return;
  for (const Document& each : kept) {
    const Document &job = part(each, "job"), &submitted = part(each, "submitted_s"),
                   &restarts = part(each, "restarts");
    auto use = probe::JobUse::restored(part(each, "use"));
    if (!job.is_string() || !submitted.is_number_integer() || !restarts.is_number_integer() || !use)
      continue;
    uses_[job.get<std::string>()] = {.submitted = at(submitted.get<std::int64_t>()),
                                     .restarts = restarts.get<std::int64_t>(),
                                     .nodes = {},
                                     .use = std::move(*use)};
  }
}

/// Where it was keeps its end, for samples that come late.
void Probes::leave(const SeenJob& job, const Use& use, SimTime now) {
  const bool is_same = use.submitted == job.submitted && use.restarts == job.restarts;
  for (const std::string& name : use.nodes)
    for (Place& each : nodes_[name].places)
      if (each.job == job.id && !each.ended) each.ended = is_same ? job.ended.value_or(now) : now;
}

void Probes::place(const SeenJob& job, Use& use) {
  use.nodes.clear();
  for (const NodeGpus& on : job.nodes) {
    use.nodes.push_back(on.node);
    auto& places = nodes_[on.node].places;
    std::erase_if(places, [&](const Place& each) {
      return each.job == job.id && each.submitted == job.submitted && each.restarts == job.restarts;
    });
    const auto first_over =
        std::ranges::find_if(places, [](const Place& each) { return each.ended.has_value(); });
    if (places.size() >= most_places && first_over != places.end()) places.erase(first_over);
    places.push_back({job.id, job.submitted, job.restarts, *job.started, {}, on.gpus});
  }
}

void Probes::forget(const std::string& job) {
  const auto found = uses_.find(job);
  if (found == uses_.end()) return;
  for (const std::string& name : found->second.nodes)
    std::erase_if(nodes_[name].places, [&](const Place& place) { return place.job == job; });
  uses_.erase(found);
}

void Probes::keep_only(const live::Jobs& jobs) {
  std::vector<std::string> gone;
  for (const auto& [job, use] : uses_) {
    const live::Attempt* const attempt = jobs.find(job);
    if (attempt == nullptr || attempt->seen.submitted != use.submitted) gone.push_back(job);
  }
  for (const std::string& job : gone) forget(job);
}

std::vector<live::NodeWitness> Probes::take(const std::string& name, const probe::Report& report,
                                            const Now& now) {
  Witnesses witnesses;
  Node& node = nodes_[name];
  node.heard_s = now.wall_s;
  node.every_s = report.every_s;
  node.kernel_error = report.kernel_error;
  node.dropped = report.dropped_samples + report.dropped_events;
  for (const probe::Sample& sample : report.samples) {
    const auto age = age_of(sample.at_s, now.wall_s);
    if (!age) continue;
    share_out(node, sample, now.cluster - *age);
    judge(node, sample, {"gpu", name, now.cluster - *age, "", false}, witnesses);
  }
  for (const probe::KernelEvent& event : report.events) {
    const auto age = age_of(event.at_s, now.wall_s);
    if (!age) continue;
    hear(node, event);
    if (event.severity != probe::Severity::fault) continue;
    const std::string where = event.gpu ? fmt::format(" (GPU {})", *event.gpu) : "";
    witnesses.push_back({"kernel", name, now.cluster - *age,
                         fmt::format("{}{}: {}", event.rule, where, event.text),
                         event.rule == "link down"});
  }
  return witnesses;
}

void Probes::share_out(const Node& node, const probe::Sample& sample, SimTime when) {
  const auto was_there = [&](const Place& each) {
    return each.started <= when && (!each.ended || when <= *each.ended);
  };
  const auto present = std::ranges::count_if(node.places, was_there);
  for (const probe::GpuSample& gpu : sample.gpus) {
    std::vector<const Place*> holders;
    for (const Place& each : node.places)
      if (was_there(each) && (has_gpu(each.gpus, gpu.index) || (each.gpus.empty() && present == 1)))
        holders.push_back(&each);
    for (const Place* const holder : holders) {
      const auto use = uses_.find(holder->job);
      if (use == uses_.end() || use->second.submitted != holder->submitted ||
          use->second.restarts != holder->restarts)
        continue;
      probe::UseReading reading{.at_s = (when - holder->started).count(),
                                .gpu_pct = gpu.used_pct,
                                .memory_busy_pct = gpu.memory_busy_pct,
                                .memory_used_mib = gpu.memory_used_mib,
                                .memory_total_mib = gpu.memory_total_mib,
                                .shared = holders.size() > 1};
      put_span(node, sample.at_s, gpu, reading);
      use->second.use.add(reading);
    }
  }
}

/// Time since the reading before, where that is one of this run and not long ago.
void Probes::put_span(const Node& node, std::int64_t at_s, const probe::GpuSample& gpu,
                      probe::UseReading& reading) {
  constexpr std::int64_t most_missed = 2;
  const auto before = std::ranges::find(node.last.gpus, gpu.index, &probe::GpuSample::index);
  const std::int64_t span_s = at_s - node.last.at_s;
  if (before == node.last.gpus.end() || !before->used_pct || !gpu.used_pct || span_s <= 0 ||
      span_s > most_missed * node.every_s || span_s > reading.at_s)
    return;
  reading.span_s = span_s;
  reading.idle = *before->used_pct <= 0 && *gpu.used_pct <= 0;
}

/// What has become worse, and what is bad by itself. A counter that fell was begun anew.
void Probes::compare(const probe::GpuSample& before, const probe::GpuSample& now,
                     std::vector<std::string>& says) {
  const auto grown = [](const auto& old, const auto& fresh) -> std::uint64_t {
    return old && fresh && *fresh > *old ? *fresh - *old : 0;
  };
  if (grown(before.ecc_uncorrected, now.ecc_uncorrected) > 0)
    says.push_back(fmt::format("GPU {}: new uncorrectable memory errors", now.index));
  if (grown(before.nvlink_recoveries, now.nvlink_recoveries) > 0)
    says.push_back(fmt::format("GPU {}: an NVLink had to be brought up again", now.index));
  if (before.nvlinks_down && now.nvlinks_down && *now.nvlinks_down > *before.nvlinks_down)
    says.push_back(fmt::format("GPU {}: an NVLink went down", now.index));
}

void Probes::judge(Node& node, const probe::Sample& sample, live::NodeWitness witness,
                   Witnesses& witnesses) {
  if (sample.at_s < node.last.at_s) return;  // what came later is known
  std::vector<std::string> says, counted;
  if (sample.gpus.empty() && !sample.error.empty() && node.had_gpus)
    says.push_back("its GPUs can no longer be read: " + sample.error);
  for (const probe::GpuSample& gpu : sample.gpus) {
    if (gpu.lost) says.push_back(fmt::format("GPU {} does not answer its driver", gpu.index));
    if (const auto asked = gpu.recovery_action.value_or(0); asked >= 1 && asked <= 4)
      says.push_back(fmt::format("GPU {}: the driver asks for {}", gpu.index,
                                 asked == 2 ? "a reboot of the node" : "a reset"));
    const auto before = std::ranges::find(node.last.gpus, gpu.index, &probe::GpuSample::index);
    if (before != node.last.gpus.end()) compare(*before, gpu, counted);
  }
  node.had_gpus = node.had_gpus || !sample.gpus.empty();
  // Without GPUs to compare with, the last ones stand.
  if (sample.gpus.empty()) {
    node.last.error = sample.error;
    node.last.at_s = sample.at_s;
  } else {
    node.last = sample;
  }
  for (auto* const texts : {&says, &counted})
    for (std::string& text : *texts) {
      witness.says = std::move(text);
      witness.may_be_harmless = texts == &counted;
      witnesses.push_back(witness);
    }
}

void Probes::hear(Node& node, const probe::KernelEvent& event) {
  if (!event.xid) return;
  std::erase_if(node.xids,
                [&](const Xid& each) { return each.code == *event.xid && each.gpu == event.gpu; });
  node.xids.push_back({*event.xid, event.gpu, event.at_s, event.severity});
  if (node.xids.size() > most_xids) node.xids.pop_front();
}

bool Probes::is_silent(const std::string& node, std::int64_t wall_s) const {
  constexpr std::int64_t missed = 3, slack_s = 5;
  const auto found = nodes_.find(node);
  return found == nodes_.end() || !found->second.heard_s ||
         wall_s - *found->second.heard_s > missed * found->second.every_s + slack_s;
}

Document Probes::state_of(const std::string& name, std::int64_t wall_s) const {
  const bool silent = is_silent(name, wall_s);
  Document made{{"gpus_state", nullptr}, {"probe", {{"last_s", nullptr}, {"silent", silent}}}};
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || !found->second.heard_s) return made;
  const Node& node = found->second;
  made["probe"] = {{"last_s", *node.heard_s},
                   {"silent", silent},
                   {"gpus_error", node.last.error},
                   {"kernel_error", node.kernel_error},
                   {"dropped", node.dropped}};
  if (silent || !node.last.error.empty()) return made;
  Document gpus = Document::array();
  constexpr std::int64_t recent_s = 3600;
  for (const probe::GpuSample& gpu : node.last.gpus) {
    Document xids = Document::array();
    for (const Xid& each : node.xids)
      if (each.gpu == gpu.index && wall_s - each.at_s <= recent_s)
        xids.push_back(
            {{"code", each.code}, {"severity", name_of(each.severity)}, {"at_s", each.at_s}});
    gpus.push_back({{"index", gpu.index},
                    {"used_pct", or_null<Document>(gpu.used_pct)},
                    {"memory_pct", or_null<Document>(memory_share(gpu))},
                    {"temperature_c", or_null<Document>(gpu.temperature_c)},
                    {"power_w", or_null<Document>(gpu.power_w)},
                    {"throttle", or_null<Document>(gpu.throttle)},
                    {"ecc_uncorrected", or_null<Document>(gpu.ecc_uncorrected)},
                    {"lost", gpu.lost},
                    {"xid", std::move(xids)}});
  }
  made["gpus_state"] = std::move(gpus);
  return made;
}

std::optional<bool> Probes::is_idle(const SeenJob& job, std::int64_t wall_s) const {
  constexpr double nothing_pct = 5;
  bool all = true;
  for (const NodeGpus& on : job.nodes) {
    const auto node = nodes_.find(on.node);
    if (node == nodes_.end() || on.gpus.empty() || is_silent(on.node, wall_s)) return std::nullopt;
    for (const std::int32_t index : on.gpus) {
      const auto& gpus = node->second.last.gpus;
      const auto gpu =
          std::ranges::find(gpus, static_cast<unsigned>(index), &probe::GpuSample::index);
      if (gpu == gpus.end() || !gpu->used_pct) return std::nullopt;
      all = all && *gpu->used_pct < nothing_pct;
    }
  }
  return job.nodes.empty() ? std::nullopt : std::optional(all);
}

const probe::JobUse* Probes::use_of(const SeenJob& job) const {
  const auto found = uses_.find(job.id);
  const bool is_its = found != uses_.end() && found->second.submitted == job.submitted;
  return is_its && found->second.use.summary().readings > 0 ? &found->second.use : nullptr;
}

probe::GpuSpans Probes::spans(const SeenJob& job) const {
  const auto found = uses_.find(job.id);
  const bool is_its = found != uses_.end() && found->second.submitted == job.submitted &&
                      found->second.restarts == job.restarts;
  return is_its ? found->second.use.spans() : probe::GpuSpans{};
}

const Profile* Probes::profile(const SeenJob& job) {
  const auto found = uses_.find(job.id);
  if (found == uses_.end() || found->second.submitted != job.submitted) return nullptr;
  Use& use = found->second;
  if (const Profile* const fresh = interned(use.use.alone())) use.profile = fresh;
  return use.profile;
}

const Profile* Probes::interned(const probe::UseSummary& measured) {
  constexpr std::uint64_t least_readings = 3;
  constexpr std::size_t most_profiles = 100'000;
  constexpr double step_mib = 256;
  if (measured.readings < least_readings || !measured.gpu_pct_mean ||
      !measured.memory_busy_pct_mean || !measured.memory_mib_max)
    return nullptr;
  const std::array<std::int64_t, 3> key = {
      std::llround(*measured.gpu_pct_mean), std::llround(*measured.memory_busy_pct_mean),
      std::llround(std::ceil(*measured.memory_mib_max / step_mib))};
  const auto held = profiles_.find(key);
  if (held != profiles_.end()) return &held->second;
  if (profiles_.size() >= most_profiles) return nullptr;
  const GpuUse use{static_cast<double>(key[0]), static_cast<double>(key[1]),
                   static_cast<double>(key[2]) * step_mib};
  return &profiles_.emplace(key, profile_of(use, SharingRule{})).first->second;
}

}  // namespace schedmate::daemon
