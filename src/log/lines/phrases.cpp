// SPDX-License-Identifier: Apache-2.0
#include "log/lines/phrases.hpp"

#include <algorithm>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace schedmate::lines {
namespace {

/// In small letters, runs of spaces as one.
std::string lowered(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t';
    if (!space || made.empty() || made.back() != ' ') made += space ? ' ' : lower(c);
  }
  return made;
}

bool is_phrase_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool Found::has_any(const std::vector<std::uint32_t>& phrases) const {
  return std::ranges::any_of(phrases, [&](std::uint32_t each) { return has(each); });
}

bool Found::has_all(const std::vector<std::uint32_t>& phrases) const {
  return std::ranges::all_of(phrases, [&](std::uint32_t each) { return has(each); });
}

std::size_t Phrases::bucket_of(const char* text) {
  const auto at = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(text[i])}; };
  return (at(0) * 7 + at(1) * 131 + at(2) * 1031) % 4096;
}

std::uint32_t Phrases::add(std::string_view written) {
  Phrase made;
  made.written = written;
  const auto take = [&](bool front, char mark) {
    const bool has = !written.empty() && (front ? written.front() : written.back()) == mark;
    if (has && front) written.remove_prefix(1);
    if (has && !front) written.remove_suffix(1);
    return has;
  };
  made.at_begin = take(true, '^');
  made.open_left = take(true, '*');
  made.at_end = take(false, '$');
  made.open_right = take(false, '*');
  const auto first_piece = written.substr(0, written.find('*'));
  if (first_piece.size() < least) return 0;
  made.text = lowered(first_piece);
  if (first_piece.size() < written.size())
    for (const auto piece : split(written.substr(first_piece.size() + 1), '*'))
      made.then.push_back(lowered(piece));
  const auto held = std::ranges::find(all_, made.written, &Phrase::written);
  if (held != all_.end()) return static_cast<std::uint32_t>(held - all_.begin());
  auto& first = first_[bucket_of(made.text.data())];
  made.next = first;
  first = static_cast<std::uint32_t>(all_.size());
  all_.push_back(std::move(made));
  return first;
}

bool Phrases::fits(const Phrase& phrase, std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(phrase.text)) return false;
  auto end = at + phrase.text.size();
  for (const std::string& piece : phrase.then) {
    const auto next = text.find(piece, end);
    if (next == std::string_view::npos) return false;
    end = next + piece.size();
  }
  if (phrase.at_begin && at != 0) return false;
  if (phrase.at_end && end != text.size()) return false;
  const bool left =
      phrase.open_left || at == 0 || !is_phrase_char(text[at]) || !is_phrase_char(text[at - 1]);
  const bool right = phrase.open_right || end == text.size() || !is_phrase_char(text[end - 1]) ||
                     !is_phrase_char(text[end]);
  return left && right;
}

void Phrases::find(std::string_view text, Found& found) const {
  const std::string small = lowered(text);
  for (std::size_t at = 0; at + least <= small.size(); ++at)
    for (auto id = first_[bucket_of(small.data() + at)]; id != 0; id = all_[id].next)
      if (fits(all_[id], small, at)) found.add(id);
}

Found Phrases::find(std::string_view text) const {
  Found found(all_.size());
  find(text, found);
  return found;
}

}  // namespace schedmate::lines
