// SPDX-License-Identifier: Apache-2.0
#include "http/tokens.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/input.hpp"
#include "base/output.hpp"
#include "base/own_files.hpp"
#include "base/sha256.hpp"
#include "http/token_file.hpp"
#include "tests/support/open_files.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::http {
namespace {

using testing::Scratch;

const std::string good_line = std::string(64, 'a') + "\towner\tann\t17\tlaptop\n";

std::string token_fault(const std::string& text) {
  const auto read = read_tokens(text);
  return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE("a token is added, found, listed and revoked; the file never holds it") {
  const Scratch folder;
  const auto path = folder.path("tokens");
  CHECK(load_tokens(path)->empty());
  const auto secret = add_token(path, {"ann", Role::owner, "laptop", 17});
  REQUIRE(secret);
  CHECK(secret->size() == 68);
  CHECK(secret->starts_with("smt_"));
  const auto other = add_token(path, {"olga", Role::cluster_operator, "desk", 18});
  CHECK(*other != *secret);
  CHECK(!read_file(path)->contains(secret->substr(4)));
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);

  const auto tokens = load_tokens(path).value();
  REQUIRE(tokens.size() == 2);
  CHECK(find_token(tokens, *other)->user == "olga");
  CHECK(find_token(tokens, *secret)->created_s == 17);
  CHECK(find_token(tokens, *secret + "0") == nullptr);
  CHECK(find_token(tokens, tokens[0].hash) == nullptr);
  CHECK(find_token(tokens, "") == nullptr);

  CHECK(add_token(path, {"ann", Role::owner, "laptop", 19}).error().code == ErrorCode::conflict);
  const auto no_such = revoke_token(path, "laptob");
  CHECK(no_such.error().message == "unknown token 'laptob' (nearest: laptop; all: laptop, desk)");
  CHECK(revoke_token(path, "laptop"));
  CHECK(find_token(*load_tokens(path), *secret) == nullptr);
  CHECK(find_token(*load_tokens(path), *other) != nullptr);
}

TEST_CASE("names that could forge a line are refused") {
  const Scratch folder;
  for (const char* bad : {"", "a\tb", "a\nb", "\x1b[2J", "\xff"}) {
    CHECK(!add_token(folder.path("t"), {bad, Role::owner, "x", 0}));
    CHECK(!add_token(folder.path("t"), {"x", Role::owner, bad, 0}));
  }
  CHECK(!add_token(folder.path("t"), {std::string(65, 'a'), Role::owner, "x", 0}));
}

TEST_CASE("one bad line makes the whole file bad") {
  CHECK(token_fault("").empty());
  CHECK(token_fault(good_line).empty());
  CHECK(read_tokens(good_line)->front().label == "laptop");
  CHECK(write_tokens(*read_tokens(good_line)) == good_line);
  CHECK(token_fault(good_line + good_line) == "2: a hash or label appears twice");
  CHECK(token_fault("\n" + good_line) ==
        "1: a token has HASH, ROLE, USER, CREATED, LABEL and maybe EXPIRES");
  CHECK(token_fault(good_line.substr(1)) == "1: the hash is not 64 digits");
  CHECK(token_fault(std::string(64, 'A') + good_line.substr(64)) == "1: the hash is not 64 digits");
  CHECK(token_fault(good_line.substr(0, 64) + "\troot\tann\t17\tx") ==
        "1: the role is not owner, viewer or operator");
  CHECK(token_fault(good_line.substr(0, 64) + "\towner\tann\t1e9\tx") ==
        "1: the time of creation is not a number");
  CHECK(token_fault(good_line.substr(0, 64) + "\towner\t\t17\tx") ==
        "1: user or label is empty, too long or not printable");
}

TEST_CASE("a file that others may read or write lets nobody in") {
  const Scratch folder;
  const auto path = folder.path("tokens");
  const auto secret = add_token(path, {"ann", Role::owner, "laptop", 17}).value();
  auto file = TokenFile::open(path, at(20)).value();
  CHECK(find_token(file.tokens(), secret) != nullptr);
  file.refresh(at(20));
  CHECK(find_token(file.tokens(), secret) != nullptr);
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  CHECK(load_tokens(path).error().code == ErrorCode::refused);
  file.refresh(at(20));
  CHECK(file.tokens().empty());
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  file.refresh(at(20));
  CHECK(file.tokens().size() == 1);
}

TEST_CASE("a file that could not be read for a moment is read again") {
  const Scratch folder;
  const auto path = folder.path("tokens");
  auto file = TokenFile::open(path, at(20)).value();
  const auto secret = add_token(path, {"ann", Role::owner, "laptop", 17}).value();
  {
    const testing::FewFiles none(3);
    file.refresh(at(20));
  }
  CHECK(file.tokens().empty());
  file.refresh(at(20));
  CHECK(find_token(file.tokens(), secret) != nullptr);
}

TEST_CASE("a token expires while the file stays as it is") {
  const Scratch folder;
  const auto path = folder.path("tokens");
  const auto forever = add_token(path, {"ann", Role::owner, "laptop", 17}).value();
  const auto short_lived = add_token(path, {"ann", Role::owner, "guest", 17, 30}).value();
  CHECK(load_tokens(path).value().back().expires_s == 30);
  auto file = TokenFile::open(path, at(29)).value();
  CHECK(find_token(file.tokens(), short_lived) != nullptr);
  file.refresh(at(30));
  CHECK(find_token(file.tokens(), short_lived) == nullptr);
  CHECK(find_token(file.tokens(), forever) != nullptr);
  CHECK(TokenFile::open(path, at(31)).value().tokens().size() == 1);
  CHECK(token_fault(good_line.substr(0, 64) + "\towner\tann\t17\tx\tsoon") ==
        "1: the time of its end is not a number");
}

TEST_CASE("two processes do not change the file at once") {
  const Scratch folder;
  const auto path = folder.path("tokens");
  const auto lock = open_own_file(path + ".lock", O_RDWR);
  REQUIRE(::flock(lock->number(), LOCK_EX) == 0);
  CHECK(add_token(path, {"ann", Role::owner, "laptop", 17}).error().code == ErrorCode::unavailable);
}

}  // namespace schedmate::http
