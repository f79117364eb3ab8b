// SPDX-License-Identifier: Apache-2.0
#include "settings/identity.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <array>

#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate::settings {

Result<Identity> identity_of(const std::string& user) {
  constexpr std::size_t most_entry_bytes = std::size_t{1} << 16U;
  constexpr int most_groups = 1024;
  std::string bytes(most_entry_bytes, '\0');
  passwd entry{};
  passwd* found = nullptr;
  const auto number = parse_number<uid_t>(user);
  if (number)
    ::getpwuid_r(*number, &entry, bytes.data(), bytes.size(), &found);
  else if (!user.empty() && user.find('\0') == std::string::npos)
    ::getpwnam_r(user.c_str(), &entry, bytes.data(), bytes.size(), &found);
  if (found == nullptr && number) return Identity{.user = number};
  if (found == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("reader: this system has no user {}; give a name or a number",
                            printable(user)));
  Identity identity{.user = entry.pw_uid, .group = entry.pw_gid, .groups = {}};
  identity.groups.resize(most_groups);
  int count = most_groups;
  if (::getgrouplist(entry.pw_name, entry.pw_gid, identity.groups.data(), &count) < 0)
    count = most_groups;
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

}  // namespace schedmate::settings
