// SPDX-License-Identifier: Apache-2.0
#include "evaluation_report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace schedmate::evaluation_report {
namespace {

using Kind = Block::Kind;

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

/// No text may begin or end a cell, a tag or a link of the Markdown. What stands in an experiment's
/// file is foreign.
std::string escaped_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view special = "|<>[]*`\\";
    if (special.contains(c)) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string link_of(const Cell& cell) { return fmt::format("{}#L{}", cell.file, cell.line); }

/// `file`: the one that the reader knows already.
std::string markdown_cell(const Cell& cell, std::string_view file = "") {
  std::string text = escaped_markdown(cell.text);
  if (cell.file.empty()) return text;
  if (cell.line == 0) return fmt::format("[{}]({})", text, cell.file);
  if (cell.file == file) return fmt::format("{} :{}", text, cell.line);
  return fmt::format("{} [:{}]({})", text, cell.line, link_of(cell));
}

std::string html_cell(const Cell& cell) {
  if (cell.file.empty()) return escaped_html(cell.text);
  if (cell.line == 0)
    return fmt::format("<a href=\"{}\">{}</a>", escaped_html(cell.file), escaped_html(cell.text));
  return fmt::format("{} <a href=\"{}\">{}</a>", escaped_html(cell.text),
                     escaped_html(link_of(cell)), cell.line);
}

std::string markdown_table(const Block& table) {
  std::string out;
  const auto& rows = table.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string_view known = table.file;
    for (const Cell& cell : rows[i]) {
      out += "| " + markdown_cell(cell, known) + " ";
      if (!cell.file.empty()) known = cell.file;
    }
    out += "|\n";
    if (i != 0) continue;
    for (std::size_t column = 0; column < rows[i].size(); ++column) out += "| --- ";
    out += "|\n";
  }
  return out;
}

std::string html_table(const std::vector<std::vector<Cell>>& rows) {
  std::string out = "<table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view tag = i == 0 ? "th" : "td";
    out += "<tr>";
    for (const Cell& cell : rows[i]) out += fmt::format("<{0}>{1}</{0}>", tag, html_cell(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string markdown_of(const Block& block) {
  const auto first = [&] { return block.rows.front().front(); };
  switch (block.kind) {
    case Kind::heading:
      return fmt::format("{:#<{}} {}\n", "", block.level, markdown_cell(first()));
    case Kind::paragraph:
      return markdown_cell(first()) + "\n";
    case Kind::code:
      return fmt::format("```\n{}\n```\n", first().text);
    case Kind::list: {
      std::string out;
      for (const auto& row : block.rows) out += "- " + markdown_cell(row.front()) + "\n";
      return out;
    }
    case Kind::table:
      return markdown_table(block);
    case Kind::drawing:
      break;
  }
  return "";
}

std::string html_of(const Block& block) {
  const auto first = [&] { return html_cell(block.rows.front().front()); };
  switch (block.kind) {
    case Kind::heading:
      return fmt::format("<h{0}>{1}</h{0}>\n", block.level, first());
    case Kind::paragraph:
      return fmt::format("<p>{}</p>\n", first());
    case Kind::code:
      return fmt::format("<pre>{}</pre>\n", first());
    case Kind::list: {
      std::string out = "<ul>\n";
      for (const auto& row : block.rows)
        out += fmt::format("<li>{}</li>\n", html_cell(row.front()));
      return out + "</ul>\n";
    }
    case Kind::table:
      return html_table(block.rows);
    case Kind::drawing:
      return block.rows.front().front().text;
  }
  return "";
}

constexpr std::string_view style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:84rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "th,td{border:1px solid #8886;padding:.2rem .5rem;text-align:left;white-space:nowrap}"
    "a{font-size:.75em}pre{overflow-x:auto}";

}  // namespace

void Page::heading(int level, std::string text) {
  blocks_.push_back({Kind::heading, level, "", {{{std::move(text)}}}});
}
void Page::paragraph(std::string text) {
  blocks_.push_back({Kind::paragraph, 1, "", {{{std::move(text)}}}});
}
void Page::code(std::string text) { blocks_.push_back({Kind::code, 1, "", {{{std::move(text)}}}}); }
void Page::list(const std::vector<std::string>& points) {
  Block block{Kind::list, 1, "", {}};
  for (const std::string& point : points) block.rows.push_back({{point}});
  blocks_.push_back(std::move(block));
}
void Page::table(std::vector<std::vector<Cell>> rows, std::string file) {
  blocks_.push_back({Kind::table, 1, std::move(file), std::move(rows)});
}
void Page::drawing(std::string svg) {
  if (!svg.empty()) blocks_.push_back({Kind::drawing, 1, "", {{{std::move(svg)}}}});
}

std::string Page::markdown() const {
  std::string out;
  std::string file;  // the file whose lines stand in tables
  for (const Block& block : blocks_) {
    if (block.kind == Kind::drawing) continue;
    out += (out.empty() ? "" : "\n") + markdown_of(block);
    if (block.file.empty() || block.file == file) continue;
    file = block.file;
    out += fmt::format("\nLines of [{0}]({0}).\n", file);
  }
  return out;
}

std::string Page::html(const std::string& title) const {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>{}</style>\n",
      escaped_html(title), style);
  for (const Block& block : blocks_) out += html_of(block);
  return out + "</html>\n";
}

}  // namespace schedmate::evaluation_report
