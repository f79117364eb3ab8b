// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How things go wrong. An `Error` is a code and a sentence. What the caller does next decides on
/// the code; the sentence says what is wrong, where, and how to fix it. "Cannot be placed now" is
/// no error but a value. A broken invariant ends the program (SCHEDMATE_CHECK in base/check.hpp).

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace schedmate {

/// Each comment ends with the exit code of the program (docs/formats/cli.md).
enum class ErrorCode {
  /// The input is wrong: fix it (exit 3).
  invalid,
  /// No such name: choose another (exit 2).
  not_found,
  /// A resource is absent now: retry later (exit 4).
  unavailable,
  /// No answer in time (exit 4).
  timeout,
  /// A peer answered nonsense (exit 4).
  bad_reply,
  /// Rights or budget do not allow it (exit 4).
  refused,
  /// Two inputs contradict each other (exit 3).
  conflict,
  /// This build or table does not have what was asked for (exit 2).
  unsupported,
};

struct Error {
  ErrorCode code = ErrorCode::invalid;
  /// One line for people, without the program's name and a full stop. Errors of files begin with
  /// "FILE:LINE:COLUMN: ".
  std::string message;
};

/// A value or an Error. No function of this library reports an error by throwing.
template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::invalid, "...")` from any function that returns a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// The exit code of the program for an error: 2 usage, 3 bad input, 4 unavailable.
[[nodiscard]] constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::conflict:
      return 3;
    case ErrorCode::not_found:
    case ErrorCode::unsupported:
      return 2;
    default:
      return 4;
  }
}

}  // namespace schedmate
