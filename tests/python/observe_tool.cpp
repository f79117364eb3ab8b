// SPDX-License-Identifier: Apache-2.0

/// Shows what observe() sees of a script: observe_tool ROOT SCRIPT [--cwd DIR] [--gpus N]
/// [ARGS...].

#include <fmt/format.h>

#include <chrono>

#include "python/interpreter/observe.hpp"

namespace schedmate {
namespace {

std::string shown(const code::Value& value, int depth = 0) {
  if (const auto* made = dynamic_cast<python::Made*>(value.object())) return made->callee + "()";
  if (const auto* symbol = dynamic_cast<python::Symbol*>(value.object())) return symbol->name;
  if (const auto* instance = dynamic_cast<python::Instance*>(value.object()))
    return fmt::format("<{}>", instance->type);
  if (const auto* open = std::get_if<code::Unknown>(&value.data)) {
    if (open->may_be == nullptr || depth > 2) return "?";
    std::string all = "?(";
    for (const code::Value& each : *open->may_be)
      all += (all.size() > 2 ? " | " : "") + shown(each, depth + 1);
    return all + ")";
  }
  return code::repr(value).substr(0, 120);
}

std::string at(const code::PlacePtr& place) {
  return place == nullptr ? "-" : fmt::format("{}:{}", place->file, place->line);
}

void print_calls(const python::Observation& seen) {
  for (const python::Call& call : seen.calls) {
    std::string arguments;
    for (const code::Value& value : call.args)
      arguments += (arguments.empty() ? "" : ", ") + shown(value);
    for (const auto& [name, value] : call.named.all())
      arguments += (arguments.empty() ? "" : ", ") + name + "=" + shown(value);
    fmt::print("call {}{}{}({})  [{} in {}.{}]\n", call.certain ? "" : "? ",
               std::string(static_cast<std::size_t>(call.loops) * 2, ' '), call.callee, arguments,
               at(call.place), call.inside_class, call.function);
  }
}

void print_rest(const python::Observation& seen) {
  for (const python::Loop& loop : seen.loops) {
    fmt::print("loop {}{}{} in {} : {} last={} bound={} [{}]\n", loop.certain ? "" : "? ",
               std::string(static_cast<std::size_t>(loop.loops) * 2, ' '), loop.target,
               loop.source_text, shown(loop.iterable), loop.last ? *loop.last : -1,
               shown(loop.bound), at(loop.place));
  }
  for (const python::Flag& flag : seen.flags)
    fmt::print("flag {} = {} (default {}){}{} [{}]\n", flag.name, shown(flag.value),
               shown(flag.fallback), flag.given ? " given" : "", flag.read ? " read" : "",
               at(flag.declared));
  for (const auto& config : seen.configs)
    fmt::print("config {} {} {}\n", config.how, config.file, shown(config.value));
  for (const auto& instance : seen.instances) {
    std::string bases;
    for (const auto& base : instance->bases) bases += " " + base;
    fmt::print("instance {} ({}){}\n", instance->type, instance->file, bases);
  }
  for (const python::Stop& stop : seen.stops)
    fmt::print("stop {}{} [{}]\n", stop.certain ? "" : "? ", stop.reason, at(stop.place));
  for (const auto& [name, value] : seen.globals.all())
    fmt::print("global {} = {} [{}]\n", name, shown(value), at(value.place));
  for (const auto& file : seen.files) fmt::print("file {}\n", file);
}

int run(int count, char** words) {
  if (count < 3) return 2;
  auto tree = tree::Tree::open(words[1]);
  if (!tree) {
    fmt::print("{}\n", tree.error().message);
    return 3;
  }
  python::PythonRun run;
  run.script = words[2];
  run.cwd = ".";
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--cwd") {
      run.cwd = words[++i];
    } else if (word == "--gpus") {
      run.gpus_per_node = run.processes = std::atoi(words[++i]);
    } else if (word == "--module") {
      run.module = run.script;
      run.script.clear();
    } else if (word == "--console") {  // MODULE:FUNCTION, as a console script calls it
      const std::string_view entry = words[++i];
      run.module = entry.substr(0, entry.find(':'));
      run.function = entry.substr(entry.find(':') + 1);
    } else {
      auto place = std::make_shared<code::Place>();
      place->file = "<command>";
      place->text = word;
      run.args.push_back({word, std::move(place), true});
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seen = python::observe(*tree, run);
  const auto end = std::chrono::steady_clock::now();
  if (!seen) {
    fmt::print("{}\n", seen.error().message);
    return 3;
  }
  print_calls(*seen);
  print_rest(*seen);
  for (const auto& note : tree->degraded()) fmt::print("degraded {}\n", note);
  const std::chrono::duration<double, std::milli> wall = end - start;
  fmt::print("{} calls, {} files, {:.1f} ms\n", seen->calls.size(), seen->files.size(),
             wall.count());
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int count, char** words) { return schedmate::run(count, words); }
