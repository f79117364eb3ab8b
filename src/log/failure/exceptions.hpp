// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Structures of log lines that no single word gives away.

#include <optional>
#include <string_view>

namespace schedmate::failure {

/// The name in "package.module.SomeError: text" or "SomeError" alone, behind quotes and frames of
/// tables; nothing when the line is no exception line.
[[nodiscard]] std::optional<std::string_view> exception_name(std::string_view body);

/// Inside a traceback any name may be an exception's: "mylib.NoCheckpoint: text".
[[nodiscard]] bool may_be_exception(std::string_view body);

/// A place of a traceback: `File "x/y.py", line 3, in f`.
struct Frame {
  std::string_view file, function;
};
[[nodiscard]] std::optional<Frame> read_frame(std::string_view body);

}  // namespace schedmate::failure
