// SPDX-License-Identifier: Apache-2.0
#include "tree/confine_child.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/foreign_file.hpp"

namespace schedmate::tree {
namespace {

#if defined(__has_feature)
#define SCHEDMATE_HAS_FEATURE(name) __has_feature(name)
#else
#define SCHEDMATE_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    SCHEDMATE_HAS_FEATURE(address_sanitizer) || SCHEDMATE_HAS_FEATURE(thread_sanitizer)
constexpr bool bounds_memory = false;  // the sanitizers reserve terabytes of address space
#else
constexpr bool bounds_memory = true;
#endif

bool limit(__rlimit_resource_t what, rlim_t amount) {
  struct rlimit now{};
  if (::getrlimit(what, &now) != 0) return false;
  // One more at the hard end, so that the signal for CPU time is its own and not SIGKILL.
  const rlim_t spare = what == RLIMIT_CPU ? 1 : 0;
  const struct rlimit wanted{std::min(amount, now.rlim_max),
                             std::min(amount + spare, now.rlim_max)};
  return ::setrlimit(what, &wanted) == 0;
}

/// Pages that are mapped already: those of a large parent shall not count against the child.
std::uint64_t mapped_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 64> text{};
  const ssize_t size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (size <= 0) return 0;
  return std::strtoull(text.data(), nullptr, 10) * static_cast<std::uint64_t>(::getpagesize());
}

bool limit_all(const Confinement& confinement) {
  bool fine = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NOFILE, 512);
  fine = fine &&
         limit(RLIMIT_CPU, static_cast<rlim_t>(std::max<std::int64_t>(1, confinement.cpu.count())));
  if (bounds_memory && confinement.memory_bytes > 0) {
    fine = fine && limit(RLIMIT_AS, mapped_bytes() + confinement.memory_bytes);
  }
  return fine;
}

/// All but the standard ones and these two.
void close_others(int reply, int kept) {
  const auto close_range = [](int first, int last) {
    if (first <= last)
      ::syscall(SYS_close_range, static_cast<unsigned>(first), static_cast<unsigned>(last), 0U);
  };
  const auto [low, high] = std::minmax(reply, kept);
  close_range(3, low - 1);
  close_range(std::max(3, low + 1), high - 1);
  close_range(std::max(3, high + 1), std::numeric_limits<int>::max());
}

/// Before files are closed, which on a dead share waits for ever: nobody must wait for this
/// process.
void leave_terminal() {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, stream);
}

/// That of the parent again, for what a broken invariant or a sanitizer has to say.
void take_standard_error() {
  const std::string name = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  const int file = ::open(name.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return;
  ::dup2(file, STDERR_FILENO);
  ::close(file);
}

/// Handlers of the parent would run in the child otherwise.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

const char* drop_privileges(const Confinement& confinement, int reply) {
  reset_signals();
  leave_terminal();
  close_others(reply, confinement.kept);
  take_standard_error();
  // A network namespace of its own needs rights that not every system gives; the filter below
  // forbids sockets in any case.
  static_cast<void>(::unshare(CLONE_NEWNET));
  if (!become(confinement.reader)) return "cannot become the reader of the files";
  // After the change of user, which clears it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return "cannot be tied to its parent";
  if (!limit_all(confinement)) return "cannot limit its resources";
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "cannot give up privileges";
  const bool no_writing = deny_writing_files();
  if (confinement.filter && !install_filter(no_writing))
    return "cannot install its filter of system calls";
  return nullptr;
}

}  // namespace schedmate::tree
