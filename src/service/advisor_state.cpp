// SPDX-License-Identifier: Apache-2.0
#include "service/advisor_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "secrets/outgoing.hpp"
#include "settings/clock.hpp"
#include "settings/state_folder.hpp"

namespace schedmate::service {
namespace {

EmbedderOptions embedder_options(const settings::Session& session) {
  const settings::Settings& settings = session.settings;
  EmbedderOptions options;
  options.server.url = settings.text("embedder.url");
  options.server.token_file = settings.text("embedder.token_file");
  options.server.token_env = settings.text("embedder.token_env");
  options.server.recording = settings.text("embedder.recording");
  options.server.deadline = std::chrono::seconds(settings.whole("embedder.deadline_s"));
  if (const std::string model = settings.text("embedder.model"); !model.empty())
    options.server.model = model;
  options.services.clock = session.clock;
  options.services.environment = session.environment.variable;
  options.services.redact = [](std::string_view text) { return secrets::redacted(text); };
  return options;
}

/// Then there is no state folder either.
constexpr std::string_view in_memory = "memory";
bool keeps_nothing(const settings::Session& session) {
  return session.settings.text("store") == in_memory;
}

std::string file_of(const settings::Session& session) {
  return session.state_dir() + "/history.sqlite";
}

}  // namespace

Result<Embedder> open_embedder(const settings::Session& session) {
  auto embedder = make_embedder(session.settings.text("embedder.kind"), embedder_options(session));
  if (!embedder || embedder->sparse()) return embedder;
  embedder->embed = [send = std::move(embedder->embed)](std::span<const std::string> texts) {
    std::vector<std::string> clean;
    for (const std::string& text : texts) clean.push_back(secrets::redacted(text));
    return send(clean);
  };
  return embedder;
}

Result<HistoryAccess> open_history(const settings::Session& session, const StoreOptions& options) {
  if (keeps_nothing(session))
    return open_store(in_memory).map([](std::unique_ptr<Store> store) {
      return HistoryAccess{std::move(store), Role::cluster_operator};
    });
  const auto owner = settings::make_state_folder(session);
  if (!owner) return tl::unexpected(owner.error());
  const std::string given = session.settings.text("store");
  StoreOptions known = options;
  if (!known.environment)
    known.environment = [variable = session.environment.variable](const std::string& name) {
      const std::string value = variable ? variable(name) : "";
      return value.empty() ? std::nullopt : std::optional(value);
    };
  auto store = open_store(given.empty() ? "sqlite:" + file_of(session) : given, known);
  if (!store) return tl::unexpected(store.error());
  return HistoryAccess{std::move(*store), *owner ? Role::cluster_operator : Role::owner};
}

Result<std::optional<HistoryAccess>> find_history(const settings::Session& session) {
  if (session.state_fault) return tl::unexpected(*session.state_fault);
  std::error_code error;
  if (session.settings.text("store").empty() && !std::filesystem::exists(file_of(session), error))
    return std::nullopt;
  auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  return std::optional(*std::move(history));
}

Result<std::optional<HistoryAccess>> find_history_of_all(const settings::Session& session) {
  auto history = find_history(session);
  if (history && *history && (*history)->role != Role::cluster_operator)
    return fail(ErrorCode::refused,
                fmt::format("{} belongs to another user; only its owner sees the run times of all "
                            "users (--state-dir DIR)",
                            session.state_dir()));
  return history;
}

Result<AdvisorState> open_state(const settings::Session& session) {
  auto history = open_history(session);
  if (!history) return tl::unexpected(history.error());
  AdvisorState state;
  state.role = history->role;
  state.store = std::move(history->store);
  auto embedder = open_embedder(session);
  if (!embedder) return tl::unexpected(embedder.error());
  state.embedder = std::make_unique<Embedder>(std::move(*embedder));
  IndexOptions options;
  if (!keeps_nothing(session)) options.folder = session.state_dir() + "/index";
  auto index = open_index(*state.store, *state.embedder, options);
  if (!index) return tl::unexpected(index.error());
  state.index = std::move(*index);
  return state;
}

Result<LimitPolicy> limit_policy(const settings::Settings& settings) {
  const std::int64_t risk_pct = settings.whole("time_limit.risk_pct");
  const std::int64_t longest_s = settings.whole("time_limit.longest_s");
  if (risk_pct < 1 || risk_pct > 50)
    return fail(ErrorCode::unsupported,
                fmt::format("time_limit.risk_pct = {}: the risk must be 1 to 50 %", risk_pct));
  LimitPolicy policy{.risk = static_cast<double>(risk_pct) / 100};
  if (longest_s > 0) policy.longest = Seconds(longest_s);
  return policy;
}

}  // namespace schedmate::service
