// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/text.hpp"
#include "command/launch_parts.hpp"

namespace schedmate::command {
namespace {

using Names = std::initializer_list<std::string_view>;

const Word* value_of(const ProgramCall& call, Names names) {
  const auto* const found = call.option(std::span(names.begin(), names.size()));
  return found != nullptr && found->value ? &*found->value : nullptr;
}

PlacePtr request_place(const LaunchContext& context) {
  if (context.gpus != nullptr) return context.gpus->value.place;
  auto place = std::make_shared<Place>();
  place->file = "<request>";
  place->text = fmt::format("gpus={}", context.source.gpus);
  place->source = FactSource::environment;
  return place;
}

Value number(std::int64_t value, PlacePtr place) { return {value, std::move(place)}; }

/// Devices of "0,1,2": 3. A plain number counts devices where `count_alone`.
std::optional<std::int64_t> listed(std::string_view text, bool count_alone) {
  text = trim(text);
  while (!text.empty() && std::string_view("[]'\"").contains(text.front())) text.remove_prefix(1);
  while (!text.empty() && std::string_view("[]'\"").contains(text.back())) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  std::int64_t count = 0;
  for (const auto part : split(text, ',')) {
    const auto first = parse_number<std::int64_t>(trim(part));
    if (!first) return std::nullopt;
    if (count_alone && !text.contains(',')) return first;
    ++count;
  }
  return count;
}

Value listed_devices(const Word& word, bool count_alone, const LaunchContext& context) {
  if (!word.known) return {Unknown{}, word.place};
  if (word.text == "auto" || word.text == "-1")
    return number(gpus_per_node(context.source), word.place);
  const auto count = listed(word.text, count_alone);
  return count ? number(*count, word.place) : Value(Unknown{}, word.place);
}

/// "localhost:0,1@other:0,1" -> 2, of the first host.
Value included(const Word& word, const LaunchContext& context) {
  if (!word.known) return {Unknown{}, word.place};
  const auto first = std::string_view(word.text).substr(0, word.text.find('@'));
  const auto colon = first.find(':');
  if (colon == std::string_view::npos) return devices_per_node(context);
  const auto count = listed(first.substr(colon + 1), false);
  return count ? number(*count, word.place) : Value(Unknown{}, word.place);
}

/// Total over all nodes, as a count for one of them.
Value per_node(const Value& total, const LaunchContext& context) {
  const auto all = total.number();
  const auto given = context.made.nodes.number();
  const double nodes = given.value_or(std::max(context.source.nodes, 1));
  if (!all || nodes < 1) return {Unknown{}, total.place};
  return number(std::max<std::int64_t>(static_cast<std::int64_t>(*all / nodes), 1), total.place);
}

void set_nodes(const ProgramCall& call, Names names, LaunchContext& context) {
  const Word* const word = value_of(call, names);
  if (word == nullptr) return;
  Word last = *word;
  const auto colon = last.text.find(':');  // torchrun --nnodes 1:4
  if (colon != std::string::npos) {
    last.known = last.known && last.text.substr(0, colon) == last.text.substr(colon + 1);
    last.text.resize(colon);
  }
  context.made.nodes = count_from(last, context);
}

std::string setting_name(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

void keep_settings(const ProgramCall& call, LaunchContext& context) {
  for (const auto& option : call.options) {
    Value value(true);
    if (option.value) {
      value = option.value->known ? Value(option.value->text, option.value->place)
                                  : Value(Unknown{}, option.value->place);
    }
    context.made.settings.set(setting_name(option.name), std::move(value));
  }
}

void apply_accelerate(const ProgramCall& call, LaunchContext& context) {
  auto& made = context.made;
  const Word* const config = value_of(call, {"config-file"});
  if (config != nullptr && is_modelled("accelerate config"))
    read_accelerate_config(*config, context);
  if (const Word* file = value_of(call, {"deepspeed-config-file"}))
    read_accelerate_config(*file, context);
  keep_settings(call, context);
  const auto setting = [&](std::string_view name) {
    const Value* const found = made.settings.find(name);
    return found != nullptr && !found->is_none() ? found : nullptr;
  };
  if (const Value* machines = setting("num_machines")) {
    const auto count = machines->number();
    made.nodes = count ? number(static_cast<std::int64_t>(*count), machines->place)
                       : Value(Unknown{}, machines->place);
  }
  if (const Value* processes = setting("num_processes")) {
    made.processes_per_node = per_node(*processes, context);
  } else if (setting("cpu") != nullptr) {
    made.processes_per_node = number(1, setting("cpu")->place);
  } else if (!call.complete) {
    made.processes_per_node = {Unknown{}, made.launcher_place};
  } else {
    made.processes_per_node = devices_per_node(context);
  }
}

}  // namespace

int gpus_per_node(const CommandSource& source) { return source.gpus / std::max(source.nodes, 1); }

Value devices_per_node(const LaunchContext& context) {
  const auto visible = context.made.env.find("CUDA_VISIBLE_DEVICES");
  if (visible != context.made.env.end()) {
    const auto count = visible->second.known ? listed(visible->second.text, false) : std::nullopt;
    if (count) return number(*count, visible->second.place);
  }
  return number(gpus_per_node(context.source), request_place(context));
}

Value count_from(const Word& word, const LaunchContext& context) {
  if (!word.known) return {Unknown{}, word.place};
  if (word.text == "gpu" || word.text == "auto") {
    Value devices = devices_per_node(context);
    auto place = word.place ? std::make_shared<Place>(*word.place) : std::make_shared<Place>();
    place->from = devices.place;
    devices.place = std::move(place);
    return devices;
  }
  if (word.text == "cpu") return {Unknown{}, word.place};
  const auto count = parse_number<std::int64_t>(trim(word.text));
  return count ? number(*count, word.place) : Value(Unknown{}, word.place);
}

void apply_tasks(const ProgramCall& call, LaunchContext& context) {
  auto& made = context.made;
  const auto from_env = [&](const char* name) -> const Word* {
    const auto found = made.env.find(name);
    return found != made.env.end() ? &found->second : nullptr;
  };
  const bool slurm = call.name == "srun";
  const Word* nodes = slurm ? value_of(call, {"nodes", "N"}) : nullptr;
  const Word* each = slurm ? value_of(call, {"ntasks-per-node"})
                           : value_of(call, {"npernode", "ppn", "perhost", "N"});
  const Word* total =
      slurm ? value_of(call, {"ntasks", "n"}) : value_of(call, {"np", "n", "c", "p", "num-proc"});
  if (slurm && nodes == nullptr) nodes = from_env("SLURM_NNODES");
  if (slurm && each == nullptr && total == nullptr) {
    each = from_env("SLURM_NTASKS_PER_NODE");
    total = from_env("SLURM_NTASKS");
  }
  if (nodes != nullptr) made.nodes = count_from(*nodes, context);
  if (each != nullptr) {
    made.processes_per_node = count_from(*each, context);
  } else if (total != nullptr) {
    made.processes_per_node = per_node(count_from(*total, context), context);
  } else if (slurm && call.complete) {
    auto place = std::make_shared<Place>();
    place->file = "<command>";
    place->text = "srun";
    place->source = FactSource::fallback;
    made.processes_per_node = number(1, std::move(place));
  }
}

void apply_trainer(const ProgramCall& call, LaunchContext& context) {
  auto& made = context.made;
  const auto& name = call.name;
  if (name.starts_with("accelerate")) return apply_accelerate(call, context);
  keep_settings(call, context);
  set_nodes(call, {"nnodes", "num-nodes"}, context);
  if (name == "dora run") {
    constexpr std::string_view all[] = {"d", "ddp"};
    const bool started = made.launchers.size() > 1;  // by torchrun, each of which is one
    if (call.option(all) != nullptr) {
      made.processes_per_node = devices_per_node(context);
    } else if (!started) {
      made.processes_per_node = number(1, made.launcher_place);
    }
  } else if (const Word* each = value_of(call, {"nproc-per-node", "num-gpus", "nproc"})) {
    made.processes_per_node = count_from(*each, context);
  } else if (name == "composer") {
    const Word* const count = value_of(call, {"n"});
    made.processes_per_node =
        count != nullptr ? count_from(*count, context) : devices_per_node(context);
  } else if (const Word* devices = value_of(call, {"devices", "gpus"})) {
    const bool lightning = name.starts_with("lightning") || name.starts_with("fabric");
    made.processes_per_node = listed_devices(*devices, lightning, context);
  } else if (const Word* hosts = value_of(call, {"include", "i"})) {
    made.processes_per_node = included(*hosts, context);
  } else if (!call.complete) {
    made.processes_per_node = {Unknown{}, made.launcher_place};
  } else if (name == "deepspeed" || name == "ds" || name.starts_with("paddle") ||
             name == "fleetrun") {
    made.processes_per_node = devices_per_node(context);
  } else {
    made.processes_per_node = number(1, made.launcher_place);
  }
}

}  // namespace schedmate::command
