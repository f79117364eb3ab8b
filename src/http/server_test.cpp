// SPDX-License-Identifier: Apache-2.0
/// Starting, and what a name service that hangs may not hold up.
#include "http/server.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <vector>

#include "base/output.hpp"
#include "tests/support/http_house.hpp"
#include "tests/support/open_files.hpp"
#include "tests/support/patience.hpp"

namespace schedmate::http {
namespace {

using testing::HttpHouse;
using testing::RawClient;
using testing::Scratch;
using testing::status_of;

ErrorCode start_fault(const ServerOptions& options) {
  const auto started = Server::start(options);
  REQUIRE(!started);
  return started.error().code;
}

ServerOptions plain_options() {
  ServerOptions options;
  options.clock = settings::machine_clock();
  options.handler = [](const Request&, Answer answer) { answer(text_reply("here")); };
  return options;
}

}  // namespace

TEST_CASE("an address that is none, or taken, is an error that says so") {
  const Scratch folder;
  auto options = plain_options();
  for (const char* bad : {"localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "::1:80",
                          "[::1]", "*:80", "1.2.3:80"}) {
    options.tcp = bad;
    CHECK_MESSAGE(start_fault(options) == ErrorCode::invalid, bad);
  }
  options.tcp = "";
  options.unix_path = folder.path(std::string(200, 'x'));
  CHECK(start_fault(options) == ErrorCode::invalid);
  REQUIRE(write_file(folder.path("file"), "kept"));
  options.unix_path = folder.path("file");
  CHECK(start_fault(options) == ErrorCode::invalid);
  options.unix_path = folder.path("absent/api.sock");
  CHECK(start_fault(options) == ErrorCode::unavailable);
  options.unix_path = folder.path("api.sock");
  auto first = Server::start(options).value();
  CHECK(start_fault(options) == ErrorCode::conflict);
  struct stat status{};
  REQUIRE(::stat(options.unix_path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0666);
  first.reset();
  CHECK(::stat(options.unix_path.c_str(), &status) != 0);
}

TEST_CASE("a socket that a killed daemon left behind is replaced") {
  const Scratch folder;
  auto options = plain_options();
  options.unix_path = folder.path("api.sock");
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(static_cast<void*>(address.sun_path), options.unix_path.c_str(),
                options.unix_path.size() + 1);
    const Descriptor left(::socket(AF_UNIX, SOCK_STREAM, 0));
    const auto* const named = reinterpret_cast<const sockaddr*>(&address);  // NOLINT: of the system
    REQUIRE(::bind(left.number(), named, sizeof address) == 0);
  }
  const auto server = Server::start(options).value();
  RawClient client(options.unix_path);
  client.send("GET /api/v1/jobs HTTP/1.0\r\n\r\n");
  CHECK(client.read().ends_with("here"));
}

TEST_CASE("a name service that hangs holds up nobody but the unknown") {
  static std::latch answers(1);
  const HttpHouse house([](ServerOptions& options) {
    options.times.head = std::chrono::milliseconds(700);
    options.user_name = [](uid_t) {
      answers.wait();
      return std::string("me");
    };
  });
  const auto by_socket = [&] {
    RawClient client(house.socket());
    client.send("GET /api/v1/jobs HTTP/1.0\r\n\r\n");
    return client.read();
  };
  const auto reply = by_socket();
  CHECK(status_of(reply) == 503);
  CHECK(reply.contains("name service"));
  CHECK(status_of(house.ask("GET /api/v1/jobs", house.ann)) == 200);
  answers.count_down();
  CHECK(testing::soon([&] { return status_of(by_socket()) == 200; }));
}

TEST_CASE("a name service that hangs does not hold up the stop") {
  static std::latch is_asked(1), answers(1);
  HttpHouse house([](ServerOptions& options) {
    options.user_name = [](uid_t) {
      is_asked.count_down();
      answers.wait();
      return std::string("me");
    };
  });
  RawClient unknown(house.socket());
  unknown.send("GET /api/v1/jobs HTTP/1.0\r\n\r\n");
  RawClient waiting = house.knock();
  waiting.send(
      "GET /api/v1/jobs/7/log?tail=never HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
      house.ann + "\r\n\r\n");
  is_asked.wait();
  REQUIRE(testing::soon([&] { return house.held() == 1; }));
  CHECK(testing::ends([&] { house.server->stop(); }));
  answers.count_down();
  CHECK(status_of(waiting.read()) == 503);
  CHECK(status_of(unknown.read()) == 503);
  CHECK(unknown.is_closed());
}

TEST_CASE("a server takes no more connections than half of few descriptors") {
  std::optional<testing::FewFiles> few(100);
  const HttpHouse house;
  few.reset();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<RawClient>(house.socket()));
  RawClient over = house.knock();
  CHECK(status_of(over.read()) == 503);
}

}  // namespace schedmate::http
