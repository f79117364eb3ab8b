// SPDX-License-Identifier: Apache-2.0
#include "facts/started.hpp"

#include <algorithm>
#include <array>

namespace schedmate {
namespace {

constexpr std::size_t most_commands = 8;
constexpr std::size_t most_needed = 2;  ///< words that say which program it is: python train.py

bool starts_programs(std::string_view callee) {
  constexpr std::array starters{"os.system",        "os.popen",
                                "subprocess.run",   "subprocess.call",
                                "subprocess.Popen", "subprocess.check_call",
                                "pty.spawn",        "subprocess.check_output"};
  return std::ranges::find(starters, callee) != starters.end();
}

std::string quoted(std::string_view word) {
  std::string made = "'";
  for (const char c : word) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

/// The command as a shell would be given it; "" when its program is not known.
std::string command_in(const Call& call) {
  const Value* what = argument(call, "args", 0);
  if (what == nullptr) return "";
  if (const std::string* text = what->text()) return *text;
  const List* words = what->items();
  if (words == nullptr) return "";
  std::string made;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string* text = (*words)[i].text();
    if (text == nullptr && i < most_needed) return "";
    made += text == nullptr ? "\"$unknown\" " : quoted(*text) + " ";
  }
  return made;
}

/// With `call` for whatever stands in the command.
PlacePtr moved(const PlacePtr& place, const PlacePtr& call) {
  if (!place) return place;
  if (place->file == "<command>") return call;
  Place copy = *place;
  copy.from = moved(place->from, call);
  return std::make_shared<const Place>(std::move(copy));
}

void move_places(Launch& launch, const PlacePtr& call) {
  launch.launcher_place = moved(launch.launcher_place, call);
  launch.processes_per_node.place = moved(launch.processes_per_node.place, call);
  launch.nodes.place = moved(launch.nodes.place, call);
  for (Word& word : launch.args) word.place = moved(word.place, call);
  for (auto& [name, word] : launch.env) word.place = moved(word.place, call);
  Dict settings;
  for (const auto& [key, value] : launch.settings.all()) {
    Value here = value;
    here.place = moved(value.place, call);
    settings.set(key, std::move(here));
  }
  launch.settings = std::move(settings);
}

}  // namespace

std::vector<Launch> started_by(Tree& tree, const Scene& scene) {
  std::vector<Launch> launches;
  std::size_t commands = 0;
  for (const Call& call : scene.seen.calls) {
    if (!call.place || !starts_programs(call.callee)) continue;
    const std::string command = command_in(call);
    if (command.empty() || ++commands > most_commands) continue;
    const CommandSource source{command, scene.launch.cwd, scene.job.gpus, scene.job.nodes};
    const auto inner = read_command(tree, source);
    if (!inner) continue;
    for (const Invocation& invocation : inner->invocations) {
      auto launch = read_launch(tree, invocation, source);
      if (!launch) continue;
      move_places(*launch, call.place);
      launch->certain = launch->certain && call.certain;
      launches.push_back(std::move(*launch));
    }
  }
  return launches;
}

}  // namespace schedmate
