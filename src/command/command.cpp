// SPDX-License-Identifier: Apache-2.0
#include "command/command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/shell.hpp"

namespace schedmate::command {

Result<Commands> read_command(tree::Tree& tree, const CommandSource& source) {
  constexpr std::size_t most_bytes = 1 << 18;
  if (trim(source.command).empty())
    return fail(ErrorCode::invalid, "the command is empty: give the line that starts the job");
  if (source.command.size() > most_bytes) {
    return fail(ErrorCode::invalid, fmt::format("the command has {} bytes; the limit is {}: put it "
                                                "into a script in the job's directory",
                                                source.command.size(), most_bytes));
  }
  if (source.command.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid, "the command contains a NUL byte: give it as plain text");
  auto folder = tree.locate(".", source.workdir);
  if (!folder) return tl::unexpected(folder.error());
  Commands made;
  Shell shell(tree, source, made);
  shell.state().cwd = *folder;
  Script script;
  script.text = source.command;
  shell.run_text(std::move(script));
  return made;
}

CommandSource resolved(CommandSource source, const RequestPtr& request) {
  constexpr std::int64_t most = 10'000'000;
  const auto fill = [&](int& said, std::string_view field) {
    if (said > 0) return;
    const auto asked = request ? request->number(field) : std::nullopt;
    said = static_cast<int>(std::clamp<std::int64_t>(asked.value_or(1), 1, most));
  };
  fill(source.gpus, "gpus");
  fill(source.nodes, "nodes");
  return source;
}

}  // namespace schedmate::command
