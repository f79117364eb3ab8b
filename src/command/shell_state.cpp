// SPDX-License-Identifier: Apache-2.0
#include "command/shell_state.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "command/arithmetic.hpp"

namespace schedmate::command {
namespace {

bool same(const Text& a, const Text& b) { return known(a) && known(b) && written(a) == written(b); }

bool same(const Variable& a, const Variable& b) {
  return a.array == b.array && a.keys == b.keys &&
         std::ranges::equal(a.items, b.items,
                            [](const Text& x, const Text& y) { return same(x, y); });
}

Variable undecided(const std::string& name, const Variable& like) {
  Variable made;
  made.exported = like.exported;
  const auto place = like.items.empty() ? PlacePtr() : place_of(like.items.front());
  made.items.push_back(unknown("$" + name, place));
  return made;
}

/// One of two values. `ARGS="$ARGS --more"` in one of two branches leaves the first words known.
Variable either(const std::string& name, const Variable& a, const Variable& b) {
  Variable made = undecided(name, a);
  if (a.array || b.array || a.items.size() != 1 || b.items.size() != 1) return made;
  const bool a_is_start = written(a.items[0]).size() < written(b.items[0]).size();
  const Text& start = a_is_start ? a.items[0] : b.items[0];
  const std::string first = written(start);
  const std::string whole = written(a_is_start ? b.items[0] : a.items[0]);
  const bool goes_on = known(start) && !first.empty() && whole.starts_with(first) &&
                       whole.size() > first.size() && whole[first.size()] == ' ';
  if (!goes_on) return made;
  Text text = start;
  append(text, literal(" ", place_of(start)));
  append(text, made.items[0]);
  made.items[0] = std::move(text);
  return made;
}

}  // namespace

bool is_surrounding(std::string_view name) {
  constexpr auto names = std::to_array<std::string_view>(
      {"HOME",         "USER",    "LOGNAME",      "PATH",     "PWD",
       "OLDPWD",       "SHELL",   "HOSTNAME",     "LANG",     "TERM",
       "RANDOM",       "SECONDS", "LINENO",       "UID",      "EUID",
       "PPID",         "BASHPID", "BASH_VERSION", "HOSTTYPE", "LD_LIBRARY_PATH",
       "EPOCHSECONDS", "SHLVL",   "OSTYPE"});
  return name.starts_with("SLURM_") || std::ranges::find(names, name) != names.end();
}

State merged(const State& before, State then, State otherwise) {
  if (then.flow != Flow::on && otherwise.flow == Flow::on) then = otherwise;
  if (otherwise.flow != Flow::on && then.flow == Flow::on) otherwise = then;
  State made = std::move(then);
  for (auto& [name, variable] : made.variables) {
    const auto other = otherwise.variables.find(name);
    if (other == otherwise.variables.end()) {
      variable = undecided(name, variable);
    } else if (!same(variable, other->second)) {
      variable = either(name, variable, other->second);
    }
  }
  for (const auto& [name, variable] : otherwise.variables) {
    if (!made.variables.contains(name)) made.variables[name] = undecided(name, variable);
  }
  const bool same_words =
      std::ranges::equal(made.positional, otherwise.positional,
                         [](const Text& a, const Text& b) { return same(a, b); });
  made.positional_known = made.positional_known && otherwise.positional_known && same_words;
  if (made.cwd != otherwise.cwd) made.cwd = before.cwd;
  if (made.status != otherwise.status) made.status = Truth::unknown;
  made.certain = before.certain;
  return made;
}

std::optional<std::size_t> item_index(const Variable& of, std::string_view subscript) {
  if (of.associative) {
    const auto found = std::ranges::find(of.keys, subscript);
    if (found == of.keys.end()) return std::nullopt;
    return static_cast<std::size_t>(found - of.keys.begin());
  }
  const auto number = shell_number(subscript);
  const auto size = static_cast<std::int64_t>(of.items.size());
  if (!number || *number >= size || *number < -size) return std::nullopt;
  return static_cast<std::size_t>(*number < 0 ? *number + size : *number);
}

}  // namespace schedmate::command
