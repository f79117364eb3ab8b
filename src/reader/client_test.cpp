// SPDX-License-Identifier: Apache-2.0
#include "reader/client.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/unix_socket.hpp"
#include "settings/clock.hpp"
#include "tests/support/need.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::reader {
namespace {

using testing::need;

const Request some{.what = What::tail, .user = "ann", .logs = {"/a.log"}};

/// A reader that says what it is told to, once for each line; "" closes the connection.
class FakeReader {
 public:
  using Hears = std::function<std::string(const ModelAnswer& answer)>;
  FakeReader(const std::string& path, std::function<std::string(std::uint64_t id)> says,
             Hears hears = {})
      : door_(need(listen_on(path))), says_(std::move(says)), hears_(std::move(hears)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  FakeReader(const FakeReader&) = delete;
  FakeReader& operator=(const FakeReader&) = delete;
  ~FakeReader() {
    thread_.request_stop();
    ::shutdown(door_.number(), SHUT_RDWR);
  }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Descriptor client(::accept(door_.number(), nullptr, nullptr));
      if (!client) return;
      ++connections_;
      const timeval short_time{0, 50'000};
      ::setsockopt(client.number(), SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof short_time);
      std::string in;
      while (!stop.stop_requested() && answer(client, in)) {
      }
    }
  }
  bool answer(const Descriptor& client, std::string& in) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(client.number(), buffer.data(), buffer.size(), 0);
    if (got == 0) return false;
    if (got > 0) in.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = in.find('\n')) != std::string::npos; in.erase(0, end + 1)) {
      const auto of_model = read_model_answer(std::string_view(in).substr(0, end));
      if (of_model && of_model->id > 1) continue;  // of a question that nobody asked
      const std::string said = of_model ? hears_(*of_model) : says_(need(read_head(in)).id);
      if (said.empty()) return false;
      ::send(client.number(), said.data(), said.size(), MSG_NOSIGNAL);
    }
    return true;
  }

  Descriptor door_;
  std::function<std::string(std::uint64_t)> says_;
  Hears hears_;
  std::atomic<int> connections_ = 0;
  std::jthread thread_;
};

std::string good_answer(std::uint64_t id) {
  return answer_line(id, reply_line(Document{{"id", id}})) + "\n";
}

struct House {
  testing::Scratch folder;
  std::string path = folder.path("reader.sock");
  [[nodiscard]] ClientOptions options(std::chrono::milliseconds deadline = std::chrono::seconds(20),
                                      std::size_t most = 128) const {
    return {.socket = path,
            .most_asked = most,
            .deadline = deadline,
            .clock = settings::machine_clock()};
  }
};

}  // namespace

TEST_CASE("each question gets its own answer, from several threads") {
  const House house;
  const FakeReader reader(house.path, good_answer);
  Client client(house.options());
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 4; ++i)
      askers.emplace_back([&] {
        for (int n = 0; n < 50; ++n)
          if (client.ask(some)) ++good;
      });
  }
  CHECK(good == 200);
  CHECK(reader.connections() == 1);
}

TEST_CASE("where no reader listens, the error names the setting; later it is there") {
  const House house;
  Client client(house.options());
  const auto none = client.ask(some);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::unavailable);
  CHECK(none.error().message.contains("setting reader.socket"));
  {
    const FakeReader reader(house.path, good_answer);
    CHECK(client.ask(some));
  }
  const auto gone = client.ask(some);
  CHECK(gone.error().code == ErrorCode::unavailable);
  const FakeReader again(house.path, good_answer);
  CHECK(client.ask(some));
}

TEST_CASE("a reader that ends, lies or is silent is a clear error each, and then asked anew") {
  struct Case {
    std::string says;
    ErrorCode code;
  };
  for (const auto& [says, code] :
       {Case{"", ErrorCode::unavailable}, Case{"nonsense\n", ErrorCode::bad_reply},
        Case{"{\"id\":1,\"reply\":{\"result\":{\"a\":1,\"a\":1}}}\n", ErrorCode::bad_reply},
        Case{answer_line(0, Error{ErrorCode::refused, "not you"}) + "\n", ErrorCode::refused},
        Case{std::string(most_reply_bytes * 3, 'x'), ErrorCode::bad_reply},
        Case{"{\"id\":99,\"reply\":{\"result\":{}}}\n", ErrorCode::timeout}}) {
    const House house;
    std::atomic<bool> is_good = false;
    const FakeReader reader(house.path,
                            [&](std::uint64_t id) { return is_good ? good_answer(id) : says; });
    Client client(
        house.options(code == ErrorCode::timeout ? std::chrono::seconds(5) : testing::patience));
    const auto answer = client.ask(some);
    REQUIRE_FALSE(answer);
    CHECK_MESSAGE(answer.error().code == code, answer.error().message);
    is_good = true;
    CHECK(client.ask(some));
  }
}

TEST_CASE("what the reader asks a model is put to whoever may ask one, and answered on its line") {
  const House house;
  std::atomic<int> told = 0;
  const FakeReader reader(
      house.path,
      [&](std::uint64_t id) {
        return question_line({id, 7, std::chrono::milliseconds(5000)}, json_text("a\nb")) + "\n" +
               question_line({id + 9, 7, std::chrono::milliseconds(5000)}, json_text("of nobody")) +
               "\n";
      },
      [&](const ModelAnswer& answer) {
        ++told;
        return text_in_json(answer.line) == "yes" ? good_answer(answer.id) : "";
      });
  ClientOptions options = house.options();
  std::vector<Question> seen;
  std::jthread later;
  options.model = [&](Question question, std::function<void(std::string)> give) {
    seen.push_back(std::move(question));
    later = std::jthread([give = std::move(give)] { give("yes"); });
  };
  Client client(options);
  CHECK(client.ask(some));
  CHECK(told == 1);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].head.user == 7);
  CHECK(seen[0].text == "a\nb");
}

TEST_CASE("an answer of a model that comes after the client is gone harms nobody") {
  const House house;
  const FakeReader reader(house.path, [&](std::uint64_t id) {
    return question_line({id, 7, std::chrono::milliseconds(5000)}, json_text("q")) + "\n";
  });
  ClientOptions options = house.options();
  std::function<void(std::string)> kept;
  std::atomic<bool> is_asked = false;
  options.model = [&](const Question&, std::function<void(std::string)> give) {
    kept = std::move(give);
    is_asked = true;
  };
  {
    Client client(options);
    client.ask(some, [](const Result<Document>&) {});
    CHECK(testing::soon([&] { return is_asked.load(); }));
  }
  REQUIRE(is_asked);
  kept("late");
}

TEST_CASE("too many questions are refused at once, and the end of a client answers the rest") {
  const House house;
  const FakeReader reader(house.path, [](std::uint64_t) { return " "; });
  std::atomic<int> busy = 0, ended = 0;
  {
    Client client(house.options(std::chrono::seconds(20), 3));
    for (int i = 0; i < 5; ++i)
      client.ask(some, [&](const Result<Document>& answer) {
        if (answer) return;
        ++(answer.error().message.contains("busy") ? busy : ended);
      });
    CHECK(busy == 2);
  }
  CHECK(ended == 3);
}

}  // namespace schedmate::reader
