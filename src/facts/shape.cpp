// SPDX-License-Identifier: Apache-2.0
/// Fields beside the nine hard ones: learning rate, sequence length, resolution, augmentation,
/// task.
#include <algorithm>
#include <array>

#include "facts/finding.hpp"
#include "facts/library.hpp"

namespace schedmate::facts {
namespace {

void find_numbers(const Scene& scene, std::string_view field, Findings& out) {
  for (const auto& [setting, meaning, trust] : scene.meant(field)) {
    const Value* value = &setting->value;
    if (const List* list = value->items(); list != nullptr && !list->empty())
      value = &list->front();
    const auto number = value->number();
    if (!number || *number <= 0 || value->boolean() != nullptr) continue;
    add(out, {field, number_fact(*number), sure_of(scene, *setting) - 0.0001 * trust / 1000},
        setting->value.place, "setting " + setting->key);
  }
}

void from_optimizer_call(const Scene& scene, Findings& out) {
  for (const python::Call& call : scene.seen.calls) {
    const Value* rate = call.named.find("lr");
    if (rate == nullptr) rate = call.named.find("learning_rate");
    if (rate == nullptr || !scene.tables->find_optimizer(call.callee)) continue;
    const auto number = rate->number();
    if (number) {
      add(out, {"learning_rate", number_fact(*number), call.certain ? confidence::certain : 0.7},
          rate->place, "what the optimiser is built with");
    }
  }
}

/// RandomResizedCrop and the like; not Random itself, RandomSampler, RandomNormal.
bool is_random_transform(std::string_view name) {
  constexpr std::array kinds{
      "Adjust",  "Affine",    "Apply",  "Augment",    "AutoContrast", "Blur",   "Brightness",
      "Choice",  "Contrast",  "Crop",   "Equalize",   "Erasing",      "Flip",   "Gamma",
      "Gauss",   "Gray",      "Height", "Horizontal", "Hue",          "Invert", "Order",
      "Perspec", "Posterize", "Resize", "Rotat",      "Saturation",   "Scale",  "Sharpness",
      "Shear",   "Short",     "Size",   "Solarize",   "Translat",     "Transp", "Vertical",
      "Width",   "Zoom"};
  if (!name.starts_with("Random")) return false;
  name.remove_prefix(6);
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return name.starts_with(kind); });
}

/// Random transforms and mixing that the program applies, in order of appearance.
void find_augmentation(const Scene& scene, Findings& out) {
  std::string names;
  PlacePtr place;
  for (const python::Call& call : scene.seen.calls) {
    const std::string_view name = std::string_view(call.callee).substr(call.callee.rfind('.') + 1);
    const bool random = is_random_transform(name) || name == "ColorJitter" || name == "Mixup" ||
                        name == "AutoAugment" || name == "TrivialAugmentWide" || name == "CutMix";
    if (!random || names.contains(name) || names.size() > 150) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
    if (!place) place = call.place;
  }
  if (!names.empty()) add(out, {"augmentation", names, confidence::likely}, place, "transforms");
}

void find_task(const Scene& scene, Findings& out) {
  struct Sign {
    std::string_view callee, task, type;
  };
  constexpr std::array signs{
      Sign{"AutoModelForSequenceClassification.from_pretrained", "text classification", "nlp"},
      Sign{"AutoModelForCausalLM.from_pretrained", "language modelling", "nlp"},
      Sign{"AutoModelForCausalLM.from_config", "language modelling", "nlp"},
      Sign{"AutoModelForMaskedLM.from_pretrained", "masked language modelling", "nlp"},
      Sign{"AutoModelForQuestionAnswering.from_pretrained", "question answering", "nlp"},
      Sign{"AutoModelForTokenClassification.from_pretrained", "token classification", "nlp"},
      Sign{"AutoModelForSeq2SeqLM.from_pretrained", "sequence to sequence", "nlp"},
      Sign{"AutoModelForImageClassification.from_pretrained", "image classification", "cv"},
      Sign{"AutoModelForSpeechSeq2Seq.from_pretrained", "speech recognition", "speech"},
      Sign{"gym.make", "reinforcement learning", "rl"},
      Sign{"gymnasium.make", "reinforcement learning", "rl"},
  };
  for (const auto& [callee, task, type] : signs) {
    for (const python::Call* call : scene.calls(callee)) {
      add(out, {"task", std::string(task), confidence::likely}, call->place, callee);
      add(out, {"task_type", std::string(type), confidence::strong}, call->place, callee);
    }
  }
}

}  // namespace

void find_shape(const Scene& scene, Findings& out) {
  from_optimizer_call(scene, out);
  for (const auto* field : {"learning_rate", "sequence_length", "resolution"})
    find_numbers(scene, field, out);
  find_augmentation(scene, out);
  find_task(scene, out);
}

}  // namespace schedmate::facts
