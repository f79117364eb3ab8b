// SPDX-License-Identifier: Apache-2.0

/// sbatch, salloc and srun: which options count (those of the command line over variables over
/// #SBATCH lines), what the job finds in its environment, and what is started.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/programs.hpp"
#include "command/request.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

constexpr std::string_view header_mark = "#SBATCH";

/// The words behind "#SBATCH", as sbatch cuts them: quotes, backslashes, and '#' ends the line.
std::vector<std::string> words_of_header(std::string_view line) {
  std::vector<std::string> words;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool blank = quote == 0 && (c == ' ' || c == '\t' || c == '\r');
    if (quote == 0 && c == '#') break;
    if (blank) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  return words;
}

using Components = std::vector<SlurmOptions>;

/// `-N 2` is shown with its option, where the command has it so.
Word shown_with_option(const Shell& shell, const Option& option) {
  Word word = option.value.value_or(Word{});
  if (!word.place || word.place->file != "<command>" || word.place->text != word.text) return word;
  for (const std::string_view dashes : {"--", "-"}) {
    const std::string whole = fmt::format("{}{} {}", dashes, option.name, word.text);
    if (!shell.source().command.contains(whole)) continue;
    auto place = std::make_shared<Place>(*word.place);
    place->text = whole;
    word.place = std::move(place);
    break;
  }
  return word;
}

void keep(const Shell& shell, const ProgramCall& call, SlurmOptions& into, const PlacePtr& use) {
  for (const Option& option : call.options) {
    const SlurmOption* const row = find_slurm_option(option.name);
    if (row == nullptr) continue;
    Word word = shown_with_option(shell, option);
    if (!word.place) word.place = use;
    into[long_name(*row)] = std::move(word);
  }
}

/// Where each line of a text stands that is handed to sbatch.
std::vector<PlacePtr> line_places(const Text& text) {
  std::vector<PlacePtr> places;
  bool starts = true;
  for (const Piece& piece : text) {
    for (const char c : piece.text) {
      if (starts) places.push_back(piece.place);
      starts = c == '\n';
    }
  }
  return places;
}

/// The options of a script's #SBATCH lines, each with its line; components end at "hetjob". The
/// lines stand at `places`, or else in the file `path`.
Components read_header(const Shell& shell, std::string_view text, const std::string& path,
                       std::span<const PlacePtr> places) {
  Components made{1};
  std::size_t number = 0;
  constexpr std::size_t most_lines = 2000;
  for (const auto raw : split(text, '\n')) {
    if (++number > most_lines) break;
    const auto line = trim(raw);
    if (!line.starts_with('#') && !line.empty()) break;
    if (!raw.starts_with(header_mark)) continue;
    Place where{path, static_cast<int>(number), "", FactSource::shell, {}};
    if (number <= places.size() && places[number - 1]) where = *places[number - 1];
    where.text = line;
    const auto place = std::make_shared<const Place>(std::move(where));
    std::vector<Word> words{{"sbatch", place, true}};
    for (auto& one : words_of_header(raw.substr(header_mark.size()))) {
      const bool known = one.find('$') == std::string::npos;  // sbatch itself expands nothing
      words.push_back({std::move(one), place, known});
    }
    if (words.size() == 2 && (words[1].text == "hetjob" || words[1].text == "packjob")) {
      made.emplace_back();
    } else if (const auto call = read_program(words, 0)) {
      keep(shell, *call, made.back(), place);
    }
  }
  return made;
}

void merge(const SlurmOptions& more, SlurmOptions& into) {
  for (const auto& [name, word] : more) into[name] = word;
}

/// SBATCH_GRES and the like, as the shell or the command itself sets them.
SlurmOptions from_variables(Shell& shell, std::string_view by, const Environment& env) {
  const std::string prefix = by == "sbatch" ? "SBATCH_" : by == "salloc" ? "SALLOC_" : "SLURM_";
  SlurmOptions made;
  for (const SlurmOption& option : request_options()) {
    for (const auto input : split(option.inputs, ' ')) {
      if (input.empty() || (input.front() != '*' && by != "srun")) continue;
      const std::string name =
          input.front() == '*' ? prefix + std::string(input.substr(1)) : std::string(input);
      if (const auto given = env.find(name); given != env.end()) {
        made[long_name(option)] = given->second;
        continue;
      }
      const auto set = shell.state().variables.find(name);
      if (set == shell.state().variables.end() || !set->second.exported) continue;
      if (!set->second.items.empty())
        made[long_name(option)] = to_word(set->second.items.front(), nullptr);
    }
  }
  return made;
}

/// The components that `sbatch A : B script` names, and where the script stands.
struct CommandLine {
  Components components{1};
  std::size_t script = 0;  ///< argv.size() when there is none
};

std::optional<CommandLine> read_command_line(const Shell& shell, std::span<const Word> argv) {
  CommandLine made;
  constexpr std::size_t most_components = 64;
  std::size_t at = 0;
  while (true) {
    std::vector<Word> words{argv[0]};
    words.insert(words.end(), argv.begin() + static_cast<std::ptrdiff_t>(at) + 1, argv.end());
    const auto call = read_program(words, 0);
    if (!call) return std::nullopt;
    keep(shell, *call, made.components.back(), argv[0].place);
    at += call->command;
    made.script = std::min(at, argv.size());
    if (made.script >= argv.size() || argv[made.script].text != ":") return made;
    if (made.components.size() == most_components) return made;
    made.components.emplace_back();
  }
}

void set(Shell& shell, std::string_view name, Text value) {
  auto& variable = shell.state().variables[std::string(name)];
  variable.items = {std::move(value)};
  variable.exported = true;
}

void set_number(Shell& shell, std::string_view names, std::int64_t count, const PlacePtr& place) {
  for (const auto name : split(names, ' ')) set(shell, name, literal(std::to_string(count), place));
}

/// What the job's script finds in its environment.
void set_outputs(Shell& shell, const SlurmOptions& given, const Request& request) {
  for (const SlurmOption& option : request_options()) {
    const auto found = given.find(long_name(option));
    const bool is_said = long_name(option) == "nodes" && shell.source().nodes > 0;
    if (found == given.end() || option.outputs.empty() || is_said) continue;
    for (const auto name : split(option.outputs, ' ')) set(shell, name, to_text(found->second));
  }
  // What the caller says of the request holds against the script.
  for (const char* name :
       {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"})
    shell.state().variables[name].exported = true;
  const auto nodes = request.number("nodes");
  if (nodes && shell.source().nodes == 0)
    set_number(shell, "SLURM_NNODES SLURM_JOB_NUM_NODES", *nodes,
               request.find("nodes")->value.place);
  const auto gpus = request.number("gpus");
  if (!gpus || *gpus == 0 || shell.source().gpus > 0) return;
  set_number(shell, "SLURM_GPUS_ON_NODE SLURM_GPUS_PER_NODE",
             *gpus / std::max<std::int64_t>(nodes.value_or(1), 1),
             request.find("gpus")->value.place);
}

void set_task_variables(Shell& shell, const SlurmOptions& given, const Request& request,
                        const PlacePtr& place) {
  auto& variables = shell.state().variables;
  const Asked* const tasks = request.find("tasks");
  const auto count = request.number("tasks");
  if (count && given.contains("ntasks-per-node"))
    set_number(shell, "SLURM_NTASKS SLURM_NPROCS", *count, tasks->value.place);
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_NODELIST",
                           "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"})
    variables[name].items = {unknown(fmt::format("${}", name), place)};
  variables["SLURM_SUBMIT_DIR"].items = {
      literal(std::string(tree_root) + "/" + shell.state().cwd, place)};
}

void set_array(Shell& shell, const Request& request) {
  const Asked* const tasks = request.find("array_tasks");
  const auto count = request.number("array_tasks");
  if (!count) return;
  shell.state().runs *= static_cast<int>(*count);
  set(shell, "SLURM_ARRAY_TASK_ID", unknown("$SLURM_ARRAY_TASK_ID", tasks->value.place));
  set_number(shell, "SLURM_ARRAY_TASK_COUNT", *count, tasks->value.place);
}

/// --export: the variables that it sets; without ALL, of the submitter's only those that it names.
Environment apply_export(Shell& shell, const SlurmOptions& given) {
  Environment sets;
  const auto found = given.find("export");
  if (found == given.end()) return sets;
  std::vector<std::string_view> names;
  for (const auto one : split(found->second.text, ',')) {
    const auto equals = one.find('=');
    names.push_back(one.substr(0, equals));
    if (equals == std::string_view::npos) continue;
    sets[std::string(names.back())] = {std::string(one.substr(equals + 1)), found->second.place,
                                       found->second.known};
  }
  if (found->second.known && std::ranges::find(names, "ALL") == names.end()) {
    std::erase_if(shell.state().variables, [&](const auto& entry) {
      return !entry.first.starts_with("SLURM_") &&
             std::ranges::find(names, entry.first) == names.end();
    });
  }
  return sets;
}

/// Submissions to schedulers that are not read: the program, and one of the words that follow it.
struct UnreadSubmission {
  std::string_view program;
  std::string_view words = {};  ///< with blanks between them; "" = any
};
constexpr auto unread_submissions = std::to_array<UnreadSubmission>({
    {"bsub"},
    {"qsub"},
    {"qrsh"},
    {"msub"},
    {"oarsub"},
    {"condor_submit"},
    {"condor_run"},
    {"pjsub"},
    {"llsubmit"},
    {"jsub"},
    {"dsub"},
    {"swsub"},
    {"yhbatch"},
    {"cqsub"},
    {"spark-submit"},
    {"condor_submit_dag"},
    {"flux", "submit run batch alloc bulksubmit"},
    {"ray", "submit exec"},
    {"sky", "launch exec jobs spot"},
    {"kubectl", "apply create run replace"},
    {"oc", "apply create run replace"},
    {"helm", "install upgrade"},
    {"yarn", "jar submit app application"},
    {"argo", "submit"},
    {"vcctl", "run"},
    {"runai", "submit submit-dist training"},
    {"arena", "submit"},
    {"dstack", "apply run"},
    {"ngc", "run"},
    {"det", "create"},
    {"torchx", "run"},
    {"anyscale", "submit"},
    {"modal", "run deploy"},
    {"gcloud", "custom-jobs submit"},
    {"aws", "submit-job create-training-job"},
    {"az", "ml"},
    {"beaker", "create run"},
    {"gantry", "run"},
    {"mcli", "run"},
    {"clearml-task"},
});

bool is_unread(std::string_view program, std::span<const Word> argv) {
  return std::ranges::any_of(unread_submissions, [&](const UnreadSubmission& one) {
    if (one.program != program) return false;
    const auto words = split(one.words, ' ');
    return one.words.empty() || std::ranges::any_of(argv, [&](const Word& word) {
             return std::ranges::find(words, word.text) != words.end();
           });
  });
}

}  // namespace

/// Behind wrappers, too: `nohup bsub ...`.
bool Shell::is_unread_submission(std::span<const Word> argv) {
  std::size_t at = 0;
  while (at < argv.size()) {
    const auto call = read_program(argv, at);
    if (!call || call->program->role == Role::submission || call->command <= at) break;
    at = call->command;
  }
  if (at >= argv.size() || !argv[at].known) return false;
  constexpr std::size_t most_words = 6;
  const std::string program(program_name(argv[at]));
  const auto rest = argv.subspan(at + 1);
  if (!is_unread(program, rest.first(std::min(most_words, rest.size())))) return false;
  note_here(fmt::format("submission by {} is not read; give the command it runs", program));
  if (std::ranges::find(made_.unread, program) == made_.unread.end())
    made_.unread.push_back(program);
  return true;
}

RequestPtr Shell::keep_request(const Request& request) {
  for (const std::string& text : request.notes) note_here(text);
  auto kept = std::make_shared<const Request>(request);
  constexpr std::size_t most = 100;
  if (made_.requests.size() < most && silent_ == 0) made_.requests.push_back(kept);
  return kept;
}

/// `srun -N1 one : -N2 other`: what stands behind a ':' is another component.
RequestPtr read_step_request(Shell& shell, std::span<const Word> argv, const Environment& env) {
  auto line = read_command_line(shell, argv);
  if (!line) return nullptr;
  for (std::size_t i = line->script; i < argv.size(); ++i) {
    if (argv[i].text != ":") continue;
    std::vector<Word> words{argv[0]};
    words.insert(words.end(), argv.begin() + static_cast<std::ptrdiff_t>(i) + 1, argv.end());
    const auto more = read_command_line(shell, words);
    if (!more) break;
    line->components.push_back(more->components.front());
  }
  Submitted submitted{std::string(program_name(argv[0])), argv[0].place, {}};
  for (const SlurmOptions& component : line->components) {
    submitted.components.push_back(from_variables(shell, submitted.by, env));
    merge(component, submitted.components.back());
  }
  return shell.keep_request(request_of(submitted));
}

namespace {

/// What sbatch is given to run, and its #SBATCH lines.
struct Batch {
  std::optional<std::string> path;
  const Word* wrap = nullptr;
  bool from_input = false;
  Components header{1};
};

Batch find_batch(Shell& shell, const CommandLine& line, std::span<const Word> argv) {
  Batch made;
  const auto wrap = line.components.front().find("wrap");
  const bool has_script = line.script < argv.size();
  if (wrap != line.components.front().end()) {
    made.wrap = &wrap->second;
  } else if (has_script) {
    made.path = shell_file(shell, argv[line.script], true);
    const auto file =
        made.path ? shell.tree().read(*made.path) : Result<const tree::TextFile*>(nullptr);
    if (file && *file != nullptr) made.header = read_header(shell, (*file)->text, *made.path, {});
  } else if (shell.input() != nullptr) {
    made.from_input = true;
    made.header =
        read_header(shell, written(*shell.input()), "<command>", line_places(*shell.input()));
  }
  return made;
}

/// Options without a ':' count for every component of the script.
void merge_sources(const SlurmOptions& variables, const Components& line, Components& into) {
  const bool single = line.size() == 1;
  if (!single && into.size() < line.size()) into.resize(line.size());
  for (std::size_t i = 0; i < into.size(); ++i) {
    merge(variables, into[i]);
    if (single || i < line.size()) merge(line[single ? 0 : i], into[i]);
  }
}

void start_batch(Shell& shell, const Batch& batch, std::span<const Word> script,
                 const Environment& env) {
  if (batch.wrap != nullptr) return shell.run_string(*batch.wrap, {}, env);
  if (batch.path) return shell.run_file(*batch.path, script.subspan(1), env);
  if (batch.from_input) return shell.run_input();
  if (script.empty()) return shell.note_here("sbatch is given neither a script nor --wrap");
  shell.note_here(
      fmt::format("the script that sbatch submits, '{}', is not in the tree", script[0].text));
}

}  // namespace

bool run_submission(Shell& shell, std::span<const Word> argv, const Environment& env) {
  if (program_name(argv[0]) != "sbatch") return false;
  const auto line = read_command_line(shell, argv);
  if (!line) return false;
  Batch batch = find_batch(shell, *line, argv);
  Components& components = batch.header;
  merge_sources(from_variables(shell, "sbatch", env), line->components, components);
  const SlurmOptions& given = components.front();
  const Request request = request_of({"sbatch", argv[0].place, components});
  shell.state().request = shell.keep_request(request);
  Environment all = env;
  for (auto& [name, word] : apply_export(shell, given)) all[name] = word;
  set_outputs(shell, given, request);
  set_array(shell, request);
  set_task_variables(shell, given, request, argv[0].place);
  if (const auto folder = given.find("chdir"); folder != given.end())
    shell.change_folder(to_text(folder->second));
  start_batch(shell, batch, argv.subspan(line->script), all);
  return true;
}

}  // namespace schedmate::command
