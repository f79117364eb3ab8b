// SPDX-License-Identifier: Apache-2.0
/// A replay in another process: that it is one like any other, and what becomes of answers that do
/// not come, or are none.
#include "replay/remote.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/input.hpp"
#include "base/unix_socket.hpp"
#include "replay/line_socket.hpp"
#include "replay/server.hpp"
#include "tests/support/connector_suite.hpp"
#include "tests/support/line_server.hpp"
#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small.hpp"

namespace schedmate::replay {
namespace {

using std::chrono::milliseconds;
using testing::LineServer;
using testing::need;
constexpr Connector::Deadline long_enough{60'000}, short_time{150};

/// A replay that is served until the end of the test.
class Served {
 public:
  explicit Served(const Trace& trace)
      : cluster_(trace, testing::small_cluster({4}, 4), {}), thread_([this] {
          served = serve(cluster_, {.socket = socket(),
                                    .ledger = folder_.path("ledger.jsonl"),
                                    .stopped = [this] { return stop_.load(); }});
        }) {
    testing::soon([this] { return connect_to(socket()).has_value(); });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { stop(); }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::string socket() const { return folder_.path("replay.sock"); }
  [[nodiscard]] std::string ledger() const { return *read_file(folder_.path("ledger.jsonl")); }
  Result<void> served;

 private:
  testing::Scratch folder_;
  ReplayCluster cluster_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

Trace some_jobs() {
  return testing::small_trace({{.gpus = 2, .duration_s = 100},
                               {.gpus = 4, .duration_s = 50},
                               {.gpus = 1, .duration_s = 30},
                               {.gpus = 3, .duration_s = 10}});
}

/// What the server says to one line.
std::string raw_answer(const std::string& socket, const std::string& line) {
  const Descriptor connection = need(connect_to(socket));
  std::string rest;
  const Deadline deadline(long_enough);
  need(send_line(connection, line, deadline));
  return need(receive_line(connection, rest, deadline));
}

TEST_CASE("a replay in another process keeps what every connector promises") {
  const Trace trace = some_jobs();
  Served served(trace);
  RemoteCluster cluster(served.socket());
  need(cluster.advance(at(0), long_enough));
  testing::check_connector({.connector = cluster, .let_end = [&] {
                              while (need(cluster.advance(never, long_enough)).next != never) {
                              }
                            }});
}

TEST_CASE("each call is in the ledger, with its outcome") {
  const Trace trace = some_jobs();
  Served served(trace);
  RemoteCluster cluster(served.socket());
  need(cluster.advance(at(0), long_enough));
  CHECK(cluster.call({.kind = ActionKind::test_nodes, .job = "j0"}, long_enough).outcome ==
        CallOutcome::refused);
  CHECK(
      cluster.call({.kind = ActionKind::annotate, .job = "j0", .text = "x"}, long_enough).outcome ==
      CallOutcome::done);
  CHECK(served.ledger() ==
        "{\"now_s\":0,\"call\":{\"kind\":\"test_nodes\",\"job\":\"j0\"},\"reply\":{\"outcome\":"
        "\"refused\",\"text\":\"a test needs nodes\",\"job\":\"\"}}\n"
        "{\"now_s\":0,\"call\":{\"kind\":\"annotate\",\"job\":\"j0\",\"text\":\"x\"},"
        "\"reply\":{\"outcome\":\"done\",\"text\":\"\",\"job\":\"\"}}\n");
}

TEST_CASE("another client goes on where one has left") {
  const Trace trace = some_jobs();
  Served served(trace);
  {
    RemoteCluster first(served.socket());
    need(first.advance(at(0), long_enough));
    (void)first.call({.kind = ActionKind::annotate, .job = "j0", .text = "x"}, long_enough);
  }
  RemoteCluster second(served.socket());
  CHECK(need(second.job("j0", long_enough))->note == "x");
}

TEST_CASE("a request that is none gets an error, and the replay lives on") {
  const Trace trace = some_jobs();
  Served served(trace);
  for (const char* line :
       {"", "x", "5", "null", "[]", "[1]", "{}", R"({"do": 5})", R"({"do": null})",
        R"({"do": "dance"})", R"({"do": "list", "ended_since_s": "x"})",
        R"({"do": "list", "ended_since_s": 1e300})", R"({"do": "job"})",
        R"({"do": "job", "id": 5})", R"({"do": "call"})", R"({"do": "call", "call": 5})",
        R"({"do": "call", "call": {"kind": 5}})", R"({"do": "advance", "to_s": []})",
        R"({"do": "find", "token": {}})"}) {
    INFO(std::string(line));
    CHECK(raw_answer(served.socket(), line).find("\"error\"") != std::string::npos);
  }
  RemoteCluster cluster(served.socket());
  CHECK(cluster.list(at(0), long_enough));
}

TEST_CASE("a replay is stopped while a client is there, and takes its socket with it") {
  const Trace trace = some_jobs();
  Served served(trace);
  RemoteCluster cluster(served.socket());
  CHECK(cluster.list(at(0), long_enough));
  served.stop();
  CHECK(served.served);
  struct stat there{};
  CHECK(::stat(served.socket().c_str(), &there) != 0);
  testing::check_unanswered(cluster, short_time);
}

TEST_CASE("two replays cannot listen on one socket; one that was left behind is replaced") {
  const Trace trace = some_jobs();
  Served served(trace);
  ReplayCluster other(trace, testing::small_cluster({1}), {});
  const auto stopped = [] { return true; };
  const auto second = serve(other, {.socket = served.socket(), .stopped = stopped});
  REQUIRE(!second);
  CHECK(second.error().code == ErrorCode::conflict);
  RemoteCluster cluster(served.socket());
  CHECK(cluster.list(at(0), long_enough));
  testing::Scratch folder;
  {
    const Descriptor left = need(listen_on(folder.path("old.sock")));
  }
  CHECK(serve(other, {.socket = folder.path("old.sock"), .stopped = stopped}));
}

TEST_CASE("a file in the place of the socket is not removed") {
  const testing::Scratch folder;
  std::ofstream(folder.path("trace.csv")) << "rows";
  CHECK(listen_on(folder.path("trace.csv")).error().code == ErrorCode::conflict);
  CHECK(*read_file(folder.path("trace.csv")) == "rows");
}

// Answers that do not come -----------------------------------------------------------------------

TEST_CASE("nobody listens, or the path cannot be") {
  const testing::Scratch folder;
  RemoteCluster cluster(folder.path("none.sock"));
  testing::check_unanswered(cluster, short_time);
  CHECK(connect_to(std::string(200, 'x')).error().code == ErrorCode::invalid);
}

TEST_CASE("a server that hears and never answers") {
  const testing::Scratch folder;
  LineServer server(folder.path("s"), [](const std::string&) { return LineServer::Answer{}; });
  RemoteCluster cluster(folder.path("s"));
  testing::check_unanswered(cluster, short_time);
}

TEST_CASE("a server that does not even accept") {
  const testing::Scratch folder;
  const Descriptor door = need(listen_on(folder.path("s")));
  std::vector<Descriptor> others;
  for (int i = 0; i < 10; ++i)  // as many as fit in front of the door
    if (auto made = connect_to(folder.path("s"))) others.push_back(std::move(*made));
  CHECK(others.size() < 10);
  RemoteCluster cluster(folder.path("s"));
  testing::check_unanswered(cluster, short_time);
  CHECK(listen_on(folder.path("s")).error().code == ErrorCode::conflict);
}

TEST_CASE("a server that hangs up, before or within its answer") {
  const testing::Scratch folder;
  for (const char* bytes : {"", "{\"version\": 1, \"now"}) {
    INFO(std::string(bytes));
    const std::string path = folder.path("s" + std::string(bytes).substr(0, 1));
    LineServer server(path, [&](const std::string&) {
      return LineServer::Answer{.bytes = bytes, .closes = true};
    });
    RemoteCluster cluster(path);
    testing::check_unanswered(cluster, short_time);
  }
}

TEST_CASE("half an answer, and then silence") {
  const testing::Scratch folder;
  LineServer server(folder.path("s"), [](const std::string&) {
    return LineServer::Answer{.bytes = "{\"version\": 1, \"now"};
  });
  RemoteCluster cluster(folder.path("s"));
  testing::check_unanswered(cluster, short_time);
}

TEST_CASE("an answer that trickles in does not move the deadline") {
  const testing::Scratch folder;
  LineServer server(folder.path("s"), [](const std::string&) {
    return LineServer::Answer{.bytes = std::string(2000, ' '), .between = milliseconds(5)};
  });
  RemoteCluster cluster(folder.path("s"));
  testing::check_unanswered(cluster, short_time);
}

// Answers that are none --------------------------------------------------------------------------

TEST_CASE("answers that cannot be read") {
  const testing::Scratch folder;
  int number = 0;
  for (const char* answer :
       {"", "x", "5", "null", "[]", "{}", "\"done\"", "{\"jobs\": []}", "\xff\xfe",
        R"({"lacks": []})", R"({"outcome": "well"})", R"({"job": 5})", R"({"error": "no"})"}) {
    INFO(std::string(answer));
    const std::string path = folder.path("s" + std::to_string(++number));
    LineServer server(path, [&](const std::string& line) {
      // Even with the right number of the request.
      const auto request = nlohmann::json::parse(line);
      std::string bytes = answer;
      if (bytes.starts_with("{") && request.contains("number"))
        bytes.insert(1, "\"number\": " + request["number"].dump() + (bytes == "{}" ? "" : ", "));
      return LineServer::Answer{.bytes = bytes + "\n"};
    });
    RemoteCluster cluster(path);
    testing::check_unanswered(cluster, short_time);
  }
}

TEST_CASE("the answer to another request is none") {
  const testing::Scratch folder;
  const Trace trace = some_jobs();
  Served served(trace);
  std::string last = "{}";
  LineServer server(folder.path("s"), [&](const std::string& line) {  // always one too late
    return LineServer::Answer{.bytes =
                                  std::exchange(last, raw_answer(served.socket(), line)) + "\n"};
  });
  RemoteCluster cluster(folder.path("s"));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) CHECK(!cluster.job("j0", long_enough));
    for (int j = 0; j < 2; ++j) CHECK(!cluster.list(at(0), long_enough));
    for (int j = 0; j < 2; ++j)
      CHECK(cluster.call({.kind = ActionKind::hold, .job = "j0"}, long_enough).outcome ==
            CallOutcome::unknown);
  }
}

TEST_CASE("two answers to one request: the second belongs to nobody") {
  const testing::Scratch folder;
  const Trace trace = some_jobs();
  Served served(trace);
  LineServer server(folder.path("s"), [&](const std::string& line) {
    const std::string answer = raw_answer(served.socket(), line);
    return LineServer::Answer{.bytes = answer + "\n" + answer + "\n"};
  });
  RemoteCluster cluster(folder.path("s"));
  CHECK(cluster.list(at(0), long_enough));
  const auto job = cluster.job("nobody's", long_enough);
  CHECK((!job || !*job));
  CHECK(cluster.list(at(0), long_enough));
}

TEST_CASE("what comes late belongs to nobody, and the next request is answered") {
  const testing::Scratch folder;
  const Trace trace = some_jobs();
  Served served(trace);
  std::atomic<int> requests = 0;
  LineServer server(folder.path("s"), [&](const std::string& line) {
    if (++requests == 1) std::this_thread::sleep_for(milliseconds(400));  // clock: too late
    return LineServer::Answer{.bytes = raw_answer(served.socket(), line) + "\n"};
  });
  RemoteCluster cluster(folder.path("s"));
  CHECK(!cluster.list(at(0), short_time));
  CHECK(cluster.job("nobody's", long_enough).has_value());
  CHECK(cluster.list(at(0), long_enough));
}

}  // namespace
}  // namespace schedmate::replay
