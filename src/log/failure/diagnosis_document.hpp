// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <schedmate/diagnosis.hpp>

#include "base/document.hpp"

namespace schedmate::failure {

/// schedmate.diagnosis.v1, without what models cost.
[[nodiscard]] Document diagnosis_document(const Diagnosis& diagnosis);

}  // namespace schedmate::failure
