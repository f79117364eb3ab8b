// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gathers the named settings of a program from all that was read of it.

#include "facts/scene.hpp"

namespace schedmate::facts {

/// Flags, configs, keyword arguments of outside calls, launcher settings, constants of the entry
/// script; then, for words that no parser was seen to take, the words themselves and the config
/// files that they name.
[[nodiscard]] std::vector<Setting> gather_settings(tree::Tree& tree, const command::Launch& launch,
                                                   const python::Observation& seen);

}  // namespace schedmate::facts
