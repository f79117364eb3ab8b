// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "agent/fields.hpp"
#include "base/text.hpp"

namespace schedmate::agent {
namespace {

constexpr std::string_view generic_keys =
    "type name class cls classname classpath target kind id value default identifier nameorpath";

bool contains_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ' ');
  return !word.empty() && std::ranges::find(words, word) != words.end();
}

/// "trainer.optimizer" and "build_optimizer(" stand for "optimizer".
bool owner_sets(const Field& field, std::string_view owner) {
  return contains_word(field.keys, squeezed(last_part(owner)));
}

std::string_view size_letter(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> sizes = {{{"base", "b"},
                                                                                   {"large", "l"},
                                                                                   {"small", "s"},
                                                                                   {"tiny", "t"},
                                                                                   {"huge", "h"},
                                                                                   {"giant", "g"},
                                                                                   {"medium", "m"},
                                                                                   {"xlarge", "xl"},
                                                                                   {"nano", "n"}}};
  for (const auto& [long_form, letter] : sizes) {
    if (word == long_form) return letter;
  }
  return word;
}

/// "ViT-L/16 (pretrained)" -> vi t l 16; what stands in brackets is explanation.
std::vector<std::string> words_of(std::string_view text) {
  const std::string_view plain = text.substr(0, text.find('('));
  auto words = name_words(trim(plain).empty() ? text : plain);
  for (std::string& word : words) word = size_letter(word);
  return words;
}

bool is_number_word(std::string_view word) { return word.front() >= '0' && word.front() <= '9'; }

bool holds_name(const Binding& binding, std::string_view name) {
  const auto same = [&](std::string_view text) {
    if (squeezed(text).size() < 2) return false;
    return squeezed(text) == squeezed(name) || shared_words(name, text) >= 0.6;
  };
  return same(last_part(binding.callee)) || std::ranges::any_of(binding.values, same);
}

bool holds_number(const Binding& binding, double wanted) {
  return std::ranges::any_of(binding.values, [&](std::string_view text) {
    const auto number = number_of(text);
    return number && std::abs(*number - wanted) <= 1e-9 * std::abs(wanted);
  });
}

/// torch.zeros(3, dtype=torch.float32) says nothing about the training.
bool is_tensor_type(const Binding& binding) {
  constexpr std::array<std::string_view, 5> arrays = {"torch.", "np.", "numpy.", "jnp.", "tf."};
  const bool of_array = std::ranges::any_of(
      arrays, [&](std::string_view one) { return binding.owner.starts_with(one); });
  return of_array && squeezed(binding.key) == "dtype" && last_part(binding.owner) != "autocast";
}

/// The unit that a key of a length counts in: the keys of fields.def stand behind their unit.
std::string_view unit_of_key(std::string_view keys, std::string_view key) {
  std::string_view unit;
  for (const std::string_view word : split(keys, ' ')) {
    if (word == "epochs" || word == "steps" || word == "samples" || word == "kimg") unit = word;
    if (word == "envsteps") unit = "env steps";
    if (word == key) return unit;
  }
  return {};
}

bool holds_length(const Field& field, const Binding& binding, const Length& length) {
  return unit_of_key(field.keys, squeezed(last_part(binding.key))) == length.unit &&
         holds_number(binding, length.amount);
}

enum class Switch : std::uint8_t { on, off, neither };

Switch switch_of(const Binding& binding) {
  if (binding.values.size() != 1) return Switch::neither;
  const std::string text = squeezed(binding.values[0]);
  if (text == "true" || text == "yes" || text == "on" || binding.values[0] == "1") {
    return Switch::on;
  }
  const bool no = text == "false" || text == "no" || text == "off" || text == "none" ||
                  text == "null" || text.empty() || binding.values[0] == "0";
  return no ? Switch::off : Switch::neither;
}

/// fp16, bf16, fp8 or fp32 that a word stands for; "" for none.
std::string_view number_type(std::string_view text) {
  const std::string word = squeezed(last_part(text));
  if (word.find("bf16") != std::string::npos || word.find("bfloat16") != std::string::npos) {
    return "bf16";
  }
  if (word.find("fp8") != std::string::npos || word.find("float8") != std::string::npos) {
    return "fp8";
  }
  const bool half = word.find("fp16") != std::string::npos || word == "16" || word == "half" ||
                    word.find("float16") != std::string::npos || word == "16mixed" ||
                    word == "o1" || word == "o2";
  if (half) return "fp16";
  const bool full = word.find("fp32") != std::string::npos || word == "32" || word == "no" ||
                    word.find("float32") != std::string::npos || word == "32true" || word == "o0";
  return full ? "fp32" : "";
}

bool holds_precision(const Binding& binding, std::string_view precision) {
  const std::string_view type = precision.substr(0, precision.find('-'));
  const std::string key = squeezed(last_part(binding.key));
  const Switch state = switch_of(binding);
  const bool whole_switch = key.find("amp") != std::string::npos || key == "mixedprecision";
  if (whole_switch && state == Switch::off) return precision == "fp32";
  if (whole_switch && state == Switch::on) return precision == "fp16-amp";
  if (state == Switch::on) return number_type(key) == type;
  return std::ranges::any_of(binding.values,
                             [&](std::string_view text) { return number_type(text) == type; });
}

bool calls_precision(const Binding& binding, std::string_view precision) {
  const std::string callee = squeezed(last_part(binding.callee));
  if (callee == "half") return precision == "fp16";
  if (callee == "bfloat16") return precision == "bf16";
  return callee == "gradscaler" && precision == "fp16-amp";
}

struct Alias {
  std::string_view strategy, name;
};
constexpr std::array aliases = {Alias{"ddp", "ddp"},
                                Alias{"ddp", "distributeddataparallel"},
                                Alias{"ddp", "multigpu"},
                                Alias{"ddp", "ddpfindunusedparameterstrue"},
                                Alias{"dp", "dp"},
                                Alias{"dp", "dataparallel"},
                                Alias{"dp", "mirroredstrategy"},
                                Alias{"dp", "multigpumodel"},
                                Alias{"fsdp", "fsdp"},
                                Alias{"fsdp", "fullyshardeddataparallel"},
                                Alias{"fsdp", "fullyshard"},
                                Alias{"fsdp", "fullshard"},
                                Alias{"fsdp", "fullshardautowrap"},
                                Alias{"deepspeed-zero1", "deepspeedstage1"},
                                Alias{"deepspeed-zero2", "deepspeedstage2"},
                                Alias{"deepspeed-zero3", "deepspeedstage3"}};

bool named_strategy(std::string_view strategy, std::string_view text) {
  const std::string name = squeezed(last_part(text));
  return std::ranges::any_of(
      aliases, [&](const Alias& row) { return row.strategy == strategy && row.name == name; });
}

bool holds_part(const Binding& binding, std::string_view part) {
  const std::string key = squeezed(last_part(binding.key));
  const bool above_one = binding.values.size() == 1 && number_of(binding.values[0]) > 1.0;
  if (part == "tp") return key.starts_with("tensor") && above_one;
  if (part == "pp") return key.starts_with("pipeline") && above_one;
  if (part == "ep") return key.starts_with("expert") && above_one;
  if (part.starts_with("deepspeed-zero") && (key == "stage" || key == "zerostage")) {
    return holds_number(binding, number_of(part.substr(14)).value_or(0));
  }
  if (switch_of(binding) == Switch::on) return named_strategy(part, key);
  return named_strategy(part, binding.callee) ||
         std::ranges::any_of(binding.values,
                             [&](std::string_view text) { return named_strategy(part, text); });
}

/// One line proves one part of "tp+pp"; the model says so for the part that it cites.
bool holds_strategy(const Binding& binding, std::string_view value) {
  const auto parts = split(value, '+');
  return parts.size() == 1 && holds_part(binding, parts[0]);
}

/// "AdamW" in torch.optim.AdamW, FusedAdamW, adamw_torch_fused, AdamW8bit.
bool names_optimizer(std::string_view text, std::string_view wanted) {
  std::string name = squeezed(last_part(text));
  for (const std::string_view part : {"deepspeedcpu", "fused", "torch", "apex", "paged", "8bit",
                                      "32bit", "hf", "bnb", "optimizer", "withmomentum"}) {
    if (const std::size_t at = name.find(part); at != std::string::npos) {
      name.erase(at, part.size());
    }
  }
  return !name.empty() && name == squeezed(wanted);
}

bool is_optimizer_call(const Binding& binding) {
  return binding.callee.find("optim") != std::string::npos ||
         squeezed(binding.key).find("opt") != std::string::npos;
}

bool holds_scale(const Binding& binding, std::string_view scale) {
  std::optional<double> parameters;
  for (const std::string& text : binding.values) {
    if (!parameters) parameters = parameters_named(text);
  }
  if (!parameters) return false;
  return scale == (*parameters < 1e8 ? "small" : *parameters <= 1e9 ? "medium" : "large");
}

/// AutoModel.from_pretrained, not AutoTokenizer.from_pretrained.
bool loads_weights(const Binding& binding) {
  if (last_part(binding.callee) != "from_pretrained") return false;
  constexpr std::array<std::string_view, 5> others = {"tokenizer", "processor", "config",
                                                      "extractor", "scheduler"};
  const std::string callee = squeezed(binding.callee);
  return std::ranges::none_of(
      others, [&](std::string_view one) { return callee.find(one) != std::string::npos; });
}

bool holds_flag(const Binding& binding, bool wanted) {
  const std::string key = squeezed(last_part(binding.key));
  if (loads_weights(binding)) return wanted;
  const Switch state = switch_of(binding);
  const bool negated = key == "fromscratch";
  if (state == Switch::on) return wanted != negated;
  if (state == Switch::off) return wanted == negated;
  if (binding.values.size() != 1 || !binding.callee.empty()) return false;
  const bool scratch = squeezed(binding.values[0]) == "scratch";
  const bool names_weights = binding.values[0].find_first_of("./-_") != std::string::npos;
  return scratch ? !wanted : wanted && names_weights && key.find("model") == std::string::npos;
}

/// student_net = Build(): what the program itself calls its model; not what stands beside it.
bool makes_model(const Binding& binding) {
  constexpr std::array<std::string_view, 3> ends = {"model", "net", "network"};
  constexpr std::array<std::string_view, 9> beside = {
      "teacher", "target", "ema", "ref", "reference", "old", "frozen", "eval", "loss"};
  const auto words = name_words(last_part(binding.key));
  if (binding.callee.empty() || words.empty()) return false;
  return std::ranges::find(ends, words.back()) != ends.end() &&
         std::ranges::find_first_of(words, beside) == words.end();
}

bool holds_module(const Binding& binding, std::string_view framework) {
  const std::string wanted = squeezed(framework);
  return std::ranges::any_of(binding.values, [&](std::string_view module) {
    const std::string root = squeezed(module.substr(0, module.find('.')));
    return root == wanted || (wanted == "pytorch" && root == "torch");
  });
}

}  // namespace

double shared_words(std::string_view name, std::string_view text) {
  const auto wanted = words_of(name);
  const auto there = words_of(text);
  const std::string joined = squeezed(text);
  if (wanted.empty()) return 0;
  std::size_t common = 0;
  for (const std::string& word : wanted) {
    const bool inside = word.size() >= 4 && joined.find(word) != std::string::npos;
    const bool found = inside || std::ranges::find(there, word) != there.end();
    if (found) ++common;
    if (!found && is_number_word(word)) return 0;
  }
  return static_cast<double>(common) / static_cast<double>(wanted.size());
}

bool sets_field(const Field& field, const Binding& binding) {
  const std::string key = squeezed(last_part(binding.key));
  if (field.kind == FieldKind::precision && is_tensor_type(binding)) return false;
  if (contains_word(field.keys, key)) return true;
  if (contains_word(generic_keys, key) && owner_sets(field, binding.owner)) return true;
  const std::string_view callee = last_part(binding.callee);
  switch (field.kind) {
    case FieldKind::optimizer:
      return key.ends_with("optimizer") || (!callee.empty() && is_optimizer_call(binding));
    case FieldKind::precision:
    case FieldKind::strategy:
      return !callee.empty();
    case FieldKind::word:
      return !callee.empty() && owner_sets(field, binding.owner);
    case FieldKind::flag:
      return loads_weights(binding);
    default:
      break;
  }
  const bool loads_data = callee == "load_dataset" || callee == "make" ||
                          binding.callee.find("datasets.") != std::string::npos;
  const bool names_model =
      loads_weights(binding) || callee == "create_model" || makes_model(binding);
  const bool of_model = field.name == "model_name" || field.name == "model_family";
  return (field.name == "dataset" && loads_data) || (of_model && names_model);
}

bool holds_value(const Field& field, const Binding& binding, const FactValue& value) {
  if (const auto* length = std::get_if<Length>(&value)) {
    return holds_length(field, binding, *length);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return holds_number(binding, static_cast<double>(*whole));
  }
  if (const auto* real = std::get_if<double>(&value)) return holds_number(binding, *real);
  if (const auto* flag = std::get_if<bool>(&value)) return holds_flag(binding, *flag);
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  switch (field.kind) {
    case FieldKind::precision:
      return holds_precision(binding, *text) || calls_precision(binding, *text);
    case FieldKind::strategy:
      return holds_strategy(binding, *text);
    case FieldKind::optimizer:
      return names_optimizer(binding.callee, *text) ||
             std::ranges::any_of(binding.values,
                                 [&](std::string_view one) { return names_optimizer(one, *text); });
    case FieldKind::scale:
      return holds_scale(binding, *text);
    case FieldKind::module:
      return holds_module(binding, *text);
    default:
      return holds_name(binding, *text);
  }
}

}  // namespace schedmate::agent
