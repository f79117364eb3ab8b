// SPDX-License-Identifier: Apache-2.0
#include "log/ask/saved_lines.hpp"

#include <algorithm>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/lines/clean.hpp"

namespace schedmate::ask {
namespace {

using Words = std::initializer_list<std::string_view>;

bool is_word_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

bool holds_any(std::string_view text, Words words) {
  return std::ranges::any_of(words, [&](auto word) { return text.contains(word); });
}

/// As a word: "saved", not "save_every" nor "unsaved".
bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) &&
        (end == text.size() || !is_word_char(text[end])))
      return true;
  }
  return false;
}

bool has_any_word(std::string_view text, Words words) {
  return std::ranges::any_of(words, [&](auto word) { return has_word(text, word); });
}

bool names_a_state(std::string_view text) {
  return holds_any(
      text, {"checkpoint", "ckpt",    "model", "weight",   "snapshot", "state",        "param",
             "optimizer",  "adapter", ".pt",   ".pth",     ".bin",     ".safetensors", ".h5",
             ".hdf5",      ".npz",    ".pkl",  ".msgpack", ".tar",     ".keras",       ".onnx"});
}

/// Not (yet) done, or the other direction.
bool takes_it_back(std::string_view text) {
  return holds_any(text, {"loading",
                          "loaded",
                          "restor",
                          "resum",
                          "no checkpoint",
                          "not found",
                          "about to",
                          "will be",
                          "will save",
                          "would ",
                          "cannot",
                          "can't",
                          "could not",
                          "couldn't",
                          "unable",
                          "failed",
                          "failure",
                          "error",
                          "not saved",
                          "without saving",
                          "skipping",
                          "nothing saved",
                          "never saved",
                          "deleting",
                          "deleted",
                          "removing",
                          "removed",
                          "gradient checkpoint",
                          "gradient_checkpoint",
                          "activation_checkpoint"});
}

}  // namespace

bool is_source_code(std::string_view line) {
  const auto prefixed = lines::read_prefixes(line);
  const std::string_view body = prefixed.body;
  const auto text = trim(body);
  if (text.starts_with("File \"")) return true;
  const bool indented = body.starts_with("  ") || body.starts_with('\t');
  if (!indented) return false;
  if (std::ranges::any_of(
          Words{"raise ", "return ", "self.", "if ", "for ", "with ", "while ", "assert ", "await ",
                "yield ", "import ", "from ", "def ", "torch.", "^^", "~~"},
          [&](auto word) { return text.starts_with(word); }))
    return true;
  const auto open = text.find('(');
  const bool called = open != std::string_view::npos && open > 0 && is_word_char(text[open - 1]);
  return called && std::string_view("),:([{\\").contains(text.back());
}

bool says_saved(std::string_view line) {
  if (is_source_code(line)) return false;
  const auto text = lower_case(line);
  if (!names_a_state(text) || takes_it_back(text)) return false;
  if (has_any_word(text, {"saved", "saving", "wrote", "written", "writing", "dumped", "dumping",
                          "stored", "storing", "exported", "exporting", "uploaded", "persisted"}))
    return true;
  const bool done = has_any_word(text, {"save", "checkpoint", "ckpt", "snapshot"}) &&
                    has_any_word(text, {"is ready", "is ready now", "done", "finished", "complete",
                                        "completed", "created", "successfully", "committed"});
  return done || text.contains("save to") || text.contains("save checkpoint to") ||
         text.contains("save model to");
}

std::string path_in(std::string_view line) {
  std::string best;
  for (auto word : split(line, ' ')) {
    const auto strange = [](char c) { return std::string_view("'\"`()[]<>,;:.!").contains(c); };
    while (!word.empty() && strange(word.front()) && !word.starts_with("./") &&
           !word.starts_with("../"))
      word.remove_prefix(1);
    while (!word.empty() && strange(word.back())) word.remove_suffix(1);
    const auto dot = word.rfind('.');
    const bool file = dot != std::string_view::npos && dot > 0 && word.size() - dot <= 12 &&
                      word.size() > dot + 1 && is_letter(word[dot + 1]);
    if (word.contains('/') ? word.size() > 2 : file) best = word;
  }
  return best;
}

}  // namespace schedmate::ask
