// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Files read as text: plain, gzip (any number of members) or zstd, distinguished by their first
/// bytes and never by their name. A damaged or truncated stream is an error, not a shorter text. A
/// UTF-8 byte order mark is left out; UTF-16 is refused. They are opened as base/foreign_file.hpp
/// says, whoever has written them.

#include <cstdint>
#include <functional>
#include <memory>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>

namespace schedmate {

class ForeignFile;

/// Fills the span as far as it can and says how much; 0 = end of the text.
using ReadBytes = std::function<Result<std::size_t>(std::span<char>)>;

class InputFile {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 36U;  ///< 64 GiB, decompressed

  /// Errors: invalid when the file is absent, not a regular file or UTF-16 text; refused, timeout
  /// as ForeignFile::open.
  static Result<InputFile> open(const ForeignPath& path, std::uint64_t limit = most_bytes);
  /// Any bytes of any length, UTF-16 and byte order marks as they are. Errors: as open().
  static Result<InputFile> open_bytes(const ForeignPath& path);
  /// As open_bytes(), of a file that is open; `name` is for errors.
  static Result<InputFile> of_bytes(ForeignFile file, const std::string& name);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// As ReadBytes. Errors: invalid when the compressed stream is damaged or ends early, or when
  /// the text is longer than the limit.
  Result<std::size_t> read(std::span<char> out);

  /// Of the file as it lies on the disk; 0 for a pipe.
  [[nodiscard]] std::uint64_t stored_bytes() const;

 private:
  class Stream;
  explicit InputFile(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

/// As ForeignFile::open, but an absent file is an input to mend (invalid), not a name to choose.
[[nodiscard]] Result<ForeignFile> open_text(const ForeignPath& path);

/// The largest text that read_file takes into memory (4 GiB, some 40 million rows).
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 32U;

/// The whole text of a file. Errors: as InputFile.
[[nodiscard]] Result<std::string> read_file(const ForeignPath& path,
                                            std::uint64_t limit = most_text_bytes);

/// `start` and everything that `read` still has.
[[nodiscard]] Result<std::string> read_rest(std::string start, const ReadBytes& read);

/// Reads from memory; the text must outlive the function.
[[nodiscard]] ReadBytes bytes_of(std::string_view text);

}  // namespace schedmate
