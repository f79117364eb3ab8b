// SPDX-License-Identifier: Apache-2.0
#include "python/natives/path_object.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

constexpr std::size_t most_matches = 2000;

/// `*` and `?` within one part; `**` over parts.
bool fits_pattern(std::string_view pattern, std::string_view text) {
  // Iterative with one point of return per star, so that hostile patterns stay linear enough.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  bool deep = false;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      deep = pattern.substr(p, 2) == "**";
      p += deep ? 2 : 1;
      if (deep && p < pattern.size() && pattern[p] == '/') ++p;
      star = p;
      retry = t;
    } else if (p < pattern.size() &&
               (pattern[p] == text[t] || (pattern[p] == '?' && text[t] != '/'))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos && (deep || text[retry] != '/')) {
      p = star;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

std::string joined_path(std::string_view a, std::string_view b) {
  if (b.starts_with('/') || a.empty()) return std::string(b);
  std::string out(a);
  if (!out.ends_with('/')) out += '/';
  return out += b;
}

std::string parent_path(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string last_part(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::size_t suffix_at(std::string_view path) {
  const std::size_t start = path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos || dot <= start ? path.size() : dot;
}

std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const auto part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string out = path.starts_with('/') ? "/" : "";
  for (const auto part : parts) {
    if (!out.empty() && out != "/") out += '/';
    out += part;
  }
  return out.empty() ? "." : out;
}

namespace {

/// A config that stands in the tree if anywhere: beside others of its kind. Data and outputs may be
/// where the job runs.
bool missing_config(tree::Tree& tree, const std::string& path) {
  const auto ending = std::string_view(path).substr(suffix_at(path));
  constexpr std::string_view kinds[] = {".yaml", ".yml", ".toml", ".cfg", ".ini", ".py"};
  if (std::ranges::find(kinds, ending) == std::end(kinds)) return false;
  const std::string folder = parent_path(path);
  return std::ranges::any_of(tree.list(folder.empty() ? "." : folder), [&](const auto& entry) {
    return !entry.is_folder && entry.path.ends_with(ending);
  });
}

}  // namespace

Value path_exists(Machine& machine, const Value& path, PathKind kind) {
  const auto text = path_text(path);
  if (!text) return path.is_none() ? Value(false, path.place) : unknown(path.place);
  if (text->empty()) return {false, path.place};
  const auto inside = tree_path(machine, *text);
  tree::Tree& tree = machine.tree();
  const bool file = inside && tree.is_file(*inside);
  const bool folder = inside && tree.is_folder(*inside);
  const bool there = (kind != PathKind::folder && file) || (kind != PathKind::file && folder);
  if (there) return {true, path.place};
  const bool absent = file || folder || (inside && missing_config(tree, *inside));
  return absent ? Value(false, path.place) : unknown(path.place);
}

Value matching_paths(Machine& machine, std::string_view pattern, const PlacePtr& place) {
  const std::size_t wild = pattern.find_first_of("*?[");
  const std::string head = parent_path(pattern.substr(0, wild));
  const auto folder = tree_path(machine, head.empty() ? "." : head);
  if (!folder || !machine.tree().is_folder(*folder)) return unknown(place);
  const bool deep = pattern.find("**") != std::string_view::npos;
  List found;
  const auto entries = deep ? machine.tree().walk(*folder) : machine.tree().list(*folder);
  for (const tree::TreeEntry& entry : entries) {
    const bool below = entry.path.starts_with(*folder) && *folder != "." && !folder->empty();
    const auto rest = below ? std::string_view(entry.path).substr(folder->size() + 1)
                            : std::string_view(entry.path);
    const std::string path = joined_path(head, rest);
    if (fits_pattern(pattern, path) && found.size() < most_matches) found.emplace_back(path, place);
  }
  return found.empty() ? unknown(place) : Value::list(std::move(found), place);
}

std::optional<Value> PathObject::part(std::string_view name) const {
  const std::string last = last_part(text_);
  const std::size_t dot = suffix_at(last);
  if (name == "name") return Value(last, place_);
  if (name == "stem") return Value(last.substr(0, dot), place_);
  if (name == "suffix") return Value(last.substr(dot), place_);
  if (name == "parent") {
    const std::string up = parent_path(text_);
    return make_path(up.empty() ? "." : up, place_);
  }
  if (name == "parents") {
    List all;
    for (std::string up = text_; !up.empty() && up != "/" && up != "." && all.size() < 40;) {
      up = parent_path(up);
      all.push_back(make_path(up.empty() ? "." : up, place_));
    }
    return Value::list(std::move(all), place_);
  }
  if (name == "parts") {
    List all;
    for (const auto each : split(text_, '/')) all.emplace_back(std::string(each), place_);
    return Value::list(std::move(all), place_);
  }
  return std::nullopt;
}

namespace {

using PathMethod = Value (*)(Machine&, const Arguments&, const std::string&);

Value joined(Machine&, const Arguments& arguments, const std::string& text) {
  std::string out = text == "." ? "" : text;
  for (const Value& each : arguments.positional) {
    const auto more = path_text(each);
    if (!more) return unknown(arguments.place);
    out = joined_path(out, *more);
  }
  return make_path(std::move(out), arguments.place);
}

Value join_to_left(Machine&, const Arguments& arguments, const std::string& text) {
  const auto head =
      arguments.positional.empty() ? std::nullopt : path_text(arguments.positional[0]);
  return head ? make_path(joined_path(*head, text), arguments.place) : unknown(arguments.place);
}

Value normalise(Machine&, const Arguments& arguments, const std::string& text) {
  return make_path(normal_path(text), arguments.place);
}

Value as_text(Machine&, const Arguments& arguments, const std::string& text) {
  return {text, arguments.place};
}

template <PathKind kind>
Value exists(Machine& machine, const Arguments& arguments, const std::string& text) {
  return path_exists(machine, Value(text, arguments.place), kind);
}

Value with_suffix(Machine&, const Arguments& arguments, const std::string& text) {
  return make_path(text.substr(0, suffix_at(text)) + text_or(arguments.find("suffix", 0)),
                   arguments.place);
}

Value with_name(Machine&, const Arguments& arguments, const std::string& text) {
  return make_path(joined_path(parent_path(text), text_or(arguments.find("name", 0))),
                   arguments.place);
}

Value open_it(Machine& machine, const Arguments& arguments, const std::string& text) {
  return open_file(machine, Value(text), arguments.place);
}

Value read_text(Machine& machine, const Arguments& arguments, const std::string& text) {
  const Value file = open_file(machine, Value(text), arguments.place);
  const auto* opened = object_as<FileObject>(file);
  return opened == nullptr ? unknown(arguments.place) : opened->text();
}

Value glob(Machine& machine, const Arguments& arguments, const std::string& text) {
  const std::string pattern = joined_path(text, text_or(arguments.find("pattern", 0)));
  return matching_paths(machine, pattern, arguments.place);
}

Value no_value(Machine&, const Arguments& arguments, const std::string&) {
  return Value::none(arguments.place);
}

constexpr std::pair<std::string_view, PathMethod> path_methods[] = {
    {"__truediv__", joined},
    {"joinpath", joined},
    {"__rtruediv__", join_to_left},
    {"resolve", normalise},
    {"absolute", normalise},
    {"expanduser", normalise},
    {"exists", exists<PathKind::any>},
    {"is_file", exists<PathKind::file>},
    {"is_dir", exists<PathKind::folder>},
    {"__str__", as_text},
    {"__fspath__", as_text},
    {"as_posix", as_text},
    {"with_suffix", with_suffix},
    {"with_name", with_name},
    {"open", open_it},
    {"read_text", read_text},
    {"glob", glob},
    {"mkdir", no_value}};

}  // namespace

std::optional<Value> PathObject::attribute(Machine&, std::string_view name) {
  if (auto found = part(name)) return found;
  const auto* const method =
      std::ranges::find(path_methods, name, &std::pair<std::string_view, PathMethod>::first);
  if (method == std::end(path_methods)) return std::nullopt;
  return native_function(
      "pathlib.Path." + std::string(name),
      [run = method->second, text = text_](Machine& machine, const Arguments& arguments) {
        return run(machine, arguments, text);
      });
}

Value make_path(std::string text, PlacePtr place) {
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  while (text.starts_with("./") && text.size() > 2) text.erase(0, 2);
  auto path = std::make_shared<PathObject>(std::move(text), place);
  return value_of(std::move(path), std::move(place));
}

}  // namespace schedmate::python::natives
