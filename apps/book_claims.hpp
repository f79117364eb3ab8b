// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the paper claims beside what was measured here, claim by claim.

#include <vector>

#include "apps/book_rows.hpp"
#include "apps/document.hpp"

namespace schedmate {

/// Only claims of experiments that are in the book.
void add_claims(Document& book, const std::vector<Chapter>& chapters);

/// Which part of SchedMate does what in Lucid, and what true knowledge would be worth there.
void add_bounds_page(Document& book, const std::vector<Chapter>& chapters);

}  // namespace schedmate
