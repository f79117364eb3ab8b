// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What was freed goes back to the system, which malloc would keep.

#include <malloc.h>

#include <cstddef>

namespace schedmate::daemon {

/// From now on large buffers do as soon as they are freed.
inline void let_large_buffers_go() {
  constexpr int large = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, large);
}

/// After large work.
inline void give_back_memory() {
  constexpr std::size_t much = std::size_t{32} << 20U;
  if (::mallinfo2().fordblks > much) ::malloc_trim(0);
}

}  // namespace schedmate::daemon
