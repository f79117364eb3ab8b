// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/deadline.hpp"
#include "base/foreign_open.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

using Want = ForeignFile::Want;

/// What the child says once: an error with its sentence, or a file with its descriptor.
struct Greeting {
  bool opened = false;
  bool serves = false;  ///< it stays and reads; there is no descriptor
  ErrorCode code = ErrorCode::invalid;
  uid_t user = 0;
  bool has_user = false;
  struct stat status{};
};
constexpr std::size_t most_sentence = std::size_t{1} << 14U;

union DescriptorMessage {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

void greet(int socket, Greeting greeting, std::string_view sentence, int file) {
  sentence = sentence.substr(0, most_sentence);
  std::array<iovec, 2> parts{iovec{&greeting, sizeof greeting},
                             iovec{const_cast<char*>(sentence.data()), sentence.size()}};
  DescriptorMessage control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (file >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    control.header = {CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  }
  static_cast<void>(::sendmsg(socket, &message, MSG_NOSIGNAL));
}

struct Heard {
  Greeting greeting;
  std::string sentence;
  Descriptor file;
};

/// Nothing when the child ended without a word.
std::optional<Heard> hear(int socket) {
  Heard heard;
  heard.sentence.resize(most_sentence);
  std::array<iovec, 2> parts{iovec{&heard.greeting, sizeof heard.greeting},
                             iovec{heard.sentence.data(), heard.sentence.size()}};
  DescriptorMessage control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < static_cast<ssize_t>(sizeof heard.greeting)) return std::nullopt;
  heard.sentence.resize(static_cast<std::size_t>(size) - sizeof heard.greeting);
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
      header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    heard.file = Descriptor(number);
  }
  return heard;
}

[[noreturn]] void be_child(const ForeignPath& path, Want want, bool serves, int socket) {
  keep_only(socket);
  auto opened = open_as_reader(path, want);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the user clears it
  if (!opened) {
    greet(socket, {.opened = false, .code = opened.error().code}, opened.error().message, -1);
    ::_exit(0);
  }
  serves = want == Want::file && (serves || !always_answers(opened->file));
  greet(socket,
        {.opened = true,
         .serves = serves,
         .user = opened->reader.user.value_or(0),
         .has_user = opened->reader.user.has_value(),
         .status = opened->status},
        "", serves ? -1 : opened->file.number());
  if (serves) serve_reads(opened->file, socket);
  ::_exit(0);
}

tl::unexpected<Error> no_answer(const ForeignPath& path) {
  return fail(ErrorCode::timeout,
              fmt::format("{}: the file system does not answer within {} s", path.name,
                          std::chrono::duration<double>(path.access.budget.answer).count()));
}

}  // namespace

std::optional<int> held_number(const std::string& name) {
  if (name == "-" || name == "/dev/stdin") return STDIN_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
    if (name.starts_with(folder))
      return parse_number<int>(std::string_view(name).substr(folder.size()));
  return std::nullopt;
}

struct ForeignFile::Inside {
  ForeignPath path;
  Identity reader;
  Descriptor file;    ///< none: the child reads
  Descriptor socket;  ///< to the child that reads
  ChildProcess child;
  bool is_pipe = false;

  static Result<ForeignFile> open_held(const ForeignPath& path, int number);
  static Result<ForeignFile> open_in_child(const ForeignPath& path, Want want, bool serves);
  Result<ReadAnswer> ask(const ReadRequest& request, std::span<char> out);
  Result<std::size_t> read_some(std::span<char> out, std::uint64_t offset);
};

Result<ForeignFile> ForeignFile::Inside::open_held(const ForeignPath& path, int number) {
  auto inside = std::make_unique<Inside>(Inside{path, {}, {}, {}, ChildProcess(), false});
  inside->file = Descriptor(::fcntl(number, F_DUPFD_CLOEXEC, 3));
  struct stat status{};
  if (!inside->file || ::fstat(inside->file.number(), &status) != 0)
    return fail(ErrorCode::not_found,
                fmt::format("{}: cannot open: {}", path.name, std::strerror(errno)));
  inside->is_pipe = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  if (!inside->is_pipe && !S_ISREG(status.st_mode))
    return fail(ErrorCode::invalid,
                fmt::format("{}: is neither a file nor a pipe; give a file, or pipe the text in",
                            path.name));
  return ForeignFile(std::move(inside));
}

Result<ForeignFile> ForeignFile::Inside::open_in_child(const ForeignPath& path, Want want,
                                                       bool serves) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(ErrorCode::unavailable,
                fmt::format("{}: cannot create a socket: {}", path.name, std::strerror(errno)));
  auto inside = std::make_unique<Inside>(
      Inside{path, path.access.identity, {}, Descriptor(ends[0]), ChildProcess(), false});
  Descriptor theirs(ends[1]);
  const Deadline deadline(path.access.budget.answer);
  const pid_t number = ::fork();
  if (number < 0)
    return fail(ErrorCode::unavailable,
                fmt::format("{}: cannot start a process: {}", path.name, std::strerror(errno)));
  if (number == 0) be_child(path, want, serves, theirs.number());
  inside->child = ChildProcess(number);
  theirs.close();
  if (!deadline.wait_readable(inside->socket.number())) return no_answer(path);
  auto heard = hear(inside->socket.number());
  if (!heard) return fail(ErrorCode::unavailable, path.name + ": the opening process was killed");
  if (!heard->greeting.opened) return fail(heard->greeting.code, std::move(heard->sentence));
  // Another user than the one asked for has none of his groups.
  if (heard->greeting.has_user && inside->reader.user != heard->greeting.user)
    inside->reader = Identity{.user = heard->greeting.user};
  inside->file = std::move(heard->file);
  if (!heard->greeting.serves) {
    inside->socket.close();
    static_cast<void>(inside->child.ended_by(deadline));
  }
  return ForeignFile(std::move(inside));
}

Result<ReadAnswer> ForeignFile::Inside::ask(const ReadRequest& request, std::span<char> out) {
  if (::send(socket.number(), &request, sizeof request, MSG_NOSIGNAL) < 0)
    return fail(ErrorCode::unavailable, path.name + ": the reading process was killed");
  if (!Deadline(path.access.budget.answer).wait_readable(socket.number())) return no_answer(path);
  ReadAnswer answer;
  std::array<iovec, 2> parts{iovec{&answer, sizeof answer}, iovec{out.data(), out.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (::recvmsg(socket.number(), &message, 0) < static_cast<ssize_t>(sizeof answer))
    return fail(ErrorCode::unavailable, path.name + ": the reading process was killed");
  if (answer.bytes < 0)
    return fail(ErrorCode::invalid, fmt::format("{}: cannot read: {}", path.name,
                                                std::strerror(static_cast<int>(-answer.bytes))));
  return answer;
}

ForeignFile::ForeignFile(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
ForeignFile::ForeignFile(ForeignFile&& other) noexcept = default;
ForeignFile& ForeignFile::operator=(ForeignFile&& other) noexcept = default;
ForeignFile::~ForeignFile() = default;

Result<ForeignFile> ForeignFile::open(const ForeignPath& path, Want want) {
  const auto& user = path.access.identity.user;
  const bool own = !user || *user == ::geteuid();
  if (const auto held = own && want == Want::file ? held_number(path.name) : std::nullopt)
    return Inside::open_held(path, *held);
  return Inside::open_in_child(path, want, false);
}

Result<ForeignFile> ForeignFile::open_served(const ForeignPath& path) {
  return Inside::open_in_child(path, Want::file, true);
}

Result<std::size_t> ForeignFile::Inside::read_some(std::span<char> out, std::uint64_t offset) {
  if (socket) {
    const auto bytes = static_cast<std::uint32_t>(std::min(out.size(), most_served_bytes));
    return ask({offset, bytes}, out.first(bytes)).map([](const ReadAnswer& answer) {
      return static_cast<std::size_t>(answer.bytes);
    });
  }
  if (is_pipe && !Deadline(path.access.budget.reading).wait_readable(file.number()))
    return fail(ErrorCode::timeout, path.name + ": nothing comes through the pipe");
  for (;;) {
    const ssize_t got =
        is_pipe ? ::read(file.number(), out.data(), out.size())
                : ::pread(file.number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR)
      return fail(ErrorCode::invalid,
                  fmt::format("{}: cannot read: {}", path.name, std::strerror(errno)));
  }
}

Result<std::size_t> ForeignFile::read_at(std::span<char> out, std::uint64_t offset) {
  std::size_t have = 0;
  while (have < out.size()) {
    const auto got = inside_->read_some(out.subspan(have), offset + have);
    if (!got) return got;
    have += *got;
    if (*got == 0 || inside_->is_pipe) break;  // of a pipe, what is there is enough
  }
  return have;
}

Result<struct stat> ForeignFile::status() {
  if (inside_->socket)
    return inside_->ask({0, 0}, {}).map([](const ReadAnswer& answer) { return answer.status; });
  struct stat status{};
  if (::fstat(inside_->file.number(), &status) != 0)
    return fail(ErrorCode::invalid,
                fmt::format("{}: {}", inside_->path.name, std::strerror(errno)));
  return status;
}

bool ForeignFile::is_pipe() const { return inside_->is_pipe; }
const Identity& ForeignFile::reader() const { return inside_->reader; }
const Descriptor& ForeignFile::descriptor() const { return inside_->file; }

}  // namespace schedmate
