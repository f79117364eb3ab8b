// SPDX-License-Identifier: Apache-2.0
#include "facts/started.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "python/objects/native.hpp"

namespace schedmate::facts {
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

/// The command as a shell would be given it; "" when its program is not known.
std::string command_in(const python::Call& call) {
  const Value* what = argument(call, "args", 0);
  if (what == nullptr) return "";
  if (const std::string* text = what->text()) return *text;
  const List* words = what->items();
  if (words == nullptr) return "";
  std::string made;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string* text = (*words)[i].text();
    if (text == nullptr && i < most_needed) return "";
    made += text == nullptr ? "\"$unknown\" " : shell_quoted(*text) + " ";
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

void move_places(command::Launch& launch, const PlacePtr& call) {
  launch.launcher_place = moved(launch.launcher_place, call);
  launch.processes_per_node.place = moved(launch.processes_per_node.place, call);
  launch.nodes.place = moved(launch.nodes.place, call);
  for (command::Word& word : launch.args) word.place = moved(word.place, call);
  for (auto& [name, word] : launch.env) word.place = moved(word.place, call);
  Dict settings;
  for (const auto& [key, value] : launch.settings.all()) {
    Value here = value;
    here.place = moved(value.place, call);
    settings.set(key, std::move(here));
  }
  launch.settings = std::move(settings);
}

/// The environment that a process is started in: a dict, or a copy of os.environ.
Dict environment_in(const python::Call& call) {
  const Value* env = call.named.find("env");
  auto* object = env == nullptr ? nullptr : dynamic_cast<python::NativeObject*>(env->object());
  const Value held = object != nullptr ? object->plain().value_or(Value{})
                     : env == nullptr  ? Value{}
                                       : *env;
  return held.entries() == nullptr ? Dict{} : *held.entries();
}

/// A launcher of the tree's own: it hands each process its rank through the environment.
bool hands_out_ranks(const python::Call& call) {
  const Dict all = environment_in(call);
  return all.find("WORLD_SIZE") != nullptr &&
         (all.find("RANK") != nullptr || all.find("LOCAL_RANK") != nullptr);
}

/// As torch.distributed.launch would have started it.
void start_all_ranks(command::Launch& launch, const python::Call& call) {
  launch.launchers.insert(launch.launchers.begin(), "launch");
  launch.launcher_place = call.place;
  launch.runs = 1;
  const Dict env = environment_in(call);
  for (const auto& [name, value] : env.all()) {
    const bool rank = name == "RANK" || name == "LOCAL_RANK";
    if (const auto* text = value.text(); text != nullptr && !launch.env.contains(name))
      launch.env[name] = {rank ? "0" : *text, call.place, true};
  }
}

}  // namespace

std::vector<command::Launch> started_by(tree::Tree& tree, const Scene& scene) {
  std::vector<command::Launch> launches;
  std::vector<const Place*> ranks;  ///< calls that start one process after another
  std::size_t commands = 0;
  bool restarted = false;
  for (const python::Call& call : scene.seen.calls) {
    if (!call.place || !starts_programs(call.callee)) continue;
    const bool ranked = hands_out_ranks(call);
    if (ranked && std::ranges::find(ranks, call.place.get()) != ranks.end()) continue;
    if (ranked) ranks.push_back(call.place.get());
    const std::string command = command_in(call);
    if (command.empty() || ++commands > most_commands) continue;
    const command::CommandSource source{command, scene.launch.cwd, scene.job.gpus, scene.job.nodes};
    const auto inner = command::read_command(tree, source);
    if (!inner) continue;
    for (const command::Invocation& invocation : inner->invocations) {
      auto launch = command::read_launch(tree, invocation, source);
      if (!launch) continue;
      move_places(*launch, call.place);
      launch->request = scene.launch.request;
      launch->itself = command::same_program(*launch, scene.launch);
      if (launch->itself && (scene.launch.itself || std::exchange(restarted, true))) continue;
      if (ranked || launch->itself) start_all_ranks(*launch, call);
      launch->certain = launch->certain && call.certain;
      launches.push_back(std::move(*launch));
    }
  }
  return launches;
}

}  // namespace schedmate::facts
