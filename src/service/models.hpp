// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The language models that the settings choose (docs/llm.md).

#include <schedmate/llm.hpp>

#include "agent/agent.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

struct Models {
  std::string names;        ///< as `--llm` gave them
  std::vector<Chat> chats;  ///< empty: none
  std::shared_ptr<ChatMeter> meter;
  agent::AgentSettings agent;
  Clock clock;
};

/// Whether `llm.use` names any.
[[nodiscard]] bool uses_models(const settings::Settings& settings);

/// The models of `llm.use`: "none", or with commas between: a NAME of a table [llm.NAME], or a kind
/// that needs no more than its file, as replay:FILE. `user` is whose budget it is. No server is
/// called. Where the session names one who asks for this process, through him. Errors: not_found
/// with the nearest name, those of open_chat.
[[nodiscard]] Result<Models> open_models(const settings::Session& session, const std::string& user);

/// The same in two steps, for a process that lives long and has a state folder.
[[nodiscard]] ChatServices chat_services(const settings::Session& session, const std::string& user);
[[nodiscard]] Result<Models> models_of(const settings::Session& session,
                                       const ChatServices& services);

}  // namespace schedmate::service
