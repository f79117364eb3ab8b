// SPDX-License-Identifier: Apache-2.0
#include "agent/binding.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/small_job.hpp"

namespace schedmate::agent {
namespace {

/// "key=value" for each binding of a line.
std::vector<std::string> at(const Bindings& bindings, int line) {
  std::vector<std::string> found;
  for (const Binding& one : bindings) {
    if (one.value_line != line && one.key_line != line) continue;
    found.push_back(one.key + "=" + (one.values.empty() ? one.callee : one.values[0]));
  }
  return found;
}

bool has(const std::vector<std::string>& list, std::string_view one) {
  return std::ranges::find(list, one) != list.end();
}

}  // namespace

TEST_CASE("Python code binds; comments, docstrings, help texts and sleeping code do not") {
  const auto found = python_bindings(testing::small_train);
  CHECK(has(at(found, 11), "--batch-size=48"));
  CHECK(has(at(found, 13), "--epochs=30"));
  CHECK(has(at(found, 14), "--epochs=30"));
  CHECK(has(at(found, 19), "lr=0.1"));
  for (const int line : {1, 4, 17, 21}) CHECK_MESSAGE(at(found, line).empty(), line);
  CHECK_FALSE(has(at(found, 11), "--batch-size=64"));
  for (const std::string& one : at(found, 19)) CHECK(one.find("256") == std::string::npos);
  CHECK(has(at(found, 26), "usage=batch_size=99"));
}

TEST_CASE("each of several targets is bound by the call") {
  const auto found = python_bindings("train_net, infer_net = build_unet(\n    depth=3)\n");
  CHECK(has(at(found, 1), "train_net=build_unet"));
  CHECK(has(at(found, 1), "infer_net=build_unet"));
}

TEST_CASE("bindings know what chooses them and whether they run") {
  const auto net = python_bindings(testing::small_net);
  const auto model = std::ranges::find_if(
      net, [](const Binding& one) { return one.key == "model" && one.callee == "ResNet18"; });
  REQUIRE(model != net.end());
  CHECK(model->chosen_by == std::vector<std::string>{"resnet18"});
  const auto train = python_bindings(testing::small_train);
  CHECK(std::ranges::any_of(train, [](const Binding& one) { return one.dead; }));
}

TEST_CASE("configuration binds with its owner; comments and block texts do not") {
  const auto found = config_bindings(testing::small_yaml);
  CHECK(at(found, 1).empty());
  CHECK(at(found, 3) == std::vector<std::string>{"name=CIFAR-10"});
  CHECK(at(found, 6) == std::vector<std::string>{"type=AdamW"});
  CHECK(at(found, 9).empty());
  const auto type = std::ranges::find(found, 6, &Binding::key_line);
  CHECK(type->owner == "optimizer");
  const auto flow = std::ranges::find(found, 12, &Binding::key_line);
  REQUIRE(flow != found.end());
  CHECK(flow->owner == "precision");
  CHECK(flow->values[0] == "bf16");
}

TEST_CASE("JSON, TOML and INI bind as well") {
  const auto json = config_bindings("{\n  \"train\": {\"bs\": 4, // old: 8\n  \"lr\": 1e-3}\n}\n");
  CHECK(at(json, 2) == std::vector<std::string>{"bs=4"});
  CHECK(at(json, 3) == std::vector<std::string>{"lr=1e-3"});
  const auto toml = config_bindings("[model]\nname = \"vit_b\"  # or vit_l\n");
  CHECK(at(toml, 2) == std::vector<std::string>{"name=vit_b"});
  CHECK(toml[0].owner == "model");
}

TEST_CASE("shell text binds by assignment and flag; sleeping blocks and echo do not") {
  const auto found =
      shell_bindings("BS=4 # 8\n: <<'END'\nBS=5\nEND\necho --bs 6\nrun --bs 7 a.b=8\n");
  CHECK(at(found, 1) == std::vector<std::string>{"BS=4"});
  CHECK(at(found, 3).empty());
  CHECK(at(found, 5).empty());
  CHECK(at(found, 6) == std::vector<std::string>{"--bs=7", "b=8"});
}

TEST_CASE("names fall into words and numbers") {
  using Words = std::vector<std::string>;
  CHECK(name_words("ViT_Large16") == Words{"vit", "large", "16"});
  CHECK(name_words("opt-1.3b") == Words{"opt", "1.3b"});
  CHECK(name_words("resnet50") == Words{"resnet", "50"});
  CHECK(squeezed("--Batch-Size") == "batchsize");
}

TEST_CASE("broken and absurd text binds what it can and ends") {
  CHECK_NOTHROW((void)python_bindings(std::string(20'000, '(')));
  CHECK_NOTHROW((void)python_bindings("def f(:\n  batch_size = \n\"\"\""));
  CHECK_NOTHROW((void)config_bindings(std::string(20'000, '{') + "a: 1"));
  CHECK_NOTHROW((void)shell_bindings("'unclosed --x"));
  CHECK(config_bindings("a: 'x\nb: 2\n").size() == 2);
}

}  // namespace schedmate::agent
