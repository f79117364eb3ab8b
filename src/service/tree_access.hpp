// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/file_access.hpp>

#include "advisor/versions.hpp"

namespace schedmate::service {

/// A job's tree as the Version Manager reaches it: as extract_facts() does, in a confined child
/// with the rights of the reader.
[[nodiscard]] advisor::TreeAccess confined_tree(const Identity& who = {});

}  // namespace schedmate::service
