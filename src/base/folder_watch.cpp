// SPDX-License-Identifier: Apache-2.0
#include "base/folder_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/child_process.hpp"
#include "base/deadline.hpp"
#include "base/descriptor.hpp"
#include "base/folder_touch.hpp"
#include "base/mounts.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

constexpr std::chrono::seconds answer_in{10};
constexpr std::chrono::seconds from_answer_to_question{2};

tl::unexpected<Error> no_process(const std::string& folder) {
  return fail(ErrorCode::unavailable,
              fmt::format("{}: cannot start a process: {}", folder, std::strerror(errno)));
}

/// A child that touches the folders in turn, and says so after each.
struct Question {
  Descriptor answers;
  ChildProcess child;
  std::size_t answered = 0;
};

Result<Question> ask_of(const std::vector<std::string>& folders) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_process(folders.front());
  Question question{Descriptor(ends[0]), ChildProcess()};
  const Descriptor theirs(ends[1]);
  const pid_t number = ::fork();
  if (number < 0) return no_process(folders.front());
  if (number == 0) {
    keep_only(theirs.number());
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const std::string& folder : folders) {
      touch_folder(folder);
      if (::write(theirs.number(), "", 1) != 1) break;
    }
    ::_exit(0);
  }
  question.child = ChildProcess(number);
  return question;
}

/// False when it has said all, or is gone.
bool hear(Question& question) {
  std::array<char, 64> bytes{};
  const ssize_t got = ::read(question.answers.number(), bytes.data(), bytes.size());
  if (got > 0) question.answered += static_cast<std::size_t>(got);
  return got > 0;
}

/// The descriptors of this process: what the child inherits, and somebody else may wait for.
std::vector<int> open_files() {
  std::vector<int> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
    if (const auto number = parse_number<int>(entry.path().filename().string()))
      numbers.push_back(*number);
  std::erase_if(numbers, [](int number) { return ::fcntl(number, F_GETFD) < 0; });  // the listing's
  if (numbers.empty()) numbers = {0, 1, 2};
  return numbers;
}

/// When the watchdog leaves or ends, a terminal, a pipe to a reader and the like must not wait for
/// a process that hangs. So another one shares its table of descriptors, and closes them. A thread
/// would need the address space, which the one that hangs may keep locked.
void let_go_when_left(int socket, const std::vector<int>& inherited) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t worker = ::getpid();
  if (::syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    char word = 0;
    if (::getppid() == worker) static_cast<void>(::recv(socket, &word, 1, 0));
    for (const int number : inherited) ::close(number);
    static_cast<void>(::send(socket, &word, 1, MSG_NOSIGNAL));
    ::_exit(0);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

int exit_code_of(int status) {
  constexpr int signalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
}

}  // namespace

FolderWatch::FolderWatch(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (may_hang(folder)) folders_.push_back(folder);
}

tl::unexpected<Error> FolderWatch::no_answer(std::size_t answered) const {
  return fail(ErrorCode::timeout, fmt::format("{}: the file system does not answer within {} s",
                                              folders_.at(answered), answer_in.count()));
}

Result<bool> FolderWatch::ask_beside(int child) const {
  auto question = ask_of(folders_);
  if (!question) return tl::unexpected(question.error());
  const Deadline deadline(answer_in);
  while (question->answered < folders_.size()) {
    const auto ready = deadline.first_readable({child, question->answers.number()});
    if (!ready) return no_answer(question->answered);
    if (*ready == 0) return false;
    if (!hear(*question)) break;
  }
  static_cast<void>(question->child.ended_by(deadline));
  return true;
}

Result<void> FolderWatch::ask() const {
  if (!needed()) return {};
  constexpr int no_child = -1;
  return ask_beside(no_child).map([](bool) {});
}

Result<std::optional<int>> FolderWatch::go_on_in_child() const {
  const std::vector<int> inherited = open_files();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return no_process(folders_.front());
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t number = ::fork();
  if (number < 0) return no_process(folders_.front());
  if (number == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // it then removes its part files
    if (::getppid() != parent) ::_exit(1);
    ours.close();
    let_go_when_left(theirs.release(), inherited);
    return std::nullopt;
  }
  theirs.close();
  ChildProcess child(number);
  auto watched = watch(ours.number());
  // Its end closes the socket, but closing another file may hang it still.
  if (watched && child.ended_by(Deadline(answer_in))) return exit_code_of(child.status());
  if (watched) watched = no_answer(0);
  static_cast<void>(::send(ours.number(), "", 1, MSG_NOSIGNAL));
  constexpr std::chrono::milliseconds to_let_go{500};
  static_cast<void>(Deadline(to_let_go).wait_readable(ours.number()));
  return tl::unexpected(watched.error());
}

Result<void> FolderWatch::watch(int child) const {
  for (;;) {
    if (Deadline(from_answer_to_question).wait_readable(child)) return {};
    const auto goes_on = ask_beside(child);
    if (goes_on && !*goes_on) return {};
    // Without a process to be had just now it asks again later.
    if (!goes_on && goes_on.error().code == ErrorCode::timeout)
      return tl::unexpected(goes_on.error());
  }
}

}  // namespace schedmate
