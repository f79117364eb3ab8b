// SPDX-License-Identifier: Apache-2.0
#include "advisor/names.hpp"

#include <doctest/doctest.h>

namespace schedmate::advisor {
namespace {

bool same(std::string_view a, std::string_view b) {
  const NameSimilarity similarity = compare_names(normal_name(a), normal_name(b));
  return !similarity.sizes_differ && similarity.words >= 0.6;
}

TEST_CASE("a name is the same in every spelling") {
  CHECK(normal_name("ResNet-50") == normal_name("resnet50"));
  CHECK(normal_name("vit_large_patch16") == normal_name("ViT-L/16"));
  CHECK(normal_name("/models/llama-7b-hf/") == "llama-7b");
  CHECK(normal_name("facebook/opt-6.7b") == "opt-6.7b");
  CHECK(same("ImageNet-1k", "imagenet"));
}

TEST_CASE("a path leaves no folder and no person's name") {
  CHECK(normal_name("/home"
                    "/jane/runs/bert-base")
            .find("jane") == std::string::npos);
  CHECK(normal_name("~/jane/bert-base") == "bert-b");
  CHECK(normal_name("$DATA/jane/bert-base") == "bert-b");
}

TEST_CASE("sizes and numbers distinguish names, a missing size does not") {
  CHECK(!same("LLaMA-7B", "LLaMA-13B"));
  CHECK(!same("CIFAR-10", "CIFAR-100"));
  CHECK(!same("ViT-B/16", "ViT-L/16"));
  CHECK(!same("SegFormer-B0", "SegFormer-B1"));
  CHECK(same("GPT-2", "GPT-2 124M"));
}

TEST_CASE("other words are another name") {
  CHECK(!same("MNIST", "Fashion MNIST kuzushiji"));
  CHECK(!same("Atari Pong", "Atari Breakout"));
  CHECK(!same("", "BERT"));
}

TEST_CASE("odd names are words too") {
  CHECK(normal_name("").empty());
  CHECK(normal_name("///").empty());
  CHECK(normal_name("--- !!").empty());
  CHECK(normal_name("\xE6\xA8\xA1\xE5\x9E\x8B 7B") == "\xE6\xA8\xA1\xE5\x9E\x8B-7b");
  CHECK(normal_name("1.5.") == "1.5");
  CHECK(normal_name(std::string(100'000, '1')).size() == 100'000);
}

}  // namespace
}  // namespace schedmate::advisor
