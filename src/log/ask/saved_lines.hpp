// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines that say that a checkpoint was saved, in whatever words.

#include <string>
#include <string_view>

namespace schedmate::ask {

/// "Saved checkpoint to a.pt", "wrote state ... to /scratch/x.pt", "dumped weights to s3://...".
/// Not: settings, code of a traceback, what was loaded, could not be saved, or will be.
[[nodiscard]] bool says_saved(std::string_view line);

/// The path that the line names, without quotes; "" = none.
[[nodiscard]] std::string path_in(std::string_view line);

/// A line of a program, such as a traceback shows.
[[nodiscard]] bool is_source_code(std::string_view line);

}  // namespace schedmate::ask
