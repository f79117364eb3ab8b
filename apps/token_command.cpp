// SPDX-License-Identifier: Apache-2.0

/// `schedmate token`: who may ask a daemon by TCP.

#include "apps/token_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "http/tokens.hpp"
#include "screen/screen.hpp"

namespace schedmate {
namespace {

constexpr std::array<std::string_view, 3> deeds{"add", "list", "revoke"};
constexpr std::array<std::string_view, 3> roles{"owner", "viewer", "operator"};

struct TokenFlags {
  std::string deed, label, user, role = "owner";
  std::int64_t days = 0;
};

Result<std::string> tokens_file(const CommandCall& call) {
  std::string path = call.session.settings.text("access.tokens_file");
  if (!path.empty()) return path;
  return fail(ErrorCode::invalid,
              "the setting access.tokens_file is empty: name the file in the daemon's settings "
              "([access] tokens_file), then give these by --config");
}

Document token_document(const http::Token& token, std::int64_t now_s) {
  return {{"label", token.label},
          {"user", token.user},
          {"role", http::name_of(token.role)},
          {"created_s", token.created_s},
          {"expires_s", token.expires_s ? Document(*token.expires_s) : Document(nullptr)},
          {"expired", token.expires_s && *token.expires_s <= now_s}};
}

Result<int> add_one(const CommandCall& call, const std::string& path, const TokenFlags& flags) {
  constexpr std::int64_t day_s = 86'400;
  const std::int64_t now_s = seconds_of(call.session.clock.wall());
  http::NewToken wanted{.user = flags.user,
                        .role = http::role_named(flags.role).value_or(Role::owner),
                        .label = flags.label,
                        .created_s = now_s};
  if (flags.days > 0) wanted.expires_s = now_s + flags.days * day_s;
  const auto secret = http::add_token(path, wanted);
  if (!secret) return tl::unexpected(secret.error());
  if (call.json) {
    Document made = token_document(
        {"", wanted.role, wanted.user, now_s, wanted.label, wanted.expires_s}, now_s);
    made["schema"] = "schedmate.token.v1";
    made["token"] = *secret;
    call.console.json(made);
    return 0;
  }
  call.console.text(*secret + "\n");
  if (call.session.environment.columns > 0)
    call.console.warn("keep it: it is shown only now, and the file has its hash alone");
  return 0;
}

Result<int> list_all(const CommandCall& call, const std::string& path) {
  const auto tokens = http::load_tokens(path);
  if (!tokens) return tl::unexpected(tokens.error());
  const std::int64_t now_s = seconds_of(call.session.clock.wall());
  Document list = Document::array();
  for (const http::Token& token : *tokens) list.push_back(token_document(token, now_s));
  if (call.json) {
    call.console.json({{"schema", "schedmate.tokens.v1"}, {"tokens", std::move(list)}});
    return 0;
  }
  const auto style = screen::screen_style(call.session.environment);
  std::vector<std::vector<Cell>> rows;
  for (const http::Token& token : *tokens) {
    const bool expired = token.expires_s && *token.expires_s <= now_s;
    rows.push_back({{style.cell(token.label, 24)},
                    {style.cell(token.user, 16)},
                    {std::string(http::name_of(token.role))},
                    {style.date(token.created_s)},
                    {token.expires_s ? style.date(*token.expires_s) : "never",
                     expired ? Style::red : Style::plain}});
  }
  const std::vector<TableColumn> columns{
      {"Label"}, {"User"}, {"Role"}, {"Made", 1}, {"Expires", 0}};
  call.console.text(rows.empty() ? "no tokens\n" : table_text(columns, rows, style.width));
  return 0;
}

Result<int> revoke_one(const CommandCall& call, const std::string& path, const TokenFlags& flags) {
  if (const auto gone = http::revoke_token(path, flags.label); !gone)
    return tl::unexpected(gone.error());
  if (call.json)
    call.console.json({{"schema", "schedmate.tokens.v1"}, {"revoked", flags.label}});
  else
    call.console.text(fmt::format("revoked '{}': it opens nothing from the next second on\n",
                                  printable(flags.label)));
  return 0;
}

Result<int> run_token(const CommandCall& call, const TokenFlags& flags) {
  const auto path = tokens_file(call);
  if (!path) return tl::unexpected(path.error());
  if (flags.deed == "add") return add_one(call, *path, flags);
  return flags.deed == "list" ? list_all(call, *path) : revoke_one(call, *path, flags);
}

Result<void> check_token(const CLI::App& command, const TokenFlags& flags) {
  if (flags.deed.empty()) return need(false, "token", "add, list or revoke");
  if (std::ranges::find(deeds, flags.deed) == deeds.end())
    return fail(ErrorCode::not_found, unknown_name("action", flags.deed, deeds));
  if (std::ranges::find(roles, flags.role) == roles.end())
    return fail(ErrorCode::not_found, unknown_name("role", flags.role, roles));
  for (const char* const flag : {"--user", "--role", "--days"})
    if (flags.deed != "add" && command.count(flag) > 0)
      return fail(ErrorCode::unsupported, fmt::format("token {}: takes no {}", flags.deed, flag));
  if (flags.deed == "list") return {};
  if (auto ok = need(!flags.label.empty(), "token " + flags.deed, "LABEL"); !ok) return ok;
  return need(flags.deed != "add" || !flags.user.empty(), "token add", "--user USER");
}

}  // namespace

std::vector<std::string> token_actions() { return {deeds.begin(), deeds.end()}; }

Command token_command(const Parser& parser) {
  const auto flags = std::make_shared<TokenFlags>();
  CLI::App& command = parser.app;
  command.add_option("action", flags->deed, "add, list or revoke")->type_name("TOKENACTION");
  command.add_option("label", flags->label, "the token's name, for people and to revoke it by")
      ->type_name("LABEL");
  command.add_option("--user", flags->user, "add: as whom one comes in with it")->type_name("USER");
  command.add_option("--role", flags->role, "add: owner, viewer or operator; default: owner")
      ->type_name("ROLE");
  takes_whole(
      *command.add_option("--days", flags->days, "add: expires after so many days; default: never")
           ->type_name("N"),
      1, 36'500);
  command.footer(
      "The file is that of the setting access.tokens_file. A running daemon sees a change within "
      "a\n"
      "second.\n\nExamples:\n"
      "  schedmate token add laptop --user ann --days 90 --config site.toml\n"
      "  schedmate token list --config site.toml\n"
      "  schedmate token revoke laptop --config site.toml");
  return {.run = [flags](const CommandCall& call) { return run_token(call, *flags); },
          .check = [&command, flags] { return check_token(command, *flags); }};
}

}  // namespace schedmate
