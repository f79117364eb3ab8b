// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "base/text.hpp"
#include "llm/exchange.hpp"

namespace schedmate {
namespace {

using Text = std::string ChatSettings::*;
using Whole = std::int64_t ChatSettings::*;
using Flag = bool ChatSettings::*;
using Span = std::chrono::seconds ChatSettings::*;

struct SettingRow {
  ChatSettingRow shown;
  std::variant<Text, Whole, Flag, Span> member;
};

constexpr std::array setting_rows = {
    SettingRow{{"kind", "", "openai", "openai, record, replay or none"}, &ChatSettings::kind},
    SettingRow{{"url", "", "", "base URL of the server, including /v1"}, &ChatSettings::url},
    SettingRow{{"model", "", "", "name of the model on the server"}, &ChatSettings::model},
    SettingRow{{"token_file", "", "", "file whose first line is the bearer token"},
               &ChatSettings::token_file},
    SettingRow{{"token_env", "", "", "environment variable that holds the bearer token"},
               &ChatSettings::token_env},
    SettingRow{{"proxy", "", "", "proxy, as http://host:port; never used for this machine"},
               &ChatSettings::proxy},
    SettingRow{{"ca_file", "", "", "certificates to trust instead of the system's"},
               &ChatSettings::ca_file},
    SettingRow{{"recording", "", "", "file of exchanges for kind record and replay"},
               &ChatSettings::recording},
    SettingRow{{"max_tokens_key", "", "max_tokens",
                "request key of the output limit; some gateways want max_completion_tokens"},
               &ChatSettings::max_tokens_key},
    SettingRow{
        {"send_schema", "", "true", "send response_format; false: send the schema as text only"},
        &ChatSettings::send_schema},
    SettingRow{{"context_tokens", "tokens", "8192", "limit for prompt and answer together"},
               &ChatSettings::context_tokens},
    SettingRow{{"deadline_s", "s", "60", "time limit of one request, retries included"},
               &ChatSettings::deadline},
    SettingRow{{"attempts", "", "3", "most tries per request"}, &ChatSettings::attempts},
    SettingRow{{"at_once", "", "4", "most requests in flight at once"}, &ChatSettings::at_once},
    SettingRow{{"tokens_per_day", "tokens", "2000000", "limit for all users together"},
               &ChatSettings::tokens_per_day},
    SettingRow{{"tokens_per_user", "tokens", "500000", "a day"}, &ChatSettings::tokens_per_user},
    SettingRow{{"breaker_failures", "", "5", "failures in a row that open the circuit; 0 = never"},
               &ChatSettings::breaker_failures},
    SettingRow{{"breaker_rest_s", "s", "60", "how long the circuit stays open"},
               &ChatSettings::breaker_rest},
    SettingRow{
        {"reply_bytes", "bytes", "1048576", "limit for one answer; a longer one is an error"},
        &ChatSettings::reply_bytes},
};

constexpr auto shown_rows = [] {
  std::array<ChatSettingRow, setting_rows.size()> shown{};
  for (std::size_t i = 0; i < setting_rows.size(); ++i) shown[i] = setting_rows[i].shown;
  return shown;
}();

/// Largest number that any key takes: nine years in seconds, a third of a terabyte.
constexpr std::int64_t most = 300'000'000'000;

Result<void> set(ChatSettings& settings, const SettingRow& row, const std::string& value) {
  const auto wrong = [&](std::string_view wanted) {
    return fail(ErrorCode::unsupported,
                fmt::format("llm.{}.{}: '{}' is not {}", settings.name, row.shown.key,
                            llm::quotable(value, 60), wanted));
  };
  if (const auto* text = std::get_if<Text>(&row.member)) {
    settings.*(*text) = value;
    return {};
  }
  if (const auto* flag = std::get_if<Flag>(&row.member)) {
    if (value != "true" && value != "false") return wrong("true or false");
    settings.*(*flag) = value == "true";
    return {};
  }
  const auto number = parse_number<std::int64_t>(value);
  if (!number || *number < 0 || *number > most) return wrong("a whole number of at least 0");
  if (const auto* whole = std::get_if<Whole>(&row.member)) settings.*(*whole) = *number;
  if (const auto* span = std::get_if<Span>(&row.member)) {
    if (*number == 0) return wrong("a time above 0");
    settings.*(*span) = std::chrono::seconds(std::min<std::int64_t>(*number, 86'400));
  }
  return {};
}

}  // namespace

std::span<const ChatSettingRow> chat_setting_rows() { return shown_rows; }

Result<ChatSettings> read_chat_settings(std::string_view name,
                                        const std::map<std::string, std::string>& table) {
  ChatSettings settings;
  settings.name = name;
  for (const auto& [key, value] : table) {
    const auto row = std::ranges::find_if(
        setting_rows, [&](const SettingRow& one) { return one.shown.key == key; });
    if (row == setting_rows.end()) {
      std::vector<std::string_view> names;
      for (const SettingRow& one : setting_rows) names.push_back(one.shown.key);
      return fail(ErrorCode::not_found,
                  unknown_name(fmt::format("setting of llm.{}", name), key, names));
    }
    if (const auto done = set(settings, *row, value); !done) return tl::unexpected(done.error());
  }
  return settings;
}

}  // namespace schedmate
