// SPDX-License-Identifier: Apache-2.0
#include "probe/nvml_child.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/deadline.hpp"
#include "log/witness/nvml_library.hpp"

namespace schedmate::probe {
namespace {

constexpr std::size_t most_answer = std::size_t{1} << 20U;
constexpr char with_links = 'l', without_links = 's';

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const auto wrote = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

/// Answers each letter with a document in one line until the other end is closed.
[[noreturn]] void serve(int socket, const std::string& library) {
  keep_only(socket);  // a driver may keep this process for ever; nobody must wait for it
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) ::signal(number, SIG_DFL);
  witness::NvmlSession session(library);
  char asked = 0;
  for (;;) {
    const auto got = ::read(socket, &asked, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) ::_exit(0);
    const auto gpus = session.read({.load = true, .links = asked == with_links});
    if (!write_all(socket, in_one_line(witness::loaded_gpus_document(gpus)) + "\n")) ::_exit(0);
  }
}

enum class Ended : std::uint8_t { no, closed, late, too_long };

/// A line, without its end.
Ended read_line(int from, const Deadline& deadline, std::string& text) {
  std::array<char, 65536> piece{};
  while (text.size() < most_answer) {
    if (!deadline.wait_readable(from)) return Ended::late;
    const auto got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Ended::closed;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (!text.ends_with('\n')) continue;
    text.pop_back();
    return Ended::no;
  }
  return Ended::too_long;
}

}  // namespace

bool NvmlChild::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  Descriptor own(ends[0]);
  Descriptor others(ends[1]);
  const pid_t number = ::fork();
  if (number < 0) return false;
  if (number == 0) serve(ends[1], library_);
  child_ = ChildProcess(number);
  socket_ = std::move(own);
  return true;
}

/// After each failure twice as many readings are left out as after the one before.
witness::LoadedGpus NvmlChild::give_up(std::string why) {
  child_.stop();
  socket_.close();
  constexpr unsigned most_doublings = 5;
  pause_ = (1U << std::min(failures_, most_doublings)) - 1;
  ++failures_;
  witness::LoadedGpus made;
  made.reading.library = library_;
  made.reading.error = last_error_ = std::move(why);
  return made;
}

/// Of a child whose end of the socket is closed. What it dies of may take a while.
std::string NvmlChild::why_ended() {
  if (!child_.ended_by(Deadline(deadline_)) || !WIFSIGNALED(child_.status()))
    return "the library's process has ended without an answer";
  return fmt::format("the library crashed (signal {})", WTERMSIG(child_.status()));
}

witness::LoadedGpus NvmlChild::read(bool links) {
  if (pause_ > 0) {
    --pause_;
    witness::LoadedGpus made;
    made.reading.library = library_;
    made.reading.error = last_error_;
    return made;
  }
  witness::LoadedGpus made = ask(links);
  if (!made.reading.error.empty() && made.reading.gpus.empty() && socket_)
    return give_up(made.reading.error);  // no library, or no driver yet: another child looks again
  return made;
}

witness::LoadedGpus NvmlChild::ask(bool links) {
  if (!socket_ && !start()) return give_up("cannot start a process");
  const char asked = links ? with_links : without_links;
  // One that has died before it is asked is told like one that dies of the question.
  if (!write_all(socket_.number(), std::string_view(&asked, 1))) return give_up(why_ended());
  std::string text;
  const auto ended = read_line(socket_.number(), Deadline(deadline_), text);
  if (ended == Ended::late)
    return give_up(fmt::format("no answer within {} ms: the driver hangs", deadline_.count()));
  if (ended == Ended::closed) return give_up(why_ended());
  auto read = witness::read_loaded_gpus(text);
  if (ended == Ended::too_long || !read) return give_up("the library's answer is incomplete");
  failures_ = 0;
  return std::move(*read);
}

}  // namespace schedmate::probe
