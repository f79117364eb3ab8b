// SPDX-License-Identifier: Apache-2.0
#include "settings/identity.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include "base/text.hpp"
#include "base/words.hpp"

namespace schedmate::settings {
namespace {

/// What the system knows of a user.
struct Entry {
  explicit Entry(uid_t number) { ::getpwuid_r(number, &row, bytes.data(), bytes.size(), &found); }
  explicit Entry(const std::string& name) {
    if (!name.empty() && !name.contains('\0'))
      ::getpwnam_r(name.c_str(), &row, bytes.data(), bytes.size(), &found);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() = default;

  std::string bytes = std::string(std::size_t{1} << 16U, '\0');
  passwd row{};
  passwd* found = nullptr;  ///< null: there is none
};

Identity identity_in(const passwd& entry) {
  constexpr int most_groups = 1024;
  Identity identity{.user = entry.pw_uid, .group = entry.pw_gid, .groups = {}};
  identity.groups.resize(most_groups);
  int count = most_groups;
  if (::getgrouplist(entry.pw_name, entry.pw_gid, identity.groups.data(), &count) < 0)
    count = most_groups;
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

}  // namespace

Result<Identity> identity_of(const std::string& user) {
  if (const auto number = parse_number<uid_t>(user)) {
    const Entry entry(*number);
    return entry.found == nullptr ? Identity{.user = number} : identity_in(*entry.found);
  }
  const Entry entry(user);
  if (entry.found == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("reader: this system has no user {}; give a name or a number",
                            printable(user)));
  return identity_in(*entry.found);
}

std::string name_of(uid_t user) {
  const Entry entry(user);
  return entry.found == nullptr ? "" : entry.found->pw_name;
}

}  // namespace schedmate::settings
