// SPDX-License-Identifier: Apache-2.0
#include "log/failure/classify.hpp"

#include <doctest/doctest.h>
#include <toml++/toml.h>

#include <fstream>

#include "tests/support/scratch.hpp"

namespace schedmate::failure {
namespace {

ClassifyLine rules() {
  auto made = make_rules_classifier({});
  REQUIRE_MESSAGE(made, made.error().message);
  return *std::move(made);
}

LineKind kind_of(std::string_view line) {
  static const ClassifyLine classify = rules();
  return classify(line).kind;
}

}  // namespace

TEST_CASE("each test line of log_lines.toml is of the kind, role and weight of its row") {
  const auto classify = rules();
  const toml::table table = toml::parse_file(SCHEDMATE_SOURCE_DIR "/rules/log_lines.toml");
  for (const auto& node : *table["line"].as_array()) {
    const toml::table& row = *node.as_table();
    REQUIRE(row["test"].is_array());
    for (const auto& each : *row["test"].as_array()) {
      const auto line = *each.value<std::string>();
      CAPTURE(line);
      const LineVerdict verdict = classify(line);
      CHECK(name_of(verdict.kind) == *row["kind"].value<std::string>());
      CHECK(name_of(verdict.role) == row["role"].value_or(std::string("cause")));
      CHECK(verdict.weight == row["weight"].value_or(0));
    }
  }
}

TEST_CASE("harmless lines with words of failure are no failures") {
  for (const char* line :
       {"E tensorflow/cuda_dnn.cc:8310] Unable to register cuDNN factory",
        "Gradient overflow. Skipping step, loss scale 0 reducing loss scale to 1024",
        "step 3 | number of nan iterations: 0 | loss 2.1", "  error_file: <N/A>",
        "wandb: WARNING error in upload", "pcieport 0000:00: AER: Corrected error received",
        "Retrying in 5 seconds: connection error", "train.py:3: UserWarning: failed to do it"}) {
    CAPTURE(line);
    CHECK(kind_of(line) != LineKind::failure);
  }
}

TEST_CASE("progress lines of unknown programs are recognised by their words and numbers") {
  CHECK(kind_of("epoch 3 step 12 loss 0.52") == LineKind::progress);
  CHECK(kind_of(" 12%|##        | 3/30 [00:03<00:30, 1.02s/it]") == LineKind::progress);
  CHECK(kind_of("reading the list of files") == LineKind::other);
}

TEST_CASE("the cache asks the classifier once for each template") {
  int asked = 0;
  LineKinds kinds([&](std::string_view) {
    ++asked;
    return LineVerdict{.kind = LineKind::progress};
  });
  for (const char* line : {"step 1", "step 2", "step 3", "other"})
    CHECK(kinds.of(line).kind == LineKind::progress);
  CHECK(asked == 2);
  CHECK(kinds.misses() == 2);
}

TEST_CASE("an operator's row has the first word, and a wrong one is an error with its line") {
  const testing::Scratch folder;
  const auto write = [&](const char* text) {
    std::ofstream(folder.path("log_lines.toml")) << text;
  };
  write("[[line]]\nkind = \"warning\"\nany = [\"flux capacitor*\"]\n");
  const auto own = make_rules_classifier({.rules = folder.path()});
  REQUIRE(own);
  CHECK((*own)("RuntimeError: flux capacitor is empty").kind == LineKind::warning);
  write("[[line]]\nkind = \"odd\"\nany = [\"abc\"]\n");
  const auto odd = make_rules_classifier({.rules = folder.path()});
  REQUIRE_FALSE(odd);
  CHECK(odd.error().message.find("log_lines.toml:1") != std::string::npos);
}

TEST_CASE("the table of classifiers has rules") {
  CHECK(classifier_rows().front().name == "rules");
  CHECK(classifier_names().size() == classifier_rows().size());
}

TEST_CASE("each test line of log_categories.toml is nearest to its category, lexically") {
  const Embedder lexical = *make_embedder("lexical");
  const auto classify = make_embedding_classifier({.embedder = &lexical});
  REQUIRE(classify);
  const toml::table table = toml::parse_file(SCHEDMATE_SOURCE_DIR "/rules/log_categories.toml");
  for (const auto& node : *table["category"].as_array()) {
    const toml::table& row = *node.as_table();
    for (const auto& each : *row["test"].as_array()) {
      const auto line = *each.value<std::string>();
      CAPTURE(line);
      CHECK(name_of((*classify)(line).kind) == *row["kind"].value<std::string>());
    }
  }
  CHECK((*classify)("").kind == LineKind::other);
  CHECK((*classify)("\xff\xfe\x01").kind == LineKind::other);
}

TEST_CASE("a dense embedder decides by cosine, and a server that is away is reported") {
  std::size_t texts = 0;
  bool away = false;
  Embedder embedder;
  embedder.name = "two numbers";
  embedder.embed = [&](std::span<const std::string> list) -> Result<DenseVectors> {
    if (away) return fail(ErrorCode::unavailable, "no connection");
    texts += list.size();
    DenseVectors made;
    for (const std::string& text : list)
      made.push_back(text.contains("rror") ? std::vector{1.F, 0.F} : std::vector{0.F, 1.F});
    return made;
  };
  std::vector<Error> reported;
  const auto classify =
      make_embedding_classifier({.embedder = &embedder, .report = [&reported](const Error& error) {
                                   reported.push_back(error);
                                 }});
  REQUIRE(classify);
  const std::size_t categories = texts;
  CHECK((*classify)("an Error came").kind == LineKind::failure);
  CHECK((*classify)("   ").kind == LineKind::other);
  CHECK(texts == categories + 1);
  away = true;
  CHECK((*classify)("another Error came").kind == LineKind::other);
  REQUIRE(reported.size() == 1);
  CHECK(reported.front().code == ErrorCode::unavailable);
  CHECK_FALSE(make_embedding_classifier({.embedder = &embedder}));
  CHECK_FALSE(make_embedding_classifier({}));
}

TEST_CASE("every row of classifiers.def answers every line, the same each time") {
  const Embedder lexical = *make_embedder("lexical");
  for (const ClassifierRow& row : classifier_rows()) {
    CAPTURE(row.name);
    const auto classify = row.make({.embedder = &lexical});
    REQUIRE(classify);
    const std::string longest(1U << 20U, 'x');
    for (const std::string_view line :
         {std::string_view(), std::string_view("\0\x1b[31m", 6), std::string_view(longest),
          std::string_view("RuntimeError: x"), std::string_view("step 3 loss 0.5 lr 0.1")}) {
      const auto once = (*classify)(line);
      const auto again = (*classify)(line);
      CHECK(once.kind == again.kind);
      CHECK((once.kind == LineKind::failure) == (once.weight > 0));
    }
    CHECK((*classify)("RuntimeError: something failed").kind == LineKind::failure);
    CHECK((*classify)("step 3 loss 0.5 lr 0.1 time 0.4").kind == LineKind::progress);
  }
  CHECK(find_classifier("rules"));
  const auto wrong = find_classifier("rule");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.contains("rules"));
}
}  // namespace schedmate::failure
