// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What stands at the top of a whatif's report.html: the verdict, one row a policy, then details.

#include <schedmate/report.hpp>

#include "lab/whatif.hpp"

namespace schedmate::lab {

[[nodiscard]] ReportOpening whatif_opening(const WhatifAnswer& answer);

}  // namespace schedmate::lab
