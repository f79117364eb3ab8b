// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of code/value.hpp under their own names, for the interpreter.

#include "code/value.hpp"

namespace schedmate::python {

using code::Dict;
using code::List;
using code::None;
using code::Object;
using code::Place;
using code::PlacePtr;
using code::Unknown;
using code::Value;

}  // namespace schedmate::python
