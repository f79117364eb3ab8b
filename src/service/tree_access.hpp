// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "advisor/versions.hpp"

namespace schedmate::service {

/// A job's tree as the Version Manager reaches it: beneath the root only, as `Tree` opens it.
[[nodiscard]] advisor::TreeAccess confined_tree();

}  // namespace schedmate::service
