// SPDX-License-Identifier: Apache-2.0
#include "apps/advisor_state.hpp"

#include <chrono>

#include "apps/machine_clock.hpp"
#include "apps/state_folder.hpp"
#include "tree/redact.hpp"

namespace schedmate {
namespace {

EmbedderOptions embedder_options(const Session& session) {
  const Settings& settings = session.settings;
  EmbedderOptions options;
  options.server.url = settings.text("embedder.url");
  options.server.token_file = settings.text("embedder.token_file");
  options.server.token_env = settings.text("embedder.token_env");
  options.server.recording = settings.text("embedder.recording");
  options.server.deadline = std::chrono::seconds(settings.whole("embedder.deadline_s"));
  if (const std::string model = settings.text("embedder.model"); !model.empty())
    options.server.model = model;
  options.around.clock = machine_clock();
  options.around.environment = session.environment.variable;
  options.around.redact = redact;
  return options;
}

}  // namespace

Result<Embedder> open_embedder(const Session& session) {
  auto embedder = make_embedder(session.settings.text("embedder.kind"), embedder_options(session));
  if (!embedder || embedder->sparse()) return embedder;
  embedder->embed = [send = std::move(embedder->embed)](std::span<const std::string> texts) {
    std::vector<std::string> clean;
    for (const std::string& text : texts) clean.push_back(redact(text));
    return send(clean);
  };
  return embedder;
}

Result<AdvisorState> open_state(const Session& session) {
  AdvisorState state;
  const std::string folder = session.state_dir();
  const auto owner = make_state_folder(folder);
  if (!owner) return tl::unexpected(owner.error());
  state.is_operator = *owner;
  const std::string given = session.settings.text("store");
  auto store = open_store(given.empty() ? "sqlite:" + folder + "/history.sqlite" : given);
  if (!store) return tl::unexpected(store.error());
  state.store = std::move(*store);
  auto embedder = open_embedder(session);
  if (!embedder) return tl::unexpected(embedder.error());
  state.embedder = std::make_unique<Embedder>(std::move(*embedder));
  IndexOptions options;
  options.folder = folder + "/index";
  auto index = open_index(*state.store, *state.embedder, options);
  if (!index) return tl::unexpected(index.error());
  state.index = std::move(*index);
  return state;
}

}  // namespace schedmate
