// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/answers.hpp"
#include "daemon/order_effect.hpp"
#include "http/tokens.hpp"

namespace schedmate::daemon {

void put_overview(Document& cluster, const http::Request& request, const State& state) {
  const live::Actions& actions = state.loop.actions();
  const live::Modes& modes = actions.settings().modes;
  cluster["name"] = actions.settings().cluster;
  cluster["caller"] = {{"user", request.caller.user}, {"role", http::name_of(request.caller.role)}};
  cluster["modes"] = {{"order", name_of(modes.order)},
                      {"recover", name_of(modes.recover)},
                      {"pack", name_of(modes.pack)},
                      {"annotate", name_of(modes.annotate)},
                      {"notify", name_of(modes.notify)}};
  cluster["trouble"] = state.trouble.empty() ? Document(nullptr) : Document(state.trouble);
  cluster["stopped"] = state.stopped.empty() ? Document(nullptr) : Document(state.stopped);
  cluster["actions_waiting"] = std::ranges::count_if(
      actions.all(), [](const auto& each) { return each.second.state() == ActionState::waiting; });
  cluster["order_effect"] = nullptr;
  if (state.forecast != nullptr && state.forecast->order)
    cluster["order_effect"] = order_effect_document(*state.forecast->order);
  cluster["first_forecasts"] = {{"before", state.foretold.before},
                                {"inside", state.foretold.inside},
                                {"after", state.foretold.after}};
}

}  // namespace schedmate::daemon
