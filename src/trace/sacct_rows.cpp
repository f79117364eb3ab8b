// SPDX-License-Identifier: Apache-2.0
#include "trace/sacct_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"
#include "trace/accounting_readers.hpp"

namespace schedmate::trace {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
/// Fields whose text users write, in lower case.
constexpr std::array<std::string_view, 12> written_fields = {
    "jobname", "workdir",     "submitline", "comment", "admincomment", "systemcomment",
    "extra",   "constraints", "container",  "stdin",   "stdout",       "stderr"};

/// Bytes that no text of sacct's has.
bool is_binary(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
  });
}

/// A word of sacct's own between the rows: it ends early when slurmdbd is lost.
bool is_message(std::string_view line) {
  return line.starts_with("sacct: error:") || line.starts_with("sacct: fatal:");
}

/// What a first line without '|' is.
std::string_view what_else(std::string_view line, std::string_view rest) {
  if (is_binary(line) || is_binary(rest)) return "this is not text (binary, encrypted or damaged?)";
  if (line.find('\t') != std::string_view::npos) return "its fields are separated by tabs";
  if (line.find(';') != std::string_view::npos) return "its fields are separated by ';'";
  if (line.find(',') != std::string_view::npos) return "its fields are separated by commas";
  const bool dashes = trim(rest).starts_with("---");
  if (dashes || line.find("  ") != std::string_view::npos)
    return "it is a table formatted for the screen";
  return "its first line is not a header";
}

/// "17", "12_3", "12_[4-7]", "17+0", "17.batch".
bool is_job_id(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && (digits == text.size() || text.find_first_of("_+.", digits) == digits);
}

}  // namespace

SacctRows::SacctRows(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {}

Result<SacctRows> SacctRows::open(std::string_view text, std::string name) {
  SacctRows rows(text, std::move(name));
  const auto wrong = [&](std::string_view what) {
    return fail(
        ErrorCode::invalid,
        fmt::format("{}:{}: {}; a dump of `sacct --parsable2` begins with the names of its "
                    "fields, separated by '|': make it with `{}`",
                    rows.name_, std::max<std::uint64_t>(rows.row_line_, 1), what, sacct_command()));
  };
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    const auto head = text.substr(0, zero);
    return fail(ErrorCode::invalid,
                fmt::format("{}:{}: a NUL byte; this is not UTF-8 text (binary, damaged, UTF-16 or "
                            "UTF-32? make the dump again)",
                            rows.name_, 1 + std::count(head.begin(), head.end(), '\n')));
  }
  do {
    if (rows.at_ == text.size()) return wrong("the file is empty");
    rows.row_line_ = rows.next_line_;
    rows.header_line_ = rows.take_line();
  } while (trim(rows.header_line_).empty());
  const std::string_view line = rows.header_line_;
  if (line.find('\r') != std::string_view::npos)
    return wrong("its lines end in CR alone (convert them to LF: tr '\\r' '\\n' < OLD > NEW)");
  if (line.find('|') == std::string_view::npos)
    return wrong(what_else(line, text.substr(rows.at_, 200)));
  rows.split_row(line);
  for (const std::string_view field : rows.fields_) rows.header_.push_back(lower_case(trim(field)));
  if (!line.empty() && std::isdigit(static_cast<unsigned char>(line.front())) != 0)
    return wrong("the first line is a job, not the header (leave out --noheader)");
  rows.find_written_fields();
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

void SacctRows::find_written_fields() {
  constexpr std::array<std::string_view, 2> ids = {"jobid", "jobidraw"};
  id_ = find(ids);
  std::size_t changes = 0;
  for (Column column = 0; column < header_.size(); ++column) {
    written_.push_back(std::ranges::find(written_fields, header_[column]) != written_fields.end());
    if (written_[column] && (column == 0 || !written_[column - 1])) ++changes;
    if (written_[column] && (widest_ == none || header_[widest_] != "submitline")) widest_ = column;
  }
  side_by_side_ = changes == 1;
}

/// A line with all fields, or one that the end of the file may have cut off.
bool SacctRows::begins_row(std::string_view line) const {
  if (line == header_line_ || is_message(line)) return true;
  std::size_t bars = 0;
  for (std::size_t at = 0, begin = 0; at < line.size(); ++at) {
    if (line[at] != '|') continue;
    if (bars == id_ && is_job_id(line.substr(begin, at - begin))) return true;
    begin = at + 1;
    if (++bars + 1 == header_.size()) return true;
  }
  return false;
}

/// Fields too many are a '|' in a field that users write, most likely in the submit line.
void SacctRows::join_extra_fields() {
  if (fields_.size() <= header_.size() || !side_by_side_) return;
  const auto first = fields_.begin() + static_cast<std::ptrdiff_t>(widest_);
  const auto last = first + static_cast<std::ptrdiff_t>(fields_.size() - header_.size());
  const auto begin = static_cast<std::size_t>(first->data() - row_.data());
  const auto end = static_cast<std::size_t>(last->data() - row_.data()) + last->size();
  *first = row_.substr(begin, end - begin);
  fields_.erase(first + 1, last + 1);
}

/// As many fields as the header has, and line ends only where users write.
bool SacctRows::is_whole() const {
  if (fields_.size() != header_.size()) return false;
  for (Column column = 0; column < fields_.size(); ++column) {
    if (!written_[column] && fields_[column].find('\n') != std::string_view::npos) return false;
  }
  return true;
}

/// The row that begins with `line`, and the lines after it that begin no row.
void SacctRows::take_row(std::string_view line) {
  const std::size_t at = at_;
  const std::uint64_t next_line = next_line_;
  joined_.clear();
  while (widest_ != none && at_ < text_.size()) {
    const std::size_t before = at_;
    const std::string_view more = take_line();
    if (begins_row(more)) {
      at_ = before;
      --next_line_;
      break;
    }
    if (joined_.empty()) joined_ = line;
    if (joined_.size() <= longest_line) joined_.append("\n").append(more);
  }
  split_row(joined_.empty() ? line : std::string_view(joined_));
  join_extra_fields();
  if (joined_.empty() || is_whole()) return;
  // Lines that belong to no row must not cost this one.
  const auto fields = fields_;
  split_row(line);
  join_extra_fields();
  if (is_whole()) {
    at_ = at;
    next_line_ = next_line;
    joined_.clear();
    return;
  }
  row_ = joined_;
  fields_ = fields;
}

/// Leaves out the lines that begin no row.
void SacctRows::pass_to_row() {
  while (at_ < text_.size()) {
    const std::size_t before = at_;
    if (!begins_row(take_line())) continue;
    at_ = before;
    --next_line_;
    return;
  }
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
    if (is_message(line)) {
      pass_to_row();
      fields_.clear();
      fault_ =
          "this is an error message from sacct: the dump may end too early or lack rows (make it "
          "again, with 2>errors.txt to see the error)";
      return true;
    }
    take_row(line);
    if (joined_.size() > longest_line) {
      fault_ = "a row of more than 1 MiB";
    } else if (fields_.size() > header_.size()) {
      fault_ =
          "more fields than the header line has: a '|' in a job's name or command? (put WorkDir, "
          "JobName and SubmitLine last or leave them out, or use sacct --json)";
    } else if (fields_.size() < header_.size()) {
      fault_ = at_ == text_.size() ? "fewer fields than the header line has: the file ends within "
                                     "this row (truncated? make the dump again)"
                                   : "fewer fields than the header line has (cut off, or edited by "
                                     "hand? make the dump again)";
    } else if (!is_whole()) {
      fault_ = "a line break in a field that cannot have one (edited by hand? make the dump again)";
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

}  // namespace schedmate::trace
