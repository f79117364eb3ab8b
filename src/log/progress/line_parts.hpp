// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A line while it is read: its numbers with their keys, and which of them were recognised.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/lines/numbers.hpp"
#include "log/progress/log_words.hpp"

namespace schedmate::progress {

struct LineParts {
  LineParts(std::string_view text, const LogWords& known);

  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view key) const;
  [[nodiscard]] bool is_held_out(std::size_t i) const;

  std::string_view body;
  const LogWords& words;
  std::vector<lines::Number> numbers;
  std::vector<std::string> keys;  ///< plain ones of the numbers
  const LogFormat* format = nullptr;
  std::optional<std::size_t> bar, epoch, step, loss;  ///< places in `numbers`
  bool bar_of_epochs = false;                         ///< its rate is of epochs
};

[[nodiscard]] bool has_word(std::string_view phrase, const WordSet& set);
[[nodiscard]] std::string_view last_word(std::string_view phrase);
/// The lower-case words of a text, without digits and punctuation.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace schedmate::progress
