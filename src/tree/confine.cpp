// SPDX-License-Identifier: Apache-2.0
#include "tree/confine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include "base/child_process.hpp"
#include "base/deadline.hpp"
#include "base/descriptor.hpp"
#include "tree/confine_child.hpp"

namespace schedmate::tree {
namespace {

/// What the child says: a kind, the length of what follows, and that. Only to a question there is
/// an answer, of the same form.
enum class Kind : std::uint8_t { done, failed, no_memory, no_rights, question, answer };
constexpr std::size_t head_bytes = 1 + sizeof(std::uint64_t);

/// Through a socket, and without a signal when nobody is there to read: only the parent may.
bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string head_of(Kind kind, std::string_view text) {
  std::string head(head_bytes, static_cast<char>(kind));
  const std::uint64_t size = text.size();
  std::memcpy(head.data() + 1, &size, sizeof size);
  return head;
}

void say(int file, Kind kind, std::string_view text) {
  if (write_all(file, head_of(kind, text))) write_all(file, text);
}

/// In the child. Throws when the parent does not answer any more.
std::string read_exactly(int file, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = ::read(file, bytes.data() + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error("its question was not answered");
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string ask_parent(int file, std::string_view question) {
  say(file, Kind::question, question);
  const std::string head = read_exactly(file, head_bytes);
  std::uint64_t size = 0;
  std::memcpy(&size, head.data() + 1, sizeof size);
  return read_exactly(file, size);
}

using AskingWork = std::function<std::string(const Ask&)>;

[[noreturn]] void be_child(const Confinement& confinement, const AskingWork& work, int parent) {
  if (const char* problem = drop_privileges(confinement, parent)) {
    say(parent, Kind::no_rights, problem);
    ::_exit(1);
  }
  try {
    say(parent, Kind::done,
        work([parent](std::string_view text) { return ask_parent(parent, text); }));
  } catch (const std::bad_alloc&) {
    say(parent, Kind::no_memory, "");
  } catch (const std::exception& error) {
    say(parent, Kind::failed, error.what());
  } catch (...) {
    say(parent, Kind::failed, "an exception of unknown type");
  }
  ::_exit(0);
}

enum class End : std::uint8_t { closed, late, too_long };

struct Received {
  std::string bytes;
  End end = End::closed;
  [[nodiscard]] std::uint64_t announced() const {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + 1, sizeof size);
    return size;
  }
  [[nodiscard]] bool whole() const {
    return bytes.size() >= head_bytes && bytes.size() - head_bytes == announced();
  }
  [[nodiscard]] bool asks() const {
    return whole() && static_cast<Kind>(bytes[0]) == Kind::question;
  }
};

Received receive(int file, std::size_t most, const Deadline& deadline) {
  Received received;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    if (!deadline.wait_readable(file)) {
      received.end = End::late;
      return received;
    }
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return received;
    received.bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (received.bytes.size() > most + head_bytes) {
      received.end = End::too_long;
      return received;
    }
    if (received.whole()) return received;
  }
}

Result<std::string> opened_reply(std::string& bytes, const Confinement& confinement) {
  const auto kind = static_cast<Kind>(bytes[0]);
  bytes.erase(0, head_bytes);
  switch (kind) {
    case Kind::done:
      return std::move(bytes);
    case Kind::failed:
      return fail(ErrorCode::invalid, fmt::format("reading failed: {}", bytes.substr(0, 500)));
    case Kind::no_memory:
      return fail(ErrorCode::invalid, fmt::format("reading needs more than {} MiB of memory",
                                                  confinement.memory_bytes >> 20U));
    case Kind::no_rights:
      return fail(ErrorCode::refused, fmt::format("the reading process {}", bytes.substr(0, 500)));
    case Kind::question:
    case Kind::answer:
      break;
  }
  return fail(ErrorCode::invalid, "the reading process gave an invalid reply");
}

tl::unexpected<Error> how_it_died(int status, const Confinement& confinement) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    return fail(ErrorCode::timeout,
                fmt::format("reading takes more than {} s of CPU time", confinement.cpu.count()));
  }
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::invalid, fmt::format("the reading process was killed by signal {} ({})",
                                                WTERMSIG(status), ::strsignal(WTERMSIG(status))));
  }
  return fail(ErrorCode::invalid,
              fmt::format("the reading process ended with status {} and no reply",
                          WIFEXITED(status) ? WEXITSTATUS(status) : -1));
}

tl::unexpected<Error> too_late(const Confinement& confinement) {
  return fail(ErrorCode::timeout,
              fmt::format("reading takes more than {} ms", confinement.wall.count()));
}

/// What the child said at last, its questions answered.
Received converse(int socket, const Confinement& confinement, const Deadline& deadline,
                  const std::function<std::string(std::string)>& answer) {
  for (;;) {
    Received received = receive(socket, confinement.reply_bytes, deadline);
    if (received.end != End::closed || !received.asks()) return received;
    const std::string text = answer(received.bytes.substr(head_bytes));
    // A child that is gone shows in the next receive().
    if (send_all(socket, head_of(Kind::answer, text))) send_all(socket, text);
  }
}

}  // namespace

Result<std::string> run_confined(const Confinement& confinement,
                                 const std::function<std::string()>& work) {
  return run_confined_asking(
      confinement, [&](const Ask&) { return work(); }, [](const std::string&) { return ""; });
}

Result<std::string> run_confined_asking(const Confinement& confinement, const AskingWork& work,
                                        const std::function<std::string(std::string)>& answer) {
  const Deadline deadline(confinement.wall);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::refused,
                fmt::format("cannot create a socket: {}", std::strerror(errno)));
  }
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t number = ::fork();
  if (number < 0) {
    return fail(ErrorCode::refused,
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (number == 0) {
    if (::getppid() != parent) ::_exit(1);
    be_child(confinement, work, theirs.number());
  }
  ChildProcess child(number);
  theirs.close();
  Received received = converse(ours.number(), confinement, deadline, answer);
  if (received.end == End::late) return too_late(confinement);
  if (received.end == End::too_long) {
    return fail(ErrorCode::invalid,
                fmt::format("reading gives more than {} MiB", confinement.reply_bytes >> 20U));
  }
  if (received.whole()) return opened_reply(received.bytes, confinement);
  if (!child.ended_by(deadline)) return too_late(confinement);
  return how_it_died(child.status(), confinement);
}

}  // namespace schedmate::tree
