// SPDX-License-Identifier: Apache-2.0

/// How fast the front door answers and what listeners cost, on loopback:
///
///   http_bench [REQUESTS] [LISTENERS]
///
/// One client asks REQUESTS times for a small document that a handler on another thread gives, each
/// time on a new connection, by TCP and by the unix socket; then by TCP again while LISTENERS
/// follow the events, of which ten come a second. Clients and server share this process and its
/// memory: what the listeners' own ends take is counted, too.

#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/watch.hpp"
#include "tests/support/http_house.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/open_files.hpp"

namespace schedmate::bench {
namespace {

using testing::HttpHouse;
using testing::RawClient;
using testing::status_of;

template <class Connect>
void ask_many(const std::string& what, const HttpHouse& house, int requests, Connect connect) {
  const std::string line =
      "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + house.ann +
      "\r\n\r\n";
  std::vector<double> took_ms;
  int failed = 0;
  const Watch all;
  for (int i = 0; i < requests; ++i) {
    const Watch watch;
    RawClient client = connect();
    client.send(line);
    if (status_of(client.read()) != 200) ++failed;
    took_ms.push_back(watch.wall_ms());
  }
  const double per_second = 1000.0 * requests / all.wall_ms();
  std::ranges::sort(took_ms);
  row(what,
      fmt::format("p50 {:.3f} p99 {:.3f} ms, {:.0f}/s", took_ms[took_ms.size() / 2],
                  took_ms[took_ms.size() * 99 / 100], per_second),
      failed == 0 ? "" : fmt::format("{} failed", failed));
}

void listen_and_ask(const HttpHouse& house, int requests, int listeners) {
  const long before = testing::anonymous_kib();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < listeners; ++i) {
    clients.push_back(std::make_unique<RawClient>(house.server->tcp_port()));
    clients.back()->send(
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + house.ann +
        "\r\n\r\n");
  }
  while (house.server->counters().listeners < listeners)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::jthread events([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      house.log->publish({"job", std::string(200, 'x')});
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  ask_many(fmt::format("GET by TCP, {} listeners", listeners), house, requests,
           [&] { return house.knock(); });
  events.request_stop();
  row(fmt::format("anonymous memory of {} listeners", listeners),
      fmt::format("{:.1f} MiB", static_cast<double>(testing::anonymous_kib() - before) / 1024),
      "64 MiB");
}

void run(int requests, int listeners) {
  if (!testing::may_open(2 * static_cast<rlim_t>(listeners) + 1000))
    std::fputs("http_bench: the system lets too few files be open\n", stderr);
  const HttpHouse house([](http::ServerOptions& options) {
    options.bounds.connections_per_peer = options.bounds.connections;
    options.most_asked = 4096;
  });
  ask_many("GET by TCP", house, requests, [&] { return house.knock(); });
  ask_many("GET by the unix socket", house, requests, [&] { return RawClient(house.socket()); });
  listen_and_ask(house, requests, listeners);
}

}  // namespace
}  // namespace schedmate::bench

int main(int count, char** words) {
  schedmate::bench::run(count > 1 ? std::stoi(words[1]) : 20000,
                        count > 2 ? std::stoi(words[2]) : 1000);
}
