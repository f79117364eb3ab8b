// SPDX-License-Identifier: Apache-2.0

/// advise with vectors from a server, and from a recording of it.

#include <doctest/doctest.h>

#include <map>
#include <mutex>
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

/// Texts with SGD look one way, all others another.
std::vector<double> optimizer_vector(const std::string& text) {
  return text.find("sgd") != std::string::npos ? std::vector<double>{1, 0.1, 0}
                                               : std::vector<double>{0, 0.1, 1};
}

std::vector<std::string> texts_of(const FakeCall& call) {
  return Json::parse(call.body).at("input").get<std::vector<std::string>>();
}

FakeReply embed_optimizers(const FakeCall& call) {
  Json data = Json::array();
  for (const std::string& text : texts_of(call))
    data.push_back({{"index", data.size()}, {"embedding", optimizer_vector(text)}});
  return {.body = Json{{"data", data}}.dump()};
}

struct OptimizerHistory {
  Scratch here;
  OptimizerHistory() {
    for (const char* name : {"SGD", "Adam"}) {
      here.write(std::string("tree/") + name + ".py",
                 std::string("import torch\nopt = torch.optim.") + name +
                     "([], lr=0.1)\nfor epoch in range(3):\n    opt.step()\n");
    }
  }

  Ran advise(const std::string& id, const std::string& user, const std::string& optimizer,
             const Words& more) const {
    Words words{"advise", "tree",     "--command",   "python " + optimizer + ".py",
                "--user", user,       "--job-id",    id,
                "--json", "--record", "--state-dir", "state"};
    words.insert(words.end(), more.begin(), more.end());
    return here.run(words);
  }
  void finish(const std::string& id) const {
    const Ran ran = here.run({"history", "finish", id, "--state", "completed", "--duration-s",
                              "600", "--state-dir", "state"});
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
  }
  /// Ids of the similar jobs.
  Json similar(const std::string& id, const Words& embedder) const {
    const Ran ran = advise(id, "bob", "SGD", embedder);
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
    Json ids = Json::array();
    const Json document = Json::parse(ran.out);
    for (const Json& job : document["similar"]) ids.push_back(job["job_id"]);
    return ids;
  }
};

}  // namespace

TEST_CASE("vectors of a server, or of its recording, find the jobs alike") {
  const OptimizerHistory history;
  const FakeLlm server(embed_optimizers);
  const Words served{"--embedder",   "openai", "--set", "embedder.url=" + server.url(),
                     "--similarity", "paper"};
  CHECK(history.advise("1", "ann", "SGD", served).status == 0);
  CHECK(history.advise("2", "ann", "Adam", served).status == 0);
  history.finish("1");
  history.finish("2");
  CHECK(history.similar("3", served) == Json{"1"});
  REQUIRE_FALSE(server.calls().empty());
  std::string recording;
  for (const FakeCall& call : server.calls()) {
    CHECK(call.path == "/v1/embeddings");
    for (const std::string& text : texts_of(call))
      recording += Json{{"text", text}, {"vector", optimizer_vector(text)}}.dump() + "\n";
  }
  history.here.write("vectors.jsonl", recording);
  const std::size_t calls = server.calls().size();
  const Words replayed{"--embedder",   "replay", "--set", "embedder.recording=vectors.jsonl",
                       "--similarity", "paper"};
  CHECK(history.similar("4", replayed) == Json{"1"});
  CHECK(server.calls().size() == calls);
}

TEST_CASE("an embedding server that is down costs the similar jobs and nothing else") {
  const OptimizerHistory history;
  const Ran ran = history.advise("1", "ann", "SGD",
                                 {"--embedder", "openai", "--set",
                                  "embedder.url=http://127.0.0.1:1/v1", "--similarity", "paper"});
  CHECK(ran.status == 0);
  CHECK(ran.out.contains("SGD"));
}

TEST_CASE("what cannot be an embedder is said") {
  const OptimizerHistory history;
  const auto complaint = [&](const Words& words) {
    const Ran ran = history.advise("1", "ann", "SGD", words);
    CHECK(ran.status != 0);
    return ran.err;
  };
  CHECK(complaint({"--embedder", "opnai"}).contains("nearest: openai"));
  CHECK(complaint({"--embedder", "openai"}).contains("embedder.url"));
  CHECK(complaint({"--embedder", "replay"}).contains("recording"));
  CHECK(complaint({"--set", "embedder.deadline_s=x"}).contains("whole number"));
}

}  // namespace schedmate
