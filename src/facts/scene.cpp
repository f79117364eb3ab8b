// SPDX-License-Identifier: Apache-2.0
#include "facts/scene.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "facts/settings.hpp"
#include "python/interpreter/observe.hpp"

namespace schedmate::facts {
namespace {

/// torch.distributed.launch and deepspeed hand each process its rank as a word.
bool hands_out_ranks(const command::Launch& launch) {
  if (launch.launchers.empty()) return false;
  const std::string& by = launch.launchers.back();
  if (by == "torch.distributed.launch") return launch.settings.find("use_env") == nullptr;
  return (by == "deepspeed" || by == "ds") && launch.settings.find("no_local_rank") == nullptr;
}

python::PythonRun run_of(const JobSource& job, const command::Launch& launch) {
  python::PythonRun run{.script = launch.script,
                        .module = launch.module,
                        .function = launch.function,
                        .args = launch.args,
                        .env = launch.env,
                        .cwd = launch.cwd};
  if (hands_out_ranks(launch))
    run.args.insert(run.args.begin(), command::Word{"--local_rank=0", launch.launcher_place});
  run.nodes = std::max(1, job.nodes);
  run.gpus_per_node = std::max(1, job.gpus / run.nodes);
  const auto started = launch.processes_per_node.number();
  run.processes = launch.launchers.empty() ? 1 : run.gpus_per_node * run.nodes;
  if (started && *started >= 1) run.processes = static_cast<int>(*started) * run.nodes;
  return run;
}

}  // namespace

bool is_of_training(const python::Call& call) {
  constexpr std::array steps{"step",
                             "backward",
                             "fit",
                             "train",
                             "train_step",
                             "minimize",
                             "train_batch",
                             "train_on_batch",
                             "learn",
                             "apply_gradients",
                             "value_and_grad",
                             "fit_generator",
                             "step_update",
                             "train_model",
                             "grad",
                             "launch",
                             "generate",
                             "predict",
                             "evaluate",
                             "test",
                             "train_and_evaluate"};
  const std::string_view callee = call.callee;
  const auto name = callee.substr(callee.rfind('.') + 1);
  const bool by_runner = callee.ends_with("Runner().run") || callee.ends_with("build_runner().run");
  return by_runner || std::ranges::find(steps, name) != steps.end();
}

namespace {

/// What the repository calls itself.
Value title_of(tree::Tree& tree) {
  constexpr int first_lines = 30;
  for (const std::string file : {"README.md", "readme.md", "README.rst"}) {
    if (!tree.is_file(file)) continue;
    const auto text = tree.read(file);
    if (!text) continue;
    int line = 0;
    for (const auto each : split((*text)->text, '\n')) {
      if (++line > first_lines) break;
      const auto marks = each.find_first_not_of('#');
      if (marks == 0 || marks > 3 || each[marks] != ' ') continue;
      const std::string heading(trim(each.substr(marks)));
      return {heading,
              std::make_shared<const Place>(Place{file, line, heading, FactSource::code, {}})};
    }
  }
  return {};
}

}  // namespace

std::string_view Setting::leaf() const {
  const std::string_view all = key;
  const auto dot = all.rfind('.');
  return dot == std::string_view::npos ? all : all.substr(dot + 1);
}

int Scene::gpus_per_node() const { return std::max(1, job.gpus / std::max(1, job.nodes)); }

namespace {

void put_in_order(std::vector<Scene::Meant>& found) {
  using Meant = Scene::Meant;
  std::ranges::stable_sort(found, {}, [](const Meant& meant) {
    return std::tuple(meant.setting->precedence, !meant.setting->read, meant.trust);
  });
  // What the command says of a key replaces what a config says of the same.
  std::erase_if(found, [&](const Meant& meant) {
    if (meant.setting->precedence != Precedence::config) return false;
    return std::ranges::any_of(found, [&](const Meant& other) {
      return other.setting->precedence == Precedence::given &&
             other.setting->key == meant.setting->key && !other.setting->value.is_unknown();
    });
  });
}

}  // namespace

const std::vector<Scene::Meant>& Scene::meant(std::string_view field) const {
  static const std::vector<Meant> none;
  if (by_field_.empty()) {
    for (const Setting& setting : settings) {
      for (const KeyMeaning& key : keys->find(setting.key))
        by_field_[key.field].push_back({&setting, key.meaning, key.trust});
    }
    for (auto& [name, found] : by_field_) put_in_order(found);
  }
  const auto found = by_field_.find(field);
  return found == by_field_.end() ? none : found->second;
}

std::vector<const python::Call*> Scene::calls(std::string_view name) const {
  std::vector<const python::Call*> found;
  for (const python::Call& call : seen.calls) {
    const std::string_view callee = call.callee;
    const bool ends = callee.ends_with(name) && callee.size() > name.size() &&
                      callee[callee.size() - name.size() - 1] == '.';
    if (callee == name || ends) found.push_back(&call);
  }
  return found;
}

bool Scene::imports(std::string_view module) const {
  return std::ranges::any_of(seen.imports.all(), [&](const Dict::Entry& entry) {
    const std::string_view name = entry.key;
    return name == module ||
           (name.starts_with(module) && name.size() > module.size() && name[module.size()] == '.');
  });
}

Scene read_scene(tree::Tree& tree, const JobSource& job, const command::Launch& launch) {
  Scene scene;
  scene.job = job;
  scene.launch = launch;
  const std::size_t already = tree.files_read().size();
  if (launch.python && launch.script.empty() && launch.module.empty()) {
    tree.degrade(launch.program + " is not in the tree");
  } else if (launch.python) {
    if (auto seen = python::observe(tree, run_of(job, launch))) {
      scene.seen = std::move(*seen);
      scene.followed = !scene.seen.files.empty();
      scene.trains = std::ranges::any_of(scene.seen.calls, is_of_training);
    } else {
      tree.degrade(seen.error().message);
    }
  }
  scene.settings = gather_settings(tree, launch, scene.seen);
  scene.title = title_of(tree);
  const auto& read = tree.files_read();
  scene.closure.assign(read.begin() + static_cast<std::ptrdiff_t>(std::min(already, read.size())),
                       read.end());
  return scene;
}

const Value* argument(const python::Call& call, std::string_view name, std::size_t position) {
  if (const Value* named = call.named.find(name)) return named;
  return position < call.args.size() ? &call.args[position] : nullptr;
}

std::vector<Evidence> evidence_of(const PlacePtr& place) {
  std::vector<Evidence> lines;
  for (PlacePtr at = place; at != nullptr && lines.size() < 6; at = at->from) {
    const Evidence line{at->file, at->line, at->text};
    const bool is_known = std::ranges::any_of(lines, [&](const Evidence& other) {
      return other.file == line.file && other.line == line.line && other.text == line.text;
    });
    if (!line.file.empty() && !line.text.empty() && !is_known) lines.push_back(line);
  }
  return lines;
}

}  // namespace schedmate::facts
