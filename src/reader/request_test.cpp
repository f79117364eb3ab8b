// SPDX-License-Identifier: Apache-2.0
#include "reader/request.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/support/need.hpp"

namespace schedmate::reader {
namespace {

using testing::need;

std::string why_not(What what, const std::string& members) {
  const auto read = read_question(what, Document::parse(members));
  return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE("a request reads as it was written") {
  const Request advise{.what = What::advise,
                       .user = "ann",
                       .models = true,
                       .dir = "/data/ann/job",
                       .command = "python train.py --lr \"0.1\"\n",
                       .workdir = "src",
                       .gpus = 8,
                       .nodes = 2,
                       .time_limit_s = 3600};
  const Request diagnose{.what = What::diagnose, .user = "1000", .text = "Traceback\n\xc3\xa9"};
  const Request track{.what = What::track, .user = "ann", .logs = {"/a/0.log", "/a/1.log"}};
  const Request tail{.what = What::tail, .user = "ann", .logs = {"/a/0.log"}, .lines = 10'000};
  const Request failure{.what = What::failure, .user = "ann", .logs = {"/a/0.log"}};
  for (const Request& each : {advise, diagnose, track, tail, failure}) {
    const std::string line = request_line({7, each});
    CHECK(line.find('\n') == std::string::npos);
    const Numbered read = need(read_request(line));
    CHECK(read.id == 7);
    CHECK(read.request == each);
    const Head head = need(read_head(line));
    CHECK(head.id == 7);
    CHECK(head.user == each.user);
  }
}

TEST_CASE("what is wrong with a request is said") {
  CHECK(why_not(What::tail, R"({"log": "a.log"})").contains("log: must be an absolute path"));
  CHECK(why_not(What::tail, R"({"log": "-"})").contains("absolute"));
  for (const char* name : {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    CHECK(why_not(What::tail, fmt::format(R"({{"log": "{}"}})", name)).contains("no file"));
    CHECK(why_not(What::track, fmt::format(R"({{"logs": ["/a", "{}"]}})", name)) != "");
  }
  CHECK(why_not(What::tail, R"({"log": "/a", "line": 3})").contains("nearest: lines"));
  CHECK(why_not(What::tail, R"({"log": "/a", "lines": 10001})").contains("from 0 to 10000"));
  CHECK(why_not(What::tail, R"({"log": "/a", "lines": -1})").contains("whole number"));
  CHECK(why_not(What::tail, R"({"log": "/a", "text": "x"})").contains("nearest"));
  CHECK(why_not(What::tail, "{}").contains("log: is missing"));
  CHECK(why_not(What::tail, "[]").contains("JSON object"));
  CHECK(why_not(What::track, R"({"logs": []})").contains("list of 1 to 256"));
  CHECK(why_not(What::track, R"({"log": "/a\u0000b"})").contains("NUL"));
  CHECK(why_not(What::diagnose, R"({"log": "/a", "text": "x"})").contains("one of them"));
  CHECK(why_not(What::diagnose, R"({"text": 7})").contains("text: must be a text"));
  CHECK(why_not(What::advise, R"({"dir": "/a", "command": "a", "models": true})") != "");
  CHECK_FALSE(read_request(R"({"id":7,"user":"ann","models":1,"what":"tail","log":"/a"})"));
  CHECK(why_not(What::advise, R"({"dir": "/a"})").contains("command: is missing"));
  CHECK(why_not(What::advise, R"({"command": "a"})").contains("dir: is missing"));
  CHECK(why_not(What::advise, R"({"dir": "/a", "command": "a", "gpus": 1.5})").contains("gpus"));
  CHECK(why_not(What::advise, R"({"dir": "/a", "command": "a", "gpus": 8.0})") == "");
  CHECK(why_not(What::facts, R"({"dir": "/a", "command": "a", "time_limit_s": 5})") != "");
  CHECK(why_not(What::advise, R"({"dir": "/a", "command": "a", "gpus": null})") == "");
}

TEST_CASE("a head is what stands first") {
  CHECK_FALSE(read_head(R"({"user":"ann","id":7,"what":"tail"})"));
  CHECK_FALSE(read_head(R"({"id":0,"user":"ann","what":"tail"})"));
  CHECK_FALSE(read_head(R"({"id":-1,"user":"ann","what":"tail"})"));
  CHECK_FALSE(read_head(R"({"id":7,"user":"","what":"tail"})"));
  CHECK_FALSE(read_head(R"({"id":7,"user":"an\"n","what":"tail"})"));
  CHECK_FALSE(read_head(R"({"id":7,"user":"ann"})"));
  CHECK_FALSE(read_head(R"({"id":7,"user":"ann)"));
  CHECK_FALSE(read_head(""));
  // A user that is named twice is refused by whoever reads all of it.
  CHECK_FALSE(read_request(R"({"id":7,"user":"ann","user":"bob","what":"tail","log":"/a"})"));
  CHECK_FALSE(read_request(R"({"id":7,"user":"ann","what":"tai","log":"/a"})"));
}

TEST_CASE("an answer carries a reply as it is, or says what is wrong with it") {
  const auto result = [](std::string_view reply) {
    const std::string line = answer_line(7, reply);
    CHECK(answered_id(line) == 7);
    return result_in(line);
  };
  CHECK(need(result(reply_line(Document{{"schema", "x"}})))["schema"] == "x");
  const auto error = result(reply_line(fail(ErrorCode::refused, "no \"rights\"")));
  REQUIRE_FALSE(error);
  CHECK(error.error().code == ErrorCode::refused);
  CHECK(error.error().message == "no \"rights\"");
  for (const std::string_view rubbish :
       {"", "{}", "nonsense", "{\"result\":7}", "{\"result\":{},\"error\":{}}", "[1]",
        "{\"result\":{\"a\":1,\"a\":2}}", "{\"result\":{}},\"id\":8,\"reply\":{\"result\":{}}",
        "{\"result\":{\"a\":\"\xff\"}}", "{\"error\":{}} "}) {
    const auto read = result(rubbish);
    REQUIRE_MESSAGE(!read, rubbish);
    CHECK(read.error().code == ErrorCode::bad_reply);
    CHECK(read.error().message != "");
  }
  std::string deep = "{\"result\":{\"a\":";
  deep += std::string(500, '[') + std::string(500, ']') + "}}";
  CHECK(result(deep).error().code == ErrorCode::bad_reply);
}

TEST_CASE("a line that is no answer at all is an error of its own") {
  for (const std::string_view line : {"", "{}", "{\"id\":7}", "{\"id\":x,\"reply\":{}}",
                                      "{\"reply\":{},\"id\":7}", "{\"id\":7,\"reply\":"})
    CHECK_FALSE(answered_id(line));
}

}  // namespace schedmate::reader
