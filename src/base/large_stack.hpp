// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace schedmate {

/// Runs `work` on a stack of `bytes` of its own, which takes memory only as far as it is used, and
/// comes back when it is done: for readers that follow what foreign input nests, whatever stack the
/// process was started with. Exceptions pass through. Any thread may call it. Where no such stack
/// can be had, and under the address sanitizer, it runs on the caller's.
void on_large_stack(std::size_t bytes, const std::function<void()>& work);

}  // namespace schedmate
