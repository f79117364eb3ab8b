// SPDX-License-Identifier: Apache-2.0
#include "client/daemon_address.hpp"

#include <doctest/doctest.h>

#include "client/transfer.hpp"
#include "client/which_daemon.hpp"

namespace schedmate::client {
namespace {

std::string told(std::string_view text) {
  const auto address = read_address(text);
  return address ? address->text() : address.error().message;
}

TEST_CASE("an address is a socket or a URL") {
  CHECK(read_address("unix:/run/x.sock")->unix_path == "/run/x.sock");
  CHECK(read_address("http://127.0.0.1:8642")->url == "http://127.0.0.1:8642");
  CHECK(read_address("https://gpu.example")->url == "https://gpu.example:443");
  CHECK(read_address("http://[::1]:8642/")->url == "http://[::1]:8642");
  CHECK(told("unix:/run/x.sock") == "unix:/run/x.sock");
}

TEST_CASE("what is no address says how one is written") {
  for (const char* const text : {"", "/run/x.sock", "unix:", "ftp://x:1", "http://", "http://x:0",
                                 "http://x:1/path", "http://u@x:1", "http://x y:1"}) {
    CAPTURE(text);
    CHECK_FALSE(read_address(text));
    CHECK(told(text).contains("write it as unix:PATH or http://HOST:PORT"));
  }
  CHECK(told("unix:" + std::string(200, 'x')).contains("at most 107"));
  CHECK(read_address("nonsense").error().code == ErrorCode::unsupported);
}

TEST_CASE("a token is one word that a header can hold") {
  CHECK(read_token("smt_abc\n", "f").value() == "smt_abc");
  for (const char* const text : {"", " \n", "a b", "a\nX-Evil: 1", "caf\xc3\xa9"}) {
    CAPTURE(text);
    CHECK(read_token(text, "f").error().message.starts_with("f holds no token"));
  }
}

TEST_CASE("nobody listens where there is no socket") {
  CHECK_FALSE(takes_connections({"/nowhere/api.sock", "", ""}));
  CHECK_FALSE(takes_connections({std::string(500, 'x'), "", ""}));
}

TEST_CASE("an id with odd characters stays one part of the path") {
  CHECK(job_path("17_2") == "/api/v1/jobs/17_2");
  CHECK(job_path("a/../b?c=\xc3\xa9") == "/api/v1/jobs/a%2F..%2Fb%3Fc%3D%C3%A9");
}

}  // namespace
}  // namespace schedmate::client
