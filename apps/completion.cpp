// SPDX-License-Identifier: Apache-2.0
#include "apps/completion.hpp"

#include <fmt/format.h>

#include <array>

#include "base/text.hpp"

namespace schedmate {
namespace {

using Commands = std::vector<CommandDescription>;

/// In single quotes, for any of the shells.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string names_of(const Commands& commands) {
  std::string names;
  for (const CommandDescription& command : commands) names += command.name + " ";
  return names;
}

std::string flags_of(const CommandDescription& command) {
  std::string names;
  for (const FlagDescription& flag : command.flags) {
    if (!flag.name.empty()) names += flag.name + " ";
  }
  return names;
}

std::string bash_values(const FlagDescription& flag) {
  switch (flag.values) {
    case Values::choices:
      return fmt::format("mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\")",
                         fmt::join(flag.choices, " "));
    case Values::trace:  // the colon parts words, so the path is a word of its own
      return fmt::format("mapfile -t COMPREPLY < <(compgen -S : -W '{}' -- \"$word\")",
                         fmt::join(flag.choices, " "));
    case Values::path:
      return "mapfile -t COMPREPLY < <(compgen -f -- \"$word\")";
    default:
      return "COMPREPLY=()";
  }
}

std::string bash(const Commands& commands) {
  std::string text =
      "# bash completion for schedmate\n"
      "_schedmate() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=\n"
      "  COMPREPLY=()\n"
      "  (( COMP_CWORD > 1 )) && command=${COMP_WORDS[1]}\n"
      "  if [[ $word == : ]]; then word=; before=:; fi\n"
      "  if [[ $before == : ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  case $command$before in\n";
  std::string words = "  case $command in\n";
  for (const CommandDescription& command : commands) {
    std::string all = flags_of(command);
    for (const FlagDescription& flag : command.flags) {
      if (flag.name.empty()) {
        all += fmt::format("{} ", fmt::join(flag.choices, " "));
      } else if (flag.values != Values::none) {
        text +=
            fmt::format("    {}{}) {}; return ;;\n", command.name, flag.name, bash_values(flag));
      }
    }
    words += fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\") ;;\n",
                         command.name, all);
  }
  words += fmt::format("    *) mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$word\") ;;\n",
                       names_of(commands));
  return text + "  esac\n" + words +
         "  esac\n}\ncomplete -o nospace -o filenames -F _schedmate schedmate\n";
}

/// One _arguments entry; ':' and brackets have a meaning there.
std::string zsh_argument(const FlagDescription& flag) {
  std::string help;
  for (const char c : flag.help) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) help += '\\';
    help += c;
  }
  std::string action;
  switch (flag.values) {
    case Values::choices:
      action = fmt::format(":value:({})", fmt::join(flag.choices, " "));
      break;
    case Values::trace:
      action = fmt::format(":trace:({}\\:)", fmt::join(flag.choices, "\\: "));
      break;
    case Values::path:
      action = ":path:_files";
      break;
    case Values::text:
      action = ":value: ";
      break;
    case Values::none:
      break;
  }
  return flag.name.empty() ? shell_quoted("1" + action)
                           : shell_quoted(fmt::format("*{}[{}]{}", flag.name, help, action));
}

std::string zsh(const Commands& commands) {
  std::string text =
      "#compdef schedmate\n"
      "_schedmate() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n";
  std::string cases;
  for (const CommandDescription& command : commands) {
    text += "      " + shell_quoted(command.name + ":" + command.help) + "\n";
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const FlagDescription& flag : command.flags) cases += " \\\n        " + zsh_argument(flag);
    cases += " ;;\n";
  }
  return text +
         "    )\n    _describe command commands\n    return\n  fi\n"
         "  local command=${words[2]}\n  shift words\n  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases + "  esac\n}\n_schedmate \"$@\"\n";
}

std::string fish(const Commands& commands) {
  std::string text = "# fish completion for schedmate\ncomplete -c schedmate -f\n";
  for (const CommandDescription& command : commands) {
    text += fmt::format("complete -c schedmate -n __fish_use_subcommand -a {} -d {}\n",
                        command.name, shell_quoted(command.help));
    for (const FlagDescription& flag : command.flags) {
      text +=
          fmt::format("complete -c schedmate -n '__fish_seen_subcommand_from {}'", command.name);
      if (!flag.name.empty())
        text += fmt::format(" -l {} -d {}", flag.name.substr(2), shell_quoted(flag.help));
      if (flag.values == Values::choices)
        text += fmt::format(" {} {}", flag.name.empty() ? "-a" : "-x -a",
                            shell_quoted(fmt::format("{}", fmt::join(flag.choices, " "))));
      if (flag.values == Values::trace)
        text += fmt::format(" -x -a {}",
                            shell_quoted(fmt::format("{}:", fmt::join(flag.choices, ": "))));
      if (flag.values == Values::path) text += " -r -F";
      if (flag.values == Values::text) text += " -x";
      text += "\n";
    }
  }
  return text;
}

}  // namespace

Result<std::string> completion(std::string_view shell, const Commands& commands) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};
  return fail(ErrorCode::not_found, unknown_name("shell", shell, shells));
}

}  // namespace schedmate
