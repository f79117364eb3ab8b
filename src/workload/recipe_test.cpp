// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/input.hpp"
#include "tests/support/places.hpp"
#include "workload/readers.hpp"

namespace schedmate::workload {
namespace {

using testing::data;

/// A file of data/ with one change.
std::string changed(const std::string& file, std::string_view from, std::string_view to) {
  std::string text = read_file(data + file).value();
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, std::string(from));
  return text.replace(at, from.size(), to);
}

std::string recipe_error(std::string_view from, std::string_view to) {
  const auto recipe = parse_recipe(changed("recipes/heavy.toml", from, to), "r.toml");
  return recipe ? "" : recipe.error().message;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::set<std::string> models_for(const Recipe& recipe, int gpus) {
  std::set<std::string> names;
  for (const RecipeModel& each : recipe.models)
    if (gpus >= each.gpus_min && gpus <= each.gpus_max) names.insert(each.name);
  return names;
}

}  // namespace

TEST_CASE("the heavy recipe has the models of the paper's Table 1 by its GPU counts") {
  const Recipe recipe = read_recipe(data + "recipes/heavy.toml").value();
  using Names = std::set<std::string>;
  for (const int gpus : {1, 2, 3})
    CHECK(models_for(recipe, gpus) == Names{"ResNet-50", "UNet2D", "EfficientNet-B4"});
  for (const int gpus : {4, 6, 8})
    CHECK(models_for(recipe, gpus) == Names{"ViT-L/16", "BERT-base"});
  for (const int gpus : {9, 64, 100'000})
    CHECK(models_for(recipe, gpus) == Names{"LLaMA-3 8B", "Qwen-2.5 14B"});
  for (const RecipeModel& each : recipe.models) {
    const bool large = each.gpus_min > 8;
    const bool medium = !large && each.gpus_min > 3;
    CHECK((each.params_m > 1000) == large);
    CHECK((each.params_m >= 100 && each.params_m <= 1000) == medium);
    CHECK(each.batch.front() == (large ? 1 : medium ? 16 : each.name == "UNet2D" ? 8 : 32));
    CHECK(each.batch.back() == (large ? 4 : medium || each.name == "UNet2D" ? 64 : 128));
  }
}

TEST_CASE("large models take longer to come to a steady state, and fit on 80 GB") {
  const Recipe recipe = read_recipe(data + "recipes/heavy.toml").value();
  double small_s = 0;
  double large_s = 1e9;
  for (const RecipeModel& each : recipe.models) {
    const double warm_s = each.cold_start_s + each.ramp_s;
    if (each.params_m > 1000)
      large_s = std::min(large_s, warm_s);
    else
      small_s = std::max(small_s, warm_s);
    CHECK(each.memory_mib + each.memory_per_sample_mib * each.batch.back() < 81'920);
  }
  CHECK(large_s > small_s);
}

TEST_CASE("the light recipe takes every GPU count with several models, none of them large") {
  const Recipe recipe = read_recipe(data + "recipes/light.toml").value();
  for (const int gpus : {1, 2, 4, 8, 16, 160}) CHECK(models_for(recipe, gpus).size() >= 5);
  for (const RecipeModel& each : recipe.models) CHECK(each.params_m <= 110);
}

TEST_CASE("what is left out of a recipe has its default") {
  const Recipe recipe = read_recipe(data + "recipes/heavy.toml").value();
  const auto vit = std::ranges::find(recipe.models, "ViT-L/16", &RecipeModel::name);
  REQUIRE(vit != recipe.models.end());
  CHECK(vit->packed_gpus == 8);
  CHECK(vit->length_unit == "epochs");
  CHECK_FALSE(vit->pretrained);
  CHECK(vit->sequence_length == 0);
  CHECK(vit->batch_weight == std::vector<double>{1, 1, 1});
  CHECK(vit->precision_weight == std::vector<double>{0.3, 0.7});
}

TEST_CASE("broken recipes say where and what is needed") {
  struct Broken {
    std::string_view from, to, says;
  };
  constexpr auto cases = std::to_array<Broken>({
      {"gpus = [1, 3]", "gpus = [1, 3", "r.toml:"},
      {"family = \"ResNet\"\n", "", "family is missing here"},
      {"family = \"ResNet\"", "familly = \"ResNet\"", "unknown key 'familly' (nearest: family"},
      {"family = \"ResNet\"", "family = 7", "family must be a quoted string"},
      {"gpus = [1, 3]", "gpus = [3, 1]", "gpus must be [fewest, most]"},
      {"weight = 1.0", "weight = 0", "weight must be a number from 1e-06"},
      {"batch = [32, 64, 128]", "batch = [32, 64, 64]", "batch must be in ascending order"},
      {"batch = [32, 64, 128]", "batch = []", "batch must be a list of 1 to 256 values"},
      {"batch = [32, 64, 128]", "batch = [32.5]", "batch must be a whole number"},
      {"precision_weight = [0.3, 0.7]", "precision_weight = [1]", "precision_weight must have 2"},
      {"gpu_util_pct = 62.0", "gpu_util_pct = 162.0",
       "gpu_util_pct must be a number from 0 to 100"},
      {"gpu_util_pct = 62.0", "gpu_util_pct = nan", "gpu_util_pct must be a number from 0 to 100"},
      {"pretrained = true", "pretrained = \"yes\"", "pretrained must be true or false"},
      {"seed = 0.5", "seed = 5", "seed must be a number from 0 to 1"},
      {"[resubmission]", "[resubmissions]", "unknown key 'resubmissions' (nearest: resubmission"},
      {"dataset = \"BraTS\"", "dataset = \"BraTS\"\nlength_unit = \"days\"",
       "one of epochs, steps"},
      {"[[model]]", "[model]", "r.toml:"},
  });
  for (const Broken& each : cases) {
    const std::string message = recipe_error(each.from, each.to);
    CHECK_MESSAGE(has(message, each.says), std::string(each.to) << " -> " << message);
    CHECK_MESSAGE(message.starts_with("r.toml:"), message);
    // FILE:LINE:COLUMN: ...
    CHECK(message.find_first_not_of("0123456789:", 7) > 9);
  }
  const std::string text = changed("recipes/heavy.toml", "weight = 1.0", "weight = 0");
  const auto line = 1 + std::ranges::count(text.substr(0, text.find("weight = 0")), '\n');
  CHECK(has(parse_recipe(text, "r.toml").error().message, fmt::format("r.toml:{}:10: ", line)));
}

TEST_CASE("GPU counts that no model takes are named") {
  std::string text = read_file(data + "recipes/heavy.toml").value();
  for (std::size_t at = 0; (at = text.find("gpus = [9]", at)) != std::string::npos; ++at)
    text.replace(at, 10, "gpus = [12]");
  CHECK(has(parse_recipe(text, "r").error().message, "no model takes jobs of 9 GPUs; give one"));
  for (std::size_t at = 0; (at = text.find("gpus = [12]", at)) != std::string::npos; ++at)
    text.replace(at, 11, "gpus = [9, 512]");
  CHECK(has(parse_recipe(text, "r").error().message, "no model takes jobs of 513 GPUs"));
}

TEST_CASE("a model that comes twice on one dataset is refused at its name") {
  const std::string text =
      changed("recipes/heavy.toml", "name = \"EfficientNet-B4\"", "name = \"ResNet-50\"");
  const auto recipe = parse_recipe(text, "r.toml");
  REQUIRE_FALSE(recipe.has_value());
  CHECK(has(recipe.error().message, "is listed twice for this dataset"));
}

TEST_CASE("a recipe without models, and one with too many batches, are refused") {
  CHECK(has(parse_recipe("name = 'x'", "r").error().message, "is missing here"));
  CHECK(has(parse_recipe("", "r").error().message, "r:1:1: "));
  std::string many = read_file(data + "recipes/light.toml").value();
  const std::string row = many.substr(many.find("[[model]]"));
  for (int copy = 0; copy < 40; ++copy) {
    std::string more = row;
    for (std::size_t at = 0; (at = more.find("\nname = \"", at)) != std::string::npos; at += 10)
      more.insert(at + 9, fmt::format("copy {} of ", copy));
    many += more;
  }
  CHECK(has(parse_recipe(many, "r").error().message, "more than 2000 batches and precisions"));
}

TEST_CASE("more models than can be numbered are refused") {
  std::string many = read_file(data + "recipes/heavy.toml").value();
  const std::size_t last = many.rfind("[[model]]");
  const std::string row = many.substr(last);
  for (int copy = 0; copy < 500; ++copy)
    many += fmt::format("[[model]]\nname = \"copy {}\"", copy) + row.substr(row.find("\nfamily"));
  for (std::size_t at = last; (at = many.find("batch = [1, 2, 4]", at)) != std::string::npos; ++at)
    many.replace(at, 17, "batch = [1]");
  CHECK(has(parse_recipe(many, "r").error().message, "more than 500 models"));
}

TEST_CASE("broken interference and error files say where and what is needed") {
  const auto interference = [](std::string_view from, std::string_view to) {
    const auto model = parse_interference(changed("interference.toml", from, to), "i.toml");
    return model ? "" : model.error().message;
  };
  CHECK(has(interference("compute", "compu"), "unknown key 'compu' (nearest: compute"));
  CHECK(has(interference("newcomer = ", "newcomer = -"), "newcomer must be a number from 0"));
  CHECK(has(interference("[sharing_score]", "[score]"), "unknown key 'score' (nearest: "));
  CHECK(has(interference("[slow_down]", "slow_down = 1\n[sharing_score.a]"),
            ":13: slow_down must be a table"));
  const auto errors = [](std::string_view from, std::string_view to) {
    const auto model =
        parse_extraction_errors(changed("extraction_errors.toml", from, to), "e.toml");
    return model ? "" : model.error().message;
  };
  CHECK(has(errors("\"dataset\"", "\"datset\""), "unknown field 'datset' (nearest: dataset"));
  CHECK(has(errors("\"dataset\"", "\"model_name\""), "the field model_name is listed twice"));
  CHECK(has(errors("missing = 0", "missing = 2"), "missing must be a number from 0 to 1"));
  CHECK_FALSE(read_recipe(data + "recipes/none.toml").has_value());
}

}  // namespace schedmate::workload
