// SPDX-License-Identifier: Apache-2.0
#include "apps/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error_document.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate {

#define COMMAND(name, summary) Command name##_command(const Parser& parser);
#include "apps/commands.def"
#undef COMMAND

std::span<const CommandRow> command_rows() {
  static constexpr std::array rows{
#define COMMAND(name, summary) CommandRow{#name, summary, name##_command, false},
#define STATE_COMMAND(name, summary) CommandRow{#name, summary, name##_command, true},
#include "apps/commands.def"
#undef COMMAND
  };
  return rows;
}

int complain(const Error& error, bool json, Console& console) {
  console.warn(error.message);
  if (json) console.json_line(error_document({error.code, secrets::redacted(error.message)}));
  return exit_code(error.code);
}

void add_setting(const Parser& parser, const std::string& flag, const std::string& key,
                 const std::string& help) {
  auto& given = parser.common.sources.given;
  const auto keep = [&given, key, flag](const std::string& value) {
    if (!value.empty()) given.push_back({key, value, flag});
  };
  std::string type = flag.substr(2);
  for (char& c : type) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  parser.app.add_option_function<std::string>(flag, keep, help)->type_name(type);
}

void add_strict(const Parser& parser, const std::string& help) {
  auto& given = parser.common.sources.given;
  parser.app.add_flag_callback(
      "--strict", [&given] { given.push_back({"strict", "true", "--strict"}); }, help);
}

void add_seed(const Parser& parser, const std::string& help) {
  add_setting(parser, "--seed", "seed", help);
  parser.app.get_option("--seed")->type_name("N");
}

void add_threads(const Parser& parser, const std::string& help) {
  add_setting(parser, "--threads", "threads", help);
  parser.app.get_option("--threads")->type_name("N");
}

void add_model(const Parser& parser) {
  add_setting(parser, "--llm", "llm.use", "language models for what rules leave open, or none");
  parser.app.get_option("--llm")->type_name("NAME[,NAME]");
}

Result<void> need(bool given, std::string_view command, std::string_view what) {
  if (given) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("{0}: {1} is missing (schedmate {0} --help)", command, what));
}

}  // namespace schedmate
