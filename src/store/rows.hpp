// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What each row of stores.def defines: opens the store at `where`, the part of the specification
/// behind the first colon.

#include <memory>
#include <schedmate/store.hpp>
#include <string>

namespace schedmate::store {

#define STORE(name, summary)                                                         \
  [[nodiscard]] Result<std::unique_ptr<Store>> open_##name(const std::string& where, \
                                                           const StoreOptions& options);
#include "store/stores.def"
#undef STORE

}  // namespace schedmate::store
