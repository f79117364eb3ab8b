// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of code/value.hpp under their own names, for all readers of commands.

#include "code/value.hpp"

namespace schedmate::command {

using code::Dict;
using code::find_path;
using code::List;
using code::None;
using code::Object;
using code::Place;
using code::PlacePtr;
using code::repr;
using code::set_path;
using code::Unknown;
using code::Value;

}  // namespace schedmate::command
