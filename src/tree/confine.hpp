// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work on foreign input in a process of its own, with nothing to lose and nowhere to go.
///
/// The child has bounded memory, CPU time and wall time; it cannot write files, open sockets, start
/// programs or look at other processes (seccomp), has no network of its own where the system allows
/// that, and has the rights of one reader (base/foreign_file.hpp). What it gives back is bytes;
/// nothing else comes out of it.
///
/// Threads: several threads may call this at the same time. The child is a copy of the calling
/// thread alone; `work` must not wait for another thread nor use a lock that one may hold (a
/// logger, a cache). Allocating is safe: the C library's fork() leaves its own locks usable. Output
/// that is buffered in stdio at the call is not written twice, since the child ends without
/// flushing.

#include <chrono>
#include <cstdint>
#include <functional>
#include <schedmate/file_access.hpp>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::tree {

struct Confinement {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30U;  ///< address space beyond today's; 0 = any
  std::chrono::seconds cpu{20};
  std::chrono::milliseconds wall{20'000};
  std::size_t reply_bytes = std::size_t{32} << 20U;
  Identity reader{};   ///< taken on
  int kept = -1;       ///< one file that stays open in the child; -1: none
  bool filter = true;  ///< seccomp; off only where a debugger or an old kernel is in the way
};

/// Runs `work` confined and gives what it returned. Errors: timeout (wall or CPU time); invalid
/// (memory, a signal, an exception, a reply too large; the sentence says which); refused (a right
/// could not be given up, no process can be made). No child is left behind.
[[nodiscard]] Result<std::string> run_confined(const Confinement& confinement,
                                               const std::function<std::string()>& work);

/// A question of the child to this process, and its answer: for what the child itself may not do.
using Ask = std::function<std::string(std::string_view question)>;

/// As run_confined, for work that asks. `answer` runs here, while the child waits; its time counts
/// as wall time, and it must come to an end by itself.
[[nodiscard]] Result<std::string> run_confined_asking(
    const Confinement& confinement, const std::function<std::string(const Ask&)>& work,
    const std::function<std::string(std::string)>& answer);

}  // namespace schedmate::tree
