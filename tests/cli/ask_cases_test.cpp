// SPDX-License-Identifier: Apache-2.0

/// Labelled questions about logs (tests/fixtures/ask): what the answer must say and must not, which
/// line it stands on, and the exit code.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.hpp"
#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Json = nlohmann::json;

const std::string fixtures = SCHEDMATE_SOURCE_DIR "/tests/fixtures/ask/";

void check_answer(const Json& label, const Json& answer) {
  const auto said =
      lower_case(answer["answer"].is_null() ? "" : answer["answer"].get<std::string>());
  for (const auto& text : label["contains"])
    CHECK_MESSAGE(said.contains(lower_case(text.get<std::string>())), said);
  for (const auto& text : label["lacks"])
    CHECK_FALSE_MESSAGE(said.contains(lower_case(text.get<std::string>())), said);
  CHECK(answer["by"] == label["by"]);
  if (!label.contains("lines")) return;
  CHECK(answer["lines"].empty() == label["lines"].empty());
  if (!label["lines"].empty() && !answer["lines"].empty())
    CHECK(answer["lines"][0]["line"] == label["lines"][0]);
}

}  // namespace

TEST_CASE("labelled questions get the answer that the log proves, or none") {
  const Scratch here;
  std::istringstream labels(contents(fixtures + "questions.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(labels, line); ++count) {
    const Json label = Json::parse(line);
    std::vector<std::string> words{"ask", fixtures + label["log"].get<std::string>(),
                                   label["question"], "--json"};
    if (label.contains("job")) {
      words.emplace_back("--job");
      words.push_back(here.write("job.json", label["job"].dump()));
    }
    CAPTURE(line);
    const Ran ran = here.run(words);
    CHECK_MESSAGE(ran.status == label["exit"], ran.err);
    const Json document = Json::parse(ran.out, nullptr, false);
    REQUIRE_FALSE(document.is_discarded());
    REQUIRE(document["answers"].size() == 1);
    check_answer(label, document["answers"][0]);
    CHECK(document["answers"][0]["answered"] == (label["exit"] == 0));
  }
  CHECK(count >= 50);
}

TEST_CASE("one question that can be answered is enough for exit code 0") {
  const Scratch here;
  const std::string log = fixtures + "running.log";
  CHECK(here.run({"ask", log, "how far is it? who is the president?"}).status == 0);
  CHECK(here.run({"ask", log, "who is the president? tell me a joke"}).status == 1);
  here.write("empty.log", "");
  const Ran empty = here.run({"ask", "empty.log", "how far is it?"});
  CHECK(empty.status == 3);
  CHECK(empty.err == "schedmate: empty.log: is empty; there is nothing to ask\n");
}

}  // namespace schedmate
