// SPDX-License-Identifier: Apache-2.0

/// A child of the reader that has been taken over by what it reads: it does what the name of the
/// log says.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

void say(const std::string& text) {
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

void fork_without_end() {
  for (;;)
    if (::fork() < 0) ::usleep(1000);  // clock: as many as it can
}

/// A process in a session of its own, which nobody who knows this one knows.
void leave_one_behind() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  ::close(STDOUT_FILENO);
  for (;;) ::pause();
}

void spin() {
  while (::getppid() >= 0) {
  }
}

void flood() {
  const std::string much(1 << 16, 'x');
  for (;;) say(much);
}

/// The rights of its user are all that it should have.
std::string its_rights() {
  std::string seen;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    for (const char* const kind : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"})
      if (line.starts_with(kind) && line.find_first_not_of("0 \t", 7) != std::string::npos)
        seen += line + " ";
  if (::getgroups(0, nullptr) != 0) seen += "groups ";
  if (::getuid() != ::geteuid() || ::getgid() != ::getegid() || ::getgid() == 0) seen += "ids ";
  if (::setuid(0) == 0 || ::setgid(0) == 0 || ::setuid(::getuid() + 1) == 0) seen += "a way back ";
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) seen += "may gain rights ";
  return seen;
}

/// What its limits let it have and should not: 1 GiB of memory, 256 files.
std::string past_its_limits() {
  std::string seen;
  constexpr std::size_t much = std::size_t{2} << 30U;
  void* const memory = ::mmap(nullptr, much, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) seen += "memory without end ";
  if (::fcntl(STDOUT_FILENO, F_DUPFD, 300) >= 0) seen += "files without end ";
  struct rlimit core{1, 1};
  if (::getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0) seen += "core files ";
  if (::getpriority(PRIO_PROCESS, 0) < 10) seen += "not nice ";
  return seen;
}

/// What it hears when it asks a model.
std::string heard(const std::string& question) {
  say(question + "\n");
  std::string line;
  std::array<char, 4096> buffer{};
  while (line.empty() || line.back() != '\n') {
    const ssize_t got = ::read(STDOUT_FILENO, buffer.data(), buffer.size());
    if (got <= 0) return "\"nothing\"";
    line.append(buffer.data(), static_cast<std::size_t>(got));
  }
  line.pop_back();
  return line;
}

void ask_without_end() {
  for (;;) heard("\"question\"");
}

/// Everything of its memory and files that it should not have.
std::string what_it_sees() {
  std::string seen;
  for (int file = 3; file < 64; ++file)
    if (::fcntl(file, F_GETFD) >= 0) seen += "file " + std::to_string(file) + " ";
  seen += its_rights() + past_its_limits();
  std::ofstream big("/dev/shm/schedmate-big-" + std::to_string(::getpid()));
  ::signal(SIGXFSZ, SIG_IGN);
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 16 && big; ++i) big << piece << std::flush;
  if (big) seen += "writes without end ";
  ::unlink(("/dev/shm/schedmate-big-" + std::to_string(::getpid())).c_str());
  for (char** each = ::environ; *each != nullptr; ++each) seen += std::string(*each) + " ";
  return seen;
}

}  // namespace

int main() {
  std::string order;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;)
    order.append(buffer.data(), static_cast<std::size_t>(got));
  const auto asks = [&](const char* what) { return order.find(what) != std::string::npos; };
  if (asks("/rubbish")) say("\xff\xfe nonsense\n");
  if (asks("/two lines")) say("{\"result\":{}}\n{\"result\":{}}\n");
  if (asks("/half")) say("{\"result\":{");
  if (asks("/forged")) say("{\"result\":{}},\"id\":1,\"reply\":{\"result\":{\"forged\":1}}\n");
  if (asks("/flood")) flood();
  if (asks("/crash")) ::abort();
  if (asks("/hang"))
    for (;;) ::pause();
  if (asks("/closed")) {
    ::close(STDOUT_FILENO);
    for (;;) ::pause();
  }
  if (asks("/spin")) spin();
  if (asks("/bomb")) fork_without_end();
  if (asks("/leave")) leave_one_behind();
  if (asks("/sees")) say("{\"result\":{\"seen\":\"" + what_it_sees() + "\"}}\n");
  if (asks("/asks twice")) say("\"one\"\n\"two\"\n");
  if (asks("/asks lines")) say(std::string(std::size_t{1} << 20U, '\n').replace(0, 0, "\"a\"\n"));
  if (asks("/asks much")) say("\"" + std::string(std::size_t{3} << 19U, 'x') + "\"\n");
  if (asks("/asks always")) ask_without_end();
  if (asks("/asks deaf")) {
    say("\"deaf\"\n");
    ::shutdown(STDOUT_FILENO, SHUT_RD);
    ::sleep(1);  // clock: deaf for a while
    say("{\"result\":{\"fine\":true}}\n");
  }
  if (asks("/asks forged"))
    say("{\"result\":{\"heard\":" + heard(R"("x","uid":0,"question":"y")") + "}}\n");
  if (asks("/asks once")) say("{\"result\":{\"heard\":" + heard("\"question\"") + "}}\n");
  if (asks("/fine") || asks("/leave")) say("{\"result\":{\"fine\":true}}\n");
  return 0;
}
