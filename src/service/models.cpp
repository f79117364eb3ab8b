// SPDX-License-Identifier: Apache-2.0
#include "service/models.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "llm/remote.hpp"
#include "secrets/outgoing.hpp"
#include "settings/state_folder.hpp"

namespace schedmate::service {
namespace {

constexpr std::string_view no_model = "none";

/// NAME or NAME:FILE, where FILE is its recording. A kind of chat is a name too: its table may be
/// empty.
Result<ChatSettings> settings_of(const settings::Settings& settings, std::string_view spec) {
  const std::string name(spec.substr(0, spec.find(':')));
  auto table = settings.model(name);
  std::vector<std::string> names = settings.models();
  if (name.size() < spec.size()) table["recording"] = spec.substr(name.size() + 1);
  for (const ChatKind& kind : chat_kinds()) {
    names.emplace_back(kind.name);
    if (kind.name == name) table.try_emplace("kind", name);
  }
  if (std::ranges::find(names, name) != names.end()) return read_chat_settings(name, table);
  const std::vector<std::string_view> all(names.begin(), names.end());
  return fail(ErrorCode::not_found, fmt::format("--llm: {}; add [llm.{}] to the settings file",
                                                unknown_name("model", name, all), name));
}

agent::AgentSettings agent_settings(const settings::Settings& settings) {
  agent::AgentSettings agent;
  agent.samples = static_cast<int>(settings.whole("agent.samples"));
  agent.tool_calls = static_cast<int>(settings.whole("agent.tool_calls"));
  agent.tokens = settings.whole("agent.tokens");
  agent.answer_tokens = settings.whole("agent.answer_tokens");
  agent.doubtful_below = static_cast<double>(settings.whole("agent.doubtful_below_pct")) / 100;
  agent.deadline = std::chrono::seconds(settings.whole("agent.deadline_s"));
  agent.seed = static_cast<std::uint64_t>(settings.whole("seed"));
  return agent;
}

}  // namespace

bool uses_models(const settings::Settings& settings) {
  const std::string names = settings.text("llm.use");
  return !names.empty() && names != no_model;
}

ChatServices chat_services(const settings::Session& session, const std::string& user) {
  ChatServices services;
  services.clock = session.clock;
  services.environment = session.environment.variable;
  services.redact = [](std::string_view text) { return secrets::redacted(text); };
  services.ledger = file_ledger(session.state_dir());
  services.meter = std::make_shared<ChatMeter>();
  services.user = user.empty() ? fmt::format("uid-{}", ::getuid()) : user;
  services.seed = static_cast<std::uint64_t>(session.settings.whole("seed"));
  return services;
}

Result<Models> models_of(const settings::Session& session, const ChatServices& services) {
  Models models;
  models.names = session.settings.text("llm.use");
  if (!uses_models(session.settings)) return models;
  models.agent = agent_settings(session.settings);
  models.meter = services.meter;
  models.clock = services.clock;
  models.agent.context_tokens = std::numeric_limits<std::int64_t>::max();
  std::size_t count = 0;
  for (const std::string_view spec : split(models.names, ',')) {
    const auto settings = settings_of(session.settings, trim(spec));
    if (!settings) return tl::unexpected(settings.error());
    if (settings->kind == no_model) continue;
    models.agent.context_tokens = std::min(models.agent.context_tokens, settings->context_tokens);
    ++count;
    if (session.ask_model) continue;
    auto chat = open_chat(*settings, services);
    if (!chat) return tl::unexpected(chat.error());
    models.chats.push_back(*std::move(chat));
  }
  if (session.ask_model) models.chats = llm::open_remote(session.ask_model, count, services);
  return models;
}

Result<Models> open_models(const settings::Session& session, const std::string& user) {
  auto models = models_of(session, chat_services(session, user));
  // The budget is written there.
  if (models && !models->chats.empty() && !session.ask_model)
    if (const auto made = settings::make_state_folder(session); !made)
      return tl::unexpected(made.error());
  return models;
}

}  // namespace schedmate::service
