// SPDX-License-Identifier: Apache-2.0
#include "command/shell_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace schedmate::command {
namespace {

constexpr std::size_t most_pieces = 2048;
constexpr std::string_view blanks = " \t\n";

constexpr std::size_t most_shown = 2000;

/// A place's text is for people and prompts: the start of a long word is enough.
std::string_view shown(std::string_view text, std::size_t most = most_shown) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

/// Of a long line the part from `word` on: each of its words keeps a copy.
std::string_view line_around(std::string_view line, std::string_view word) {
  if (line.size() <= most_shown) return line;
  const auto at = line.find(word);
  return shown(line.substr(at == std::string_view::npos ? 0 : at), most_shown / 10);
}

}  // namespace

Text literal(std::string text, PlacePtr place) {
  return {{std::move(text), std::move(place), true}};
}

Text unknown(std::string as_written, PlacePtr place) {
  return {{std::move(as_written), std::move(place), false}};
}

bool known(const Text& text) { return std::ranges::all_of(text, &Piece::known); }

std::string written(const Text& text) {
  std::string all;
  for (const auto& piece : text) all += piece.text;
  return all;
}

std::optional<std::string> plain(const Text& text) {
  if (!known(text)) return std::nullopt;
  return written(text);
}

PlacePtr place_of(const Text& text) {
  const auto filled =
      std::ranges::find_if(text, [](const Piece& piece) { return !piece.text.empty(); });
  if (filled != text.end()) return filled->place;
  return text.empty() ? PlacePtr() : text.front().place;
}

void append(Text& to, const Text& more) {
  std::size_t size = 0;
  for (const auto& piece : to) size += piece.text.size() + 1;
  for (const auto& piece : more) size += piece.text.size() + 1;
  if (size > most_text_bytes || to.size() + more.size() > most_pieces) {
    to = unknown("...", place_of(more));
    return;
  }
  for (const auto& piece : more) {
    const bool same =
        !to.empty() && to.back().known && piece.known && to.back().place == piece.place;
    if (same) {
      to.back().text += piece.text;
    } else {
      to.push_back(piece);
    }
  }
}

Text joined(std::span<const Text> items, const PlacePtr& place) {
  Text all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) append(all, literal(" ", place));
    append(all, items[i]);
  }
  return all;
}

std::vector<Text> split_at_blanks(const Text& text) {
  std::vector<Text> found;
  bool open = false;
  const auto add = [&](Piece piece) {
    if (!open) found.emplace_back();
    found.back().push_back(std::move(piece));
    open = true;
  };
  for (const auto& piece : text) {
    if (!piece.known) {
      add(piece);
      continue;
    }
    std::size_t at = 0;
    while (at < piece.text.size()) {
      const std::size_t begin = piece.text.find_first_not_of(blanks, at);
      if (begin != at) open = false;
      if (begin == std::string::npos) break;
      at = std::min(piece.text.find_first_of(blanks, begin), piece.text.size());
      add({piece.text.substr(begin, at - begin), piece.place, true});
    }
  }
  return found;
}

Text without_line_end(Text text) {
  while (!text.empty() && text.back().known) {
    auto& last = text.back().text;
    while (last.ends_with('\n')) last.pop_back();
    if (!last.empty()) break;
    text.pop_back();
  }
  return text;
}

Word to_word(const Text& text, const PlacePtr& use) {
  Word word{written(text), use, known(text)};
  const auto from_elsewhere = std::ranges::find_if(text, [&](const Piece& piece) {
    return piece.place && piece.place != use && !piece.text.empty();
  });
  if (from_elsewhere != text.end()) {
    auto place = std::make_shared<Place>(*from_elsewhere->place);
    place->from = use;
    word.place = std::move(place);
  }
  return word;
}

Text to_text(const Word& word) { return {{word.text, word.place, word.known}}; }

int Script::line_of(std::size_t offset) const {
  if (offset < counted_to_) counted_to_ = 0, counted_ = 0;
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(counted_to_);
  const auto to = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  counted_ += static_cast<int>(std::count(from, to, '\n'));
  counted_to_ = std::min(offset, text.size());
  return first_line + counted_;
}

Script script_of(const Text& text, std::string path) {
  Script made;
  made.path = std::move(path);
  made.text = written(text);
  made.within = place_of(text);
  made.pieces = text;
  return made;
}

PlacePtr Script::foreign_place(Range range) const {
  std::size_t at = 0;
  for (const auto& piece : pieces) {
    const std::size_t end = at + piece.text.size();
    const bool overlaps = at < range.end && range.begin < end;
    if (overlaps && piece.place && piece.place != within) return piece.place;
    if (at >= range.end) break;
    at = end;
  }
  return nullptr;
}

PlacePtr Script::place(Range range) const {
  auto made = std::make_shared<Place>();
  if (const auto foreign = foreign_place(range)) {
    *made = *foreign;
    if (made->file == "<command>" && made->text.contains(at(range))) made->text = shown(at(range));
  } else if (file != nullptr) {
    made->file = file->path;
    made->line = line_of(range.begin);
    made->text = line_around(trim(file->line(made->line)), at(range));
    made->source = FactSource::shell;
  } else if (within) {
    *made = *within;
    if (within->text.contains(at(range))) made->text = shown(at(range));
  } else {
    made->file = "<command>";
    made->text = shown(at(range));
    made->source = FactSource::command;
  }
  return made;
}

std::string Script::describe(std::size_t offset) const {
  if (file != nullptr) return fmt::format("{}:{}", file->path, line_of(offset));
  if (within && within->line > 0) return fmt::format("{}:{}", within->file, within->line);
  return "<command>";
}

}  // namespace schedmate::command
