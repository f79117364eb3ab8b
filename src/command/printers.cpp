// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/programs.hpp"
#include "command/shell.hpp"

namespace schedmate::command {
namespace {

Text line(std::string text, const PlacePtr& place) {
  return literal(std::move(text) + "\n", place);
}

Text echo(Shell&, const Arguments& argv) {
  Text all;
  std::size_t at = 1;
  bool ends_line = true;
  for (; at < argv.size(); ++at) {
    const auto option = word_at(argv, at);
    if (option != "-n" && option != "-e" && option != "-ne" && option != "-E" && option != "-en")
      break;
    ends_line = ends_line && !option.contains('n');
  }
  for (std::size_t i = at; i < argv.size(); ++i) {
    if (i > at) append(all, literal(" ", argv[i].use));
    append(all, argv[i].text);
  }
  if (ends_line) append(all, literal("\n", argv[0].use));
  return all;
}

Text cat(Shell& shell, const Arguments& argv) {
  Text all;
  bool any = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto name = plain(argv[i].text);
    if (name && name->starts_with('-') && *name != "-") continue;
    any = true;
    const auto content = name ? shell.content_of(*name, argv[i].use) : std::nullopt;
    if (!content) return not_known(argv);
    append(all, *content);
  }
  if (any) return all;
  return shell.input() != nullptr ? *shell.input() : Text();
}

Text folder_or_base(Shell&, const Arguments& argv) {
  std::size_t at = 1;
  std::string suffix;
  while (at < argv.size() && word_at(argv, at).starts_with("-")) {
    if (word_at(argv, at) == "-s") suffix = word_at(argv, ++at);
    ++at;
  }
  if (at >= argv.size()) return not_known(argv);
  const bool base = word_at(argv, 0) == "basename";
  if (base && at + 1 < argv.size()) suffix = word_at(argv, at + 1);
  // The end of a path is known even if its start is not.
  const bool end_known = base && !argv[at].text.empty() && argv[at].text.back().known &&
                         argv[at].text.back().text.contains('/');
  if (!known(argv[at].text) && !end_known) return not_known(argv);
  const auto path = end_known ? argv[at].text.back().text : word_at(argv, at);
  std::string made(base ? base_name(path) : folder_name(path));
  if (!suffix.empty() && made.size() > suffix.size() && made.ends_with(suffix))
    made.resize(made.size() - suffix.size());
  return line(std::move(made), place_of(argv[at].text));
}

Text folder(Shell& shell, const Arguments& argv) {
  const auto& cwd = shell.state().cwd;
  return line(std::string(tree_root) + (cwd == "." ? "" : "/" + cwd), argv[0].use);
}

Text real_path(Shell& shell, const Arguments& argv) {
  const auto last = argv.size() > 1 ? plain(argv.back().text) : std::nullopt;
  const auto path = last ? path_in_tree(shell.state().cwd, *last) : std::nullopt;
  if (!path) return not_known(argv);
  return line(std::string(tree_root) + (*path == "." ? "" : "/" + *path),
              place_of(argv.back().text));
}

Text sequence(Shell&, const Arguments& argv) {
  std::vector<std::int64_t> numbers;
  std::string separator = "\n";
  std::size_t width = 0;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (word_at(argv, i).starts_with("-s")) {
      const bool apart = word_at(argv, i).size() == 2;
      separator = apart ? word_at(argv, i + 1) : word_at(argv, i).substr(2);
      i += apart ? 1 : 0;
    } else if (word_at(argv, i) == "-w") {
      width = word_at(argv, argv.size() - 1).size();
    } else {
      const auto text = plain(argv[i].text);
      const auto number = text ? parse_number<std::int64_t>(*text) : std::nullopt;
      if (!number) return not_known(argv);
      numbers.push_back(*number);
    }
  }
  if (numbers.empty() || numbers.size() > 3) return not_known(argv);
  const std::int64_t last = numbers.back();
  const std::int64_t first = numbers.size() > 1 ? numbers.front() : 1;
  const std::int64_t step = numbers.size() > 2 ? numbers[1] : 1;
  constexpr std::int64_t most = 20'000;
  constexpr std::int64_t largest = 1'000'000'000;
  if (step == 0 || std::abs(last) > largest || std::abs(first) > largest ||
      std::abs(step) > largest || (last - first) / step > most)
    return not_known(argv);
  std::string made;
  for (std::int64_t i = first; step > 0 ? i <= last : i >= last; i += step)
    made += fmt::format("{}{:0{}}", made.empty() ? "" : separator, i, width);
  return line(std::move(made), argv.size() > 1 ? argv.back().use : argv[0].use);
}

/// As many lines as the request says; what stands in them is not known.
Text unknown_lines(std::string_view what, int count, std::string asked) {
  auto place = std::make_shared<Place>();
  place->file = "<request>";
  place->text = std::move(asked);
  place->source = FactSource::environment;
  Text made;
  for (int i = 0; i < std::max(count, 0); ++i) {
    made.push_back({std::string(what), place, false});
    made.push_back({"\n", place, true});
  }
  return made;
}

/// `scontrol show hostnames`: a line for each node.
Text list_hosts(Shell& shell, const Arguments& argv) {
  const bool lists =
      argv.size() > 2 && word_at(argv, 1) == "show" && word_at(argv, 2).starts_with("host");
  if (!lists) return not_known(argv);
  const int nodes = resolved(shell.source(), shell.state().request).nodes;
  return unknown_lines("host", nodes, fmt::format("nodes={}", nodes));
}

/// A line for each GPU of a node.
Text list_gpus(Shell& shell, const Arguments& argv) {
  bool lists = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto text = word_at(argv, i);
    lists = lists || text == "-L" || text == "--list-gpus" ||
            (text.starts_with("--query-gpu") && !text.ends_with("count"));
    if (text.starts_with("--format") && !text.contains("noheader")) return not_known(argv);
  }
  if (!lists) return not_known(argv);
  const auto source = resolved(shell.source(), shell.state().request);
  return unknown_lines("GPU", source.gpus / std::max(source.nodes, 1),
                       fmt::format("gpus={}", source.gpus));
}

/// `python -c "import torch; print(torch.cuda.device_count())"` is a question for the GPU count.
std::optional<Text> device_count(Shell& shell, const Arguments& argv) {
  const bool asks = argv.size() == 3 && word_at(argv, 1) == "-c" &&
                    word_at(argv, 2).contains("print(torch.cuda.device_count())");
  if (!asks) return std::nullopt;
  const auto source = resolved(shell.source(), shell.state().request);
  auto place = std::make_shared<Place>();
  place->file = "<request>";
  place->text = fmt::format("gpus={}", source.gpus);
  place->source = FactSource::environment;
  return line(std::to_string(source.gpus / std::max(source.nodes, 1)), std::move(place));
}

}  // namespace

Text run_filter(Shell& shell, const Arguments& argv);

bool run_printer(Shell& shell, const Arguments& argv) {
  using Printer = Text (*)(Shell&, const Arguments&);
  static const std::map<std::string_view, Printer> table{
      {"echo", echo},
      {"cat", cat},
      {"dirname", folder_or_base},
      {"basename", folder_or_base},
      {"pwd", folder},
      {"realpath", real_path},
      {"readlink", real_path},
      {"seq", sequence},
      {"nvidia-smi", list_gpus},
      {"scontrol", list_hosts},
      {"wc", run_filter},
      {"tr", run_filter},
      {"bc", run_filter},
      {"date", [](Shell&, const Arguments& a) { return not_known(a); }},
      {"nproc", [](Shell&, const Arguments& a) { return not_known(a); }},
      {"hostname", [](Shell&, const Arguments& a) { return not_known(a); }},
  };
  const auto name = written(argv.front().text);
  if (shell.is_captured() && (name == "python" || name == "python3")) {
    const auto count =
        is_modelled("python device count") ? device_count(shell, argv) : std::nullopt;
    if (count) shell.print(*count);
    if (count) return true;
  }
  const auto found = table.find(name);
  if (found == table.end() || !is_modelled(name)) return false;
  shell.state().status = name == "nvidia-smi" ? Truth::unknown : Truth::yes;
  shell.print(found->second(shell, argv));
  return true;
}

}  // namespace schedmate::command
