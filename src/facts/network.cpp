// SPDX-License-Identifier: Apache-2.0
#include "facts/network.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace schedmate::facts {
namespace {

bool is_network(const python::Instance& instance) {
  return std::ranges::any_of(instance.bases, [](const std::string& base) {
    return base.ends_with("nn.Module") || base.ends_with("LightningModule") ||
           base.ends_with("keras.Model") || base.ends_with("nn.Layer") ||
           base.ends_with(".Sequential") || base.ends_with("PreTrainedModel") ||
           base.ends_with("BaseModule") || base.ends_with("BaseFairseqModel") ||
           base.ends_with("HybridBlock") || base.ends_with("models.Model") ||
           base.ends_with("nn.Cell") || base.ends_with("linen.Module") ||
           base.ends_with("nnx.Module") || base == "haiku.Module" || base == "equinox.Module";
  });
}

bool is_lightning(const python::Instance& instance) {
  return std::ranges::any_of(
      instance.bases, [](const std::string& base) { return base.ends_with("LightningModule"); });
}

/// Losses, averages and other modules that are no model.
bool is_side_piece(std::string_view type) {
  for (const auto* word :
       {"Loss",      "Criterion",  "EMA",           "Ema",       "Metric",       "Meter",
        "Augment",   "Transform",  "Sampler",       "Scheduler", "Diffusion",    "Mixup",
        "Matcher",   "Tokenizer",  "Discriminator", "LPIPS",     "DataParallel", "PostProcess",
        "Quantizer", "Perceptual", "Norm",          "Random"}) {
    // Transformers are models, transforms are not.
    if (type.contains(word) && !type.substr(type.find(word)).starts_with("Transformer"))
      return true;
  }
  return false;
}

void collect_parts(const Value& value, std::set<const python::Instance*>& parts, int depth) {
  if (depth > 4) return;
  if (const auto* instance = dynamic_cast<python::Instance*>(value.object()))
    parts.insert(instance);
  if (const List* list = value.items()) {
    for (const Value& item : *list) collect_parts(item, parts, depth + 1);
  }
  if (const Dict* dict = value.entries()) {
    for (const auto& [key, item] : dict->all()) collect_parts(item, parts, depth + 1);
  }
}

/// Parameters of one layer that was seen to be built; 0 when it is none.
double parameters_of(const python::Call& call) {
  const auto number = [&](std::string_view name, std::size_t position) {
    const Value* value = argument(call, name, position);
    return value == nullptr ? std::nullopt : value->number();
  };
  const std::string_view callee = call.callee;
  const auto in = number("in_features", 0);
  const auto out = number("out_features", 1);
  if (callee.ends_with("nn.Linear") || callee.ends_with("nn.Embedding"))
    return in && out ? *in * *out : 0;
  const bool conv2 = callee.ends_with("nn.Conv2d");
  if (!conv2 && !callee.ends_with("nn.Conv1d")) return 0;
  const auto kernel = number("kernel_size", 2);
  const auto groups =
      call.named.find("groups") ? call.named.find("groups")->number() : std::optional(1.0);
  if (!in || !out || !kernel || !groups || *groups < 1) return 0;
  return *in * *out * (conv2 ? *kernel * *kernel : *kernel) / *groups;
}

const Setting* first_number(const Scene& scene, std::initializer_list<std::string_view> names) {
  const Setting* best = nullptr;
  for (const Setting& setting : scene.settings) {
    if (std::ranges::find(names, setting.leaf()) == names.end()) continue;
    const auto number = setting.value.number();
    if (!number || *number < 1 || setting.value.boolean() != nullptr) continue;
    if (best == nullptr || setting.precedence < best->precedence) best = &setting;
  }
  return best;
}

/// The parameters that follow from both; 0 when one is not known.
double from_depth_and_width(const Scene& scene, Findings& out) {
  const Setting* depth =
      first_number(scene, {"n_layer", "n_layers", "num_layers", "num_hidden_layers", "depth",
                           "n_blocks", "num_blocks", "encoder_layers", "nlayers"});
  const Setting* width =
      first_number(scene, {"n_embd", "hidden_size", "d_model", "embed_dim", "dim", "hidden_dim",
                           "n_embed", "encoder_embed_dim", "emb_dim"});
  if (depth == nullptr || width == nullptr) return 0;
  const double d = *width->value.number();
  const Setting* vocabulary = first_number(scene, {"vocab_size", "padded_vocab_size", "n_vocab"});
  const double rows = vocabulary == nullptr ? 0 : *vocabulary->value.number();
  const double parameters = 12 * *depth->value.number() * d * d + rows * d;
  add(out, {"params_scale", scale_of(parameters), 0.78}, width->value.place,
      "depth " + repr(depth->value) + ", width " + repr(width->value));
  return parameters;
}

/// Not all layers are seen: beside what settings give (`computed`), only that there are many
/// counts.
void from_layers(const Scene& scene, double computed, Findings& out) {
  double parameters = 0;
  const python::Call* largest = nullptr;
  for (const python::Call& call : scene.seen.calls) {
    const double here = parameters_of(call);
    parameters += here;
    if (here > 0 && (largest == nullptr || here > parameters_of(*largest))) largest = &call;
  }
  const std::string scale = scale_of(parameters);
  const bool proves = scale != "small" && (parameters >= computed || scale == scale_of(computed));
  if (largest == nullptr || (computed > 0 && !proves)) return;
  add(out, {"params_scale", scale, 0.72}, largest->place, "the layers that are built");
}

/// from_pretrained() of a model, and of anything that is not known to be something else.
bool loads_published_model(const python::Call& call) {
  constexpr std::array others{"Tokenizer", "Processor", "Extractor", "Scheduler", "tokenizer"};
  return call.callee.ends_with("from_pretrained") &&
         std::ranges::none_of(others,
                              [&](const char* other) { return call.callee.contains(other); });
}

}  // namespace

std::vector<Network> networks_of(const Scene& scene) {
  std::set<const python::Instance*> parts;
  std::set<const python::Instance*> inside_lightning;
  for (const auto& instance : scene.seen.instances) {
    // A trainer that holds the model does not make it a part of something.
    if (!is_network(*instance)) continue;
    for (const auto& [name, value] : instance->fields.all())
      collect_parts(value, is_lightning(*instance) ? inside_lightning : parts, 0);
  }
  // A network that is put together by another one's methods is a layer of it.
  std::set<std::string_view> wholes;
  for (const auto& instance : scene.seen.instances) {
    if (is_network(*instance) && !is_lightning(*instance)) wholes.insert(instance->type);
  }
  std::vector<Network> found;
  for (const auto& instance : scene.seen.instances) {
    if (wholes.contains(instance->builder)) continue;
    const bool top = !parts.contains(instance.get());
    if (!is_network(*instance) || !top || is_side_piece(instance->type)) continue;
    const Network network{instance->type, instance->place, instance->certain};
    if (inside_lightning.contains(instance.get())) {
      found.insert(found.begin(), network);
    } else {
      found.push_back(network);
    }
  }
  return found;
}

bool is_shell(const Scene& scene, std::string_view type) {
  return std::ranges::any_of(scene.seen.instances, [&](const auto& instance) {
    if (instance->type != type || !is_lightning(*instance)) return false;
    return std::ranges::any_of(instance->fields.all(), [](const Dict::Entry& field) {
      const auto* held = dynamic_cast<python::Instance*>(field.value.object());
      return held != nullptr && is_network(*held) && !is_side_piece(held->type);
    });
  });
}

bool is_of_measure(const PlacePtr& place, std::string_view inside_class) {
  const std::string file = place ? normal_key(place->file) : "";
  const std::string type = normal_key(inside_class);
  // The network that pytorch-fid measures with, as many projects copy it.
  if (file.ends_with("/inception.py") && !file.contains("model") && !file.contains("net"))
    return true;
  for (const auto* word : {"loss", "lpips", "perceptual", "discriminator", "fid_", "metric"}) {
    if (file.contains(word) || type.contains(word)) return true;
  }
  return false;
}

bool is_frozen_encoder(std::string_view callee) {
  constexpr std::array kinds{"AutoencoderKL", "AutoencoderDC",   "AutoencoderTiny",
                             "CLIPTextModel", "CLIPTextEncoder", "T5EncoderModel",
                             "VQModel.",      "UMT5EncoderModel"};
  return std::ranges::any_of(kinds, [&](const char* kind) { return callee.contains(kind); });
}

void find_scale(const Scene& scene, Findings& out) {
  const double computed = from_depth_and_width(scene, out);
  from_layers(scene, computed, out);
  if (computed > 0) return;
  // Its parts come from a library or hub: their size is that of models without a known name.
  if (std::ranges::any_of(scene.seen.calls, loads_published_model)) return;
  // Networks without a known name are small far more often than not.
  for (const Network& network : networks_of(scene)) {
    if (scene.tables->find_model(network.name)) continue;
    add(out, {"params_scale", "small", 0.55}, network.place, "a network of the tree's own");
    return;
  }
}

}  // namespace schedmate::facts
