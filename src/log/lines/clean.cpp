// SPDX-License-Identifier: Apache-2.0
#include "log/lines/clean.hpp"

#include <algorithm>
#include <array>

#include "base/characters.hpp"
#include "base/text.hpp"
#include "log/lines/stamp.hpp"

namespace schedmate::lines {
namespace {

constexpr char escape = '\x1b';

bool is_plain(char c) {
  const auto value = static_cast<unsigned char>(c);
  return (value >= 0x20 && value != 0x7f) || c == '\t' || c == '\r';
}

/// Behind the escape sequence that starts at `at`.
std::size_t after_escape(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return text.size();
  const char kind = text[at + 1];
  std::size_t end = at + 2;
  if (kind == '[') {
    while (end < text.size() && (text[end] < 0x40 || text[end] > 0x7e)) ++end;
    return std::min(end + 1, text.size());
  }
  if (kind != ']' && kind != 'P') return end;
  while (end < text.size() && text[end] != '\a' && text[end] != escape) ++end;
  return std::min(end + (end < text.size() && text[end] == escape ? 2U : 1U), text.size());
}

bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; }

char level_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, char>, 13> levels = {{{"INFO", 'I'},
                                                                         {"WARNING", 'W'},
                                                                         {"WARN", 'W'},
                                                                         {"ERROR", 'E'},
                                                                         {"CRITICAL", 'F'},
                                                                         {"FATAL", 'F'},
                                                                         {"DEBUG", 'D'},
                                                                         {"TRACE", 'D'},
                                                                         {"SUCCESS", 'I'},
                                                                         {"info", 'I'},
                                                                         {"warning", 'W'},
                                                                         {"error", 'E'},
                                                                         {"debug", 'D'}}};
  for (const auto& [name, level] : levels)
    if (word == name) return level;
  return 0;
}

/// Takes one prefix after the other off a line.
class Prefixes {
 public:
  explicit Prefixes(std::string_view text) { line_.body = line_.whole = text; }

  PrefixedLine read() {
    for (int i = 0; i < 12; ++i)
      if (!take_one()) break;
    if (!line_.time && take_later_stamp())
      for (int i = 0; i < 6; ++i)
        if (!take_one()) break;
    return line_;
  }

 private:
  bool take_one() {
    const auto before = line_.body;
    auto rest = before;
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
    if (any_) skip_separators(rest);
    const bool took = take_stamp(rest) || take_rank(rest) || take_group(rest) || take_word(rest) ||
                      take_host(rest);
    line_.body = took || any_ ? rest : before;
    any_ = any_ || took;
    return took;
  }

  static void skip_separators(std::string_view& rest) {
    const auto is_separator = [](char c) { return std::string_view(" \t-|:]>").contains(c); };
    // A dash before a digit is a sign, two of them begin a flag.
    while (!rest.empty() && is_separator(rest[0]) &&
           !(rest[0] == '-' && rest.size() > 1 && (is_digit(rest[1]) || rest[1] == '-')))
      rest.remove_prefix(1);
  }

  /// "DLL 2023-07-28 14:31:56.297479 - ...": a date with its year behind a word or two.
  bool take_later_stamp() {
    constexpr std::size_t far = 40;
    const auto& body = line_.body;
    for (std::size_t at = 1; at < std::min(far, body.size()); ++at) {
      const bool begins = body[at] >= '0' && body[at] <= '9' && !is_name(body[at - 1]);
      if (!begins || body.substr(at, 6).find_first_of("-/") != 4) continue;
      auto rest = body.substr(at);
      if (is_sentence(body.substr(0, at)) || !take_stamp(rest)) continue;
      const bool last = rest.find_first_not_of(" \t)]}>|,.;\"'") == std::string_view::npos;
      line_.body = last ? body.substr(0, at) : rest;
      any_ = !last;
      return any_;
    }
    return false;
  }

  /// Numbers stand in it, as in "step 300 loss 0.5": more than a prefix.
  static bool is_sentence(std::string_view text) {
    std::size_t numbers = 0;
    for (std::size_t i = 1; i < text.size(); ++i)
      numbers += is_digit(text[i]) && std::string_view(" =:").contains(text[i - 1]) ? 1 : 0;
    return numbers > 1;
  }

  bool take_stamp(std::string_view& rest) {
    const bool bracket = rest.starts_with('[') || rest.starts_with('(') || rest.starts_with('<');
    auto stamp = read_stamp(rest);
    std::size_t skipped = 0;
    if (!stamp && bracket) {
      stamp = read_stamp(rest.substr(1));
      skipped = 1;
    }
    if (!stamp) return false;
    if (!line_.time) line_.time = stamp->stamp;
    if (stamp->level != 0) line_.level = stamp->level == 'C' ? 'F' : stamp->level;
    rest.remove_prefix(skipped + stamp->length);
    // The bracket may hold the level, a process and a place as well; all of it is prefix.
    const auto end = skipped == 1 ? rest.find_first_of("])>") : std::string_view::npos;
    if (end != std::string_view::npos && end < 80) {
      for (const auto word : split(rest.substr(0, end), ' ')) take_level(word);
      rest.remove_prefix(end + 1);
    }
    return true;
  }

  /// "localhost: ", "192.168.205.202: " of pdsh, and other names before a rank or a stamp.
  bool take_host(std::string_view& rest) const {
    constexpr std::size_t longest = 64;
    const auto end = rest.find(": ");
    if (any_ || end == 0 || end > longest) return false;
    const auto host = rest.substr(0, end);
    if (!std::ranges::all_of(host, [](char c) { return is_name(c) || c == '-'; })) return false;
    const auto behind = trim(rest.substr(end + 2));
    const bool address = host.find_first_not_of("0123456789.") == std::string_view::npos &&
                         std::ranges::count(host, '.') == 3;
    if (host != "localhost" && !address && !behind.starts_with("[rank") && !read_stamp(behind))
      return false;
    rest.remove_prefix(end + 2);
    return true;
  }

  void take_level(std::string_view word) {
    if (const char level = level_of(word); level != 0 && line_.level == 0) line_.level = level;
  }

  /// "[rank3]:", "rank 3:", "[default3]:", "[1,3]<stderr>:", "3: " of srun -l.
  bool take_rank(std::string_view& rest) {
    auto text = rest;
    const bool bracket = text.starts_with('[') || text.starts_with('(');
    if (bracket) text.remove_prefix(1);
    bool named = false;
    for (const std::string_view name :
         {"rank", "Rank", "RANK", "default", "worker-", "node", "local_rank"}) {
      if (!text.starts_with(name)) continue;
      text.remove_prefix(name.size());
      while (!text.empty() && std::string_view(" :=").contains(text[0])) text.remove_prefix(1);
      named = true;
      break;
    }
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    if (digits == 0 || digits > 6) return false;
    int rank = *parse_number<int>(text.substr(0, digits));
    text.remove_prefix(digits);
    if (!named && bracket && text.starts_with(',')) return take_mpi_rank(rest, text.substr(1));
    const bool closed = bracket ? text.starts_with(']') || text.starts_with(')')
                                : text.starts_with(": ") || text == ":";
    // A bare "[3]" or "(3)" is as often an index; "3: " counts at the very start only.
    if (!closed || (!named && (bracket || any_))) return false;
    text.remove_prefix(1);
    line_.rank = line_.rank < 0 ? rank : line_.rank;
    rest = text;
    return true;
  }

  bool take_mpi_rank(std::string_view& rest, std::string_view text) {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    const auto end = text.find(">:");
    if (digits == 0 || digits > 6 || !text.substr(digits).starts_with("]<") || end > 20)
      return false;
    line_.rank = *parse_number<int>(text.substr(0, digits));
    rest = text.substr(end + 2);
    return true;
  }

  /// "[INFO]", "(trainer:486)", "[train.py:518]", "(TrainWorker pid=12, ip=10.0.0.1)".
  bool take_group(std::string_view& rest) {
    if (rest.empty() || (rest[0] != '[' && rest[0] != '(')) return false;
    const auto end = rest.find(rest[0] == '[' ? ']' : ')');
    if (end == std::string_view::npos || end > 90 || end < 2) return false;
    const auto inner = rest.substr(1, end - 1);
    const bool process = inner.contains("pid=");
    const bool place = inner.contains(".py:") || inner.contains(".cc:") || inner.contains(".cpp:");
    const bool name = std::ranges::all_of(
        inner, [](char c) { return is_name(c) || c == '-' || c == ':' || c == '@'; });
    const bool letters = std::ranges::any_of(inner, is_letter);
    const bool epoch = inner.starts_with("Epoch") || inner.starts_with("epoch");
    if (!process && !place && (!name || !letters || epoch)) return false;
    take_level(inner);
    rest.remove_prefix(end + 1);
    return true;
  }

  /// "INFO:root:", "INFO - ", "mmengine - ", "module.name | ".
  bool take_word(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && is_name(rest[end])) ++end;
    if (end == 0 || end > 60 || !is_letter(rest[0])) return false;
    const auto word = rest.substr(0, end);
    auto behind = rest.substr(end);
    if (level_of(word) != 0 && !behind.starts_with('=')) {
      const bool separated = behind.starts_with(':') || behind.starts_with(" :") ||
                             behind.starts_with(" -") || behind.starts_with(" |") ||
                             behind.starts_with(']') ||
                             (any_ && (behind.starts_with(' ') || behind.starts_with('\t')));
      if (!separated && !behind.empty()) return false;
      take_level(word);
      rest = behind;
      after_level_ = behind.starts_with(':');
      return true;
    }
    const bool logger = after_level_ && behind.starts_with(':') && !behind.starts_with(": ");
    after_level_ = false;
    const auto next = behind.starts_with('\t') ? behind.substr(1) : std::string_view();
    const bool before_level = level_of(next.substr(0, next.find('\t'))) != 0;  // "model\tINFO\t"
    if (!any_ ||
        (!behind.starts_with(" - ") && !behind.starts_with(" | ") && !logger && !before_level))
      return false;
    rest = behind;
    return true;
  }

  PrefixedLine line_;
  bool any_ = false;
  bool after_level_ = false;
};

/// A bar may go back to put its counter into its middle, or to its start, which begins a new state.
std::size_t after_backspaces(std::string_view raw, std::size_t at, std::string& text) {
  const auto begin = std::min(raw.find_first_not_of('\b', at), raw.size());
  const auto back = begin - at;
  const auto over = raw.substr(begin, raw.find_first_of("\b\r\n\x1b", begin) - begin);
  const bool part = !over.empty() && over.size() < back && back <= text.size();
  const bool inside = part && !std::string_view(text).substr(text.size() - back).contains('\r');
  if (inside && std::ranges::all_of(over, is_plain)) {
    text.replace(text.size() - back, over.size(), over);
    return begin + over.size();
  }
  if (!text.ends_with('\r')) text += '\r';
  return begin;
}

}  // namespace

std::string_view without_escapes(std::string_view raw, std::string& scratch) {
  if (std::ranges::all_of(raw, is_plain)) return raw;
  scratch.clear();
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] == escape) {
      at = after_escape(raw, at);
      continue;
    }
    if (raw[at] == '\b') {
      at = after_backspaces(raw, at, scratch);
      continue;
    }
    if (is_plain(raw[at])) scratch += raw[at];
    ++at;
  }
  return scratch;
}

std::vector<std::string_view> states_of(std::string_view clean) {
  std::vector<std::string_view> states;
  for (const auto part : split(clean, '\r'))
    if (!trim(part).empty()) states.push_back(part);
  return states;
}

PrefixedLine read_prefixes(std::string_view state) { return Prefixes(state).read(); }

}  // namespace schedmate::lines
