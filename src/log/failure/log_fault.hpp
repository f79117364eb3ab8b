// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether there is anything in a log to judge by. No failure in an empty file is not health.

#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>

namespace schedmate::failure {

/// "" for a log with text in it, else what is wrong: "is empty", "is binary, not a log", or why
/// nothing of a compressed one can be read. Reads as far as it must to know, 4 MiB of a file with
/// text. Errors: those of opening the file.
[[nodiscard]] Result<std::string> fault_of_log(const ForeignPath& given);

/// Whether the text stops within its last line: that has no end, and is the beginning of what at
/// least two lines above it say in full ("step 61/10" below "step 60/100 loss 2.1"). A line of
/// which no other shows how it goes on may well be whole. Errors: those of opening the file.
[[nodiscard]] Result<bool> stops_within_line(const ForeignPath& path);

}  // namespace schedmate::failure
