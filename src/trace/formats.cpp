// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <schedmate/trace.hpp>

#include "base/text.hpp"
#include "trace/readers.hpp"

namespace schedmate {

std::span<const FormatRow> format_rows() {
  static constexpr std::array rows{
#define FORMAT(name, summary) FormatRow{#name, summary, trace::read_##name},
#include "trace/formats.def"
#undef FORMAT
  };
  return rows;
}

Result<Trace> read_trace(std::string_view spec, const ReadOptions& options) {
  const auto rows = format_rows();
  std::vector<std::string_view> names;
  for (const FormatRow& row : rows) names.push_back(row.name);
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) {
    return fail(ErrorCode::not_found, fmt::format("trace '{}': write FORMAT:PATH (formats: {})",
                                                  spec, fmt::join(names, ", ")));
  }
  const auto row = std::ranges::find(rows, spec.substr(0, colon), &FormatRow::name);
  if (row == rows.end()) {
    return fail(ErrorCode::not_found, unknown_name("trace format", spec.substr(0, colon), names));
  }
  return row->read(std::string(spec.substr(colon + 1)), options);
}

Result<trace::TextStart> trace::look_at_start(const ReadBytes& read) {
  trace::TextStart begin{std::string(std::size_t{1} << 16U, '\0'), false};
  std::size_t first = std::string::npos;
  std::size_t size = 0;
  while (first == std::string::npos) {
    const auto got = read(std::span(begin.text).first(begin.text.size()));
    if (!got) return tl::unexpected(got.error());
    size = *got;
    if (size == 0) break;
    first = std::string_view(begin.text.data(), size).find_first_not_of(" \t\r\n");
  }
  begin.text.resize(size);
  begin.json = size > 0 && (begin.text[first] == '{' || begin.text[first] == '[');
  return begin;
}

Result<Trace> trace::parse_json_or_text(const ReadBytes& read, const std::string& name,
                                        const ReadOptions& options, trace::JsonOrText parsers) {
  auto begin = trace::look_at_start(read);
  if (!begin) return tl::unexpected(begin.error());
  if (begin->json) return parsers.json(std::move(begin->text), read, name, options);
  const auto text = read_rest(std::move(begin->text), read);
  if (!text) return tl::unexpected(text.error());
  return parsers.text(*text, name, options);
}

}  // namespace schedmate
