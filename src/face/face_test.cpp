// SPDX-License-Identifier: Apache-2.0

/// The C face, called as hosts may call it: well, and badly.

#include <doctest/doctest.h>
#include <schedmate.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "tests/library/host.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/near.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;
using face_test::ask_face, face_test::Json, face_test::use_cases, face_test::UseCase,
    face_test::World, testing::near;

TEST_CASE("each use case of a log and a job answers with its document") {
  const World world;
  const auto facts = ask_face(schedmate_facts, world.session(), world.facts());
  REQUIRE(facts.code == SCHEDMATE_OK);
  CHECK(facts.json()["schema"] == "schedmate.facts.v1");
  CHECK(facts.json()["facts"]["length"]["value"]["amount"] == 7);
  CHECK(facts.json()["facts"]["gpus"]["value"] == 2);
  CHECK_FALSE(facts.json().contains("rejected"));
  CHECK(facts.text.back() == '}');

  const auto advice = ask_face(schedmate_advise, world.session(), world.advise());
  CHECK(advice.json()["schema"] == "schedmate.advice.v1");
  const auto progress = ask_face(schedmate_track, world.session(), world.logs());
  CHECK(progress.json()["step"] == 40);
  const auto diagnosis = ask_face(schedmate_diagnose, world.session(), world.logs());
  CHECK(diagnosis.json()["class"] == "user_script");
  CHECK(diagnosis.json()["root_line"] == 41);
  const auto answers = ask_face(schedmate_ask, world.session(), world.question());
  CHECK(answers.json()["schema"] == "schedmate.answers.v1");
  CHECK(answers.json()["answers"][0]["answered"] == true);
}

TEST_CASE("what one call records, the next knows") {
  const World world;
  Json request = world.advise();
  request["record"] = true;
  request["job_id"] = "17";
  CHECK(ask_face(schedmate_advise, world.session(), request).code == SCHEDMATE_OK);
  CHECK(fs::exists(world.path("state")));
  request["job_id"] = "18";
  const auto again = ask_face(schedmate_advise, world.session(), request);
  REQUIRE(again.code == SCHEDMATE_OK);
  CHECK(again.text.contains("\"17\""));
}

TEST_CASE("how a recorded job ended is told once, and counts for the next") {
  const World world;
  Json request = world.advise();
  request["record"] = true;
  request["job_id"] = "17";
  REQUIRE(ask_face(schedmate_advise, world.session(), request).code == SCHEDMATE_OK);
  Json end{{"job_id", "17"}, {"state", "completed"}, {"duration_s", 4000}, {"gpu_util_pct", 50.5}};
  const auto told = ask_face(schedmate_finish, world.session(), end);
  CHECK(told.json()["schema"] == "schedmate.finish.v1");
  CHECK(told.json()["duration_s"] == 4000);
  CHECK(ask_face(schedmate_finish, world.session(), end).code == SCHEDMATE_OK);
  end["duration_s"] = 4001;
  CHECK(ask_face(schedmate_finish, world.session(), end).code == SCHEDMATE_CONFLICT);
  end["job_id"] = "18";
  CHECK(ask_face(schedmate_finish, world.session(), end).code == SCHEDMATE_NOT_FOUND);
  end["gpu_util_pct"] = "much";
  CHECK(ask_face(schedmate_finish, world.session(), end).text.contains("a number"));
  request["job_id"] = "19";
  const auto again = ask_face(schedmate_advise, world.session(), request).json();
  CHECK(again["source"] == "resubmission");
  CHECK(near(again["duration_s"]["p50"].get<double>(), 4000, 0.1, 0));
}

TEST_CASE("estimates are asked for job by job, and misuse is an error") {
  const World world;
  const std::string request = Json{{"trace", std::string("helios:") + SCHEDMATE_SOURCE_DIR +
                                                 "/data/venus/venus_sept2020_days0-12.csv.gz"},
                                   {"policy", "sjf:estimate=typical"}}
                                  .dump();
  schedmate_estimates open = 7;
  const auto begin = [&](std::string_view text) {
    return schedmate_estimates_open(world.session(), text.data(), text.size(), &open, nullptr);
  };
  CHECK(begin(R"({"trace": "helios:/none", "policy": "sjf"})") == SCHEDMATE_INVALID);
  CHECK(open == 0);
  CHECK(begin(R"({"policy": "sjf"})") == SCHEDMATE_UNSUPPORTED);
  CHECK(begin(R"({"trace": "helios:/none", "policy": "sia"})") == SCHEDMATE_UNSUPPORTED);
  REQUIRE(begin(request) == SCHEDMATE_OK);
  schedmate_outlook outlook{};
  outlook.size = sizeof outlook;
  const auto predict = [&](const char* id) {
    return schedmate_estimates_predict(open, id, &outlook, nullptr);
  };
  const char* const first = "765472";  // runs 97 s in vcEwI, as 765473 does 92
  REQUIRE(predict(first) == SCHEDMATE_OK);
  const double before = outlook.run_time_s;
  CHECK(schedmate_estimates_learn(open, first, 97, nullptr) == SCHEDMATE_OK);
  REQUIRE(predict("765473") == SCHEDMATE_OK);
  CHECK(outlook.run_time_s != before);
  CHECK(near(outlook.run_time_s, 97, 0.01, 0));
  CHECK(outlook.sharing_score == -1);
  CHECK(std::isnan(outlook.memory_mib));
  char* reply = nullptr;
  CHECK(schedmate_estimates_predict(open, "none", &outlook, &reply) == SCHEDMATE_NOT_FOUND);
  CHECK(std::string(schedmate_message(reply)).contains("'none'"));
  CHECK(schedmate_free(reply) == SCHEDMATE_OK);
  for (const std::int64_t beyond : {INT64_MAX, INT64_MIN}) {
    outlook.now_s = beyond;
    CHECK(predict(first) == SCHEDMATE_INVALID);
    CHECK(schedmate_estimates_learn(open, first, beyond, nullptr) == SCHEDMATE_INVALID);
  }
  CHECK(predict(nullptr) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_learn(open, nullptr, 0, nullptr) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_predict(open, first, nullptr, nullptr) == SCHEDMATE_BAD_CALL);
  outlook.size = 8;
  CHECK(predict(first) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_learn(world.session(), first, 0, nullptr) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_close(open) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_close(open) == SCHEDMATE_OK);
  CHECK(schedmate_estimates_close(open) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_learn(open, first, 0, nullptr) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_open(world.session(), nullptr, 0, &open, nullptr) ==
        SCHEDMATE_BAD_CALL);
  CHECK(schedmate_estimates_open(0, "{}", 2, &open, nullptr) == SCHEDMATE_BAD_CALL);
}

TEST_CASE("a trace is replayed, and without a folder nothing is written") {
  const World world;
  const std::string trace =
      std::string("helios:") + SCHEDMATE_SOURCE_DIR + "/data/venus/venus_sept2020_days0-12.csv.gz";
  const Json request{{"trace", trace}, {"policies", {"fifo"}}};
  const auto before = std::distance(fs::directory_iterator(fs::current_path()), {});
  const auto made = ask_face(schedmate_simulate, world.session(), request);
  REQUIRE(made.code == SCHEDMATE_OK);
  CHECK(made.json()["out"].is_null());
  CHECK(made.json()["report"].is_null());
  CHECK(std::distance(fs::directory_iterator(fs::current_path()), {}) == before);
  const auto queue =
      ask_face(schedmate_eta, world.session(),
               Json{{"from", "trace:" + trace}, {"at", "+1d"}, {"policy", "fifo"}, {"samples", 2}});
  REQUIRE(queue.code == SCHEDMATE_OK);
  CHECK(queue.json()["schema"] == "schedmate.eta.v1");
}

TEST_CASE("a wrong request is an error with a code and a sentence") {
  const World world;
  struct Case {
    UseCase use_case;
    std::string request;
    int code;
    const char* says;
  };
  const std::string deep(100'000, '[');
  for (const Case& each : std::vector<Case>{
           {schedmate_facts, "", SCHEDMATE_UNSUPPORTED, "\"dir\" is missing"},
           {schedmate_facts, "{}", SCHEDMATE_UNSUPPORTED, "\"dir\" is missing"},
           {schedmate_facts, "[]", SCHEDMATE_INVALID, "no JSON object"},
           {schedmate_facts, "{", SCHEDMATE_INVALID, "the request"},
           {schedmate_facts, deep, SCHEDMATE_INVALID, "the request"},
           {schedmate_facts, "{\"dir\": \"\xff\"}", SCHEDMATE_INVALID, "the request"},
           {schedmate_facts, std::string("\0\1\2", 3), SCHEDMATE_INVALID, "the request"},
           {schedmate_facts, R"({"dir": "a\u0000b", "command": "x"})", SCHEDMATE_INVALID, "zero"},
           {schedmate_facts, R"({"dir": ".", "command": "x", "gpu": 1})", SCHEDMATE_NOT_FOUND,
            "nearest: gpus"},
           {schedmate_facts, R"({"dir": 7, "command": "x"})", SCHEDMATE_UNSUPPORTED, "a text"},
           {schedmate_facts, R"({"dir": ".", "command": "x", "gpus": 0})", SCHEDMATE_UNSUPPORTED,
            "at least 1"},
           {schedmate_facts, R"({"dir": ".", "command": "x", "gpus": 1e300})",
            SCHEDMATE_UNSUPPORTED, "whole number"},
           {schedmate_facts, R"({"dir": ".", "command": "x", "gpus": 18446744073709551615})",
            SCHEDMATE_UNSUPPORTED, "whole number"},
           {schedmate_facts, R"({"dir": ".", "command": "x", "log": "-"})", SCHEDMATE_UNSUPPORTED,
            "\"log\": - is standard input"},
           {schedmate_facts, R"({"dir": ".", "command": "x", "min_confidence": "1.01"})",
            SCHEDMATE_UNSUPPORTED, "0 to 1, or auto"},
           {schedmate_facts, R"({"dir": "/no/such/folder", "command": "python x.py"})",
            SCHEDMATE_NOT_FOUND, "/no/such/folder"},
           {schedmate_advise, R"({"dir": ".", "command": "x"})", SCHEDMATE_UNSUPPORTED, "user"},
           {schedmate_track, R"({"logs": []})", SCHEDMATE_UNSUPPORTED, "\"logs\" is missing"},
           {schedmate_track, R"({"logs": "a"})", SCHEDMATE_UNSUPPORTED, "a list"},
           {schedmate_track, R"({"logs": ["-"]})", SCHEDMATE_UNSUPPORTED, "standard input"},
           {schedmate_diagnose, R"({"logs": ["a"], "nvml": 1})", SCHEDMATE_UNSUPPORTED, "true"},
           {schedmate_diagnose, R"({"logs": ["a"], "kernel_logs": ["n1=-"]})",
            SCHEDMATE_UNSUPPORTED, "standard input"},
           {schedmate_ask, R"({"log": "a"})", SCHEDMATE_UNSUPPORTED, "question"},
           {schedmate_eta, R"({"from": "-"})", SCHEDMATE_UNSUPPORTED, "standard input"},
           {schedmate_eta, R"({"samples": -1})", SCHEDMATE_UNSUPPORTED, "at least 1"},
           {schedmate_simulate, R"({"trace": "helios:-", "policies": ["fifo"]})",
            SCHEDMATE_UNSUPPORTED, "standard input"},
           {schedmate_simulate, R"({"trace": "x:y", "policies": ["fifi"]})", SCHEDMATE_NOT_FOUND,
            "fifo"},
       }) {
    const auto answer = ask_face(each.use_case, world.session(), std::string_view(each.request));
    CAPTURE(each.request.substr(0, 200));
    CAPTURE(answer.text);
    CHECK(answer.code == each.code);
    CHECK(answer.json()["schema"] == "schedmate.error.v1");
    CHECK(answer.json()["code"] == schedmate_code_name(each.code));
    CHECK(answer.json()["message"].get<std::string>().contains(each.says));
  }
}

TEST_CASE("texts of any size and kind are answered") {
  const World world;
  const std::string binary = "\x01\x7f\x1b[2J\xe2\x80\xae";
  const std::vector<std::string> texts{std::string(testing::cases(1'000'000), 'x'), binary,
                                       std::string(testing::cases(300'000), '\''),
                                       std::string(testing::cases(300'000), '$') + "("};
  for (const std::string& text : texts) {
    for (const UseCase use_case : use_cases) {
      const std::vector<Json> requests{
          {{"dir", text}, {"command", text}},
          {{"dir", world.path("job")}, {"command", text}, {"workdir", text}, {"user", text}},
          {{"logs", {text, text}}},
          {{"log", text}, {"question", text}},
          {{"log", world.path("job.log")}, {"question", text}},
          {{"trace", text}, {"policies", {text}}},
          {{"from", text}, {"at", text}}};
      for (const Json& request : requests) {
        const auto answer = ask_face(use_case, world.session(), request);
        CHECK(answer.code >= SCHEDMATE_OK);
        CHECK(answer.code < SCHEDMATE_BAD_CALL);
        CHECK(Json::accept(answer.text));
      }
    }
  }
  const std::string longest(std::size_t{17} << 20U, ' ');
  CHECK(ask_face(schedmate_facts, world.session(), std::string_view(longest)).code ==
        SCHEDMATE_INVALID);
}

TEST_CASE("nulls, closed sessions and what never was one are bad calls") {
  const World world;
  char* reply = nullptr;
  char here = 'x';
  schedmate_session closed = 0;
  REQUIRE(schedmate_open(nullptr, 0, &closed, nullptr) == SCHEDMATE_OK);
  REQUIRE(schedmate_close(closed) == SCHEDMATE_OK);
  CHECK(schedmate_close(closed) == SCHEDMATE_BAD_CALL);
  const auto address = reinterpret_cast<std::uintptr_t>(&here);
  for (const schedmate_session wrong :
       {closed, schedmate_session{0}, schedmate_session{1}, ~schedmate_session{0},
        static_cast<schedmate_session>(address), world.session() + 1000}) {
    for (const UseCase use_case : use_cases) {
      const auto answer = ask_face(use_case, wrong, std::string_view("{}"));
      CHECK(answer.code == SCHEDMATE_BAD_CALL);
      CHECK(answer.json()["code"] == "bad_call");
    }
    CHECK(schedmate_close(wrong) == SCHEDMATE_BAD_CALL);
  }
  for (const UseCase use_case : use_cases) {
    CHECK(use_case(world.session(), "{}", 2, nullptr) == SCHEDMATE_BAD_CALL);
    CHECK(use_case(world.session(), nullptr, 2, &reply) == SCHEDMATE_BAD_CALL);
    CHECK(schedmate_free(reply) == SCHEDMATE_OK);
  }
  CHECK(schedmate_open(nullptr, 99, nullptr, &reply) == SCHEDMATE_BAD_CALL);
  char* const freed = reply;
  CHECK(schedmate_free(reply) == SCHEDMATE_OK);
  CHECK(schedmate_free(freed) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_free(&here) == SCHEDMATE_BAD_CALL);
  CHECK(schedmate_free(nullptr) == SCHEDMATE_OK);
}

TEST_CASE("options are checked as requests are") {
  schedmate_session session = 7;
  char* reply = nullptr;
  const auto open = [&](std::string_view options) {
    const int code = schedmate_open(options.data(), options.size(), &session, &reply);
    const std::string text = reply == nullptr ? "" : reply;
    CHECK(schedmate_free(reply) == SCHEDMATE_OK);
    CHECK((session == 0) == (code != SCHEDMATE_OK));
    if (code == SCHEDMATE_OK) CHECK(schedmate_close(session) == SCHEDMATE_OK);
    return std::pair(code, text);
  };
  CHECK(open("{").first == SCHEDMATE_INVALID);
  CHECK(open(R"({"setings": {}})").second.contains("nearest: settings"));
  CHECK(open(R"({"settings": {"sed": 1}})").second.contains("seed"));
  CHECK(open(R"({"settings": {"seed": [1]}})").first == SCHEDMATE_UNSUPPORTED);
  CHECK(open(R"({"config": "/no/such/file"})").first != SCHEDMATE_OK);
  CHECK(open(R"({"settings": {"seed": 1, "strict": true, "llm.use": "none"}})").first ==
        SCHEDMATE_OK);
}

TEST_CASE("codes and versions have names") {
  CHECK(std::string(schedmate_code_name(SCHEDMATE_OK)) == "ok");
  CHECK(std::string(schedmate_code_name(SCHEDMATE_INTERNAL)) == "internal");
  CHECK(std::string(schedmate_code_name(SCHEDMATE_STOPPED)) == "stopped");
  CHECK(std::string(schedmate_code_name(12)) == "unknown");
  CHECK(std::string(schedmate_code_name(-1)) == "unknown");
  CHECK(schedmate_version() == std::to_string(SCHEDMATE_VERSION_MAJOR) + "." +
                                   std::to_string(SCHEDMATE_VERSION_MINOR) + "." +
                                   std::to_string(SCHEDMATE_VERSION_PATCH));
}

TEST_CASE("a broken invariant is thrown in a library, for the face to catch") {
  CHECK_THROWS_AS(SCHEDMATE_CHECK(false, "it holds"), std::logic_error);
}

}  // namespace
}  // namespace schedmate
