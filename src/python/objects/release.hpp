// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a run leaves is held by reference counts: objects that lead back to themselves would never
/// be freed, and whoever walks through them would never end.

#include "python/objects/objects.hpp"

namespace schedmate::python {

/// Makes each way through the observation end: what leads back becomes unknown.
void cut_circles(Observation& seen);
void cut_circles(Value& value);

}  // namespace schedmate::python
