// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where an exception was raised: in the job's own code or in a library, and who called it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/failure/exceptions.hpp"

namespace schedmate::failure {

enum class RaisedIn : std::uint8_t {
  nowhere,               ///< no frames
  project,               ///< the innermost frame is the job's own
  library,               ///< a library that the job's code called
  library_from_library,  ///< a library deep in others
  only_library,          ///< no frame of the job at all
};
[[nodiscard]] std::string_view name_of(RaisedIn place);

/// Installed packages, the language itself and generated code: nobody's project.
[[nodiscard]] bool is_library_file(std::string_view file);

/// Frames from the outermost to the innermost.
[[nodiscard]] RaisedIn raised_in(std::span<const Frame> frames);

}  // namespace schedmate::failure
