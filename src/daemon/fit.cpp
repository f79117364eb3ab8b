// SPDX-License-Identifier: Apache-2.0
#include "daemon/fit.hpp"

#include <fmt/format.h>

namespace schedmate::daemon {

std::vector<std::string> fit_to(const Cluster& cluster, const Notices& notices,
                                live::LoopOptions& options) {
  const Abilities& abilities = cluster.abilities;
  std::vector<std::string> lacks = cluster.lacks;
  options.lives.keeps_scripts = cluster.script != nullptr;
  options.ends_when_clear = cluster.ends_when_clear;
  const auto fit = [&](Mode& mode, const char* name, const std::string& lack) {
    if (lack.empty() || mode < Mode::approve) return;
    mode = Mode::shadow;
    lacks.push_back(fmt::format("{} acts as shadow: {}", name, lack));
  };
  live::Modes& modes = options.settings.modes;
  fit(modes.notify, "mode.notify", notices.lack());
  fit(modes.annotate, "mode.annotate", abilities.lack(ActionKind::annotate));
  const std::string& no_drain = abilities.lack(ActionKind::drain_node);
  if (!abilities.lack(ActionKind::requeue_excluding).empty())
    fit(modes.recover, "mode.recover", no_drain);
  else if (!no_drain.empty() && modes.recover >= Mode::approve)
    lacks.push_back(fmt::format("mode.recover drains no nodes: {}", no_drain));
  options.settings.can_test = abilities.lack(ActionKind::test_nodes).empty();
  options.settings.can_release_spare = abilities.lack(ActionKind::release_spare).empty();
  if (abilities.lack(ActionKind::start).empty()) {
    options.ordering.reset();
    return lacks;
  }
  options.pool = {};
  options.profiling = {};
  if (options.ordering && options.ordering->work == nullptr) options.ordering.reset();
  constexpr std::int64_t usual_span = 1000;
  if (options.ordering && options.ordering->span == 0)
    options.ordering->span = cluster.span.value_or(usual_span);
  fit(modes.order, "mode.order", abilities.lack(ActionKind::set_order));
  return lacks;
}

}  // namespace schedmate::daemon
