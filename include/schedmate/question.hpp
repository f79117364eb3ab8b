// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What language models are asked: a request, how its reply is read, and what the answer must bear.
/// Every use of a model is one of these (facts, lines of a log, causes of failures, questions of
/// people), so that all are asked, counted and voted on in the same way (llm/ask.hpp). Values; any
/// thread may use them.

#include <algorithm>
#include <functional>
#include <schedmate/llm.hpp>
#include <span>
#include <string>
#include <string_view>

namespace schedmate {

/// One question of a kind of its own; `Answer` is the value that its reply is read into.
template <class Answer>
struct Question {
  /// Everything that is sent; redaction happens on the way out (llm.hpp).
  ChatRequest request;
  /// Errors: bad_reply (not the document that was asked for).
  std::function<Result<Answer>(std::string_view reply)> read;
  /// What is wrong with an answer that could be read, "" = nothing. Empty: every answer counts that
  /// can be read, or whoever uses it checks it.
  std::function<std::string(const Answer& answer)> fault{};
};

/// Whether so many of all samples decide: more than half, so that no other answer can.
[[nodiscard]] constexpr bool is_majority(std::ptrdiff_t votes, std::ptrdiff_t samples) {
  return 2 * votes > samples;
}

/// The first answer that more than half of all are `same` as; null when there is none. Compares
/// each with each.
template <class Answer, class Same>
[[nodiscard]] const Answer* majority(std::span<const Answer> answers, const Same& same) {
  for (const Answer& each : answers) {
    const auto alike = [&](const Answer& other) { return same(each, other); };
    if (is_majority(std::ranges::count_if(answers, alike), std::ssize(answers))) return &each;
  }
  return nullptr;
}

}  // namespace schedmate
