// SPDX-License-Identifier: Apache-2.0
#include "agent/closure.hpp"

#include <algorithm>

namespace schedmate::agent {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view stem_of(std::string_view path) {
  const std::string_view base = base_name(path);
  return base.substr(0, base.rfind('.'));
}

std::string_view folder_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : base_name(path.substr(0, slash));
}

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == '.';
}

/// `word` in `text` with no letter, digit, '_', '-' or '.' on either side.
bool mentions(std::string_view text, std::string_view word) {
  if (word.empty()) return false;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word_char(text[at - 1]);
    const std::size_t end = at + word.size();
    const bool stops = end == text.size() || !is_word_char(text[end]);
    if (starts && stops) return true;
  }
  return false;
}

/// "src/models/net.py" -> "src.models.net"; a package's __init__ is the package.
std::string module_of(std::string_view path) {
  std::string module(path.substr(0, path.size() - 3));
  std::ranges::replace(module, '/', '.');
  if (module.ends_with(".__init__")) module.erase(module.size() - 9);
  return module;
}

/// Is `name` the end of the dotted `module`, part by part?
bool ends_in(std::string_view module, std::string_view name) {
  while (name.starts_with('.')) name.remove_prefix(1);
  if (name.empty() || !module.ends_with(name)) return false;
  return module.size() == name.size() || module[module.size() - name.size() - 1] == '.';
}

}  // namespace

TaskClosure::TaskClosure(const AgentTask& task)
    : task_(task),
      files_(task.found.files_read.begin(), task.found.files_read.end()),
      command_(shell_bindings(task.job.command)) {}

const Bindings& TaskClosure::bindings(const std::string& path) {
  const auto [place, fresh] = bindings_.try_emplace(path);
  if (fresh) {
    const auto file = task_.tree.read(path);
    if (!file) return place->second;
    place->second = read_bindings((*file)->text, text_kind(path));
    for (Binding& one : place->second) {
      // Hydra: what stands at the top of model/vit.yaml belongs to `model`.
      if (one.owner.empty() && text_kind(path) == TextKind::config) one.owner = folder_name(path);
    }
  }
  return place->second;
}

bool TaskClosure::overrides_code(const std::string& path) const {
  if (text_kind(path) == TextKind::config) return true;
  const std::size_t at = task_.job.command.find(path);
  const std::size_t program = task_.job.command.find(".py");
  return at != std::string::npos && program != std::string::npos && at > program;
}

bool TaskClosure::contains(const std::string& path) {
  if (files_.contains(path)) return true;
  const auto known = judged_.find(path);
  if (known != judged_.end()) return known->second;
  const bool yes = belongs(path);
  judged_[path] = yes;
  if (yes) {
    files_.insert(path);
    judged_.clear();  // what this file imports or names may belong now
  }
  return yes;
}

bool TaskClosure::belongs(const std::string& path) {
  if (text_kind(path) == TextKind::other || !task_.tree.is_file(path)) return false;
  const std::string& command = task_.job.command;
  if (mentions(command, path) || mentions(command, base_name(path))) return true;
  if (named_by(path, command_)) return true;
  const std::vector<std::string> known(files_.begin(), files_.end());
  return std::ranges::any_of(known, [&](const std::string& file) {
    const Bindings& of = bindings(file);
    return path.ends_with(".py") ? imported_by(path, of) || named_by(path, of) : named_by(path, of);
  });
}

bool TaskClosure::imported_by(const std::string& path, const Bindings& of) {
  const std::string module = module_of(path);
  return std::ranges::any_of(of, [&](const Binding& binding) {
    return binding.key == "import" &&
           std::ranges::any_of(binding.values, [&](const std::string& name) {
             return ends_in(module, name) ||
                    ends_in(module, name.substr(0, std::max<std::size_t>(name.rfind('.'), 1)));
           });
  });
}

/// Its file name as a value, or its stem where the key is its folder (Hydra: model: resnet).
bool TaskClosure::named_by(const std::string& path, const Bindings& of) {
  return std::ranges::any_of(of, [&](const Binding& binding) {
    return std::ranges::any_of(binding.values, [&](const std::string& value) {
      return mentions(value, base_name(path)) ||
             (value == stem_of(path) && last_part(binding.key) == folder_name(path));
    });
  });
}

}  // namespace schedmate::agent
