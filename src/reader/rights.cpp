// SPDX-License-Identifier: Apache-2.0
#include "reader/rights.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string>

#include "base/check.hpp"
#include "base/descriptor.hpp"
#include "base/text.hpp"

namespace schedmate::reader {
namespace {

using Capabilities = std::array<__user_cap_data_struct, 2>;

__user_cap_header_struct header_of_this() { return {_LINUX_CAPABILITY_VERSION_3, 0}; }

Capabilities capabilities() {
  Capabilities held{};
  __user_cap_header_struct header = header_of_this();
  ::syscall(SYS_capget, &header, held.data());
  return held;
}

bool has(const Capabilities& held, unsigned capability) {
  return (held.at(capability / 32).effective & (1U << (capability % 32))) != 0;
}

bool drop_capabilities() {
  const Capabilities none{};
  __user_cap_header_struct header = header_of_this();
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::syscall(SYS_capset, &header, none.data()) == 0 &&
         std::ranges::all_of(capabilities(), [](const __user_cap_data_struct& part) {
           return part.effective == 0 && part.permitted == 0 && part.inheritable == 0;
         });
}

bool is_wholly(uid_t user, gid_t group) {
  std::array<uid_t, 3> users{};
  std::array<gid_t, 3> groups{};
  return ::getresuid(users.data(), &users[1], &users[2]) == 0 &&
         ::getresgid(groups.data(), &groups[1], &groups[2]) == 0 &&
         std::ranges::count(users, user) == 3 && std::ranges::count(groups, group) == 3;
}

}  // namespace

bool may_become_others() {
  const Capabilities held = capabilities();
  return has(held, CAP_SETUID) && has(held, CAP_SETGID);
}

Result<void> become_for_good(const Identity& who) {
  const uid_t user = who.user.value_or(::geteuid());
  if (may_become_others()) {
    const bool done = ::setgroups(who.groups.size(), who.groups.data()) == 0 &&
                      ::setresgid(who.group, who.group, who.group) == 0 &&
                      ::setresuid(user, user, user) == 0 && is_wholly(user, who.group);
    if (!done) return fail(ErrorCode::refused, fmt::format("cannot become user {}", user));
  } else if (user != ::geteuid() || user != ::getuid()) {
    return fail(ErrorCode::refused,
                fmt::format("this schedmate-reader runs as user {} without the right to become "
                            "another, and reads for that user only; its unit gives it the right",
                            ::geteuid()));
  }
  const bool no_way_back = drop_capabilities() && (user == 0 || ::setuid(0) != 0);
  if (no_way_back) return {};
  return fail(ErrorCode::refused, fmt::format("cannot give up its rights for user {}", user));
}

void kill_as(uid_t user, pid_t group, std::span<const pid_t> others) {
  const uid_t own = ::geteuid();
  if (user != own && ::seteuid(user) != 0) return;
  if (group > 1) ::kill(-group, SIGKILL);
  for (const pid_t each : others) ::kill(each, SIGKILL);
  if (user != own) SCHEDMATE_CHECK(::seteuid(own) == 0, "the way back is a saved uid");
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> found;
  const std::string name = fmt::format("/proc/self/task/{}/children", ::getpid());
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; file && (got = ::read(file.number(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  for (const std::string_view word : split(text, ' '))
    if (const auto number = parse_number<pid_t>(trim(word))) found.push_back(*number);
  return found;
}

}  // namespace schedmate::reader
