// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "base/input.hpp"
#include "base/output.hpp"
#include "base/own_files.hpp"
#include "llm/exchange.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::llm {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Time that passes only when somebody sleeps.
struct Hours {
  nanoseconds now{0};
  [[nodiscard]] Clock clock() {
    return {.now = [this] { return now; }, .sleep = [this](nanoseconds time) { now += time; }};
  }
};

ChatRequest plain_question(std::string text = "q") {
  return {.system = {},
          .tools = {},
          .messages = {{.from_model = false, .text = std::move(text)}},
          .json_schema = {},
          .patience = milliseconds(10'000)};
}

ChatReply reply_of(std::string text, std::int64_t tokens = 30) {
  return {.text = std::move(text),
          .prompt_tokens = tokens,
          .completion_tokens = 0,
          .model = "m",
          .finish_reason = "stop"};
}

Failure failure_of(ErrorCode code, bool again, std::optional<milliseconds> wait = {}) {
  return {.error = {code, "failed"}, .again = again, .wait = wait};
}

std::filesystem::path fresh_folder(const char* name) {
  auto folder = std::filesystem::temp_directory_path() / (std::string("schedmate_llm_") + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

/// While it is there, files of this process grow to so many bytes at most.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : signal_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit little{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &little);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int);
};

}  // namespace

TEST_CASE("a passing failure is tried again, after growing waits with jitter") {
  Hours hours;
  ChatServices services;
  services.clock = hours.clock();
  services.meter = std::make_shared<ChatMeter>();
  std::vector<nanoseconds> at;
  const Chat chat = with_retries(
      [&](const ChatRequest&) -> tl::expected<ChatReply, Failure> {
        at.push_back(hours.now);
        if (at.size() < 3) return tl::unexpected(failure_of(ErrorCode::unavailable, true));
        return reply_of("at last");
      },
      {}, services);
  REQUIRE(chat(plain_question()));
  REQUIRE(at.size() == 3);
  CHECK(at[1] >= milliseconds(250));
  CHECK(at[1] <= milliseconds(500));
  CHECK(at[2] - at[1] >= milliseconds(500));
  CHECK(at[2] - at[1] <= milliseconds(1000));
  CHECK(services.meter->sums().calls == 3);
  CHECK(services.meter->sums().retries == 2);
}

TEST_CASE("what no repetition fixes is tried once; the server's pause must fit the patience") {
  Hours hours;
  ChatServices services;
  services.clock = hours.clock();
  int calls = 0;
  Failure failure = failure_of(ErrorCode::refused, false);
  const Chat chat = with_retries(
      [&](const ChatRequest&) -> tl::expected<ChatReply, Failure> {
        ++calls;
        return tl::unexpected(failure);
      },
      {}, services);
  CHECK(chat(plain_question()).error().code == ErrorCode::refused);
  CHECK(calls == 1);
  failure = failure_of(ErrorCode::unavailable, true, milliseconds(60'000));
  CHECK(chat(plain_question()).error().code == ErrorCode::unavailable);
  CHECK(calls == 2);
  CHECK(hours.now == nanoseconds(0));
}

TEST_CASE("the circuit opens after failures in a row and lets one try through after its rest") {
  Hours hours;
  int calls = 0;
  bool healthy = false;
  ChatSettings settings;
  settings.breaker_failures = 3;
  const Chat chat = with_breaker(
      [&](const ChatRequest&) -> Result<ChatReply> {
        ++calls;
        if (healthy) return reply_of("ok");
        return fail(ErrorCode::unavailable, "down");
      },
      settings, hours.clock());
  for (int i = 0; i < 10; ++i) CHECK_FALSE(chat(plain_question()));
  CHECK(calls == 3);
  hours.now += std::chrono::seconds(61);
  CHECK_FALSE(chat(plain_question()));
  CHECK_FALSE(chat(plain_question()));
  CHECK(calls == 4);
  hours.now += std::chrono::seconds(61);
  healthy = true;
  CHECK(chat(plain_question()));
  CHECK(chat(plain_question()));
  CHECK(calls == 6);
}

TEST_CASE("a circuit that one payer's requests have opened is closed to nobody else") {
  Hours hours;
  ChatSettings settings;
  settings.breaker_failures = 3;
  const Chat chat = with_breaker(
      [](const ChatRequest& request) -> Result<ChatReply> {
        if (request.payer == "ann") return fail(ErrorCode::timeout, "too long");
        return reply_of("ok");
      },
      settings, hours.clock());
  auto anns = plain_question(), bobs = plain_question();
  anns.payer = "ann";
  bobs.payer = "bob";
  for (int i = 0; i < 10; ++i) CHECK_FALSE(chat(anns));
  CHECK(chat(anns).error().code == ErrorCode::unavailable);
  CHECK(chat(bobs));
}

TEST_CASE("one chat keeps a budget for each payer, day by day") {
  std::int64_t now_s = 0;
  ChatSettings settings;
  settings.tokens_per_user = 50;
  settings.tokens_per_day = 150;
  ChatServices services;
  services.clock.wall = [&] { return at(now_s); };
  services.user = "uid-0";
  const Chat chat =
      with_budget([](const ChatRequest&) { return reply_of("x", 30); }, settings, services);
  const auto pays = [&](const char* payer) {
    auto request = plain_question();
    request.payer = payer;
    return chat(request).has_value();
  };
  CHECK(pays("ann"));
  CHECK(pays("ann"));
  CHECK_FALSE(pays("ann"));
  CHECK(pays("bob"));
  CHECK(pays(""));  // the services' own
  CHECK(pays("uid-0"));
  CHECK_FALSE(pays("bob"));  // the day's are used up
  now_s = 86'400;
  CHECK(pays("ann"));
}

TEST_CASE("a spent budget refuses, for the user and for the day, and outlives the process") {
  const auto folder = fresh_folder("budget");
  ChatSettings settings;
  settings.tokens_per_user = 50;
  settings.tokens_per_day = 100;
  const auto ask_as = [&](const std::string& user, std::int64_t day) {
    ChatServices services;
    services.ledger = file_ledger(folder.string());
    services.user = user;
    services.clock.wall = [day] { return at(day); };
    const Chat chat =
        with_budget([](const ChatRequest&) { return reply_of("x", 30); }, settings, services);
    return chat(plain_question()).has_value();
  };
  CHECK(ask_as("ada", 0));
  CHECK(ask_as("ada", 0));
  CHECK_FALSE(ask_as("ada", 0));
  CHECK(ask_as("bob\n0 ada", 0));
  CHECK(ask_as("bob\n0 ada", 0));
  CHECK_FALSE(ask_as("eve", 0));
  CHECK(ask_as("ada", 86'400));
}

TEST_CASE("tokens that a full disk does not take count in memory, and are written when it does") {
  const std::string day = "2026-01-31";
  for (rlim_t room = 0; room < 8; ++room) {  // for "200 ann\n"
    CAPTURE(room);
    const testing::Scratch folder;
    const auto ledger = file_ledger(folder.path());
    REQUIRE(ledger->add(day, "ann", 100));
    bool is_written = true;
    {
      const SmallDisk disk(8 + room);
      is_written = ledger->add(day, "ann", 200).has_value();
    }
    CHECK_FALSE(is_written);
    CHECK(ledger->spent(day, "ann").value() == 300);
    CHECK(file_ledger(folder.path())->spent(day, "ann").value() == 100);
    REQUIRE(ledger->add(day, "bob", 5));
    const auto of_another_process = file_ledger(folder.path());
    CHECK(of_another_process->spent(day, "ann").value() == 300);
    CHECK(of_another_process->spent(day, "bob").value() == 5);
    CHECK(of_another_process->spent(day, "an").value() == 0);
    CHECK(ledger->spent(day, "ann").value() == 300);
  }
}

TEST_CASE("what cannot be recorded is not sent, and an answer that has come is given and counts") {
  const testing::Scratch folder;
  const auto state = folder.path("state"), away = folder.path("away");
  ChatSettings settings;
  settings.tokens_per_user = 50;
  ChatServices services;
  services.ledger = file_ledger(state);
  services.user = "ann";
  int calls = 0;
  const auto loses_folder = [&](const ChatRequest&) {
    ++calls;
    std::filesystem::rename(state, away);
    return reply_of("x", 30);
  };
  const Chat chat = with_budget(loses_folder, settings, services);
  const auto code_of_next = [&] {
    const auto reply = chat(plain_question());
    return reply ? std::optional<ErrorCode>() : reply.error().code;
  };
  CHECK(code_of_next() == ErrorCode::unavailable);
  CHECK(calls == 0);
  REQUIRE(make_own_folder(state));
  CHECK(code_of_next() == std::nullopt);
  CHECK(calls == 1);
  CHECK(code_of_next() == ErrorCode::unavailable);
  CHECK(calls == 1);
  std::filesystem::rename(away, state);
  CHECK(code_of_next() == std::nullopt);
  CHECK(calls == 2);
  std::filesystem::rename(away, state);
  CHECK(file_ledger(state)->spent("", "ann").value() == 30);
  CHECK(code_of_next() == ErrorCode::refused);
  CHECK(calls == 2);
}

TEST_CASE("a replay answers what was recorded and nothing else; the file is its owner's") {
  const auto file = (fresh_folder("record") / "chat.jsonl").string();
  const Chat recorded = with_recording(
      [](const ChatRequest& request) { return reply_of("to " + request.messages[0].text); }, file);
  REQUIRE(recorded(plain_question("one")));
  REQUIRE(recorded(plain_question("two")));
  struct stat status{};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  const auto replay = open_recording(file);
  REQUIRE(replay);
  CHECK((*replay)(plain_question("two"))->text == "to two");
  CHECK((*replay)(plain_question("two"))->prompt_tokens == 30);
  auto other = plain_question("two");
  other.seed = 2;
  CHECK((*replay)(other).error().code == ErrorCode::not_found);
}

TEST_CASE("a torn line of a recording is skipped and spoils no other") {
  const testing::Scratch folder;
  const auto file = folder.path("chat.jsonl");
  const Chat recorded = with_recording(
      [](const ChatRequest& request) { return reply_of("to " + request.messages[0].text); }, file);
  REQUIRE(recorded(plain_question("one")));
  const auto line = read_file(file).value();
  for (std::size_t kept = 1; kept < line.size(); ++kept) {
    CAPTURE(kept);
    REQUIRE(write_file(file, line.substr(0, kept)));
    REQUIRE(recorded(plain_question("two")));
    const auto replay = open_recording(file);
    REQUIRE(replay);
    REQUIRE((*replay)(plain_question("two")));
    CHECK((*replay)(plain_question("one")).has_value() == (kept + 1 == line.size()));
  }
  for (const char* const other : {"text", "{}", R"({"request":{}})"}) {
    REQUIRE(write_file(file, other));
    CHECK(open_recording(file).error().code == ErrorCode::invalid);
  }
}

TEST_CASE("nothing leaves without redaction") {
  ChatRequest sent;
  const Chat chat = with_redaction(
      [&](const ChatRequest& request) {
        sent = request;
        return reply_of("x");
      },
      [](std::string_view text) {
        return text.empty() ? std::string() : "<" + std::string(text) + ">";
      });
  auto request = plain_question("secret");
  request.system = "s";
  request.tools = "t";
  REQUIRE(chat(request));
  CHECK(sent.system == "<s>");
  CHECK(sent.tools == "<t>");
  CHECK(sent.messages[0].text == "<secret>");
}

TEST_CASE("requests beyond the limit wait no longer than their patience") {
  Chat limited;
  auto inner = plain_question();
  inner.patience = milliseconds(20);
  limited = with_limit(
      [&](const ChatRequest& request) -> Result<ChatReply> {
        if (request.messages[0].text == "inner") return reply_of("never");
        inner.messages[0].text = "inner";
        return limited(inner);
      },
      1);
  CHECK(limited(plain_question("outer")).error().code == ErrorCode::timeout);
}

TEST_CASE("settings are read by key and distinguished from typing errors") {
  const auto good = read_chat_settings(
      "lab", {{"url", "http://h/v1"}, {"deadline_s", "7"}, {"send_schema", "false"}});
  REQUIRE(good);
  CHECK(good->deadline == std::chrono::seconds(7));
  CHECK_FALSE(good->send_schema);
  CHECK(read_chat_settings("lab", {{"modle", "x"}}).error().message.find("model") !=
        std::string::npos);
  CHECK(read_chat_settings("lab", {{"attempts", "-1"}}).error().code == ErrorCode::unsupported);
  CHECK(read_chat_settings("lab", {{"deadline_s", "0"}}).error().code == ErrorCode::unsupported);
  CHECK(chat_kinds().size() == 4);
}

}  // namespace schedmate::llm
