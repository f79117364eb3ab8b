// SPDX-License-Identifier: Apache-2.0
#include "settings/identity.hpp"

#include <doctest/doctest.h>

namespace schedmate::settings {
namespace {

constexpr uid_t nobody_has_it = 4'000'000'123;

TEST_CASE("a user is found by name and by number, and a number may have no name") {
  CHECK(name_of(0) == "root");
  CHECK(identity_of("root")->user == uid_t{0});
  CHECK(identity_of("0")->group == identity_of("root")->group);
  CHECK_FALSE(identity_of("0")->groups.empty());
  CHECK(name_of(nobody_has_it).empty());
  CHECK(identity_of("4000000123")->user == nobody_has_it);
  CHECK(identity_of("4000000123")->groups.empty());
  for (const std::string& user : {std::string(), std::string("root\0", 5), std::string("no such")})
    CHECK(identity_of(user).error().code == ErrorCode::not_found);
}

}  // namespace
}  // namespace schedmate::settings
