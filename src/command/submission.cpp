// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/programs.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

using Names = std::initializer_list<std::string_view>;

struct Setting {
  std::string_view option;     ///< names with blanks between them
  std::string_view variables;  ///< that Slurm sets from it
};
constexpr auto settings = std::to_array<Setting>({
    {"nodes N", "SLURM_NNODES SLURM_JOB_NUM_NODES"},
    {"ntasks n", "SLURM_NTASKS SLURM_NPROCS"},
    {"ntasks-per-node", "SLURM_NTASKS_PER_NODE"},
    {"cpus-per-task c", "SLURM_CPUS_PER_TASK"},
    {"gpus G", "SLURM_GPUS"},
    {"gpus-per-node", "SLURM_GPUS_PER_NODE SLURM_GPUS_ON_NODE"},
    {"gres", "SLURM_GPUS_ON_NODE SLURM_GPUS_PER_NODE"},
    {"gpus-per-task", "SLURM_GPUS_PER_TASK"},
    {"job-name J", "SLURM_JOB_NAME"},
    {"partition p", "SLURM_JOB_PARTITION"},
});

/// "gpu:a100:4" -> 4, "a100:4" -> 4, "gpu" -> 1.
std::optional<std::int64_t> gpu_count(std::string_view text) {
  for (const auto part : split(text, ',')) {
    const auto fields = split(part, ':');
    if (const auto count = parse_number<std::int64_t>(fields.back())) return count;
    if (part == "gpu") return 1;
  }
  return std::nullopt;
}

/// Tasks of "0-9", "1,3,5", "0-15:4", "0-9%2".
std::optional<std::int64_t> array_size(std::string_view text) {
  std::int64_t count = 0;
  for (const auto part : split(text.substr(0, text.find('%')), ',')) {
    const auto step_mark = part.find(':');
    const auto range = part.substr(0, step_mark);
    const auto dash = range.find('-');
    const auto first = parse_number<std::int32_t>(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<std::int32_t>(range.substr(dash + 1));
    const auto step = step_mark == std::string_view::npos
                          ? std::optional<std::int32_t>(1)
                          : parse_number<std::int32_t>(part.substr(step_mark + 1));
    if (!first || !last || !step || *step <= 0 || *last < *first) return std::nullopt;
    count += (std::int64_t{*last} - *first) / *step + 1;
  }
  return count;
}

void set(Shell& shell, std::string_view name, Text value) {
  auto& variable = shell.state().variables[std::string(name)];
  variable.items = {std::move(value)};
  variable.exported = true;
}

void apply(Shell& shell, const Option& option) {
  if (!option.value) return;
  const Word& value = *option.value;
  if (option.name == "array" || option.name == "a") {
    const auto count = value.known ? array_size(value.text) : std::nullopt;
    if (!count || *count > 100'000)
      return shell.note_here("the size of the job array is not known");
    shell.state().runs *= static_cast<int>(*count);
    set(shell, "SLURM_ARRAY_TASK_ID", unknown("$SLURM_ARRAY_TASK_ID", value.place));
    set(shell, "SLURM_ARRAY_TASK_COUNT", literal(std::to_string(*count), value.place));
    return;
  }
  if (option.name == "chdir" || option.name == "D") return shell.change_folder(to_text(value));
  for (const auto& setting : settings) {
    const auto names = split(setting.option, ' ');
    if (std::ranges::find(names, option.name) == names.end()) continue;
    Text text = to_text(value);
    if (setting.variables.contains("GPUS")) {
      const auto count = value.known ? gpu_count(value.text) : std::nullopt;
      if (!count) return;
      text = literal(std::to_string(*count), value.place);
    }
    for (const auto name : split(setting.variables, ' ')) set(shell, name, text);
  }
}

std::optional<std::int64_t> number_of(Shell& shell, std::string_view name) {
  const auto found = shell.state().variables.find(name);
  if (found == shell.state().variables.end() || found->second.items.empty()) return std::nullopt;
  const auto text = plain(found->second.items.front());
  return text ? parse_number<std::int64_t>(*text) : std::nullopt;
}

void complete(Shell& shell, const PlacePtr& place) {
  auto& variables = shell.state().variables;
  const auto nodes = number_of(shell, "SLURM_NNODES");
  const auto tasks_per_node = number_of(shell, "SLURM_NTASKS_PER_NODE");
  if (!variables.contains("SLURM_NTASKS") && nodes && tasks_per_node) {
    const auto from = place_of(variables["SLURM_NTASKS_PER_NODE"].items.front());
    set(shell, "SLURM_NTASKS", literal(std::to_string(*nodes * *tasks_per_node), from));
    set(shell, "SLURM_NPROCS", literal(std::to_string(*nodes * *tasks_per_node), from));
  }
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_NODELIST",
                           "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"})
    variables[name].items = {unknown(fmt::format("${}", name), place)};
  variables["SLURM_SUBMIT_DIR"].items = {
      literal(std::string(tree_root) + "/" + shell.state().cwd, place)};
}

/// The options of the script's #SBATCH lines, each with its line.
std::vector<Word> header_words(tree::Tree& tree, const std::string& path) {
  std::vector<Word> words{{"sbatch", nullptr, true}};
  const auto file = tree.read(path);
  if (!file) return words;
  constexpr int most_lines = 400;
  for (int i = 1; i <= std::min((*file)->lines(), most_lines); ++i) {
    auto line = trim((*file)->line(i));
    if (!line.starts_with('#') && !line.empty()) break;
    if (!line.starts_with("#SBATCH")) continue;
    auto place = std::make_shared<Place>();
    place->file = path;
    place->line = i;
    place->text = line;
    place->source = FactSource::shell;
    auto rest = line.substr(7);
    rest = rest.substr(0, rest.find(" #"));
    for (const auto& range : words_in(rest)) {
      std::string text(rest.substr(range.begin, range.end - range.begin));
      std::erase(text, '"');
      words.push_back({std::move(text), place, true});
    }
  }
  return words;
}

}  // namespace

bool run_submission(Shell& shell, std::span<const Word> argv, const Environment& env) {
  const auto call = read_program(argv, 0);
  if (!call || call->program->role != Role::submission) return false;
  constexpr std::string_view wrap_names[] = {"wrap"};
  const Option* const wrap = call->option(wrap_names);
  std::optional<std::string> path;
  if (call->command < argv.size()) path = path_in_tree(shell.state().cwd, argv[call->command].text);
  if (wrap == nullptr && (!path || !shell.tree().is_file(*path))) {
    shell.note_here("the script that sbatch submits is not in the tree");
    return true;
  }
  if (path && wrap == nullptr) {
    const auto words = header_words(shell.tree(), *path);
    if (const auto header = read_program(words, 0)) {
      for (const auto& option : header->options) apply(shell, option);
    }
  }
  for (const auto& option : call->options) apply(shell, option);
  complete(shell, argv[0].place);
  Environment all = env;
  for (const auto& [name, word] : call->env) all[name] = word;
  if (wrap != nullptr && wrap->value) {
    shell.run_string(*wrap->value, {}, all);
  } else if (path) {
    shell.run_file(*path, argv.subspan(call->command + 1), all);
  }
  return true;
}

}  // namespace schedmate::command
