// SPDX-License-Identifier: Apache-2.0
/// Bodies that come whole.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "tests/support/http_house.hpp"

namespace schedmate::http {
namespace {

using testing::answered;
using testing::HttpHouse;
using testing::RawClient;

std::string head_of(const HttpHouse& house, std::size_t bytes, const std::string& more = "") {
  return fmt::format(
      "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json; charset=utf-8\r\nContent-Length: {}\r\n{}\r\n",
      house.ann, bytes, more);
}

/// JSON of 60,000 bytes, no two parts of which are alike.
std::string long_body() {
  std::string body = "[";
  for (int i = 0; body.size() < 59'990; ++i) body += fmt::format("{},", i);
  body += "0";
  body.resize(59'999, ' ');
  return body + "]";
}

}  // namespace

TEST_CASE("a body arrives whole, however it is cut") {
  const HttpHouse house;
  const std::string body = long_body();
  for (const std::size_t part : {std::size_t{60'000}, std::size_t{1009}}) {
    RawClient client = house.knock();
    client.send(head_of(house, body.size()));
    for (std::size_t at = 0; at < body.size(); at += part) client.send(body.substr(at, part));
    const Document document = answered(client.read());
    CHECK(document["body"] == sha256(body));
    CHECK(document["read"] == true);
  }
}

TEST_CASE("a client that waits to be asked for its body is asked") {
  const HttpHouse house;
  const std::string body = long_body();
  RawClient client = house.knock();
  client.send(head_of(house, body.size(), "Expect: 100-continue\r\n"));
  const std::string asked = client.read("\r\n\r\n");
  CHECK(asked == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(body);
  CHECK(answered(client.read().substr(asked.size()))["body"] == sha256(body));
}

TEST_CASE("a sealed body is not read before its handler has checked the seal") {
  const HttpHouse house;
  const Document document = answered(house.ask("POST /api/v1/probe", "", "", "no JSON"));
  CHECK(document["body"] == sha256("no JSON"));
  CHECK(document["read"] == false);
}

}  // namespace schedmate::http
