// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/progress.hpp>

#include "base/document.hpp"

namespace schedmate::progress {

/// schedmate.progress.v1, without what models cost.
[[nodiscard]] Document progress_document(const Progress& progress);

}  // namespace schedmate::progress
