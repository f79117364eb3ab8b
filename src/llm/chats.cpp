// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "base/input.hpp"
#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate {
namespace {

/// The table that the settings come from.
std::string table_of(const ChatSettings& settings) {
  return settings.name.empty() ? "embedder" : "llm." + settings.name;
}

/// Errors: invalid when a token is asked for and not there.
Result<std::string> token_of(const ChatSettings& settings, const ChatServices& services) {
  std::string token;
  if (!settings.token_file.empty()) {
    auto text = read_file(settings.token_file, 1 << 16);
    if (!text) return tl::unexpected(text.error());
    token = trim(text->substr(0, text->find('\n')));
  } else if (!settings.token_env.empty()) {
    if (services.environment) token = trim(services.environment(settings.token_env));
  } else {
    return token;
  }
  for (const char c : token) {
    if (c <= ' ' || c > '~') token.clear();
  }
  if (!token.empty()) return token;
  return fail(ErrorCode::invalid,
              fmt::format("{}: {} contains no token", table_of(settings),
                          settings.token_file.empty() ? "the variable " + settings.token_env
                                                      : settings.token_file));
}

}  // namespace

Result<llm::HttpTarget> llm::target_of(const ChatSettings& settings, const ChatServices& services) {
  auto url = llm::parse_url(settings.url);
  if (!url) {
    return fail(ErrorCode::invalid,
                fmt::format("{}.url: {}", table_of(settings), url.error().message));
  }
  auto token = token_of(settings, services);
  if (!token) return tl::unexpected(token.error());
  if (!token->empty() && !url->secure && !url->is_local()) {
    return fail(ErrorCode::invalid,
                fmt::format("{}: a token is sent to another machine only over https://",
                            table_of(settings)));
  }
  llm::HttpTarget target{
      .url = *std::move(url), .token = *std::move(token), .proxy = {}, .ca_file = settings.ca_file};
  if (!settings.proxy.empty()) {
    auto proxy = llm::parse_url(settings.proxy);
    if (!proxy) return tl::unexpected(proxy.error());
    target.proxy = *std::move(proxy);
  }
  return target;
}

namespace {

/// An answer that repeats the token must not carry it into a message or a recording.
std::string without(std::string text, const std::string& secret) {
  if (secret.empty()) return text;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "[token]");
  }
  return text;
}

tl::expected<ChatReply, llm::Failure> exchange(const ChatSettings& settings,
                                               const llm::HttpTarget& target,
                                               const ChatRequest& request,
                                               const std::stop_token& stop) {
  const llm::HttpLimits limits{.deadline = request.patience,
                               .reply_bytes = static_cast<std::size_t>(settings.reply_bytes),
                               .stop = stop};
  auto http =
      llm::post_json(target, "/chat/completions", llm::chat_body(settings, request), limits);
  if (!http) {
    const bool again = http.error().code == ErrorCode::unavailable && !stop.stop_requested();
    return tl::unexpected(llm::Failure{.error = http.error(), .again = again, .wait = {}});
  }
  http->body = without(std::move(http->body), target.token);
  return llm::read_chat_reply(*http);
}

Result<Chat> open_openai(const ChatSettings& settings, const ChatServices& services) {
  auto target = llm::target_of(settings, services);
  if (!target) return tl::unexpected(target.error());
  llm::Exchange tried = [settings, target = *std::move(target),
                         stop = services.stop](const ChatRequest& request) {
    return exchange(settings, target, request, stop);
  };
  return llm::with_retries(std::move(tried), settings, services);
}

Result<void> need_recording(const ChatSettings& settings) {
  if (!settings.recording.empty()) return {};
  return fail(ErrorCode::invalid,
              fmt::format("llm.{}.recording: kind {} needs a file of recorded exchanges",
                          settings.name, settings.kind));
}

Result<Chat> open_record(const ChatSettings& settings, const ChatServices& services) {
  if (const auto named = need_recording(settings); !named) return tl::unexpected(named.error());
  return open_openai(settings, services);
}

Result<Chat> open_replay(const ChatSettings& settings, const ChatServices&) {
  if (const auto named = need_recording(settings); !named) return tl::unexpected(named.error());
  return llm::open_recording(settings.recording);
}

Result<Chat> open_none(const ChatSettings&, const ChatServices&) {
  return fail(ErrorCode::unavailable, "no model");
}

struct KindRow {
  ChatKind kind;
  Result<Chat> (*open)(const ChatSettings&, const ChatServices&);
};

constexpr std::array kind_rows = {
#define CHAT(name, summary) KindRow{{#name, summary}, open_##name},
#include "llm/chats.def"
#undef CHAT
};

constexpr std::array kinds = {
#define CHAT(name, summary) ChatKind{#name, summary},
#include "llm/chats.def"
#undef CHAT
};

constexpr std::array<std::string_view, kinds.size()> kind_names = {
#define CHAT(name, summary) #name,
#include "llm/chats.def"
#undef CHAT
};

}  // namespace

std::span<const ChatKind> chat_kinds() { return kinds; }

Result<Chat> open_chat(const ChatSettings& settings, const ChatServices& services) {
  for (const KindRow& row : kind_rows) {
    if (row.kind.name != settings.kind) continue;
    auto opened = row.open(settings, services);
    if (!opened) return opened;
    // From the inside out: what is redacted is what is sent, paid for and then recorded.
    Chat chat = llm::with_breaker(*std::move(opened), settings, services.clock);
    chat = llm::with_limit(std::move(chat), settings.at_once);
    chat = llm::with_meter(std::move(chat), services.meter);
    // What was recorded has been paid for.
    if (settings.kind != "replay") chat = llm::with_budget(std::move(chat), settings, services);
    if (settings.kind == "record") chat = llm::with_recording(std::move(chat), settings.recording);
    chat = llm::with_canary(std::move(chat), services.meter);
    chat = llm::with_redaction(std::move(chat), services.redact);
    return [chat = std::move(chat), deadline = settings.deadline](const ChatRequest& request) {
      ChatRequest timed = request;
      const bool patient = request.patience > std::chrono::milliseconds(0);
      timed.patience = patient ? std::min<std::chrono::milliseconds>(request.patience, deadline)
                               : std::chrono::milliseconds(deadline);
      return chat(timed);
    };
  }
  return fail(ErrorCode::not_found,
              unknown_name("kind of llm." + settings.name, settings.kind, kind_names));
}

}  // namespace schedmate
