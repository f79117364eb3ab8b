// SPDX-License-Identifier: Apache-2.0
#include "config/places.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "config/config.hpp"

namespace schedmate::config {
namespace {

constexpr std::size_t long_line = 240;
constexpr std::size_t window = 120;  ///< of a long line are shown, and as much before and after

// Never starts or ends within a UTF-8 sequence.
std::string_view whole_characters(std::string_view line, std::size_t begin, std::size_t end) {
  const auto inside = [&](std::size_t at) {
    return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U;
  };
  while (inside(begin)) ++begin;
  while (end > begin && inside(end)) --end;
  return line.substr(begin, end - begin);
}

using Composed = std::map<PlacePtr, PlacePtr>;  ///< of a file -> composed

void mark(Value& value, Composed& known) {
  if (value.place && value.place->source == FactSource::config) {
    PlacePtr& made = known[value.place];
    if (!made) {
      Place copy = *value.place;
      copy.source = FactSource::composition;
      made = std::make_shared<const Place>(std::move(copy));
    }
    value.place = made;
  }
  if (List* items = value.items())
    for (Value& item : *items) mark(item, known);
  if (const Dict* entries = value.entries())
    for (const auto& entry : entries->all()) mark(*value.entries()->find(entry.key), known);
}

}  // namespace

Places::Places(std::string_view text, std::string_view file) : text_(text), file_(file) {
  starts_.push_back(0);
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts_.push_back(at + 1);
}

int Places::line_of(std::size_t offset) const {
  return static_cast<int>(std::ranges::upper_bound(starts_, offset) - starts_.begin());
}

PlacePtr Places::at_offset(std::size_t offset) {
  const int line = line_of(offset);
  return at(line, offset - starts_[static_cast<std::size_t>(line) - 1]);
}

PlacePtr Places::at(int line, std::size_t column) {
  const auto number = static_cast<std::size_t>(std::max(line, 1));
  if (number > starts_.size()) return std::make_shared<const Place>(Place{file_, line, "", {}, {}});
  const auto start = starts_[number - 1];
  const auto end = number < starts_.size() ? starts_[number] - 1 : text_.size();
  auto text = text_.substr(start, end - start);
  const auto window_number = text.size() <= long_line ? 0 : column / window;
  if (last_ && last_->line == line && last_window_ == window_number) return last_;
  if (text.size() > long_line) {
    const auto from = window_number == 0 ? 0 : (window_number - 1) * window;
    text = whole_characters(text, std::min(from, text.size()),
                            std::min((window_number + 2) * window, text.size()));
  }
  last_window_ = window_number;
  last_ = std::make_shared<const Place>(
      Place{file_, line, std::string(trim(text)), FactSource::config, {}});
  return last_;
}

std::string_view without_bom(std::string_view text) {
  constexpr std::string_view bom = "\xEF\xBB\xBF";
  if (text.starts_with(bom)) text.remove_prefix(bom.size());
  return text;
}

void mark_composed(Value& root) {
  Composed known;
  mark(root, known);
}

}  // namespace schedmate::config
