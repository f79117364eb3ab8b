// SPDX-License-Identifier: Apache-2.0
#include "facts/model_names.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "facts/keys.hpp"

namespace schedmate::facts {

std::string flat_name(std::string_view text) {
  std::string out = normal_key(text);
  std::erase_if(out, [](unsigned char c) { return std::isalnum(c) == 0; });
  return out;
}

std::string name_of_class(const ModelMatch& match, std::string_view type) {
  if (match.family.empty()) return match.name;
  const std::string known_words = flat_name(match.family) + " " + flat_name(type);
  std::string name = match.name;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, ' ');
  const auto parts = split(name, ' ');
  const bool is_known = std::ranges::all_of(
      parts, [&](std::string_view part) { return known_words.contains(normal_key(part)); });
  return is_known ? match.name : match.family;
}

bool is_file_of_weights(std::string_view path) {
  constexpr std::array ends{".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".pdparams", ".h5"};
  return std::ranges::any_of(ends, [&](const char* end) { return path.ends_with(end); });
}

bool is_part_name(std::string_view name) {
  constexpr std::array parts{
      "Generator", "Net",     "Network",   "Model",   "Encoder",  "Decoder",  "Backbone",  "Actor",
      "Critic",    "Agent",   "Policy",    "Wrapper", "Head",     "Embedder", "Ensemble",  "Module",
      "BaseNet",   "Trainer", "BaseModel", "Learner", "Features", "Pipeline", "Sequential"};
  constexpr std::array frames{"PreTrainedModel", "Module", "System", "Trainer", "Wrapper"};
  return std::ranges::find(parts, name) != parts.end() ||
         std::ranges::any_of(frames, [&](const char* frame) { return name.ends_with(frame); });
}

bool is_layer_name(std::string_view name) {
  constexpr std::array layers{"Mlp",   "Block",     "Attention", "PatchEmbed", "DropPath",
                              "Layer", "Embedding", "LU",        "Conv",       "Activation"};
  return std::ranges::any_of(layers, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace schedmate::facts
