// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/library.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/deadline.hpp"
#include "base/text.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::slurm_live {
namespace {

using Kind = LibraryAnswer::Kind;

/// Pointers for exec; the texts outlive them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// With the socket as standard input. -1: it could not be started.
pid_t spawn(std::vector<std::string> words, std::vector<std::string> variables, int socket,
            int complaints) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&files, socket, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, complaints, 2);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  if (::posix_spawn(&child, words.front().c_str(), &files, &attributes, pointers_to(words).data(),
                    pointers_to(variables).data()) != 0)
    child = -1;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  return child;
}

bool send(int to, std::string_view line) {
  return ::send(to, line.data(), line.size(), MSG_NOSIGNAL) == std::ssize(line);
}

enum class Got : std::uint8_t { all, late, closed };

/// So many bytes more.
Got take(int from, std::size_t count, const Deadline& deadline, std::string& bytes) {
  constexpr std::size_t most_at_once = std::size_t{1} << 20U;
  while (count > 0) {
    if (!deadline.wait_readable(from)) return Got::late;
    const std::size_t had = bytes.size();
    const std::size_t wanted = std::min(count, most_at_once);
    bytes.resize(had + wanted);
    const auto got = ::recv(from, bytes.data() + had, wanted, 0);
    bytes.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Got::closed;
    count -= static_cast<std::size_t>(got);
  }
  return Got::all;
}

}  // namespace

tl::unexpected<Error> Library::give_up(ErrorCode code, std::string why) {
  child_.stop();
  socket_.close();
  last_error_ = std::move(why);
  return fail(code, last_error_);
}

tl::unexpected<Error> Library::broken(std::string why) {
  constexpr unsigned most_doublings = 6;
  is_broken_ = true;
  pause_ = (1U << std::min(failures_, most_doublings)) - 1;
  ++failures_;
  return give_up(ErrorCode::unavailable, "Slurm's library: " + std::move(why));
}

/// What it dies of may take a while.
std::string Library::why_ended(const Deadline& deadline) {
  const bool is_known = child_.ended_by(deadline);
  constexpr std::size_t enough = 400;
  std::string said(enough, '\0');
  said.resize(static_cast<std::size_t>(
      std::max<ssize_t>(::pread(complaints_.number(), said.data(), said.size(), 0), 0)));
  const std::string_view line = trim(said).substr(0, trim(said).find('\n'));
  if (!line.empty()) return secrets::safe_line(line);
  if (is_known && WIFSIGNALED(child_.status()))
    return fmt::format("it crashed (signal {})", WTERMSIG(child_.status()));
  return "its process has ended without an answer";
}

Result<void> Library::start(Until until) {
  std::array<int, 2> ends{};
  complaints_ = Descriptor(::memfd_create("schedmate-slurm", MFD_CLOEXEC));
  if (!complaints_ || ::fcntl(complaints_.number(), F_SETFL, O_APPEND) != 0 ||
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return broken(fmt::format("it has no pipe: {}", std::strerror(errno)));
  socket_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  const std::string program = options_.program.empty() ? "/proc/self/exe" : options_.program;
  const pid_t child = spawn({program, word, options_.module}, tools_.variables(), theirs.number(),
                            complaints_.number());
  if (child < 0) return broken("its process cannot be started");
  child_ = ChildProcess(child);
  theirs.close();
  const auto ready = hear(Deadline(tools_.left(until)));
  if (!ready) return tl::unexpected(ready.error());
  if (ready->kind != Kind::ready)
    return broken(ready->text.empty() ? "it does not begin" : secrets::safe_line(ready->text));
  version_ = ready->text;
  return {};
}

Result<LibraryAnswer> Library::hear(const Deadline& deadline) {
  std::string bytes;
  Got got = take(socket_.number(), frame_head_bytes, deadline, bytes);
  const auto length = got == Got::all ? frame_bytes(bytes) : 0;
  if (!length) return broken("its answer is none");
  bytes.clear();
  if (got == Got::all) got = take(socket_.number(), *length, deadline, bytes);
  if (got == Got::late)
    return give_up(ErrorCode::timeout,
                   "Slurm's library gave no answer in time (is the controller away?)");
  if (got == Got::closed) return broken(why_ended(deadline));
  auto answer = read_answer(bytes);
  if (!answer) return broken(answer.error().message);
  return answer;
}

Result<LibraryAnswer> Library::ask(const std::string& line, Until until) {
  if (pause_ > 0) {
    --pause_;
    is_broken_ = true;
    return fail(ErrorCode::unavailable, last_error_);
  }
  is_broken_ = false;
  if (tools_.left(until) <= std::chrono::milliseconds(0))
    return fail(ErrorCode::timeout, "there was no time left for Slurm's library");
  if (!socket_)
    if (auto started = start(until); !started) return tl::unexpected(started.error());
  const Deadline deadline(tools_.left(until));
  // One that has died before it is asked is told like one that dies of the question.
  if (!send(socket_.number(), line + "\n")) return broken(why_ended(deadline));
  auto answer = hear(deadline);
  if (!answer) return answer;
  // Another process reads slurm.conf anew: the controller may have moved.
  if (answer->kind == Kind::failed)
    return give_up(ErrorCode::unavailable, "Slurm says: " + secrets::safe_line(answer->text));
  if (answer->kind == Kind::ready) return broken("it answers what was not asked");
  failures_ = 0;
  forget_complaints();
  return answer;
}

/// It may write some at each question, for years.
void Library::forget_complaints() {
  struct stat status{};
  if (::fstat(complaints_.number(), &status) == 0 && status.st_size > 0)
    (void)::ftruncate(complaints_.number(), 0);
}

Result<std::string> Library::version(Until until) {
  if (!socket_) {
    is_broken_ = false;
    if (auto started = start(until); !started) return tl::unexpected(started.error());
  }
  return version_;
}

Result<LibraryAnswer> Library::listing(const char* what, std::int64_t& changed, Until until) {
  auto answer = ask(fmt::format("{} {}", what, changed), until);
  if (answer && answer->kind == Kind::news) changed = answer->changed;
  return answer;
}

Result<LibraryAnswer> Library::jobs(bool with_orders, Until until) {
  return listing(with_orders ? "jobs_with_orders" : "jobs", jobs_changed_, until);
}
Result<LibraryAnswer> Library::nodes(Until until) {
  return listing("nodes", nodes_changed_, until);
}
Result<LibraryAnswer> Library::job(std::uint32_t number, bool with_orders, Until until) {
  return ask(fmt::format("{} {}", with_orders ? "job_with_orders" : "job", number), until);
}

}  // namespace schedmate::slurm_live
