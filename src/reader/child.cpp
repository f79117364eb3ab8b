// SPDX-License-Identifier: Apache-2.0
#include "reader/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "reader/request.hpp"
#include "reader/rights.hpp"
#include "settings/identity.hpp"

namespace schedmate::reader {
namespace {

/// Of the child, as it begins.
constexpr int order_stream = 0, reply_stream = 1, log_stream = 2;
constexpr std::string_view user_word = "user ";

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(reply_stream, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

[[noreturn]] void give_up(const Error& error) {
  say(reply_line(tl::unexpected(error)) + "\n");
  ::_exit(1);
}

bool limit_to(__rlimit_resource_t what, std::uint64_t most) {
  // One more at the hard end, so that the signal for CPU time is its own and not SIGKILL.
  const struct rlimit wanted{most, what == RLIMIT_CPU ? most + 1 : most};
  return ::setrlimit(what, &wanted) == 0;
}

bool take_limits(const ChildLimits& limits) {
  return limit_to(RLIMIT_CORE, 0) && limit_to(RLIMIT_FSIZE, limits.file_bytes) &&
         limit_to(RLIMIT_NOFILE, limits.files) && limit_to(RLIMIT_NPROC, limits.processes) &&
         limit_to(RLIMIT_CPU, static_cast<std::uint64_t>(limits.cpu.count())) &&
         (limits.memory_bytes == 0 || limit_to(RLIMIT_AS, limits.memory_bytes));
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Standard input and output are the order and the reply; what the program says on standard error
/// would stand in the reader's log.
void set_streams(int order, int reply) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (::dup2(order, order_stream) < 0 || ::dup2(reply, reply_stream) < 0 ||
      ::dup2(nothing, log_stream) < 0)
    ::_exit(1);
  // What this program was started with, too.
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
}

Identity identity_for(const ChildOrder& order) {
  auto who = settings::identity_of(order.user);
  if (!who) give_up({ErrorCode::not_found, "this system has no user " + order.user});
  const uid_t user = who->user.value_or(0);
  // Root is never itself here by chance: what only root may read would be within reach.
  if (user < order.limits.least_user && (user == 0 || user != ::geteuid()))
    give_up({ErrorCode::refused,
             fmt::format("user {} ({}) is none for whom anything is read: setting reader.uid_min "
                         "is {}",
                         order.user, user, order.limits.least_user)});
  return *std::move(who);
}

/// An open file, so that its name need not be reachable for the user.
Descriptor program_of(const ChildOrder& order) {
  const char* const name = order.program.empty() ? "/proc/self/exe" : order.program.c_str();
  return Descriptor(::open(name, O_PATH | O_CLOEXEC));
}

[[noreturn]] void be_child(const ChildOrder& order, pid_t parent, int text, int reply) {
  ::setpgid(0, 0);
  reset_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_streams(text, reply);
  if (::chdir("/") != 0) ::_exit(1);
  // The bound that holds where nobody is left to kill it; it stays through the change of program.
  ::alarm(static_cast<unsigned>(order.limits.wall.count()) + 2);
  const Identity who = identity_for(order);
  say(fmt::format("{}{}\n", user_word, who.user.value_or(0)));
  const Descriptor program = program_of(order);
  if (!program) give_up({ErrorCode::unavailable, "the program of the reader cannot be opened"});
  ::setpriority(PRIO_PROCESS, 0, 10);
  if (auto done = become_for_good(who); !done) give_up(done.error());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);     // a change of the user clears it
  if (::getppid() != parent) ::_exit(1);  // it ended meanwhile
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !take_limits(order.limits))
    give_up({ErrorCode::refused, "the process that reads cannot limit itself"});
  std::string name = "schedmate-reader", work = "--work";
  std::array<char*, 3> words{name.data(), work.data(), nullptr};
  std::array<char*, 1> environment{nullptr};
  ::syscall(SYS_execveat, program.number(), "", words.data(), environment.data(), AT_EMPTY_PATH);
  give_up({ErrorCode::unavailable,
           fmt::format("the process that reads cannot begin: {}", std::strerror(errno))});
}

tl::unexpected<Error> not_started() {
  return fail(ErrorCode::unavailable,
              fmt::format("the reader cannot start a process: {}", std::strerror(errno)));
}

}  // namespace

Descriptor held_text(std::string_view text) {
  Descriptor file(::memfd_create("schedmate-reader", MFD_CLOEXEC));
  for (std::size_t at = 0; file && at < text.size();) {
    const ssize_t done = ::write(file.number(), text.data() + at, text.size() - at);
    if (done <= 0) return {};
    at += static_cast<std::size_t>(done);
  }
  if (file) ::lseek(file.number(), 0, SEEK_SET);
  return file;
}

Result<StartedChild> start_child(const ChildOrder& order) {
  const Descriptor text = held_text(work_text({order.request, order.settings}));
  std::array<int, 2> ends{};
  if (!text || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return not_started();
  StartedChild child{-1, Descriptor(ends[0])};
  const Descriptor theirs(ends[1]);
  ::fcntl(child.says.number(), F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  child.number = ::fork();
  if (child.number < 0) return not_started();
  if (child.number == 0) be_child(order, parent, text.number(), theirs.number());
  ::setpgid(child.number, child.number);
  return child;
}

bool ChildSays::read_from(int file) {
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    too_much = bytes.size() > most_reply_bytes;
    if (too_much) return false;
  }
}

std::optional<uid_t> ChildSays::user() const {
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos || !bytes.starts_with(user_word)) return std::nullopt;
  return parse_number<uid_t>(
      std::string_view(bytes).substr(user_word.size(), end - user_word.size()));
}

std::string_view ChildSays::rest() const {
  std::string_view rest = bytes;
  if (rest.starts_with(user_word))
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  return rest;
}

std::optional<std::string> ChildSays::take_question() {
  const std::string_view left = rest();
  const std::size_t end = left.find('\n');
  if (left.size() == bytes.size() || end == std::string_view::npos || left[0] != '"')
    return std::nullopt;
  std::string question(left.substr(0, end));
  bytes.erase(bytes.size() - left.size(), end + 1);
  return question;
}

std::optional<std::string_view> ChildSays::reply() const {
  const std::string_view left = rest();
  if (left.empty() || left.find('\n') != left.size() - 1) return std::nullopt;
  return left.substr(0, left.size() - 1);
}

std::string work_text(const WorkOrder& order) {
  const Document settings(order.settings);
  return settings.dump(-1, ' ', false, Document::error_handler_t::replace) + "\n" + order.request;
}

Result<WorkOrder> read_work(std::string_view text) {
  const auto no_order = fail(ErrorCode::invalid, "there is no order to read");
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return no_order;
  const auto settings = read_json(text.substr(0, end), {.deepest = 2, .most_values = 1000});
  if (!settings || !settings->is_object()) return no_order;
  WorkOrder order{std::string(text.substr(end + 1)), {}};
  for (const auto& [key, value] : settings->items()) {
    if (!value.is_string()) return no_order;
    order.settings[key] = value.get<std::string>();
  }
  return order;
}

}  // namespace schedmate::reader
