// SPDX-License-Identifier: Apache-2.0
#include "slurm/blocker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/words.hpp"

namespace schedmate::slurm {
namespace {

Blocker kept_out(std::string kind, std::string text) {
  return {.waits = Waits::kept_out, .kind = std::move(kind), .text = std::move(text)};
}

Blocker its_turn(std::string kind, std::string text) {
  return {.waits = Waits::for_its_turn, .kind = std::move(kind), .text = std::move(text)};
}

/// "n1, n2 and 3 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

/// "10" and "12" of "afterok:10(unfulfilled),afterany:12_*(unfulfilled)".
std::set<std::string, std::less<>> jobs_named(std::string_view dependency) {
  std::set<std::string, std::less<>> ids;
  const auto digit = [](char each) { return each >= '0' && each <= '9'; };
  for (std::size_t i = 0; i < dependency.size();) {
    std::size_t end = i;
    while (end < dependency.size() && digit(dependency[end])) ++end;
    if (end > i && i > 0 && dependency[i - 1] == ':') ids.emplace(dependency.substr(i, end - i));
    i = end + 1;
  }
  return ids;
}

bool is_array(std::string_view id) { return id.contains('_'); }

}  // namespace

/// What it needs on each of its nodes, as far as that is even.
struct Blockers::Share {
  std::int64_t nodes, gpus, cpus;
  double memory_mib;

  explicit Share(const QueuedJob& job)
      : nodes(job.nodes),
        gpus((job.gpus + job.nodes - 1) / job.nodes),
        cpus((job.cpus + job.nodes - 1) / job.nodes),
        memory_mib(job.memory_mib / static_cast<double>(job.nodes)) {}

  [[nodiscard]] bool fits_on(const ClusterNode& node) const {
    return gpus <= node.gpus && (node.cpus == 0 || cpus <= node.cpus) &&
           (node.memory_mib == 0 || memory_mib <= node.memory_mib);
  }
  [[nodiscard]] bool has_gpus(const NodeView& view) const { return gpus <= view.free_gpus; }
  [[nodiscard]] bool has_cpus(const NodeView& view) const {
    return view.node->cpus == 0 || cpus <= view.node->free_cpus;
  }
  [[nodiscard]] bool has_memory(const NodeView& view) const {
    return view.node->memory_mib == 0 || memory_mib <= view.node->free_memory_mib;
  }
  [[nodiscard]] bool fits_now(const NodeView& view) const {
    return has_gpus(view) && has_cpus(view) && has_memory(view);
  }
};

Blockers::Blockers(const ClusterQueue& queue) : queue_(queue) {
  std::map<std::string_view, NodeView*> by_name;
  nodes_.reserve(queue.nodes.size());
  for (const ClusterNode& node : queue.nodes) {
    nodes_.push_back({&node, node.gpus});
    by_name[node.name] = &nodes_.back();
  }
  const auto each_of = [&](const auto& names, const auto& take) {
    for (const std::string& name : names)
      if (const auto found = by_name.find(name); found != by_name.end()) take(*found->second);
  };
  for (const QueuedJob& job : queue.jobs)
    for (const HeldNode& held : job.held)
      if (const auto found = by_name.find(held.name); found != by_name.end())
        found->second->free_gpus -= held.gpus;
  for (const Reservation& reservation : queue.reservations)
    each_of(reservation.nodes, [&](NodeView& view) {
      if (reservation.end <= queue.now) return;
      if (reservation.start <= queue.now)
        view.in = &reservation;
      else if (view.next == nullptr || reservation.start < view.next->start)
        view.next = &reservation;
    });
  for (const Partition& partition : queue.partitions) {
    Place& place = places_[partition.name];
    place.partition = &partition;
    each_of(partition.nodes, [&](NodeView& view) { place.nodes.push_back(&view); });
    std::ranges::sort(place.nodes);
  }
}

Blockers::Views Blockers::nodes_for(const QueuedJob& job) const {
  Views nodes;
  for (const std::string& name : job.partitions) {
    const auto place = places_.find(name);
    if (place == places_.end() || !place->second.partition->up) continue;
    nodes.insert(nodes.end(), place->second.nodes.begin(), place->second.nodes.end());
  }
  if (job.partitions.size() > 1) {
    std::ranges::sort(nodes);
    const auto repeated = std::ranges::unique(nodes);
    nodes.erase(repeated.begin(), repeated.end());
  }
  const auto among = [](const std::vector<std::string>& names, const NodeView* view) {
    return std::ranges::find(names, view->node->name) != names.end();
  };
  if (!job.excluded_nodes.empty())
    std::erase_if(nodes, [&](const NodeView* view) { return among(job.excluded_nodes, view); });
  if (!job.required_nodes.empty() && std::ssize(job.required_nodes) >= job.nodes)
    std::erase_if(nodes, [&](const NodeView* view) { return !among(job.required_nodes, view); });
  return nodes;
}

std::vector<std::string> Blockers::running_on(const std::vector<std::string>& nodes) const {
  std::vector<std::string> ids;
  for (const QueuedJob& job : queue_.jobs)
    if (job.runs() && std::ranges::any_of(job.held, [&](const HeldNode& held) {
          return std::ranges::find(nodes, held.name) != nodes.end();
        }))
      ids.push_back(job.id);
  return ids;
}

Blocker Blockers::of(const QueuedJob& job) const {
  const WaitReason reason = reason_in_words(job.reason, job.dependency);
  if (reason.waits == Waits::for_its_turn) return from_cluster(job, reason);
  if (reason.kind.starts_with("partition"))
    if (Blocker made = partition_of(job); made.kind == reason.kind) return made;
  return from_slurm(job, reason);
}

/// With the jobs that it is about.
Blocker Blockers::from_slurm(const QueuedJob& job, const WaitReason& reason) const {
  Blocker made{reason.waits, reason.kind, reason.text};
  if (reason.waits == Waits::for_a_time) made.until = job.eligible;
  const auto name_running = [&](const auto& counts) {
    for (const QueuedJob& other : queue_.jobs)
      if (other.runs() && counts(other)) made.jobs.push_back(other.id);
  };
  if (reason.kind == "dependency") {
    const auto named = jobs_named(job.dependency);
    for (const QueuedJob& other : queue_.jobs)
      if (named.contains(array_of(other.id))) made.jobs.push_back(other.id);
  } else if (reason.kind == "array_limit") {
    name_running([&](const QueuedJob& other) {
      return is_array(other.id) && array_of(other.id) == array_of(job.id);
    });
  } else if (reason.kind == "qos_limit") {
    const bool of_user = job.reason.contains("PerUser");
    name_running([&](const QueuedJob& other) {
      return other.qos == job.qos && (!of_user || other.user == job.user);
    });
  } else if (reason.kind == "account_limit") {
    // Grp: all of the account together; else the user's share of it.
    const bool of_account = job.reason.contains("Grp");
    name_running([&](const QueuedJob& other) {
      return other.account == job.account && (of_account || other.user == job.user);
    });
  } else if (reason.kind == "reservation") {
    const auto named = std::ranges::find(queue_.reservations, job.reservation, &Reservation::name);
    if (named != queue_.reservations.end() && named->start > queue_.now)
      made.text = fmt::format("its reservation {} begins in {}", named->name,
                              in_words(named->start - queue_.now));
  }
  return made;
}

Blocker Blockers::from_cluster(const QueuedJob& job, const WaitReason& reason) const {
  const Share share(job);
  const Views nodes = nodes_for(job);
  Blocker made = partition_of(job);
  if (made.kind == "none") made = nodes_of(job, share, nodes);
  if (made.kind == "none") made = room_of(job, share, nodes);
  return made.kind == "none" ? turn_of(job, reason, nodes) : made;
}

Blocker Blockers::partition_of(const QueuedJob& job) const {
  std::vector<std::string> closed;
  Blocker limit;
  std::size_t usable = 0;
  for (const std::string& name : job.partitions) {
    const auto place = places_.find(name);
    if (place == places_.end()) return {};
    const Partition& where = *place->second.partition;
    if (!where.up)
      closed.push_back(name);
    else if (where.most && job.limit && *job.limit > *where.most)
      limit = kept_out("partition_limit",
                       fmt::format("its time limit of {} is longer than the {} of partition {}",
                                   in_words(*job.limit), in_words(*where.most), name));
    else if (where.most_nodes > 0 && job.nodes > where.most_nodes)
      limit =
          kept_out("partition_limit", fmt::format("it asks for {} nodes, and partition {} gives {}",
                                                  job.nodes, name, where.most_nodes));
    else
      ++usable;
  }
  if (usable > 0 || job.partitions.empty()) return {};
  if (limit.kind != "none") return limit;
  return kept_out("partition", fmt::format("partition {} starts no jobs now", some_of(closed)));
}

/// Whether it has nodes at all.
Blocker Blockers::nodes_of(const QueuedJob& job, const Share& share, const Views& nodes) const {
  std::int64_t large = 0, open = 0, reserved = 0;
  std::vector<std::string> barred;
  SimTime until = queue_.now;
  for (const NodeView* view : nodes) {
    if (!share.fits_on(*view->node)) continue;
    ++large;
    const bool others = view->in != nullptr && view->in->name != job.reservation;
    // A node in a maintenance reservation says so in its state, too.
    const bool by_state =
        !view->node->takes_jobs && !(others && view->node->state.contains("MAINT"));
    if (by_state || others) barred.push_back(view->node->name);
    if (by_state &&
        std::ranges::find(job.required_nodes, view->node->name) != job.required_nodes.end())
      return kept_out("nodes",
                      fmt::format("{}, which it names, is down or drained", view->node->name));
    if (by_state) continue;
    if (others) {
      ++reserved;
      until = std::max(until, view->in->end);
    } else {
      ++open;
    }
  }
  if (large < share.nodes)
    return kept_out("too_large",
                    fmt::format("its partition has no {} nodes with {} GPUs{} each", share.nodes,
                                share.gpus, share.cpus > 1 ? " and its CPUs and memory" : ""));
  if (open >= share.nodes) return {};
  if (open + reserved < share.nodes)
    return kept_out("nodes",
                    fmt::format("too few nodes that it may use are up: {} {} down or drained",
                                some_of(barred), barred.size() == 1 ? "is" : "are"));
  Blocker made{.waits = Waits::for_a_time,
               .kind = "reservation",
               .text = fmt::format("{} {} reserved for {}", some_of(barred),
                                   barred.size() == 1 ? "is" : "are", in_words(until - queue_.now)),
               .until = until};
  return made;
}

/// Whether something else than other waiting jobs is in its way now.
Blocker Blockers::room_of(const QueuedJob& job, const Share& share, const Views& nodes) const {
  const SimTime end = job.limit ? queue_.now + *job.limit : never;
  const auto reaches = [&](const NodeView* view) {
    return view->next != nullptr && view->next->start < end && view->next->name != job.reservation;
  };
  Views open, roomy;
  for (const NodeView* view : nodes) {
    const bool others = view->in != nullptr && view->in->name != job.reservation;
    if (!view->node->takes_jobs || others || !share.fits_on(*view->node)) continue;
    open.push_back(view);
    if (share.fits_now(*view)) roomy.push_back(view);
  }
  if (std::ssize(roomy) < share.nodes) return lack_of(job, share, open);
  const auto first = [&](const NodeView* view) {
    return reaches(view) ? view->next->start : never;
  };
  std::ranges::stable_sort(roomy, std::ranges::greater(), first);
  const NodeView* const last = roomy[static_cast<std::size_t>(share.nodes - 1)];
  if (!reaches(last)) return {};
  const Seconds gap = last->next->start - queue_.now;
  Blocker made =
      its_turn("reservation", fmt::format("with its time limit it would run into reservation {}, "
                                          "which begins in {}",
                                          last->next->name, in_words(gap)));
  made.limit_to_start_now = gap;
  if (std::ranges::count_if(open, reaches) > std::ssize(open) - share.nodes) {
    made.waits = Waits::for_a_time;
    made.until = queue_.now;
    for (const NodeView* view : roomy)
      if (reaches(view)) made.until = std::max(*made.until, view->next->end);
  }
  return made;
}

/// Of the nodes that may take it too few have room.
Blocker Blockers::lack_of(const QueuedJob& job, const Share& share, const Views& open) const {
  std::vector<std::string> named;
  std::int64_t free = 0, with_gpus = 0, with_cpus = 0;
  for (const NodeView* view : open) {
    free += std::max<std::int64_t>(0, view->free_gpus);
    with_gpus += share.has_gpus(*view) ? 1 : 0;
    with_cpus += share.has_gpus(*view) && share.has_cpus(*view) ? 1 : 0;
    if (!share.fits_now(*view) &&
        std::ranges::find(job.required_nodes, view->node->name) != job.required_nodes.end())
      named.push_back(view->node->name);
  }
  if (!named.empty()) {
    Blocker made = its_turn("node_busy", fmt::format("{}, which it names, {} busy", some_of(named),
                                                     named.size() == 1 ? "is" : "are"));
    made.jobs = running_on(named);
    return made;
  }
  if (with_gpus >= share.nodes)
    return with_cpus < share.nodes
               ? its_turn("cpus", "GPUs are free, but too few CPUs of their nodes")
               : its_turn("memory", "GPUs are free, but too little memory of their nodes");
  if (free >= job.gpus)
    return its_turn(
        "fragmentation",
        fmt::format("{} GPUs are free, but not {} on {}", free, share.gpus,
                    share.nodes == 1 ? "one node" : fmt::format("each of {} nodes", share.nodes)));
  return its_turn("gpus", fmt::format("it needs {} GPUs, {} are free", job.gpus, free));
}

Blocker Blockers::turn_of(const QueuedJob& job, const WaitReason& reason,
                          const Views& nodes) const {
  const auto turn = [&](const QueuedJob& each) {
    std::int64_t tier = 0;
    for (const std::string& name : each.partitions)
      if (const auto place = places_.find(name); place != places_.end())
        tier = std::max(tier, place->second.partition->tier);
    return std::tuple(-tier, -each.priority, &each - queue_.jobs.data());
  };
  const auto competes = [&](const QueuedJob& other) {
    return other.waits() && turn(other) < turn(job) &&
           reason_in_words(other.reason, other.dependency).waits == Waits::for_its_turn &&
           std::ranges::any_of(
               nodes_for(other),
               [&](const NodeView* view) { return std::ranges::binary_search(nodes, view); });
  };
  if (std::ranges::any_of(queue_.jobs, competes))
    return its_turn("priority", "there is room for it, but jobs of higher priority go first");
  if (reason.kind == "new" || reason.kind == "priority")
    return its_turn("none", "there is room for it: Slurm starts it at one of its next passes");
  return its_turn(reason.kind, reason.text);
}

}  // namespace schedmate::slurm
