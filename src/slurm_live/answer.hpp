// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the process that has Slurm's library (library_child.hpp) answers: a frame each, read
/// without trust, since what it holds comes from a library and from users of the cluster.

#include <array>
#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/shown.hpp"

namespace schedmate::slurm_live {

struct LibraryAnswer {
  enum class Kind : std::uint8_t {
    ready,      ///< `text`: the library's version
    news,       ///< records
    unchanged,  ///< since the answer before
    none,       ///< no such job
    failed,     ///< `text`: why
  };
  Kind kind = Kind::failed;
  std::string text{};
  std::int64_t changed = 0;  ///< of news: to be asked with next
  std::vector<slurm::Shown> records{};
};

/// The name of the last value of news: LibraryAnswer::changed.
inline constexpr const char* last_update_name = "LastUpdate";
/// Before each answer: the number of its bytes.
inline constexpr std::size_t frame_head_bytes = 4;
inline constexpr std::size_t most_answer_bytes = std::size_t{1} << 28U;
/// Nothing where it is longer than any.
[[nodiscard]] std::optional<std::size_t> frame_bytes(std::string_view head);

/// A frame, written part by part.
class AnswerWriter {
 public:
  explicit AnswerWriter(LibraryAnswer::Kind kind);
  void put(std::string_view text);
  /// With its head; it is an answer that failed where it has become too long.
  [[nodiscard]] std::string finish() &&;

 private:
  std::string frame_;
};

/// Of a frame without its head. Errors: invalid.
[[nodiscard]] Result<LibraryAnswer> read_answer(std::string_view body);

}  // namespace schedmate::slurm_live
