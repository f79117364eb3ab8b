// SPDX-License-Identifier: Apache-2.0
/// The model: what hub, model zoo or registry call is made, which network of the tree is built,
/// what the settings name; family, type, task and size follow from rules/models.toml.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "facts/finding.hpp"
#include "facts/library.hpp"
#include "facts/model_names.hpp"
#include "facts/name_index.hpp"
#include "facts/network.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view model_field = "model_name";

class Models {
 public:
  Models(const Scene& scene, Findings& out) : scene_(scene), out_(out) {
    for (const Network& network : networks_of(scene)) {
      if (const auto known = scene.tables->find_model(network.name))
        wholes_.push_back(known->family);
    }
  }

  /// A model named `text` at `place`. Without a row in the table the text itself is the name, when
  /// `alone` allows it.
  void add_name(std::string_view text, double sure, const PlacePtr& place, bool alone = true) {
    if (text.empty() || text.size() > 200) return;
    const auto match = scene_.tables->find_model(text);
    if (!match) {
      if (!alone || !is_name(text) || is_data(text)) return;
      add(out_, {model_field, short_name(text), sure - 0.1}, place, "named");
      // model-1.8b: the name gives the size.
      const auto tokens = name_tokens(short_name(text));
      if (const auto size = tokens.empty() ? std::nullopt : size_behind(tokens, 0))
        add(out_, {"params_scale", scale_of(size->millions * 1e6), sure - 0.14}, place, "its name");
      return;
    }
    const std::string name = of_class_ ? name_of_class(*match, text) : match->name;
    add(out_, {model_field, name, sure}, place, "named, and known by the table");
    const double known = sure - 0.02;
    if (!match->family.empty())
      add_from_table(out_, {"model_family", match->family, known}, match->row, place);
    if (!match->type.empty())
      add_from_table(out_, {"model_type", match->type, known}, match->row, place);
    if (!match->task.empty())
      add_from_table(out_, {"task_type", match->task, known}, match->row, place);
    if (match->params_millions) {
      const double size = *match->params_millions;
      const double of_size = of_class_ ? known - doubt_of_size : known;
      add_from_table(out_, {"params_scale", scale_of(size * 1e6), of_size}, match->row, place);
    } else if (is_mostly_small(match->type)) {
      add_from_table(out_, {"params_scale", "small", confidence::weak}, match->row, place);
    }
  }

  void from_hub_calls();
  void from_zoo_calls();
  void from_networks();
  void from_settings();
  void from_names();

 private:
  /// Kinds of models that seldom reach 100 million parameters.
  static bool is_mostly_small(std::string_view type) {
    constexpr std::array kinds{"cnn", "gan", "rl policy", "mlp", "gnn", "rnn"};
    return std::ranges::find(kinds, type) != kinds.end();
  }
  static bool is_name(std::string_view text) {
    const auto letters =
        std::ranges::count_if(text, [](unsigned char c) { return std::isalpha(c); });
    const std::string lower = normal_key(text);
    for (const auto* word :
         {"none",       "auto",     "default",    "custom",   "true",      "false",   "model",
          "base",       "large",    "small",      "tiny",     "train",     "net",     "cuda",
          "checkpoint", "gnn",      "cnn",        "nn",       "dnn",       "seq2seq", "encoder",
          "decoder",    "backbone", "classifier", "detector", "segmentor", "policy"}) {
      if (lower == word) return false;
    }
    return letters >= 2 && !text.contains(' ') && !text.contains('$');
  }
  /// `model_type: glue`: the data set decides what programs do.
  [[nodiscard]] bool is_data(std::string_view text) const {
    const auto data = scene_.tables->find_dataset(text);
    return data && flat_name(data->name) == flat_name(text);
  }
  /// "a/b/model-7b" -> "model-7b", "pkg.models.Net" -> "Net", "yolo.yaml" -> "yolo".
  static std::string short_name(std::string_view text) {
    while (text.ends_with('/')) text.remove_suffix(1);
    if (const auto slash = text.rfind('/'); slash != std::string_view::npos)
      text.remove_prefix(slash + 1);
    for (const auto* ending : {".yaml", ".yml", ".json", ".py", ".pt", ".pth", ".cfg"}) {
      if (text.ends_with(ending)) text.remove_suffix(std::string_view(ending).size());
    }
    const auto dot = text.rfind('.');
    const bool dotted = dot != std::string_view::npos && dot + 1 < text.size() &&
                        std::isupper(static_cast<unsigned char>(text[dot + 1])) != 0;
    return std::string(dotted ? text.substr(dot + 1) : text);
  }

  /// `-c configs/small.json -m small`: a run is called after its config; no table knows the name.
  [[nodiscard]] bool is_run_name(const Setting& setting) const {
    const std::string* text = setting.value.text();
    if (text == nullptr || setting.precedence != Precedence::given) return false;
    return !scene_.tables->find_model(*text) &&
           std::ranges::any_of(scene_.launch.args, [&](const command::Word& word) {
             const auto file = std::string_view(word.text).substr(word.text.rfind('/') + 1);
             return config::config_format(word.text) && file.substr(0, file.rfind('.')) == *text;
           });
  }

  /// The network that is built is known by its own name, and is of another family.
  [[nodiscard]] bool is_part_of_known(const ModelMatch& match) const {
    return !wholes_.empty() && std::ranges::find(wholes_, match.family) == wholes_.end();
  }

  /// A setting names the model as a whole, by a name of its own: what else is named is a part.
  [[nodiscard]] bool is_named_whole() const {
    return std::ranges::any_of(scene_.meant(model_field), [&](const Scene::Meant& meant) {
      const Setting& setting = *meant.setting;
      const std::string_view key = setting.key;
      const bool whole = key == "model.name" || key == "model_name" || key == "modelname" ||
                         key == "model.model_name" || key.ends_with(".model.name");
      const std::string* text = setting.value.text();
      return whole && text != nullptr && setting.read && setting.precedence <= Precedence::config &&
             is_name(*text) && !is_part_name(*text);
    });
  }

  /// `model=dict(type=Detector, backbone=dict(type=Net))`: a frame that no table knows is called
  /// after what it holds.
  bool add_backbone(const Setting& setting, std::string_view text, double sure) {
    const std::string_view key = setting.key;
    if (!key.ends_with("model.type") || scene_.tables->find_model(text)) return false;
    const std::string wanted = std::string(key.substr(0, key.size() - 4)) + "backbone.type";
    for (const Setting& other : scene_.settings) {
      if (other.key != wanted || other.precedence > Precedence::config) continue;
      const std::string name = name_in(other.value);
      if (name.empty() || is_part_name(name)) return false;
      add_name(name, sure - 0.12, other.value.place);
      return true;
    }
    return false;
  }

  /// OpenMMLab's configs are called `algorithm_components_training_data.py`.
  void add_algorithm(const command::Word& word) {
    const std::string_view path = word.text;
    const auto file = path.substr(path.rfind('/') + 1);
    const auto algorithm = file.substr(0, file.find('_'));
    const bool is_config = path.contains("configs/") && file.size() > algorithm.size() &&
                           algorithm.size() > 3 && !scene_.tables->find_model(path);
    if (is_config) add_name(algorithm, 0.88, word.place);
  }

  const Scene& scene_;
  Findings& out_;
  std::vector<std::string> wholes_;  ///< families of the networks that are built
  /// A class is one of its family, its sizes come as arguments.
  static constexpr double doubt_of_size = 0.12;
  bool of_class_ = false;  ///< names are those of classes
};

bool loads_a_model(std::string_view callee) {
  for (const auto* word :
       {"Tokenizer", "Processor", "Config", "Extractor", "tokenizer", "Scheduler"}) {
    if (callee.contains(word)) return false;
  }
  return true;
}

/// A hub's model within a network that is known by another name is a part of that.
bool is_part_of_another(const Scene& scene, const python::Call& call, std::string_view path) {
  const auto whole = scene.tables->find_model(call.inside_class);
  const auto part = scene.tables->find_model(path);
  return whole && (!part || part->family != whole->family);
}

/// Within what a program calls the backbone or encoder of its model.
bool in_backbone(const python::Call& call) {
  const std::string file = call.place ? normal_key(call.place->file) : "";
  const std::string around = normal_key(call.inside_class) + " " + normal_key(call.function);
  const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
  return around.contains("backbone") || around.contains("encoder") || name.contains("backbone") ||
         name.contains("encoder");
}

void Models::from_hub_calls() {
  for (const python::Call& call : scene_.seen.calls) {
    double sure = call.certain ? 0.94 : 0.72;
    const std::string_view callee = call.callee;
    if (callee.ends_with(".from_pretrained") && loads_a_model(callee) &&
        !is_frozen_encoder(callee)) {
      const Value* path = argument(call, "pretrained_model_name_or_path", 0);
      if (path == nullptr || path->text() == nullptr) continue;
      if (is_part_of_another(scene_, call, *path->text())) sure -= 0.2;
      add_name(*path->text(), sure, path->place);
    }
    if (in_backbone(call) && is_named_whole()) sure -= 0.25;
    const bool create = callee.ends_with("create_model") || callee.ends_with("get_model") ||
                        callee.ends_with("create_model_and_transforms");
    if (create) {
      const Value* name = argument(call, "model_name", 0);
      if (name != nullptr && name->text() != nullptr) add_name(*name->text(), sure, name->place);
    }
    // esm.pretrained.esm2_t33_650M_UR50D()
    if (callee.contains(".pretrained.") && !callee.contains("()"))
      add_name(callee.substr(callee.rfind('.') + 1), sure, call.place);
    if (callee == "torch.hub.load") {
      const Value* name = argument(call, "model", 1);
      if (name != nullptr && name->text() != nullptr) add_name(*name->text(), sure, name->place);
    }
  }
}

bool of_algorithms(std::string_view callee) {
  return callee.starts_with("ray.rllib.") || callee.starts_with("tianshou.") ||
         callee.starts_with("d3rlpy.");
}

/// torchvision.models.resnet50(), keras.applications.VGG16(), stable_baselines3.PPO(), ...
void Models::from_zoo_calls() {
  constexpr std::array zoos{"torchvision.models",
                            "keras.applications",
                            "stable_baselines3",
                            "sb3_contrib",
                            "segmentation_models_pytorch",
                            "torch_geometric.nn.models",
                            "transformers.",
                            "diffusers.",
                            "ultralytics.",
                            "paddle.vision.models",
                            "monai.networks.nets",
                            "timm.models",
                            "efficientnet_pytorch",
                            "torch_geometric.nn.",
                            "deepctr_torch.models",
                            "deepctr.models",
                            "scvi.model",
                            "deepchem.models",
                            "torchdrug.models",
                            "tianshou.policy",
                            "d3rlpy.algos",
                            "ray.rllib.algorithms"};
  for (const python::Call& call : scene_.seen.calls) {
    const std::string_view callee = call.callee;
    if (is_of_measure(call.place, call.inside_class)) continue;
    const bool of_zoo =
        std::ranges::any_of(zoos, [&](std::string_view zoo) { return callee.contains(zoo); });
    if (!of_zoo || callee.contains("()") || callee.contains(".layers.")) continue;
    const auto dot = callee.rfind('.');
    auto name = callee.substr(dot + 1);
    // PPOConfig, DQNPolicy: called after the algorithm.
    for (const std::string_view end : {"Config", "Policy"}) {
      if (of_algorithms(callee) && name.ends_with(end)) name.remove_suffix(end.size());
    }
    if ((!callee.contains("torch_geometric") && is_layer_name(name)) || is_part_name(name))
      continue;
    const bool model = name.ends_with("Model") || name.contains("UNet") || name.contains("Net2D");
    double sure = call.certain ? 0.9 : confidence::fair;
    const auto match = scene_.tables->find_model(name);
    // The backbone of a network that is known by its own name.
    if (match && is_part_of_known(*match) && !call.inside_class.empty()) sure -= 0.2;
    // The family of a class; what names its size says more.
    if (match && match->name == match->family && !match->params_millions) sure -= 0.08;
    add_name(name, sure, call.place, model);
  }
}

void Models::from_networks() {
  double sure = 0.86;
  of_class_ = true;
  for (const Network& network : networks_of(scene_)) {
    if (is_part_name(network.name) || is_layer_name(network.name)) continue;
    const auto known = scene_.tables->find_model(network.name);
    // The family without its size: what names the size says more.
    const bool sized = known && known->params_millions;
    const double here = sized ? sure : sure - 0.08;
    // A class behind others that no table knows is as often a tool of theirs.
    const bool first = sure > 0.8 && network.certain;
    if (known || first) add_name(network.name, network.certain ? here : here - 0.15, network.place);
    sure -= 0.1;
  }
  of_class_ = false;
}

void Models::from_settings() {
  for (const auto& [setting, meaning, trust] : scene_.meant(model_field)) {
    const std::string text = name_in(setting->value);
    if (text.empty() || setting->value.object() != nullptr) continue;
    const double sure = sure_of(scene_, *setting) - 0.001 * (trust % 1000);
    // Where a program writes to is called after the run.
    if (setting->leaf() == "checkpoint_dir" && !text.contains("checkpoints/")) continue;
    if (add_backbone(*setting, text, sure) || is_shell(scene_, short_name(text))) continue;
    const bool part = setting->key.contains("backbone") || setting->key.contains("encoder");
    const auto match = part ? scene_.tables->find_model(text) : std::nullopt;
    if (match && (is_part_of_known(*match) || is_named_whole())) {
      add_name(text, sure - 0.2, setting->value.place);
      continue;
    }
    if (setting->leaf() == "encoder" && !match) continue;
    // Weights and ids are files and run names as often as models.
    const bool alone =
        meaning == "name" || (meaning == "path" && text.contains('/') && !is_file_of_weights(text));
    const double doubt = meaning == "weights" ? 0.14 : is_run_name(*setting) ? 0.25 : 0;
    add_name(text, sure - doubt, setting->value.place, alone);
  }
}

/// Names of config files, script and folders: hints when nothing else is said.
void Models::from_names() {
  for (const command::Word& word : scene_.launch.args) {
    const bool config = config::config_format(word.text).has_value() || word.text.ends_with(".py");
    if (!config) continue;
    const std::string_view text = word.text;
    add_name(text.substr(text.rfind('/') + 1), 0.8, word.place, false);
    add_name(text, 0.74, word.place, false);
    if (scene_.imports("mmengine") || scene_.imports("mmcv")) add_algorithm(word);
  }
  const std::string& command = scene_.job.command;
  const PlacePtr written =
      std::make_shared<const Place>(Place{"<command>", 0, command, FactSource::command, {}});
  for (const python::LoadedConfig& config : scene_.seen.configs) {
    const auto file = std::string_view(config.file).substr(config.file.rfind('/') + 1);
    const auto stem = file.substr(0, file.rfind('.'));
    // --config-name=resnet50
    if (config.how == "hydra" && !stem.empty() && command.contains(stem))
      add_name(stem, 0.8, written, false);
  }
  for (const auto word : split(command, ' ')) {
    const auto file = word.substr(word.rfind('/') + 1);
    for (const auto* end : {".sh", ".sbatch", ".slurm"}) {
      if (file.ends_with(end)) add_name(file, 0.64, written, false);
    }
  }
  for (const Setting& setting : scene_.settings) {
    const std::string* text = setting.value.text();
    const bool path =
        text != nullptr && text->contains('/') && setting.precedence <= Precedence::config;
    const bool is_evidence = setting.leaf().contains("token") || setting.leaf().contains("load") ||
                             setting.leaf().contains("checkpoint") ||
                             setting.leaf().contains("ckpt");
    // A folder is mostly one that is written to.
    const double sure = setting.leaf().ends_with("_dir") ? 0.52 : 0.58;
    if (path && is_evidence) add_name(*text, sure, setting.value.place, false);
  }
  if (const std::string* title = scene_.title.text())
    add_name(*title, confidence::weak, scene_.title.place, false);
  const PlacePtr place = std::make_shared<const Place>(
      Place{"<command>", 0, scene_.launch.script, FactSource::command, {}});
  if (scene_.job.command.contains(scene_.launch.script)) {
    const std::string_view script = scene_.launch.script;
    // Scripts of reinforcement learning are called after their algorithm.
    const bool learns_by_trial = scene_.imports("gym") || scene_.imports("gymnasium") ||
                                 scene_.imports("envpool") || scene_.imports("dm_control");
    add_name(script.substr(script.rfind('/') + 1), learns_by_trial ? 0.9 : 0.66, place, false);
  }
}

}  // namespace

std::string scale_of(double parameters) {
  if (parameters < 100e6) return "small";
  // What is called 1B has somewhat more.
  return parameters < 1e9 ? "medium" : "large";
}

void find_model(const Scene& scene, Findings& out) {
  Models models(scene, out);
  models.from_hub_calls();
  models.from_zoo_calls();
  models.from_networks();
  models.from_settings();
  models.from_names();
  find_scale(scene, out);
}

}  // namespace schedmate::facts
