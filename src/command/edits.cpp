// SPDX-License-Identifier: Apache-2.0
#include "command/edits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "command/paths.hpp"
#include "command/sed.hpp"

namespace schedmate::command {
namespace {

struct SedCall {
  std::vector<std::string> expressions;
  std::vector<Text> files;
  bool in_place = false;
  bool extended = false;
  bool understood = true;
  bool known = true;  ///< false when parts of a replacement stand as written
};

/// `s/a/$HOME/`: what is put in is not known, where it is put is.
bool only_replacement_is_unknown(const Text& text) {
  std::string before;
  for (const Piece& piece : text) {
    const bool replacement = before.size() > 2 && before[0] == 's' &&
                             std::ranges::count(before.substr(2), before[1]) == 1;
    if (!piece.known && !replacement) return false;
    before += piece.text;
  }
  return true;
}

void add_expression(SedCall& call, const Text& text) {
  call.known = call.known && known(text);
  call.understood = call.understood && only_replacement_is_unknown(text);
  call.expressions.push_back(written(text));
}

/// `-n`, `-Ei`, `-i.bak`; other options are not understood.
void read_option(SedCall& call, std::string_view text) {
  if (text == "--in-place" || text.starts_with("--in-place=")) {
    call.in_place = true;
  } else if (text == "--regexp-extended") {
    call.extended = true;
  } else {
    for (const char letter : text.substr(1)) {
      if (letter == 'i') call.in_place = true;
      if (letter == 'i') return;  // the rest names the copy that is kept
      call.extended = call.extended || letter == 'E' || letter == 'r';
      call.understood = call.understood && std::string_view("Ersuz").contains(letter);
    }
  }
}

SedCall read_sed(const Arguments& argv) {
  SedCall call;
  bool named = false;  // by -e: then no operand is an expression
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto text = plain(argv[i].text);
    if (text && (*text == "-e" || *text == "--expression") && i + 1 < argv.size()) {
      named = true;
      add_expression(call, argv[++i].text);
    } else if (text && text->starts_with("-") && text->size() > 1) {
      read_option(call, *text);
    } else if (text && text->empty()) {
      continue;  // `-i ''` of other systems
    } else if (!named && call.expressions.empty()) {
      add_expression(call, argv[i].text);
    } else {
      call.files.push_back(argv[i].text);
    }
  }
  return call;
}

void edit_file(Shell& shell, const Text& file, const SedCall& call) {
  const auto text = plain(file);
  const auto path = text ? path_in_tree(shell.state().cwd, *text) : std::nullopt;
  if (!path) return shell.note_here("'sed -i' changes an unknown file");
  shell.add_edit(*path);
  auto content = shell.content_of(*text, place_of(file));
  const auto before = content ? plain(*content) : std::nullopt;
  auto made = before ? edited(*before, call.expressions, call.extended) : std::nullopt;
  if (!made || !call.understood)
    return shell.note_here(fmt::format("the result of 'sed -i' on '{}' is not known", *path));
  shell.write_file(*path, {std::move(*made), place_of(file), call.known}, false);
}

}  // namespace

void run_sed(Shell& shell, const Arguments& argv) {
  const SedCall call = read_sed(argv);
  if (call.in_place) {
    for (const auto& file : call.files) edit_file(shell, file, call);
    return;
  }
  std::optional<std::string> text;
  if (call.files.size() == 1) {
    const auto path = plain(call.files[0]);
    const auto content = path ? shell.content_of(*path, argv[0].use) : std::nullopt;
    if (content) text = plain(*content);
  } else if (call.files.empty() && shell.input() != nullptr) {
    text = plain(*shell.input());
  }
  if (text) text = edited(*text, call.expressions, call.extended);
  const bool good = text && call.understood;
  Text printed = unknown(good ? *text : "", argv[0].use);
  shell.print(good && call.known ? literal(std::move(*text), argv[0].use) : printed);
}

/// `cp -r a b to`: programs may be started from there.
void copy_folders(Shell& shell, std::span<const std::string> from, const std::string& to) {
  for (const auto& each : from) {
    const auto source = path_in_tree(shell.state().cwd, each);
    const auto target = path_in_tree(shell.state().cwd, to);
    if (!source || !target || !shell.tree().is_folder(*source) || *source == *target) continue;
    // Whether `to` is there already is not known: both places are looked at.
    if (from.size() == 1) shell.add_copy(*source, *target);
    shell.add_copy(*source, *target + "/" + std::string(base_name(each)));
  }
}

void run_copy(Shell& shell, const Arguments& argv) {
  std::vector<std::string> names;
  bool recursive = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto text = plain(argv[i].text);
    if (!text) continue;
    const bool option = text->starts_with('-') && text->size() > 1;
    recursive = recursive || (option && text->find_first_of("rRa") != std::string::npos);
    if (!option) names.push_back(*text);
  }
  if (recursive && names.size() > 1)
    copy_folders(shell, std::span(names).first(names.size() - 1), names.back());
  if (argv.size() != 3) return;
  const auto from = plain(argv[1].text);
  const auto to = plain(argv[2].text);
  const auto content = from && to ? shell.content_of(*from, argv[1].use) : std::nullopt;
  auto path = to ? path_in_tree(shell.state().cwd, *to) : std::nullopt;
  if (!content || !path) return;
  if (shell.tree().is_folder(*path)) *path += "/" + std::string(base_name(*from));
  shell.write_file(*path, {written(*content), argv[1].use, true}, false);
}

void run_tee(Shell& shell, const Arguments& argv) {
  if (shell.input() == nullptr) return;
  const Text& text = *shell.input();
  shell.print(text);
  bool appends = false;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const auto name = plain(argv[i].text);
    if (!name) continue;
    appends = appends || *name == "-a";
    const auto path = path_in_tree(shell.state().cwd, *name);
    const bool has_output = !written(text).empty();
    if (!name->starts_with('-') && path && has_output)
      shell.write_file(*path, {written(text), place_of(text), known(text)}, appends);
  }
}

}  // namespace schedmate::command
