// SPDX-License-Identifier: Apache-2.0
#include "base/large_stack.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <exception>

namespace schedmate {

#ifdef __SANITIZE_ADDRESS__

// The sanitizer follows one stack a thread: work runs where it is.
void on_large_stack(std::size_t /*bytes*/, const std::function<void()>& work) { work(); }

#else

namespace {

struct Errand {
  const std::function<void()>* work;
  std::exception_ptr thrown;
};

/// makecontext passes numbers of the size of an int only.
void enter(unsigned high, unsigned low) {
  constexpr unsigned half = 32;
  const auto address = (static_cast<std::uint64_t>(high) << half) | low;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it came here in two halves
  auto* const errand = reinterpret_cast<Errand*>(address);
  try {
    (*errand->work)();
  } catch (...) {
    errand->thrown = std::current_exception();
  }
}

}  // namespace

void on_large_stack(std::size_t bytes, const std::function<void()>& work) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return work();
  constexpr std::size_t guard = 1 << 16;
  (void)::mprotect(memory, guard, PROT_NONE);
  Errand errand{&work, nullptr};
  ucontext_t here{};
  ucontext_t there{};
  ::getcontext(&there);
  there.uc_stack.ss_sp = memory;
  there.uc_stack.ss_size = bytes;
  there.uc_link = &here;
  constexpr unsigned half = 32;
  const auto address = reinterpret_cast<std::uint64_t>(&errand);
  ::makecontext(&there, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(address >> half), static_cast<unsigned>(address));
  ::swapcontext(&here, &there);
  (void)::munmap(memory, bytes);
  if (errand.thrown) std::rethrow_exception(errand.thrown);
}

#endif

}  // namespace schedmate
