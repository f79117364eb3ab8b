// SPDX-License-Identifier: Apache-2.0
#include "process/run_tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

#include "base/deadline.hpp"
#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::process {
namespace {

/// What is kept of its complaints.
constexpr std::size_t most_complaints = 4096;
constexpr int look_every_ms = 50;

/// Those that a client needs to find its cluster and who asks; none that changes what it prints.
constexpr std::array<const char*, 12> passed_on = {
    "PATH",       "HOME",         "USER",           "LOGNAME",
    "SLURM_CONF", "SLURM_JWT",    "SLURM_CLUSTERS", "LD_LIBRARY_PATH",
    "KRB5CCNAME", "MUNGE_SOCKET", "SACKD_SOCKET",   "TMPDIR"};

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::unavailable, fmt::format("no pipe: {}", std::strerror(errno)));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Pointers for exec; the texts outlive them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A child in a process group of its own, which ends with it.
class Running {
 public:
  explicit Running(pid_t group) : group_(group) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    ::kill(-group_, SIGKILL);  // also what it started and left behind
    while (!reaped_ && ::waitpid(group_, &status_, 0) < 0 && errno == EINTR) {
    }
  }
  /// False: it is still there.
  bool has_ended() {
    const pid_t ended = ::waitpid(group_, &status_, WNOHANG);
    reaped_ = ended == group_ || (ended < 0 && errno != EINTR);
    return reaped_;
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  pid_t group_;
  int status_ = 0;
  bool reaped_ = false;
};

Result<pid_t> start(const std::string& program, const settings::Environment& environment,
                    const ToolCall& call, const std::array<int, 2>& outputs) {
  std::vector<std::string> words = call.words;
  std::vector<std::string> variables = tool_variables(environment, call.variables);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, outputs[0], 1);
  ::posix_spawn_file_actions_adddup2(&files, outputs[1], 2);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), &files, &attributes,
                                  pointers_to(words).data(), pointers_to(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return fail(ErrorCode::unavailable,
                fmt::format("{} could not be started: {}", program, std::strerror(error)));
  return child;
}

/// Takes what there is; false when the other end is closed. Beyond `most` it is thrown away.
bool take(int file, std::size_t most, std::string& text) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::read(file, bytes.data(), bytes.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  const std::size_t room = most - std::min(most, text.size());
  text.append(bytes.data(), std::min(static_cast<std::size_t>(got), room));
  return true;
}

struct Said {
  std::string out, complaints;
  bool late = false;
};

/// Reads both pipes until they are closed, the deadline passes or the answer is too long.
Said listen(Pipe& out, Pipe& err, const ToolCall& call, const Deadline& deadline) {
  Said said;
  std::array<pollfd, 2> files = {pollfd{out.read.number(), POLLIN, 0},
                                 pollfd{err.read.number(), POLLIN, 0}};
  while ((files[0].fd >= 0 || files[1].fd >= 0) && said.out.size() <= call.most_bytes) {
    said.late = deadline.passed();
    if (said.late) break;
    if (::poll(files.data(), files.size(), look_every_ms) <= 0) continue;
    if (files[0].revents != 0 && !take(files[0].fd, call.most_bytes + 1, said.out))
      files[0].fd = -1;
    if (files[1].revents != 0 && !take(files[1].fd, most_complaints, said.complaints))
      files[1].fd = -1;
  }
  return said;
}

/// "sacct: exit code 1: error: ...", the first of its complaints.
Error failure_of(const std::string& name, int status, std::string_view complaints) {
  std::string_view line = trim(complaints);
  line = line.substr(0, std::min(line.find('\n'), std::size_t{200}));
  if (line.starts_with(name + ": ")) line.remove_prefix(name.size() + 2);
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                              : fmt::format("exit code {}", WEXITSTATUS(status));
  return {ErrorCode::unavailable,
          line.empty() ? fmt::format("{}: {}", name, how)
                       : fmt::format("{}: {} ({})", name, secrets::safe_line(line), how)};
}

}  // namespace

std::string find_tool(const settings::Environment& environment, const std::string& name) {
  if (name.contains('/')) return {};
  const std::string folders = environment.variable("PATH");
  for (const std::string_view folder : split(folders, ':')) {
    if (!folder.starts_with('/')) continue;  // nothing out of the folder that one happens to be in
    std::string path = fmt::format("{}/{}", folder, name);
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return {};
}

std::vector<std::string> tool_variables(const settings::Environment& environment,
                                        const std::vector<std::string>& given) {
  std::vector<std::string> variables = {"TZ=UTC", "LC_ALL=C"};
  std::ranges::copy(given, std::back_inserter(variables));
  for (const char* const name : passed_on) {
    const std::string value = environment.variable(name);
    const bool is_given = std::ranges::any_of(
        given, [&](const std::string& each) { return each.starts_with(fmt::format("{}=", name)); });
    if (!value.empty() && !is_given) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

Result<std::string> run_tool(const settings::Environment& environment, const ToolCall& call) {
  const std::string& name = call.words.front();
  const std::string program = find_tool(environment, name);
  if (program.empty()) return fail(ErrorCode::not_found, name + ": is not installed (not in PATH)");
  auto out = open_pipe();
  auto err = open_pipe();
  if (!out) return tl::unexpected(out.error());
  if (!err) return tl::unexpected(err.error());
  const Deadline deadline(call.deadline);
  const auto child = start(program, environment, call, {out->write.number(), err->write.number()});
  if (!child) return tl::unexpected(child.error());
  Running running(*child);
  out->write.close();
  err->write.close();
  Said said = listen(*out, *err, call, deadline);
  if (said.out.size() > call.most_bytes)
    return fail(ErrorCode::bad_reply,
                fmt::format("{}: printed more than {} bytes", name, call.most_bytes));
  while (!said.late && !running.has_ended()) {
    said.late = deadline.passed();
    ::poll(nullptr, 0, 1);
  }
  if (said.late)
    return fail(ErrorCode::timeout,
                fmt::format("{}: gave no answer within {} s (is its controller or database away?)",
                            name, std::chrono::duration<double>(call.deadline).count()));
  const bool only_complains = call.must_print && said.out.empty() && !said.complaints.empty();
  if (running.status() != 0 || only_complains)
    return tl::unexpected(failure_of(name, running.status(), said.complaints));
  return std::move(said.out);
}

}  // namespace schedmate::process
