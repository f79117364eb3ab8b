// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of code/value.hpp and what every native is called with, under their own names.

#include "python/objects/native.hpp"

namespace schedmate::natives {

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
using python::Arguments;
using python::Machine;

}  // namespace schedmate::natives
