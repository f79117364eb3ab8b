// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages of the evaluation book that hold for every experiment.

#include "apps/document.hpp"

namespace schedmate {

void add_front_page(Document& book);
/// Beside each gain on made-up metadata.
[[nodiscard]] std::string construction_note();
/// Under errors of estimates.
[[nodiscard]] std::string estimates_note();
/// Under elastic experiments.
[[nodiscard]] std::string elastic_note();
void add_limits_page(Document& book);

}  // namespace schedmate
