// SPDX-License-Identifier: Apache-2.0
/// The training data: which loader of a library is called, what the settings name, which known name
/// stands in a path.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "facts/finding.hpp"
#include "facts/library.hpp"

namespace schedmate::facts {
namespace {

constexpr std::string_view dataset_field = "dataset";

class Datasets {
 public:
  Datasets(const Scene& scene, Findings& out) : scene_(scene), out_(out) {}

  /// `alone`: confidence of the text itself when no row knows it; 0 = not taken then.
  void add_name(std::string_view text, double sure, const PlacePtr& place, double alone = 0) {
    if (text.empty() || text.size() > 300 || is_mixture(text)) return;
    const bool several =
        text.contains(',') && text.find_first_of("/()[]\"'") == std::string_view::npos;
    const bool of_hub = is_hub_id(text) || std::ranges::count(text, '_') > 2;
    const bool literal = several || (alone > 0 && of_hub && !is_whole_match(text));
    const auto match = literal ? std::nullopt : scene_.tables->find_dataset(text);
    if (several && alone > 0) alone = sure;
    if (!match) {
      if (alone > 0 && is_name(text))
        add(out_, {dataset_field, std::string(text), alone}, place, "named");
      return;
    }
    add(out_, {dataset_field, match->name, sure}, place, "named, and known by the table");
    if (!match->domain.empty())
      add_from_table(out_, {"task_type", match->domain, sure - 0.15}, match->row, place);
    if (match->samples)
      add_from_table(out_, {"dataset_size", *match->samples, sure - 0.05}, match->row, place);
  }

  void from_calls();
  void from_classes();
  void from_settings();
  void from_targets();
  void from_paths();
  void from_names();

 private:
  static bool is_name(std::string_view text) {
    const std::string lower = normal_key(text);
    for (const auto* word :
         {"none",        "custom", "default",      "train",       "auto",         "data",
          "dataset",     "folder", "image_folder", "imagefolder", "true",         "false",
          "json",        "text",   "csv",          "parquet",     "arrow",        "webdataset",
          "audiofolder", "pandas", "generator",    "jsonl",       "line_by_line", "asr",
          "raw",         "shard",  "lmdb",         "tfds",        "huggingface",  "hf",
          "images",      "image",  "local",        "mmap",        "bin",          "lm",
          "sft"}) {
      if (lower == word) return false;
    }
    // An owner before the name, as hubs have it, but no path.
    const bool path = text.starts_with('/') || text.starts_with('.') || text.starts_with('~') ||
                      std::ranges::count(text, '/') > 1 || text.contains(':');
    return text.size() >= 2 && !path && !text.contains('$') && !text.contains(' ') &&
           std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c); });
  }

  /// "owner/name" of a hub.
  static bool is_hub_id(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
    const auto owner = text.substr(0, slash);
    const bool folder = owner == "data" || owner == "datasets" || owner == "dataset" ||
                        owner == "input" || owner == "." || owner == ".." || owner == "~";
    return !folder && text.find('/', slash + 1) == std::string_view::npos && !text.contains('.');
  }

  /// A row knows the whole name behind the owner, not a word of it.
  [[nodiscard]] bool is_whole_match(std::string_view text) const {
    const auto letters = [](std::string_view from) {
      std::string only;
      for (const char c : from) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalnum(letter) != 0) only += static_cast<char>(std::tolower(letter));
      }
      return only;
    };
    const auto match = scene_.tables->find_dataset(text);
    if (!match) return false;
    const auto name = letters(text.substr(text.find('/') + 1));
    const auto known = letters(match->name);
    return 2 * known.size() >= name.size() && !name.contains("and");
  }

  /// "a/b.jsonl:0.3,c/d.jsonl:0.7": several with their shares.
  [[nodiscard]] bool is_mixture(std::string_view text) const {
    if (!text.contains('/') || !text.contains(',')) return false;
    List parts;
    for (const auto part : split(text, ',')) {
      if (!part.empty()) parts.emplace_back(std::string(part), PlacePtr());
    }
    return !are_of_one(parts);
  }

  /// All items of a list are parts of one data set that a row knows, or there is one item alone.
  [[nodiscard]] bool are_of_one(const List& list) const {
    std::set<std::string> names;
    for (const Value& item : list) {
      const auto match = scene_.tables->find_dataset(name_in(item));
      names.insert(match ? match->name : "");
    }
    return list.size() == 1 || (names.size() == 1 && !names.contains(""));
  }

  /// Several data sets, one after another; "" for any other list.
  [[nodiscard]] std::string names_of(const List& list) const {
    constexpr std::size_t most = 6;
    std::vector<std::string> names;
    for (const Value& item : list) {
      const std::string* text = item.text();
      const bool names_one = text != nullptr && list.size() <= most && is_name(*text);
      const auto match = names_one ? scene_.tables->find_dataset(*text) : std::nullopt;
      if (!match && (!names_one || text->contains('/'))) return "";
      const std::string name = match ? match->name : *text;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names.size() < 2 ? "" : fmt::format("{}", fmt::join(names, ", "));
  }

  /// The end of a class name that a row knows: "DOTADataset" of "YOLOv5DOTADataset". Layouts that
  /// other data sets come in as well are none.
  [[nodiscard]] std::string_view inner_name(std::string_view type) const {
    for (std::size_t at = 1; at + 1 < type.size() && !scene_.tables->find_dataset(type); ++at) {
      const auto rest = type.substr(at);
      const bool word = std::isupper(static_cast<unsigned char>(rest[0])) != 0;
      if (word && rest != "CocoDataset" && rest != "VOCDataset" &&
          scene_.tables->find_dataset(rest))
        return rest;
    }
    return type;
  }

  [[nodiscard]] std::size_t makers_of(std::string_view callee) const {
    std::set<std::string> names;
    for (const python::Call& call : scene_.seen.calls) {
      const Value* name = call.args.empty() ? nullptr : call.args.data();
      if (call.callee == callee && name != nullptr && name->text() != nullptr)
        names.insert(*name->text());
    }
    return names.size();
  }

  const Scene& scene_;
  Findings& out_;
};

/// fairseq's tasks load their data by its part.
bool is_split(std::string_view name) {
  constexpr std::array parts{"train", "valid", "validation", "test", "dev", "eval"};
  return std::ranges::find(parts, name) != parts.end();
}

std::string_view last_part(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

bool for_evaluation(std::string_view key) {
  return !key.contains("train") && (key.contains("test") || key.contains("val"));
}

bool for_evaluation(const python::Call& call) {
  const std::string line = call.place ? normal_key(call.place->text) : "";
  if (line.contains("train=false") || line.contains("train = false")) return true;
  return !line.contains("train") && (line.contains("test") || line.contains("val"));
}

/// load_tox21 -> tox21.
std::string_view without_loader(std::string_view name) {
  return name.starts_with("load_") ? name.substr(5) : name;
}

void Datasets::from_calls() {
  for (const python::Call& call : scene_.seen.calls) {
    const std::string_view callee = call.callee;
    double sure = call.certain ? 0.94 : 0.74;
    if (for_evaluation(call)) sure -= 0.15;
    const bool loads =
        callee.ends_with("load_dataset") || callee.ends_with("tensorflow_datasets.load") ||
        callee.ends_with("tfds.load") || callee.ends_with("tensorflow_datasets.builder");
    if (loads || callee == "gym.make" || callee == "gymnasium.make" ||
        (callee.starts_with("ray.rllib.") && callee.ends_with(".environment")) ||
        callee.ends_with("datasets.get_d4rl") || callee.ends_with("make_vec_env")) {
      const Value* name = call.args.empty() ? call.named.find("path") : call.args.data();
      if (name == nullptr) name = call.named.find("name");
      if (name == nullptr || name->text() == nullptr || is_split(*name->text())) continue;
      // One of many that a program goes through is not the one it trains on.
      const double here = makers_of(callee) > 2 ? sure - 0.2 : sure;
      const Value* variant = argument(call, "name", 1);
      if (loads && variant != nullptr && variant->text() != nullptr && variant != name)
        add_name(*variant->text(), here + 0.02, variant->place);
      add_name(*name->text(), here, name->place, here - 0.06);
      const Value* files = call.named.find("data_files");
      if (files != nullptr && files->text() != nullptr)
        add_name(*files->text(), here, files->place);
      continue;
    }
    if (callee == "pandas.read_csv" && !call.args.empty() && call.args[0].text() != nullptr)
      add_name(*call.args[0].text(), call.certain ? 0.8 : 0.6, call.args[0].place);
    const bool of_library = callee.contains(".datasets.") ||
                            callee.contains("torchaudio.datasets") ||
                            callee.contains("torchtext.datasets") || callee.contains("ogb.") ||
                            callee.starts_with("dgl.data.") || callee.contains(".molnet.load_") ||
                            callee.starts_with("scvi.data.");
    if (!of_library || callee.contains("()")) continue;
    const auto name = callee.ends_with(".load_data")
                          ? last_part(callee.substr(0, callee.rfind('.')))
                          : without_loader(last_part(callee));
    // Readers of a layout that other data sets come in as well.
    const bool layout = name == "CocoDetection" || name == "CocoCaptions";
    add_name(name, layout ? std::min(sure, confidence::fair) : sure, call.place);
    // Open Graph Benchmark's come with the name first, others with a folder.
    const Value* named = argument(call, "name", callee.contains("ogb.") ? 0 : 1);
    const bool by_name = named != nullptr && named->text() != nullptr;
    if (by_name) add_name(*named->text(), sure + 0.01, named->place);
  }
}

void Datasets::from_classes() {
  for (const auto& instance : scene_.seen.instances) {
    const bool data = std::ranges::any_of(instance->bases, [](const std::string& base) {
      return base.ends_with("Dataset") || base.ends_with("DataModule") ||
             base.ends_with("Sequence");
    });
    // Of no known base, but called a data set: only a name that the table knows.
    const bool called = instance->type.ends_with("Dataset");
    if (data || called) add_name(instance->type, instance->certain ? 0.78 : 0.65, instance->place);
  }
}

void Datasets::from_settings() {
  for (const auto& [setting, meaning, trust] : scene_.meant(dataset_field)) {
    const bool evaluates = setting->key.contains("val") || setting->key.contains("test") ||
                           setting->key.contains("eval");
    const List* several = setting->value.items();
    const bool first = several != nullptr && !several->empty();
    const std::string together = first ? names_of(*several) : "";
    const std::string text = !together.empty() ? together
                             : first           ? name_in(several->front())
                                               : name_in(setting->value);
    if (evaluates || text.empty()) continue;
    if (first && together.empty() && !are_of_one(*several)) continue;
    // A class that reads a layout is no name: only one that the table knows.
    const bool written = (first ? several->front() : setting->value).object() == nullptr;
    const bool names_itself = written && meaning == "name" &&
                              (setting->key.contains("data") || setting->leaf().starts_with("env"));
    const double sure =
        sure_of(scene_, *setting) - 0.0005 * (trust % 1000) - (meaning == "path" ? 0.05 : 0);
    // Loaders are called after the data set whose layout they read.
    const bool reader = text.ends_with("Dataset") && !text.contains('/');
    const bool any = text.ends_with("CocoDataset") || text.ends_with("VOCDataset");
    const bool layout = reader && setting->key.contains('.');
    const double most = any ? 0.48 : layout ? 0.62 : 1;
    add_name(reader ? inner_name(text) : text, std::min(sure, most), setting->value.place,
             names_itself && !reader ? sure - 0.12 : 0);
  }
}

/// Classes that a config names where it speaks of data.
void Datasets::from_targets() {
  for (const Setting& setting : scene_.settings) {
    const std::string* text = setting.value.text();
    const bool names = setting.leaf() == "target" || setting.leaf() == "_target_" ||
                       setting.leaf() == "class_path" || setting.leaf() == "type";
    if (text != nullptr && names && setting.key.contains("data") && !for_evaluation(setting.key))
      add_name(*text, 0.8, setting.value.place);
  }
}

/// "togethercomputer/RedPajama-3B": weights on a hub are called after what they learned from.
bool is_model_of_hub(const Scene& scene, std::string_view text) {
  const auto slash = text.find('/');
  const bool hub = slash != std::string_view::npos && slash > 0 && text[0] != '.' &&
                   text.find('/', slash + 1) == std::string_view::npos;
  return hub && scene.tables->find_model(text).has_value();
}

/// A known name within a path or address that the program reads, whatever its key. Several names
/// are those of a register.
void Datasets::from_paths() {
  constexpr std::array others{"output", "save",     "log",   "ckpt", "checkpoint", "model",
                              "weight", "pretrain", "cache", "work", "token",      "vocab"};
  std::vector<const Setting*> found;
  std::set<std::string> names;
  for (const Setting& setting : scene_.settings) {
    const std::string* text = setting.value.text();
    const bool path = text != nullptr && text->contains('/') && !text->contains(' ');
    const bool other = std::ranges::any_of(
        others, [&](std::string_view word) { return setting.key.contains(word); });
    const bool used = setting.read || setting.precedence <= Precedence::config;
    if (!path || !used || other || is_model_of_hub(scene_, *text)) continue;
    const auto match = scene_.tables->find_dataset(*text);
    if (!match) continue;
    found.push_back(&setting);
    names.insert(match->name);
  }
  for (const Setting* setting : found)
    add_name(*setting->value.text(), names.size() > 1 ? 0.5 : 0.64, setting->value.place);
}

void Datasets::from_names() {
  std::string_view flag;
  const auto& words = scene_.launch.args;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const command::Word& word = words[i];
    const std::string_view text = word.text;
    // One of several folders.
    const auto is_path = [&](std::size_t at) {
      return at < words.size() && words[at].text.contains('/') && !words[at].text.starts_with('-');
    };
    if (is_path(i) && (is_path(i + 1) || (i > 0 && is_path(i - 1)))) continue;
    const std::string_view option = text.starts_with('-') ? text : text.substr(0, 0);
    const std::string_view before = std::exchange(flag, option);
    const bool config = config::config_format(word.text).has_value() || word.text.ends_with(".py");
    // The value of a flag that speaks of something else names no data.
    constexpr std::array others{"metric", "model", "output", "name", "token", "resume", "save"};
    const bool other = std::ranges::any_of(
        others, [&](const char* what) { return before.contains(what) || flag.contains(what); });
    if (!other && !is_model_of_hub(scene_, word.text))
      add_name(word.text, config ? 0.78 : 0.6, word.place);
  }
  const std::string_view script = scene_.launch.script;
  const auto file = script.substr(script.rfind('/') + 1);
  // A script may be called after a model that is called after its data.
  if (scene_.job.command.contains(script) && !scene_.tables->find_model(file)) {
    const PlacePtr place = std::make_shared<const Place>(
        Place{"<command>", 0, scene_.launch.script, FactSource::command, {}});
    add_name(scene_.launch.script, 0.6, place);
  }
}

}  // namespace

void find_dataset(const Scene& scene, Findings& out) {
  Datasets datasets(scene, out);
  datasets.from_calls();
  datasets.from_classes();
  datasets.from_settings();
  datasets.from_targets();
  datasets.from_paths();
  datasets.from_names();
}

}  // namespace schedmate::facts
