// SPDX-License-Identifier: Apache-2.0
#include "log/progress/line_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "log/lines/number_reader.hpp"
#include "log/progress/units.hpp"

namespace schedmate::progress {
namespace {

constexpr std::array<std::pair<std::string_view, PatternPlace>, 12> names = {
    {{"step", PatternPlace::step},
     {"total", PatternPlace::total},
     {"epoch", PatternPlace::epoch},
     {"epochs", PatternPlace::epochs},
     {"loss", PatternPlace::loss},
     {"time", PatternPlace::time},
     {"since", PatternPlace::since},
     {"elapsed", PatternPlace::elapsed},
     {"covers", PatternPlace::covers},
     {"rate", PatternPlace::rate},
     {"_", PatternPlace::number},
     {"*", PatternPlace::text}}};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
}

/// Takes the literal off the front of a text; false when it is not there.
bool take_literal(std::string_view literal, std::string_view& text) {
  for (const char c : literal) {
    if (c == ' ') {
      if (text.empty() || !is_blank(text[0])) return false;
      skip_blanks(text);
    } else {
      if (text.empty() || text[0] != c) return false;
      text.remove_prefix(1);
    }
  }
  return true;
}

/// A number, and the unit that stands at it ("900ms", "1m 2s").
std::optional<double> take_number(PatternPlace place, std::string_view& text) {
  skip_blanks(text);
  const auto literal = lines::read_literal(text);
  if (literal.length == 0) return std::nullopt;
  text.remove_prefix(literal.length);
  const bool timed =
      place == PatternPlace::time || place == PatternPlace::elapsed || place == PatternPlace::since;
  if (!timed || literal.clock) return literal.value;
  auto behind = text;
  skip_blanks(behind);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto end =
      static_cast<std::size_t>(std::ranges::find_if_not(behind, is_letter) - behind.begin());
  const double unit = seconds_in(behind.substr(0, end));
  if (unit <= 0) return literal.value;
  return literal.value * unit;
}

Result<PatternPlace> place_of(std::string_view name) {
  for (const auto& [known, place] : names)
    if (known == name) return place;
  std::vector<std::string_view> all;
  for (const auto& [known, place] : names) all.push_back(known);
  return fail(ErrorCode::invalid, unknown_name("placeholder", name, all));
}

}  // namespace

Result<LinePattern> LinePattern::parse(std::string_view text) {
  LinePattern pattern;
  while (!text.empty()) {
    const auto open = text.find('{');
    if (open != 0) {
      pattern.pieces_.push_back({PatternPlace::literal, std::string(text.substr(0, open))});
      text.remove_prefix(std::min(open, text.size()));
      continue;
    }
    const auto close = text.find('}');
    if (close == std::string_view::npos)
      return fail(ErrorCode::invalid, "a placeholder has no closing brace");
    const auto place = place_of(text.substr(1, close - 1));
    if (!place) return tl::unexpected(place.error());
    if (!pattern.pieces_.empty() && pattern.pieces_.back().place != PatternPlace::literal)
      return fail(ErrorCode::invalid, "two placeholders need a text between them");
    pattern.pieces_.push_back({*place, ""});
    text.remove_prefix(close + 1);
  }
  for (const Piece& piece : pattern.pieces_)
    for (const auto word : split(piece.text, ' '))
      if (word.size() > pattern.needle_.size()) pattern.needle_ = word;
  return pattern;
}

bool LinePattern::has_fields() const {
  return std::ranges::any_of(pieces_,
                             [](const Piece& piece) { return piece.place < PatternPlace::number; });
}

/// Most lines fit no pattern: by the first character, or the longest word, that is soon known.
bool LinePattern::may_fit(std::string_view body) const {
  if (pieces_.empty()) return true;
  const Piece& first = pieces_.front();
  if (first.place == PatternPlace::literal)
    return first.text[0] == ' ' || (!body.empty() && body[0] == first.text[0]);
  return body.contains(needle_);
}

std::optional<LinePattern::Values> LinePattern::read(std::string_view body) const {
  skip_blanks(body);
  if (!may_fit(body)) return std::nullopt;
  Values values;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.place == PatternPlace::literal) {
      if (!take_literal(piece.text, body)) return std::nullopt;
    } else if (piece.place == PatternPlace::text) {
      if (i + 1 == pieces_.size()) break;
      auto rest = body;
      while (!rest.empty()) {
        auto behind = rest;
        if (take_literal(pieces_[i + 1].text, behind)) break;
        rest.remove_prefix(1);
      }
      if (rest.empty()) return std::nullopt;
      body = rest;
    } else {
      const auto value = take_number(piece.place, body);
      if (!value) return std::nullopt;
      values.at(static_cast<std::size_t>(piece.place)) = value;
    }
  }
  return values;
}

}  // namespace schedmate::progress
