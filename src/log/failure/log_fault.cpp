// SPDX-License-Identifier: Apache-2.0
#include "log/failure/log_fault.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/characters.hpp"
#include "base/input.hpp"
#include "base/text.hpp"
#include "log/lines/clean.hpp"
#include "log/lines/lines.hpp"
#include "log/lines/template.hpp"

namespace schedmate::failure {
namespace {

constexpr std::uint64_t enough_bytes = std::uint64_t{1} << 22U;
constexpr std::size_t hole = 64;       ///< NUL bytes in a row: a file that was cut while it grew
constexpr double most_control = 0.02;  ///< share of bytes that no text has

class Bytes {
 public:
  void add(std::string_view line) {
    for (std::size_t at = 0; at < line.size();) {
      const auto end = std::min(line.find_first_not_of('\0', at), line.size());
      if (end - at >= hole) {
        at = end;
        continue;
      }
      take(line[at++]);
    }
    ++all_;  // its end
  }
  [[nodiscard]] bool has_text() const { return words_ > 0; }
  [[nodiscard]] bool is_binary() const {
    return static_cast<double>(control_) > most_control * static_cast<double>(all_);
  }
  [[nodiscard]] bool enough() const { return has_text() && all_ >= enough_bytes; }

 private:
  void take(char c) {
    constexpr std::string_view of_text = "\t\r\b\f\v\a\x1b";
    const auto value = static_cast<unsigned char>(c);
    ++all_;
    if (value < 0x20 && !of_text.contains(c)) ++control_;
    if (is_letter(c) || is_digit(c) || value >= 0x80) ++words_;
  }
  std::uint64_t all_ = 0, control_ = 0, words_ = 0;
};

std::vector<std::string_view> words_of(std::string_view line) {
  auto words = split(line, ' ');
  std::erase(words, "");
  return words;
}

using Words = std::span<const std::string_view>;

/// Whether `open` says what `whole` says as far as it goes: word for word of one template, the last
/// one perhaps a part of it.
bool begins_like(Words open, Words whole) {
  if (open.empty() || open.size() > whole.size()) return false;
  for (std::size_t i = 0; i + 1 < open.size(); ++i)
    if (lines::template_of(open[i]) != lines::template_of(whole[i])) return false;
  const std::string there = lines::template_of(whole[open.size() - 1]);
  return there.starts_with(lines::template_of(open.back()));
}

bool is_whole(Words open, Words whole) {
  return open.size() == whole.size() &&
         lines::template_of(open.back()) == lines::template_of(whole.back());
}

/// "61/10" where all others end in "/100".
bool ends_in_part_of(std::string_view last, Words others) {
  const auto part = [](std::string_view word) { return word.substr(word.find_last_of("/:=") + 1); };
  const std::string_view whole = part(others.front());
  return part(last).size() < whole.size() && whole.starts_with(part(last)) &&
         std::ranges::all_of(others, [&](std::string_view each) { return part(each) == whole; });
}

}  // namespace

Result<bool> stops_within_line(const ForeignPath& path) {
  constexpr std::size_t last_bytes = std::size_t{1} << 16U;
  constexpr std::size_t enough = 2;
  const auto tail = lines::tail_of(path, last_bytes);
  if (!tail) return tl::unexpected(tail.error());
  if (tail->text.empty() || tail->text.find_last_of("\r\n") + 1 == tail->text.size()) return false;
  std::vector<std::string> states;
  std::string scratch;
  lines::each_line_of(tail->text, [&](const lines::Line& line) {
    for (const auto state : lines::states_of(lines::without_escapes(line.text, scratch)))
      states.emplace_back(state);
    return true;
  });
  if (states.empty()) return false;
  const auto open = words_of(states.back());
  std::vector<std::string_view> last_words;
  std::size_t longer = 0;
  for (const std::string& state : std::span(states).first(states.size() - 1)) {
    const auto whole = words_of(state);
    if (!begins_like(open, whole)) continue;
    if (is_whole(open, whole))
      last_words.push_back(whole.back());
    else
      ++longer;
  }
  if (last_words.empty()) return longer >= enough;
  return last_words.size() >= enough && ends_in_part_of(open.back(), last_words);
}

Result<std::string> fault_of_log(const ForeignPath& given) {
  ForeignPath path = given;
  // Who reads the log says what was left out of it; a log without text nobody reads.
  std::vector<std::string> left_out;
  path.access.note = [&left_out](const std::string& note) { left_out.push_back(note); };
  Bytes bytes;
  std::uint64_t lines = 0;
  const auto done = lines::each_line(path, [&](const lines::Line& line) {
    lines = line.number;
    bytes.add(line.text);
    return !bytes.enough();
  });
  if (!done && lines == 0) {
    // What is open and cannot be read is a damaged log; the rest is no log at all.
    if (const auto file = InputFile::open_bytes(path); !file) return tl::unexpected(file.error());
    const std::string_view what = done.error().message;
    return std::string(what.starts_with(path.name + ": ") ? what.substr(path.name.size() + 2)
                                                          : what);
  }
  if (lines > 0 && !bytes.is_binary() && bytes.has_text()) return "";
  if (given.access.note)
    for (const std::string& note : left_out) given.access.note(note);
  return lines == 0          ? "is empty"
         : bytes.is_binary() ? "is binary, not a log"
                             : "holds blank lines only";
}

}  // namespace schedmate::failure
