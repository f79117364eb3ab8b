// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <schedmate/embed.hpp>

#include "base/output.hpp"
#include "tests/support/fake_llm.hpp"
#include "tests/support/fixed_clock.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::llm {
namespace {

using nlohmann::json;
using testing::FakeCall;
using testing::FakeLlm;
using testing::FakeReply;

EmbedderOptions options_for(const std::string& url) {
  EmbedderOptions options;
  options.server.url = url;
  options.services.clock = testing::sleepless_clock();
  options.services.environment = [](std::string_view name) {
    return std::string(name == "TOKEN" ? "s3cret" : "");
  };
  return options;
}

/// Two numbers for each text, last text first.
FakeReply vectors(const FakeCall& call) {
  json data = json::array();
  const auto texts = json::parse(call.body).at("input");
  for (std::size_t i = texts.size(); i-- > 0;) {
    data.push_back({{"index", i}, {"embedding", {3.0, texts[i].get<std::string>().size()}}});
  }
  return {.body = json{{"data", data}}.dump()};
}

Result<DenseVectors> embed_with(const testing::FakeAnswer& answer) {
  const FakeLlm server(answer);
  const auto embedder = make_embedder("openai", options_for(server.url()));
  REQUIRE(embedder.has_value());
  const std::vector<std::string> texts{"abcd", "x"};
  return embedder->embed(texts);
}

TEST_CASE("lexical: every word has features, alike for values that are alike") {
  const auto embedder = make_embedder("lexical").value();
  CHECK(embedder.sparse());
  CHECK(embedder.threshold == 0.70);
  const auto features = embedder.features("model=ResNet50");
  CHECK(features == embedder.features("model=resnet50"));
  CHECK(std::ranges::all_of(features, [](const Feature& f) { return f.bucket < 65'536; }));
  const auto shared = [&](const char* other) {
    int count = 0;
    for (const auto& feature : embedder.features(other)) {
      for (const auto& mine : features) count += mine.bucket == feature.bucket ? 1 : 0;
    }
    return count;
  };
  CHECK(shared("model=resnet-50") >= 6);
  CHECK(shared("model=bert") == 0);
  CHECK_FALSE(embedder.features("=").empty());
  CHECK(embedder.features(std::string(100'000, 'x')).size() < 600);
}

TEST_CASE("openai: vectors come as unit vectors in the order of the texts, in batches") {
  const FakeLlm server(vectors);
  auto options = options_for(server.url());
  options.batch = 2;
  options.server.token_env = "TOKEN";
  const auto embedder = make_embedder("openai", options).value();
  CHECK(embedder.name == "openai/bge-m3");
  CHECK(embedder.threshold == 0.90);
  const std::vector<std::string> texts{"abcd", "", "a", "ab", "abc"};
  const auto found = embedder.embed(texts).value();
  REQUIRE(found.size() == 5);
  CHECK(found[0] == std::vector<float>{0.6F, 0.8F});
  CHECK(found[1] == std::vector<float>{1, 0});
  REQUIRE(server.calls().size() == 3);
  CHECK(server.calls()[0].path == "/v1/embeddings");
  CHECK(server.calls()[0].authorization == "Bearer s3cret");
  CHECK(json::parse(server.calls()[0].body).at("model") == "bge-m3");
}

TEST_CASE("openai: what was paid for is not asked again") {
  const FakeLlm server(vectors);
  auto options = options_for(server.url());
  std::map<std::string, std::vector<float>> paid{{"abcd", {1, 0}}};
  options.recall = [&](const std::string& text) -> std::optional<std::vector<float>> {
    const auto found = paid.find(text);
    return found == paid.end() ? std::nullopt : std::optional(found->second);
  };
  options.remember = [&](const std::string& text, const std::vector<float>& vector) {
    paid[text] = vector;
  };
  const auto embedder = make_embedder("openai", options).value();
  const std::vector<std::string> texts{"abcd", "a"};
  REQUIRE(embedder.embed(texts));
  CHECK(embedder.embed(texts).value().front() == std::vector<float>{1, 0});
  CHECK(server.calls().size() == 1);
}

TEST_CASE("openai: a busy server is asked again, a refusing one is not") {
  int calls = 0;
  CHECK(embed_with([&](const FakeCall& call) {
    return ++calls < 3 ? FakeReply{.status = 503, .body = "{}"} : vectors(call);
  }));
  CHECK(calls == 3);
  calls = 0;
  const auto refused = embed_with([&](const FakeCall&) {
    ++calls;
    return FakeReply{.status = 401, .body = R"({"error":"no"})"};
  });
  CHECK(refused.error().code == ErrorCode::refused);
  CHECK(calls == 1);
}

TEST_CASE("openai: nonsense is an error and never a vector") {
  for (const auto* const body :
       {"", "[]", "{}", R"({"data":7})", R"({"data":[]})", R"({"data":[{"index":0}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":9,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,0]}]})",
        R"({"data":[{"index":0,"embedding":[0]},{"index":1,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":[1e99]},{"index":1,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":["x"]},{"index":1,"embedding":[1]}]})",
        R"({"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]})"}) {
    CAPTURE(body);
    const auto found = embed_with([&](const FakeCall&) { return FakeReply{.body = body}; });
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().code == ErrorCode::bad_reply);
  }
}

TEST_CASE("openai: a dripping server is left at the deadline") {
  const FakeLlm server([](const FakeCall& call) {
    auto reply = vectors(call);
    reply.per_byte = std::chrono::milliseconds(100);
    return reply;
  });
  auto options = options_for(server.url());
  options.server.deadline = std::chrono::seconds(1);
  const auto embedder = make_embedder("openai", options).value();
  const std::vector<std::string> texts{"abcd"};
  CHECK(testing::ends([&] { CHECK(embedder.embed(texts).error().code == ErrorCode::timeout); }));
}

TEST_CASE("openai: what cannot work is said before the first call") {
  auto options = options_for("http://127.0.0.1:1/v1");
  options.server.token_env = "ABSENT";
  CHECK(make_embedder("openai", options).error().code == ErrorCode::invalid);
  CHECK(make_embedder("openai", options_for("")).error().code == ErrorCode::invalid);
  CHECK(make_embedder("opnai").error().message.find("nearest: openai") != std::string::npos);
  const auto nobody = make_embedder("openai", options_for("http://127.0.0.1:1/v1")).value();
  const std::vector<std::string> texts{"x"};
  CHECK(nobody.embed(texts).error().code == ErrorCode::unavailable);
}

TEST_CASE("replay: recorded texts have their vectors, any other text is an error") {
  const testing::Scratch folder;
  EmbedderOptions options;
  options.server.recording = folder.path("r.jsonl");
  REQUIRE(write_file(options.server.recording, "{\"text\":\"a\",\"vector\":[3,4]}\n\n"));
  const auto embedder = make_embedder("replay", options).value();
  CHECK(embedder.embed(std::vector<std::string>{"a"}).value() == DenseVectors{{0.6F, 0.8F}});
  CHECK(embedder.embed(std::vector<std::string>{"b"}).error().code == ErrorCode::not_found);
  for (const auto* const bad : {"{}", "7", "{\"text\":\"a\",\"vector\":[0]}"}) {
    REQUIRE(write_file(options.server.recording, bad));
    CHECK(make_embedder("replay", options).error().code == ErrorCode::invalid);
  }
  CHECK(make_embedder("replay").error().code == ErrorCode::invalid);
}

}  // namespace
}  // namespace schedmate::llm
