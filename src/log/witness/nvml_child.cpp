// SPDX-License-Identifier: Apache-2.0

/// The library is asked in a child: a driver in trouble can keep its caller forever.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/child_process.hpp"
#include "base/deadline.hpp"
#include "base/descriptor.hpp"
#include "log/witness/gpus_file.hpp"
#include "log/witness/nvml_library.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_answer_bytes = std::size_t{4} << 20U;

/// Ends with what the other end wrote until it was closed; nothing when the deadline came first.
std::optional<std::string> read_until(int from, const Deadline& deadline) {
  std::string text;
  std::array<char, 65536> piece{};
  while (text.size() < most_answer_bytes) {
    if (!deadline.wait_readable(from)) return std::nullopt;
    const auto got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

[[noreturn]] void work(int to, const std::string& library) {
  keep_only(to);  // a driver may keep this process for ever; nobody must wait for it
  // A crash is the child's own business, whatever this program does about its crashes.
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) ::signal(number, SIG_DFL);
  const std::string text = gpus_json(witness::read_nvml(library));
  std::size_t done = 0;
  while (done < text.size()) {
    const auto wrote = ::write(to, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  ::_exit(0);
}

GpuReading failed(const NvmlOptions& options, std::string why) {
  GpuReading made;
  made.library = options.library;
  made.error = std::move(why);
  return made;
}

GpuReading ask(const NvmlOptions& options) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return failed(options, "cannot create a pipe");
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  const pid_t number = ::fork();
  if (number < 0) return failed(options, "cannot start a process");
  if (number == 0) work(ends[1], options.library);
  ChildProcess child(number);
  to.close();
  const auto text = read_until(ends[0], Deadline(options.deadline));
  child.stop();  // one that waits in the driver is left behind
  if (!text)
    return failed(
        options, fmt::format("no answer within {} ms: the driver hangs", options.deadline.count()));
  if (text->empty() && WIFSIGNALED(child.status()))
    return failed(options,
                  fmt::format("the library crashed (signal {})", WTERMSIG(child.status())));
  auto read = witness::read_gpus_text(*text);
  if (!read || read->size() != 1) return failed(options, "the library's answer is incomplete");
  return std::move(read->front());
}

}  // namespace

GpuReading read_gpus(const NvmlOptions& options) {
  GpuReading made = ask(options);
  made.node = options.node;
  return made;
}

}  // namespace schedmate
