// SPDX-License-Identifier: Apache-2.0

/// diagnose --classify embedding, with the built-in embedder and with vectors from a server.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/fake_llm.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;
using testing::FakeCall;
using testing::FakeLlm;
using testing::FakeReply;

constexpr const char* secret = "sk-abcdefghij0123456789klmnopqrst";

/// What no rule knows looks like the text "error" of the category table, the other lines of the log
/// like nothing in it.
std::vector<double> line_vector(const std::string& text) {
  if (text.contains("frobnicate") || text == "error") return {1, 0, 0};
  const bool ours = text.contains("step 1") || text.contains("login") || text == "bye";
  return ours ? std::vector<double>{0, 0, 1} : std::vector<double>{0, 1, 0};
}

FakeReply embed_lines(const FakeCall& call) {
  Json data = Json::array();
  for (const auto& text : Json::parse(call.body).at("input").get<std::vector<std::string>>())
    data.push_back({{"index", data.size()}, {"embedding", line_vector(text)}});
  return {.body = Json{{"data", data}}.dump()};
}

struct Run {
  Scratch here;
  Run() {
    here.write("run.log", std::string("step 1 loss 2.5\nlogin with api_key=") + secret +
                              "\nfrobnicate: gone away\nbye\n");
  }
  [[nodiscard]] Ran diagnose(const Words& more) const {
    Words words{"diagnose", "run.log", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return here.run(words);
  }
};

Words served_by(const FakeLlm& server) {
  return {"--classify",           "embedding", "--set",
          "embedder.kind=openai", "--set",     "embedder.url=" + server.url()};
}

}  // namespace

TEST_CASE("a classifier of vectors finds a line that no rule knows, and sends no secret") {
  const Run run;
  const FakeLlm server(embed_lines);
  const Ran rules = run.diagnose({});
  CAPTURE(rules.err);
  CHECK(Json::parse(rules.out)["class"] == "none");
  const Ran ran = run.diagnose(served_by(server));
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  const Json found = Json::parse(ran.out);
  CHECK(found["root_line"] == 3);
  CHECK(found["class"] == "other");
  REQUIRE_FALSE(server.calls().empty());
  for (const FakeCall& call : server.calls()) CHECK_FALSE(call.body.contains(secret));
}

TEST_CASE("the built-in embedder classifies without a server") {
  const Run run;
  run.here.write("run.log", "step 1 loss 2.5\nRuntimeError: something failed\n");
  const Ran ran = run.diagnose({"--classify", "embedding"});
  CAPTURE(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(Json::parse(ran.out)["root_line"] == 2);
}

TEST_CASE("a server that is gone or talks nonsense is reported, not taken for a healthy log") {
  const Run run;
  std::string url;
  {
    const FakeLlm gone(embed_lines);
    url = gone.url();
  }
  const Ran dead = run.diagnose(
      {"--classify", "embedding", "--set", "embedder.kind=openai", "--set", "embedder.url=" + url});
  CHECK(dead.status == 4);
  CHECK(dead.err.contains("no connection"));
  const FakeLlm absurd([](const FakeCall&) { return FakeReply{.body = R"({"data": [{}]})"}; });
  const Ran nonsense = run.diagnose(served_by(absurd));
  CHECK(nonsense.status != 0);
  CHECK_FALSE(nonsense.err.empty());
}

TEST_CASE("an unknown classifier is an error with the nearest name") {
  const Run run;
  const Ran ran = run.diagnose({"--classify", "embeding"});
  CHECK(ran.status == 2);
  CHECK(ran.err.contains("embedding"));
}

}  // namespace schedmate
