// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How things go wrong. An `Error` is a code and a sentence; the code is chosen by what the caller
/// does next, the sentence says what, where and how to mend it. "Cannot be placed now" is not an
/// error but a value; a broken invariant aborts (SCHEDMATE_CHECK in base/check.hpp).

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace schedmate {

enum class ErrorCode {
  invalid,      ///< the input is wrong: mend it (exit 3)
  not_found,    ///< no such name: choose another (exit 2)
  unavailable,  ///< a resource is absent now: retry later (exit 4)
  timeout,      ///< no answer in time (exit 4)
  bad_reply,    ///< a peer answered nonsense (exit 4)
  refused,      ///< rights or budget (exit 4)
  conflict,     ///< two inputs contradict each other (exit 3)
  unsupported,  ///< asked for something this build or table has not (exit 2)
};

struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::invalid, "...")` from any function that returns a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// The process exit code for an error (docs/formats/cli.md): 2 usage, 3 bad input, 4 unavailable.
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
