// SPDX-License-Identifier: Apache-2.0
#include "facts/name_index.hpp"

#include <doctest/doctest.h>

namespace schedmate::facts {
namespace {

TEST_CASE("spellings of one name have one key") {
  for (const auto* text : {"ResNet-50", "resnet_50", "resnet50", "RESNET 50", "res.net/50"})
    CHECK(name_key(text) == "resnet50");
  CHECK(name_key("llama-2-7b") == "llama2_7b");
  CHECK(name_key("llama-27b") == "llama27b");
  CHECK(name_key("opt-6.7b") == "opt6.7b");
  CHECK(name_key("DeepLabV3+") == name_key("deeplab_v3_plus"));
  CHECK(name_key("--/..") == "");
}

TEST_CASE("a name ends at whole words, at known endings and before a size") {
  NameIndex index;
  CHECK(index.add("bert", {.row = 1, .member = {}, .weak = false, .sized = false}) == nullptr);
  CHECK(index.add("opt", {.row = 2, .member = {}, .weak = true, .sized = true}) == nullptr);
  const auto row_in = [&](std::string_view text) {
    const auto hit = index.search(text, {"for"});
    return hit ? static_cast<int>(hit->entry->row) : 0;
  };
  CHECK(row_in("my-bert-run") == 1);
  CHECK(row_in("BertForMaskedLM") == 1);
  CHECK(row_in("BertTiny") == 0);
  CHECK(row_in("MyBert") == 0);
  CHECK(row_in("opt") == 2);
  CHECK(row_in("a/opt.yaml") == 2);
  CHECK(row_in("opt/a.yaml") == 0);
  CHECK(row_in("opt13b") == 2);
  CHECK(row_in("opt_lr") == 0);
}

TEST_CASE("of several names the longest counts, of equals the last") {
  NameIndex index;
  for (const auto& [name, row] : {std::pair{"gpt2", 1}, {"gpt2-xl", 2}, {"bert", 3}})
    CHECK(index.add(name, {.row = static_cast<std::size_t>(row), .member = {}}) == nullptr);
  CHECK(index.search("gpt2-xl-run", {})->entry->row == 2);
  CHECK(index.search("gpt2/bert", {})->entry->row == 3);
  REQUIRE(index.add("GPT_2", {.row = 9, .member = {}}) != nullptr);
  CHECK(index.add("GPT_2", {.row = 9, .member = {}})->row == 1);
  index.remove_row(2);
  CHECK(index.search("gpt2-xl-run", {})->entry->row == 1);
}

TEST_CASE("sizes are read behind a name") {
  const auto size_in = [](std::string_view text) {
    const auto size = size_behind(name_tokens(text), 0);
    return size ? size->text : std::string("none");
  };
  CHECK(size_in("opt-6.7b") == "6.7B");
  CHECK(size_in("bloom-560m-x") == "560M");
  CHECK(size_in("bloom-7b1") == "7.1B");
  CHECK(size_in("llama/13B/hf") == "13B");
  CHECK(size_in("x-8x7b") == "none");
  CHECK(size_in("x-7bit") == "none");
  CHECK(size_in("x-99999b") == "none");
  CHECK(size_behind(name_tokens("opt-125m"), 0)->millions == 125);
}

TEST_CASE("hostile texts are read within bounds") {
  CHECK(name_tokens(std::string(1'000'000, 'a')).size() == 1);
  CHECK(name_tokens(std::string(1'000'000, '1')).front().text.size() <= 400);
  NameIndex index;
  CHECK(index.add("a", {}) == nullptr);
  CHECK_FALSE(index.search("\xff\xfe\x80/..//\\\\++", {}));
}

}  // namespace
}  // namespace schedmate::facts
