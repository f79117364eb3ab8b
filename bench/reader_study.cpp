// SPDX-License-Identifier: Apache-2.0
/// What `schedmate facts` says of labelled jobs, for scripts/readers.py and scripts/confidence.py.
///   reader_study facts CASES TREES          one line of JSON a job: facts, what confidence is made
///                                           of, models of libraries and programs that it uses
///   reader_study off CASES TREES [MODEL...] and one for each of these models: the facts without it
/// CASES as in eval/README.md; TREES holds OWNER__NAME. Jobs are read in this process, unconfined.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/large_stack.hpp"
#include "bench/fake_llm/witness.hpp"
#include "command/programs.hpp"
#include "core/facts_json.hpp"
#include "facts/extract.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::embedded {
extern const std::string_view keys_toml, confidence_toml;
}

namespace schedmate::bench {
namespace {

using Json = nlohmann::ordered_json;
namespace natives = python::natives;

constexpr std::size_t stack_bytes = std::size_t{192} << 20U;

/// Which models a job asked for, and which one it does not get. Read by the functions below that
/// stand in for the weak ones of the library.
struct Switch {
  std::set<std::string> used;
  std::string off;

  bool on(const std::string& part) {
    used.insert(part);
    return part != off;
  }
};
Switch& the_switch() {
  static Switch made;
  return made;
}

struct Part {
  const char* name;
  void (*add)(natives::NativeTable&);
};
/// In the order of find_native.
constexpr Part parts[] = {{"argparse", natives::add_argparse},
                          {"absl", natives::add_absl},
                          {"mlxu", natives::add_mlxu},
                          {"click", natives::add_click},
                          {"tyro", natives::add_tyro},
                          {"typed", natives::add_typed},
                          {"typer", natives::add_typer},
                          {"lightning_cli", natives::add_lightning_cli},
                          {"hf_parser", natives::add_hf_parsers},
                          {"dataclasses", natives::add_dataclasses},
                          {"files", natives::add_files},
                          {"omegaconf", natives::add_omegaconf},
                          {"hydra", natives::add_hydra},
                          {"hydra_overrides", natives::add_hydra_overrides},
                          {"yacs", natives::add_yacs},
                          {"mmengine", natives::add_mmengine},
                          {"attribute_dicts", natives::add_attribute_dicts},
                          {"speechbrain", natives::add_speechbrain},
                          {"hparams", natives::add_hparams},
                          {"gin", natives::add_gin},
                          {"modules", natives::add_modules},
                          {"os", natives::add_os},
                          {"path_object", natives::add_paths},
                          {"path_managers", natives::add_path_managers},
                          {"math", natives::add_math},
                          {"functional", natives::add_functional},
                          {"environment", natives::add_environment}};

struct Owned {
  python::Native native;
  std::string part;
};

const std::map<std::string, Owned, std::less<>>& owned_natives() {
  static const auto made = [] {
    std::map<std::string, Owned, std::less<>> all;
    natives::NativeTable table;
    for (const Part& part : parts) {
      part.add(table);
      for (const auto& [name, native] : table) all.try_emplace(name, Owned{{}, part.name});
    }
    for (auto& [name, owned] : all) owned.native = table.find(name)->second;
    return all;
  }();
  return made;
}

JobSource source_of(const LabelledJob& labelled) {
  return {.root = labelled.tree,
          .workdir = labelled.workdir,
          .command = labelled.command,
          .gpus = labelled.gpus,
          .nodes = labelled.nodes,
          .gpu_type = {}};
}

/// The facts of one job, and the features of each.
Json read(const LabelledJob& one, FactRules& rules) {
  Json features = Json::object();
  const auto probability = rules.confidence.probability;
  rules.confidence.probability = [&](std::string_view field, const Features& seen) {
    features[std::string(field)] = seen;
    return probability(field, seen);
  };
  Json row = {{"id", one.id}};
  on_large_stack(stack_bytes, [&] {
    auto tree = tree::Tree::open(one.tree);
    const auto facts =
        tree ? facts::extract_facts_in(*tree, source_of(one), rules) : tl::unexpected(tree.error());
    if (facts) row["facts"] = Json::parse(facts_json(*facts, FactsDetail::found)).at("facts");
  });
  rules.confidence.probability = probability;
  row["features"] = std::move(features);
  return row;
}

/// The job without each model that it uses, of those that are asked for.
void read_without(const LabelledJob& one, const Json& whole, const std::set<std::string>& asked,
                  FactRules& rules) {
  for (const std::string& part : std::set<std::string>(the_switch().used)) {
    if (!asked.empty() && !asked.contains(part)) continue;
    the_switch().off = part;
    const Json without = read(one, rules);
    Json row = {{"id", one.id}, {"off", part}};
    if (without.value("facts", Json()) != whole.value("facts", Json()))
      row["facts"] = without.value("facts", Json());
    fmt::print("{}\n", row.dump());
  }
}

int run(bool without, const std::vector<LabelledJob>& cases, const std::set<std::string>& asked) {
  auto keys = facts::Keys::parse(embedded::keys_toml);
  auto tables = facts::Tables::load();
  auto confidence = read_confidence(embedded::confidence_toml, "rules/confidence.toml");
  if (!keys || !tables || !confidence || cases.empty()) {
    fmt::print(stderr, "reader_study: no rules, or no cases\n");
    return 3;
  }
  FactRules rules{*std::move(keys), *std::move(tables), *std::move(confidence)};
  for (const LabelledJob& one : cases) {
    the_switch() = {};
    Json whole = read(one, rules);
    whole["used"] = the_switch().used;
    fmt::print("{}\n", whole.dump());
    if (without) read_without(one, whole, asked, rules);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace schedmate::bench

// Stand in for the weak functions of the library.
bool schedmate::command::is_modelled(std::string_view name) {
  return bench::the_switch().on(fmt::format("command {}", name));
}

const schedmate::python::Native* schedmate::python::natives::find_native(std::string_view dotted) {
  const auto& all = bench::owned_natives();
  const auto found = all.find(dotted);
  const bool on = found != all.end() && bench::the_switch().on(found->second.part);
  return on ? &found->second.native : nullptr;
}

std::optional<schedmate::code::Value> schedmate::python::natives::native_constant(
    Machine& machine, std::string_view dotted) {
  const auto of = [](const char* part, std::optional<Value> value) {
    return value && bench::the_switch().on(part) ? std::move(value) : std::nullopt;
  };
  if (dotted.ends_with("flags.FLAGS")) return of("absl", absl_flags(machine));
  if (auto found = of("modules", modules_constant(dotted))) return found;
  if (auto found = of("os", os_constant(machine, dotted))) return found;
  if (auto found = of("math", math_constant(dotted))) return found;
  return of("environment", environment_constant(dotted));
}

int main(int count, char** words) {
  const std::string what = count >= 4 ? words[1] : "";
  if (what != "off" && (what != "facts" || count > 4)) {
    fmt::print(stderr, "usage: reader_study facts|off CASES TREES [MODEL...]\n");
    return 2;
  }
  return schedmate::bench::run(what == "off", schedmate::bench::read_jobs(words[2], words[3]),
                               {words + 4, words + count});
}
