// SPDX-License-Identifier: Apache-2.0
#include "trace/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace schedmate::trace {
namespace {

// A quote that is not closed within this many bytes is taken for a stray one; without a limit a
// file full of stray quotes would be scanned to its end once per row.
constexpr std::size_t longest_quoted = std::size_t{1} << 16U;
constexpr std::size_t most_columns = 4096;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

CsvRows::CsvRows(std::string_view text, std::string name, char delimiter)
    : text_(text), name_(std::move(name)), delimiter_(delimiter), rest_(text.data()) {}

Result<CsvRows> CsvRows::open(std::string_view text, std::string name, char delimiter) {
  CsvRows rows(text, std::move(name), delimiter);
  if (!rows.next()) {
    return fail(ErrorCode::invalid,
                fmt::format("{}: is empty; a header line is needed", rows.name_));
  }
  if (!rows.fault_.empty()) {
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}: header line: {}", rows.name_, rows.row_line_, rows.fault_));
  }
  for (const Field& field : rows.fields_) rows.header_.push_back(lower_case(field.text));
  return rows;
}

Column CsvRows::find(std::string_view header) const {
  const auto found = std::ranges::find(header_, lower_case(header));
  return found == header_.end() ? absent : static_cast<Column>(found - header_.begin());
}

Result<Column> CsvRows::need(std::string_view header) const {
  const Column column = find(header);
  if (column != absent) return column;
  const std::vector<std::string_view> names(header_.begin(), header_.end());
  return fail(ErrorCode::invalid,
              fmt::format("{}: the header line has no column '{}' (nearest: {})", name_, header,
                          nearest(header, names)));
}

std::size_t CsvRows::position(Column column) const {
  if (column >= fields_.size()) return 0;
  const char* begin = fields_[column].begin;
  // After a line end within quotes the column counts from the row's first line.
  return static_cast<std::size_t>(begin - row_begin_) + 1;
}

bool CsvRows::next() {
  while (rest_ != text_.data() + text_.size()) {
    if (!read_row()) continue;
    if (fault_.empty() && !header_.empty() && fields_.size() != header_.size()) {
      fault_ = fields_.size() < header_.size() ? "fewer fields than the header line has"
                                               : "more fields than the header line has";
    }
    return true;
  }
  return false;
}

// False for an empty line.
bool CsvRows::read_row() {
  const char* const end = text_.data() + text_.size();
  fields_.clear();
  unquoted_.clear();
  fault_ = {};
  row_begin_ = rest_;
  row_line_ = next_line_;
  const char* at = rest_;
  while (fault_.empty()) {
    at = at != end && *at == '"' ? read_quoted(at) : read_plain(at);
    if (at == nullptr) break;
    if (at == end || *at == '\n') {
      end_of_row(at);
      break;
    }
    ++at;  // the delimiter
    if (fields_.size() == most_columns) give_up("more than 4,096 fields");
  }
  return !fault_.empty() || fields_.size() > 1 || !fields_.front().text.empty();
}

const char* CsvRows::read_plain(const char* at) {
  const char* const end = text_.data() + text_.size();
  const char* const begin = at;
  while (at != end && *at != delimiter_ && *at != '\n') ++at;
  const std::string_view text(begin, static_cast<std::size_t>(at - begin));
  fields_.push_back({without_blanks(text), begin});
  return at;
}

const char* CsvRows::read_quoted(const char* at) {
  const char* const end = text_.data() + text_.size();
  const char* const begin = at + 1;
  bool doubled = false;
  const char* close = begin;
  while (true) {
    const auto room =
        std::min(end - close, static_cast<std::ptrdiff_t>(longest_quoted) - (close - begin));
    const void* quote =
        room > 0 ? std::memchr(close, '"', static_cast<std::size_t>(room)) : nullptr;
    if (quote == nullptr) return give_up("a quote is not closed"), nullptr;
    close = static_cast<const char*>(quote);
    if (close + 1 == end || close[1] != '"') break;
    doubled = true;
    close += 2;
  }
  std::string_view text(begin, static_cast<std::size_t>(close - begin));
  if (doubled) {
    std::string& plain = unquoted_.emplace_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
      plain.push_back(text[i]);
      if (text[i] == '"') ++i;
    }
    text = plain;
  }
  fields_.push_back({without_blanks(text), begin - 1});
  next_line_ += static_cast<std::uint64_t>(std::count(begin, close, '\n'));
  for (at = close + 1; at != end && (is_blank(*at) || *at == '\r');) ++at;
  if (at != end && *at != delimiter_ && *at != '\n') {
    return give_up("text after a closing quote"), nullptr;
  }
  return at;
}

void CsvRows::end_of_row(const char* at) {
  const bool last = at == text_.data() + text_.size();
  rest_ = last ? at : at + 1;
  ++next_line_;
}

void CsvRows::give_up(std::string_view fault) {
  fault_ = fault;
  const auto used = static_cast<std::size_t>(row_begin_ - text_.data());
  const std::size_t newline = text_.find('\n', used);
  rest_ = text_.data() + (newline == std::string_view::npos ? text_.size() : newline + 1);
  next_line_ = row_line_ + 1;
}

}  // namespace schedmate::trace
