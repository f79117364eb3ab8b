// SPDX-License-Identifier: Apache-2.0
#include "advisor/match.hpp"

#include <doctest/doctest.h>

#include "advisor/similar.hpp"
#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

Fields resnet() {
  return {{"model_name", "resnet-50"},
          {"dataset", "imagenet-1k"},
          {"task", "image-classification"},
          {"batch_size", "64"},
          {"gpus", "8"},
          {"length", "90 epochs"},
          {"precision", "fp32"},
          {"optimizer", "sgd"},
          {"expect", "runs"},
          {"runs", "1"}};
}

Fields with(std::string_view name, std::string_view value) {
  Fields fields = resnet();
  fields[std::string(name)] = value;
  return fields;
}

TEST_CASE("a job is wholly like itself") {
  const Match match = match_fields(resnet(), resnet());
  CHECK(match.score == 1);
  CHECK(match.differing.empty());
  CHECK(match.same_kind);
  CHECK(describe(match) ==
        "same model_name, dataset, task, optimizer, precision, batch_size, length, gpus");
}

TEST_CASE("size, data, resolution and kind of run make another job") {
  for (const auto& [name, value] : {std::pair{"model_name", "resnet-101"},
                                    {"dataset", "cifar-10"},
                                    {"dataset", "imagenet-22k"},
                                    {"task", "object-detection"},
                                    {"expect", "evaluation only"},
                                    {"runs", "6"}}) {
    CAPTURE(value);
    CHECK(!match_fields(resnet(), with(name, value)).same_kind);
  }
  CHECK(!match_fields(with("resolution", "224"), with("resolution", "384")).same_kind);
  CHECK(!match_fields(with("sequence_length", "512"), with("sequence_length", "2048")).same_kind);
}

TEST_CASE("batch, GPUs, length and precision are differences that scale") {
  for (const auto& [name, value] : {std::pair{"batch_size", "128"},
                                    {"gpus", "4"},
                                    {"length", "180 epochs"},
                                    {"precision", "fp16-amp"}}) {
    CAPTURE(name);
    const Match match = match_fields(resnet(), with(name, value));
    CHECK(match.same_kind);
    REQUIRE(match.differing.size() == 1);
    CHECK(match.differing[0].field == name);
    CHECK(match.score < 1);
    CHECK(match.score > 0.9);
  }
}

TEST_CASE("an embedder's own threshold is the measure of its cosines") {
  const Match same = match_fields({{"model_name", "ResNet-50"}}, {{"model_name", "ResNet-50"}});
  const double lexical = mixed_score(0.70, same.score, 0.70);
  CHECK(near(mixed_score(0.90, same.score, 0.90), lexical, 1e-12, 0));
  CHECK(mixed_score(0.70, same.score, 0.90) < lexical);
  CHECK(near(mixed_score(1.0, same.score, 0.90), mixed_score(1.0, same.score, 0.70), 1e-12, 0));
}

TEST_CASE("nearer numbers are more alike") {
  const auto score = [](std::string_view batch) {
    return match_fields(resnet(), with("batch_size", batch)).score;
  };
  CHECK(score("32") > score("16"));
  CHECK(near(score("32"), score("128"), 1e-12, 0));
  CHECK(score("0") < score("16"));
}

TEST_CASE("what one side does not know counts less, what neither knows not at all") {
  Fields less = resnet();
  less.erase("dataset");
  const Match match = match_fields(resnet(), less);
  CHECK(match.same_kind);
  CHECK(match.score < 1);
  CHECK(match_fields(less, less).score == 1);
  CHECK(match_fields({}, {}).score == 0);
  const Fields vague{{"optimizer", "sgd"}, {"framework", "pytorch"}};
  CHECK(!match_fields(vague, vague).same_kind);
}

TEST_CASE("facts become comparable fields") {
  Facts facts;
  facts.facts["model_name"].value = std::string(
      "/home"
      "/jane/ResNet50");
  facts.facts["resolution"].value = std::string("224 x 224");
  facts.facts["length"].value = Length{90, "epochs"};
  facts.facts["learning_rate"].value = 0.1;
  facts.extra["accumulation"].value = std::int64_t{4};
  facts.runs = 2;
  const Fields fields = fields_of(facts);
  CHECK(field(fields, "model_name") == "resnet-50");
  CHECK(field(fields, "resolution") == "224");
  CHECK(length_field(fields) == Length{90, "epochs"});
  CHECK(field(fields, "accumulation") == "4");
  CHECK(field(fields, "runs") == "2");
  CHECK(field(fields, "learning_rate").empty());
  CHECK(!length_field({{"length", "nan epochs"}}));
  CHECK(!length_field({{"length", "epochs"}}));
}

TEST_CASE("the embedding text has one word per fact, and classes for numbers") {
  const std::string text = embedding_text(resnet());
  CHECK(text.find("dataset=imagenet-1k") != std::string::npos);
  CHECK(text.find("model_name=resnet ") != std::string::npos);
  CHECK(text.find("length=90-epochs") != std::string::npos);
  CHECK(text.find("length_class=64-epochs") != std::string::npos);
  CHECK(text.find("batch_size_class=64") != std::string::npos);
  CHECK(embedding_text({{"gpus", "8"}, {"expect", "runs"}}).empty());
  const std::string odd =
      embedding_text({{"model_name", "a"}, {"gpus", "1e300"}, {"batch_size", "-3"}});
  CHECK(odd.find("gpus_class=huge") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::advisor
