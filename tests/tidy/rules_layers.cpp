// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "tests/tidy/modules.hpp"
#include "tests/tidy/rules.hpp"
#include "tests/tidy/scan.hpp"

namespace schedmate::tidy {
namespace {

/// An arrow that is drawn on purpose: what a module may link beyond base, core and the other rooms
/// of its own house (log/lines and log/ask are rooms of log).
struct Arrows {
  std::string_view from;
  std::string_view to;  ///< names with blanks between
  std::string_view reason;
};

constexpr std::array arrows{
    Arrows{"elastic", "trace", "elastic traces are CSV files, read as other traces are"},
    Arrows{"journal", "sqlite", "one file holds it"},
    Arrows{"live", "journal log/progress", "what it decides is a batch; whether a job hangs"},
    Arrows{"replay", "sim", "the simulator as a cluster"},
    Arrows{"ray_live", "sqlite llm replay",
           "its queue is one file; HTTP as to models; jobs are written as a replay's"},
    Arrows{"store", "sqlite", "one of its rows is a file"},
    Arrows{"slurm", "trace", "dates, resources and host lists are as in accounting dumps"},
    Arrows{"secrets", "log", "a log is looked through as logs are read"},
    // The readers of code, each on those before it.
    Arrows{"tree", "secrets", "its texts can be had without secrets"},
    Arrows{"command", "tree code", "values and their places in the files of a tree"},
    Arrows{"config", "tree code", "values and their places in the files of a tree"},
    Arrows{"python", "tree code command config", "programs read their flags and configurations"},
    Arrows{"facts", "secrets tree config python",
           "what the programs and configurations of a tree say"},
    Arrows{"agent", "secrets tree code llm",
           "a model reads the files of a tree; lines prove its answers"},
    Arrows{"advisor", "store llm workload", "compares jobs of a store by texts and workloads"},
    // What uses the parts for a purpose.
    Arrows{"settings", "llm", "the keys of a model's table are those that llm reads"},
    Arrows{"probe", "settings log", "a kernel's log and NVML are read as by witnesses"},
    Arrows{"study", "settings sim policy workload trace synth report elastic advisor eta",
           "runs policies over traces in experiments"},
    Arrows{"evaluation_report", "study report trace", "reports what the experiments found"},
    Arrows{"process", "settings secrets", "PATH is the environment's; complaints are shown"},
    Arrows{"service", "settings process secrets tree facts llm agent advisor store trace log slurm",
           "the use cases of a cluster"},
    Arrows{"lab",
           "settings secrets trace synth report whatif elastic study evaluation_report service",
           "the use cases of experiments"},
    Arrows{"queue", "settings process secrets store trace log eta slurm study service",
           "the use cases about the queue of a cluster"},
    Arrows{"slurm_live", "settings process secrets trace slurm", "starts Slurm's programs"},
    Arrows{"reader", "settings llm secrets tree log advisor service",
           "the use cases with the rights of a user"},
    Arrows{"workers", "settings secrets store advisor service reader",
           "the use cases, asked for by way of a queue on a server"},
    Arrows{"client", "llm settings", "where the daemon is stands in the settings"},
    Arrows{"screen", "settings advisor report study evaluation_report service lab queue",
           "shows what the use cases answer"},
    Arrows{"page", "http", "answers with its files"},
    Arrows{"daemon",
           "sqlite store advisor settings secrets service http page journal live replay ray_live "
           "slurm_live policy trace eta queue reader workers probe llm",
           "the program that runs beside a cluster"},
    Arrows{"face", "settings secrets study service lab queue",
           "offers the product to C and Python"},
};

constexpr std::string_view cmake_path = "CMakeLists.txt";
constexpr std::string_view path_of_arrows = "tests/tidy/rules_layers.cpp";

/// Every module may use these, and need not link what those it links give it anyway.
bool is_ground(std::string_view module) { return module == "base" || module == "core"; }

/// "log" of "log/lines".
std::string_view house_of(std::string_view module) {
  return module.substr(0, std::min(module.find('/'), module.size()));
}

bool names(std::string_view list, std::string_view module) {
  const auto words = split(list, ' ');
  return std::ranges::any_of(
      words, [&](std::string_view word) { return word == module || word == house_of(module); });
}

const Arrows* arrows_of(std::string_view module) {
  const auto named = [](std::string_view name) {
    return [name](const Arrows& row) { return row.from == name; };
  };
  auto row = std::ranges::find_if(arrows, named(module));
  if (row == arrows.end()) row = std::ranges::find_if(arrows, named(house_of(module)));
  return row == arrows.end() ? nullptr : &*row;
}

bool is_drawn(std::string_view from, std::string_view to) {
  const bool one_house = from.contains('/') && house_of(from) == house_of(to);
  if (is_ground(to) || one_house) return true;
  const Arrows* const row = arrows_of(from);
  return row != nullptr && names(row->to, to);
}

/// The layers of a tree and the findings about them.
class Layers {
 public:
  explicit Layers(const Tree& tree)
      : tree_(tree),
        includes_(tree),
        modules_(declared_modules(tree)),
        uses_(uses_of_modules(tree, includes_)) {
    for (const auto& module : modules_) by_name_.emplace(module.name, &module);
  }

  Findings findings() {
    check_folders();
    check_declarations();
    for (const auto& module : modules_) check_links(module);
    for (const auto& file : tree_.files) {
      if (file.path.ends_with(cmake_path)) check_other_links(file);
    }
    for (const auto& include : includes_.all()) check_include(include);
    check_unused_arrows();
    return std::move(found_);
  }

  [[nodiscard]] std::string text() const {
    std::string all;
    const auto levels = levels_of_modules();
    int last = 0;
    for (const auto& [module, level] : levels) last = std::max(last, level);
    for (int level = 0; level <= last; ++level) {
      all += fmt::format("layer {}\n", level);
      for (const auto& module : modules_) {
        if (levels.at(module.name) == level) all += line_of(module);
      }
    }
    return all;
  }

 private:
  void add(const Module& module, std::string what, std::string instead) {
    found_.push_back({std::string(cmake_path), module.line, std::move(what), std::move(instead)});
  }

  /// Every folder with sources is a module.
  void check_folders() {
    std::set<std::string_view> seen;
    for (const auto& file : tree_.files) {
      if (!is_cpp(file) || !file.path.starts_with("src/")) continue;
      const auto folder = module_of(file.path);
      if (by_name_.contains(folder) || !seen.insert(folder).second) continue;
      found_.push_back({file.path, 0, fmt::format("its folder is no module: src/{}", folder),
                        fmt::format("declare it in {}, above those that use it: "
                                    "schedmate_module({} LINK ...)",
                                    cmake_path, folder)});
    }
  }

  /// Every module is declared once and has a folder with sources.
  void check_declarations() {
    std::set<std::string_view> folders;
    for (const auto& file : tree_.files) {
      if (is_cpp(file)) folders.insert(module_of(file.path));
    }
    for (const auto& module : modules_) {
      if (!folders.contains(module.name))
        add(module, "src/" + module.name + " has no sources", "take the declaration away");
      if (by_name_.at(module.name) != &module)
        add(module, "module " + module.name + " is declared twice", "declare it once");
    }
  }

  /// Links stand in the declaration, where they are checked, and nowhere else.
  void check_other_links(const File& file) {
    for (const auto& module : modules_) {
      const auto at = file.text.find("target_link_libraries(" + module.target + " ");
      if (at == std::string::npos) continue;
      found_.push_back({file.path, line_at(file.text, at), module.name + " is linked here",
                        fmt::format("write the link behind LINK of the module in {}", cmake_path)});
    }
  }

  void check_links(const Module& module) {
    for (const auto& link : module.links) {
      const auto other = by_name_.find(link);
      const auto arrow = fmt::format("{} links {}", module.name, link);
      if (other == by_name_.end()) {
        add(module, arrow + ", which is no module", "link a module that is declared above");
        continue;
      }
      if (other->second->line >= module.line) {
        add(module, arrow + ", which stands above it",
            "declare modules from the lowest layer up; what two of them need goes below both");
      }
      if (!is_drawn(module.name, link)) {
        add(module, arrow + ": no such arrow is drawn",
            "use values of a public header, or add a row with its reason to `arrows` in "
            "tests/tidy/rules_layers.cpp");
      }
      if (use_of(module.name, link) == nullptr)
        add(module, arrow + " and uses nothing of it", "take the link away");
    }
  }

  void check_include(const Include& include) {
    const auto& path = include.file->path;
    const auto& target = include.target->path;
    if (is_test(*include.file)) return;
    if (path.starts_with("include/") && !target.starts_with("include/")) {
      found_.push_back({path, include.line, "a public header includes " + target,
                        "include only <schedmate/...> and the standard library"});
    }
    if (!path.starts_with("src/") || target.starts_with("include/")) return;
    const auto user = module_of(path);
    const auto used = module_of(target);
    if (user == used || (!used.empty() && links(user, used))) return;
    const auto what = fmt::format("{} includes {}", user, target);
    if (used.empty()) {
      found_.push_back({path, include.line, what, "move what both need below src/"});
    } else {
      found_.push_back({path, include.line, what + fmt::format(" and does not link {}", used),
                        "use what lies below it, or link the module where it is declared"});
    }
  }

  /// An arrow that no link follows. The rows are those of the tree that holds them: of another one
  /// a module may be absent.
  void check_unused_arrows() {
    const bool is_own = std::ranges::any_of(
        tree_.files, [](const File& file) { return file.path == path_of_arrows; });
    for (const auto& row : arrows) {
      std::vector<std::string_view> links;
      bool is_there = false;
      for (const auto& module : modules_) {
        if (module.name != row.from && house_of(module.name) != row.from) continue;
        is_there = true;
        links.insert(links.end(), module.links.begin(), module.links.end());
      }
      if (!is_there) {
        if (is_own)
          found_.push_back({std::string(path_of_arrows), 0,
                            fmt::format("{} has arrows and is no module", row.from),
                            "take the row away"});
        continue;
      }
      for (const auto to : split(row.to, ' ')) {
        const bool is_used =
            std::ranges::any_of(links, [&](std::string_view link) { return names(to, link); });
        if (is_used) continue;
        found_.push_back({std::string(path_of_arrows), 0,
                          fmt::format("no link follows the arrow from {} to {}", row.from, to),
                          "take it out of the row"});
      }
    }
  }

  [[nodiscard]] const Use* use_of(std::string_view user, const std::string& used) const {
    const auto uses = uses_.find(user);
    if (uses == uses_.end()) return nullptr;
    const auto use = uses->second.find(used);
    return use == uses->second.end() ? nullptr : &use->second;
  }

  /// Does it link the other, or, for base and core, does one of those that it links?
  [[nodiscard]] bool links(std::string_view from, std::string_view to) const {
    const auto module = by_name_.find(from);
    if (module == by_name_.end()) return false;
    return std::ranges::any_of(module->second->links, [&](const std::string& link) {
      const auto other = by_name_.find(link);
      const bool is_below = other != by_name_.end() && other->second->line < module->second->line;
      return link == to || (is_ground(to) && is_below && links(link, to));
    });
  }

  [[nodiscard]] std::map<std::string_view, int> levels_of_modules() const {
    std::map<std::string_view, int> levels;
    for (const auto& module : modules_) {
      int level = 0;
      for (const auto& link : module.links) {
        const auto below = levels.find(link);
        if (below != levels.end()) level = std::max(level, below->second + 1);
      }
      levels[module.name] = level;
    }
    return levels;
  }

  /// "  elastic -> base (30), trace (1)": every module that it links or includes with the number of
  /// includes; "link" where it calls functions of public headers alone.
  [[nodiscard]] std::string line_of(const Module& module) const {
    std::string all = "  " + module.name;
    std::string_view mark = " -> ";
    const auto add_part = [&](const std::string& part) {
      all += mark;
      all += part;
      mark = ", ";
    };
    for (const auto& other : modules_) {
      const Use* const use = use_of(module.name, other.name);
      if (use != nullptr && use->includes > 0) {
        add_part(fmt::format("{} ({})", other.name, use->includes));
      } else if (std::ranges::find(module.links, other.name) != module.links.end()) {
        add_part(other.name + " (link)");
      }
    }
    return all + "\n";
  }

  const Tree& tree_;
  Includes includes_;
  std::vector<Module> modules_;
  Uses uses_;
  std::map<std::string, const Module*, std::less<>> by_name_;
  Findings found_;
};

}  // namespace

Findings check_layers(const Tree& tree) { return Layers(tree).findings(); }

std::string layers_text(const Tree& tree) { return Layers(tree).text(); }

}  // namespace schedmate::tidy
