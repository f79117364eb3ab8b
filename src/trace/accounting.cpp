// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <schedmate/accounting.hpp>
#include <system_error>
#include <utility>

#include "trace/accounting_readers.hpp"
#include "trace/readers.hpp"

namespace schedmate {

Result<AccountingDump> parse_accounting(const ReadBytes& read, const std::string& name,
                                        const AccountingOptions& options) {
  auto begin = look_at_start(read);
  if (!begin) return tl::unexpected(begin.error());
  if (begin->json) return parse_accounting_json(std::move(begin->text), read, name, options);
  const auto text = read_rest(std::move(begin->text), read);
  if (!text) return tl::unexpected(text.error());
  return parse_accounting_text(*text, name, options);
}

Result<AccountingDump> read_accounting(const std::string& path, const AccountingOptions& options) {
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
  return parse_accounting(read, path, options);
}

}  // namespace schedmate
