// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
constexpr std::size_t most_joined_lines = 200;

/// What a first line without '|' is.
std::string_view what_else(std::string_view line, std::string_view rest) {
  if (line.find('\t') != std::string_view::npos) return "its fields are separated by tabs";
  if (line.find(';') != std::string_view::npos) return "its fields are separated by ';'";
  if (line.find(',') != std::string_view::npos) return "its fields are separated by commas";
  const bool dashes = trim(rest).starts_with("---");
  if (dashes || line.find("  ") != std::string_view::npos) return "it is a table for the screen";
  return "its first line is no header";
}

}  // namespace

SacctRows::SacctRows(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {}

Result<SacctRows> SacctRows::open(std::string_view text, std::string name) {
  SacctRows rows(text, std::move(name));
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}: {}; a dump of `sacct --parsable2` begins with the names of its "
                            "fields, separated by '|'",
                            rows.name_, std::max<std::uint64_t>(rows.row_line_, 1), what));
  };
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    const auto head = text.substr(0, zero);
    return fail(
        ErrorCode::invalid,
        fmt::format("{}:{}: a NUL byte; this is no UTF-8 text (binary, damaged or UTF-16? make "
                    "the dump again)",
                    rows.name_, 1 + std::count(head.begin(), head.end(), '\n')));
  }
  do {
    if (rows.at_ == text.size()) return wrong("the file is empty");
    rows.row_line_ = rows.next_line_;
    rows.header_line_ = rows.take_line();
  } while (trim(rows.header_line_).empty());
  const std::string_view line = rows.header_line_;
  if (line.find('|') == std::string_view::npos)
    return wrong(what_else(line, text.substr(rows.at_, 200)));
  rows.split_row(line);
  for (const std::string_view field : rows.fields_) rows.header_.push_back(lower_case(trim(field)));
  if (!line.empty() && std::isdigit(static_cast<unsigned char>(line.front())) != 0)
    return wrong("the first line is a job, not the header (leave out --noheader)");
  return rows;
}

SacctRows::Column SacctRows::find(std::span<const std::string_view> headers) const {
  for (const std::string_view header : headers) {
    const auto found = std::ranges::find(header_, lower_case(header));
    if (found != header_.end()) return static_cast<Column>(found - header_.begin());
  }
  return none;
}

std::string_view SacctRows::take_line() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view line = text_.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  ++next_line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void SacctRows::split_row(std::string_view row) {
  row_ = row;
  fields_.clear();
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= row.size(); ++at) {
    if (at < row.size() && row[at] != '|') continue;
    fields_.push_back(row.substr(begin, at - begin));
    begin = at + 1;
  }
}

/// Adds the lines that follow while they are no rows of their own and fields are missing.
void SacctRows::join_broken_row() {
  const std::size_t at = at_;
  const std::uint64_t line = next_line_;
  joined_ = row_;
  auto bars = static_cast<std::size_t>(std::ranges::count(joined_, '|'));
  for (std::size_t lines = 0; lines < most_joined_lines && at_ < text_.size(); ++lines) {
    const std::string_view more = take_line();
    const auto its_bars = static_cast<std::size_t>(std::ranges::count(more, '|'));
    if (its_bars + 1 >= header_.size()) break;
    joined_.append("\n").append(more);
    bars += its_bars;
    if (bars + 1 > header_.size() || joined_.size() > longest_line) break;
    if (bars + 1 == header_.size()) return split_row(joined_);
  }
  at_ = at;
  next_line_ = line;
  fault_ = at_ == text_.size()
               ? "fewer fields than the header line has: the file ends within this row (truncated? "
                 "make the dump again)"
               : "fewer fields than the header line has (cut off, or edited by hand? make the "
                 "dump again)";
}

bool SacctRows::next() {
  while (at_ < text_.size()) {
    row_line_ = next_line_;
    fault_ = {};
    const std::string_view line = take_line();
    if (trim(line).empty() || line == header_line_) continue;
    if (line.size() > longest_line) {
      fields_.clear();
      fault_ = "a line of more than 1 MiB";
      return true;
    }
    split_row(line);
    if (fields_.size() > header_.size()) {
      fault_ =
          "more fields than the header line has: a '|' in a job's name or command? (leave out "
          "JobName and SubmitLine, or use sacct --json)";
    } else if (fields_.size() < header_.size()) {
      join_broken_row();
    }
    return true;
  }
  return false;
}

std::size_t SacctRows::position(Column column) const {
  if (column >= fields_.size()) return 0;
  return static_cast<std::size_t>(fields_[column].data() - row_.data()) + 1;
}

double SacctRows::done() const {
  return text_.empty() ? 1 : static_cast<double>(at_) / static_cast<double>(text_.size());
}

}  // namespace schedmate
