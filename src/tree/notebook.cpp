// SPDX-License-Identifier: Apache-2.0
#include "tree/notebook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/utf8.hpp"
#include "tree/encoding.hpp"

namespace schedmate::tree {
namespace {

constexpr int most_depth = 64;

/// A piece of a cell's source, and the line of the file it stands on.
struct Piece {
  std::string text;
  int line = 0;
};

/// One pass over the JSON text; only `cell_type` and `source` of each cell are kept. Cells are the
/// objects that have both, wherever they lie: the versions of the format put them in other places.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Piece>> run() {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != '{') return wrong("no notebook");
    if (!value(0, nullptr)) return wrong(problem_);
    return std::move(code_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid, fmt::format("line {}: {}", line_, what));
  }
  bool stop(std::string_view why) {
    problem_ = why;
    return false;
  }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
    }
  }

  bool take(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  /// The strings of the value, also those within a list, go to `strings` where it is not null.
  bool value(int depth, std::vector<Piece>* strings) {
    if (depth > most_depth) return stop("nested too deeply");
    skip_blanks();
    if (at_ >= text_.size()) return stop("ends early");
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return list(depth, strings);
      case '"': {
        Piece piece{.text = {}, .line = line_};
        if (!string(strings != nullptr ? &piece.text : nullptr)) return false;
        if (strings != nullptr) strings->push_back(std::move(piece));
        return true;
      }
      default:
        return word();
    }
  }

  bool word() {
    const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    if (end == at_) return stop("a value is missing");
    at_ = end;
    return true;
  }

  bool list(int depth, std::vector<Piece>* strings) {
    ++at_;
    if (take(']')) return true;
    do {
      if (!value(depth + 1, strings)) return false;
    } while (take(','));
    return take(']') || stop("a list is not closed");
  }

  bool object(int depth) {
    ++at_;
    std::vector<Piece> type;
    std::vector<Piece> source;
    if (take('}')) return true;
    do {
      std::string name;
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != '"') return stop("a name is missing");
      if (!string(&name)) return false;
      if (!take(':')) return stop("a ':' is missing");
      const bool is_source = name == "source" || name == "input";
      std::vector<Piece>* keep = is_source ? &source : name == "cell_type" ? &type : nullptr;
      if (!value(depth + 1, keep)) return false;
    } while (take(','));
    if (!take('}')) return stop("an object is not closed");
    if (type.size() == 1 && type.front().text == "code" && !source.empty()) {
      source.back().text += '\n';  // the last line of a cell has no end of its own
      std::ranges::move(source, std::back_inserter(code_));
    }
    return true;
  }

  bool string(std::string* out) {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\n') return stop("a string is not closed");
      if (c == '\\' && !escape(out)) return false;
      if (c != '\\' && out != nullptr) *out += c;
    }
    return stop("a string is not closed");
  }

  bool escape(std::string* out) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    if (++at_ >= text_.size()) return stop("ends early");
    if (text_[at_] == 'u') return unicode(out);
    const std::size_t known = names.find(text_[at_]);
    if (known == std::string_view::npos) return stop("an unknown escape");
    if (out != nullptr) *out += meant[known];
    return true;
  }

  std::optional<std::uint32_t> four_digits(std::size_t at) const {
    std::uint32_t code = 0;
    if (text_.size() - std::min(text_.size(), at) < 4) return std::nullopt;
    for (const char c : text_.substr(at, 4)) {
      const std::size_t digit =
          std::string_view("0123456789abcdef").find(static_cast<char>(c | 0x20));
      if (digit == std::string_view::npos) return std::nullopt;
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return code;
  }

  bool unicode(std::string* out) {
    auto code = four_digits(at_ + 1);
    if (!code) return stop("a broken \\u escape");
    at_ += 4;
    if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_ + 1).starts_with("\\u")) {
      const auto second = four_digits(at_ + 3);
      if (second && *second >= 0xDC00 && *second < 0xE000) {
        code = 0x10000 + ((*code - 0xD800) << 10U) + (*second - 0xDC00);
        at_ += 6;
      }
    }
    if (*code >= 0xD800 && *code < 0xE000) code = 0xFFFD;
    if (out != nullptr) append_utf8(*out, *code);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string_view problem_;
  std::vector<Piece> code_;
};

/// Lines for the notebook's own shell are no Python: "%matplotlib inline", "!pip install x".
std::string without_magic(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  const bool magic = first != std::string_view::npos &&
                     (line[first] == '%' || line[first] == '!' || line[first] == '?');
  return magic ? std::string(line.substr(0, first)) + "# " + std::string(line.substr(first))
               : std::string(line);
}

}  // namespace

Result<std::string> notebook_code(std::string_view text) {
  const auto pieces = Reader(text).run();
  if (!pieces) return tl::unexpected(pieces.error());
  std::string out;
  int line = 1;  // of the file, that the next letter of `out` stands for
  const auto add_line = [&](std::string_view content) {
    out += without_magic(content);
    out += '\n';
    ++line;
  };
  for (const Piece& piece : *pieces) {
    for (; line < piece.line; ++line) out += '\n';
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      add_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return out;
}

}  // namespace schedmate::tree
