// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace schedmate {

/// Does in a folder of state what a program does there, so that it hangs where that would: asks its
/// file system, reads of each file, and makes, writes, syncs, locks, reads and removes the file
/// ".answers". What fails has been answered. In a child that may be left behind.
void touch_folder(const std::string& folder);

}  // namespace schedmate
