// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <schedmate/accounting.hpp>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "trace/accounting_readers.hpp"
#include "trace/readers.hpp"

namespace schedmate {
namespace {

constexpr std::size_t start_bytes = std::size_t{1} << 16U;

/// The line from 2 on where JSON begins behind lines that are no header, or 0.
std::uint64_t late_json(std::string_view text) {
  std::uint64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.find('|') != std::string_view::npos) return 0;
    if (line.starts_with('{')) return number;
  }
  return 0;
}

/// UTF-32 begins like UTF-16, which opening a text refuses by that name.
Result<void> refuse_utf32(const std::string& path) {
  constexpr std::array<char, 4> little_end{'\xff', '\xfe', '\0', '\0'};
  constexpr std::array<char, 4> big_end{'\0', '\0', '\xfe', '\xff'};
  auto file = InputFile::open_bytes(path);
  if (!file) return tl::unexpected(file.error());
  std::array<char, 4> first{};
  std::size_t have = 0;
  while (have < first.size()) {
    const auto got = file->read(std::span(first).subspan(have));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    have += *got;
  }
  if (have < first.size() || (first != little_end && first != big_end)) return {};
  return fail(ErrorCode::invalid,
              path + ": is UTF-32 text; save it as UTF-8 (iconv -f UTF-32 -t UTF-8)");
}

}  // namespace

Result<AccountingDump> trace::parse_accounting(const ReadBytes& read, const std::string& name,
                                               const AccountingOptions& options) {
  auto begin = trace::look_at_start(read);
  if (!begin) return tl::unexpected(begin.error());
  if (begin->json) return trace::parse_accounting_json(std::move(begin->text), read, name, options);
  const auto text = read_rest(std::move(begin->text), read);
  if (!text) return tl::unexpected(text.error());
  if (const std::uint64_t line = late_json(std::string_view(*text).substr(0, start_bytes));
      line > 0) {
    return fail(ErrorCode::invalid,
                fmt::format("{}:1: the JSON starts at line {}; remove the text before it (a "
                            "message from sacct? redirect it with 2>/dev/null)",
                            name, line));
  }
  return trace::parse_accounting_text(*text, name, options);
}

Result<AccountingDump> read_accounting(const std::string& path, const AccountingOptions& options) {
  if (auto other = refuse_utf32(path); !other) return tl::unexpected(other.error());
  auto file = InputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  std::error_code unknown;
  const auto size = static_cast<double>(std::filesystem::file_size(path, unknown));
  double got = 0;
  const auto read = [&](std::span<char> out) {
    auto bytes = file->read(out);
    if (bytes && options.progress) {  // of a compressed file the bar is full too early
      got += static_cast<double>(*bytes);
      options.progress(std::min(1.0, got / std::max(size, 1.0)));
    }
    return bytes;
  };
  return trace::parse_accounting(read, path, options);
}

Result<AccountingDump> read_accounting_text(std::string_view text, const std::string& name,
                                            const AccountingOptions& options) {
  return trace::parse_accounting(bytes_of(text), name, options);
}

}  // namespace schedmate
