// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values of code/value.hpp under their own names, for all readers of configurations.

#include "code/value.hpp"

namespace schedmate::config {

using code::Dict;
using code::List;
using code::Place;
using code::PlacePtr;
using code::Unknown;
using code::Value;

}  // namespace schedmate::config
