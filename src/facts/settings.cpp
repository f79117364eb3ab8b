// SPDX-License-Identifier: Apache-2.0
#include "facts/settings.hpp"

#include <algorithm>
#include <ranges>
#include <set>

#include "base/text.hpp"

namespace schedmate::facts {
namespace {

constexpr int max_depth = 12;
constexpr std::size_t max_settings = 20'000;

Precedence precedence_of(const Value& value, Precedence otherwise) {
  if (!value.place) return otherwise;
  switch (value.place->source) {
    case FactSource::command:
    case FactSource::shell:
      return Precedence::given;
    case FactSource::config:
    case FactSource::composition:
      return Precedence::config;
    case FactSource::code:
    case FactSource::fallback:
      // What a program puts into its config before any file is a default.
      return otherwise == Precedence::config ? Precedence::fallback : otherwise;
    default:
      return otherwise;
  }
}

class Gatherer {
 public:
  Gatherer(tree::Tree& tree, std::string cwd) : tree_(tree), cwd_(std::move(cwd)) {}

  void add(Setting setting) {
    if (settings_.size() < max_settings) settings_.push_back(std::move(setting));
  }

  /// accelerate's own settings, and the configuration of DeepSpeed that they name.
  void take_launcher(const Dict& settings) {
    flatten(Value::dict(settings), {.precedence = Precedence::launcher, .read = true});
    const std::size_t own = settings_.size();
    for (std::size_t i = 0; i < own; ++i) {
      const Value named = settings_[i].value;
      if (settings_[i].leaf() == "deepspeed_config_file" && named.text() != nullptr)
        take_file({*named.text(), named.place, true}, Precedence::config);
    }
  }

  /// Every entry of nested dicts under its dotted key.
  void flatten(const Value& value, const Setting& as, int depth = 0) {
    const Dict* dict = value.entries();
    if (dict == nullptr || depth > max_depth) {
      if (as.key.empty()) return;
      Setting leaf = as;
      leaf.value = value;
      leaf.precedence = precedence_of(value, as.precedence);
      add(std::move(leaf));
      if (const List* list = value.items(); list != nullptr && depth <= max_depth) {
        for (const Value& item : *list) {
          if (item.entries() != nullptr) flatten(item, as, depth + 1);
        }
      }
      return;
    }
    for (const auto& [key, item] : dict->all()) {
      Setting below = as;
      below.key = as.key.empty() ? normal_key(key) : as.key + "." + normal_key(key);
      flatten(item, below, depth + 1);
    }
  }

  void take_flags(const python::Observation& seen) {
    for (const python::Flag& flag : seen.flags) {
      const Setting as{.key = normal_key(flag.name),
                       .precedence = flag.given ? Precedence::given : Precedence::fallback,
                       .owner = flag.owner,
                       .read = flag.read};
      flatten(flag.value, as);
      if (const std::string* text = flag.given ? flag.value.text() : nullptr)
        take_file({*text, flag.value.place, true});
    }
  }

  /// What became of the fields of a flags' dataclass after parsing: `args.batch = a * b`. Objects
  /// of it that were made before the last are choices that were not taken.
  void take_fields(const python::Observation& seen) {
    std::set<std::string_view> taken;
    for (const auto& instance : seen.instances | std::views::reverse) {
      const auto owned = [&](const python::Flag& flag) { return flag.owner == instance->type; };
      if (!std::ranges::any_of(seen.flags, owned) || !taken.insert(instance->type).second) continue;
      flatten(Value::dict(instance->fields),
              {.precedence = Precedence::fallback, .owner = instance->type, .read = true});
    }
  }

  /// A folder whose files are all read is a register, of which the command names one.
  void take_configs(const python::Observation& seen, std::string_view command) {
    constexpr std::ptrdiff_t most_of_a_folder = 4;
    const auto folder = [](const python::LoadedConfig& config) {
      return config.file.substr(0, config.file.rfind('/') + 1);
    };
    for (const python::LoadedConfig& config : seen.configs) {
      const auto same = std::ranges::count(seen.configs, folder(config), folder);
      const auto name = config.file.substr(config.file.rfind('/') + 1);
      const bool named = command.contains(name.substr(0, name.rfind('.')));
      if (same > most_of_a_folder && !named) continue;
      taken_.insert(config.file);
      flatten(config.value, {.precedence = Precedence::config, .owner = config.file, .read = true});
    }
  }

  void take_arguments(const python::Observation& seen) {
    for (const python::Call& call : seen.calls) {
      if (call.callee.starts_with("?")) continue;
      // A whole configuration is given as a dict: deepspeed.initialize(config=...).
      const bool configures = call.callee == "deepspeed.initialize" ||
                              call.callee.ends_with(".run_recbole") ||
                              call.callee == "recbole.config.Config";
      for (const auto& [name, value] : call.named.all()) {
        if (value.is_unknown()) continue;
        if (configures && value.entries() != nullptr && name.starts_with("config")) {
          flatten(value, {.precedence = Precedence::config, .owner = call.callee, .read = true});
          continue;
        }
        add({.key = normal_key(name),
             .value = value,
             .precedence = precedence_of(value, Precedence::argument),
             .owner = call.callee,
             .read = call.certain});
      }
    }
  }

  /// `--key value`, `--key=value`, `key=value`, `-k value` as they stand, read by nobody known; and
  /// `KEY value` where a config has such a key.
  void take_words(std::span<const command::Word> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view text = words[i].text;
      if (i + 1 < words.size() && text.contains('.') && is_config_key(normal_key(text))) {
        add_word(text, words[i + 1].text, joined(words[i], words[i + 1]));
        ++i;
        continue;
      }
      const bool dashed = text.starts_with('-') && text.size() > 1 && !is_number(text);
      const auto equals = text.find('=');
      if (equals != std::string_view::npos && equals > 0) {
        add_word(text.substr(0, equals), text.substr(equals + 1), words[i]);
      } else if (dashed && i + 1 < words.size() && !is_flag(words[i + 1].text)) {
        add_word(text, words[i + 1].text, joined(words[i], words[i + 1]));
      } else if (dashed) {
        add({.key = normal_key(text), .value = Value(true, words[i].place)});
      } else {
        take_file(words[i]);
      }
    }
  }

  void take_globals(const python::Observation& seen) {
    for (const auto& [name, value] : seen.globals.all())
      flatten(value, {.key = normal_key(name), .precedence = Precedence::global});
  }

  /// `key=value` texts that a flag took: `-o a.b=c`, `--hparams "a=1,b=2"`, a list of both.
  void take_overrides(const python::Observation& seen) {
    for (const python::Flag& flag : seen.flags) {
      if (flag.given) take_override(flag.value);
    }
  }

  std::vector<Setting> take() { return std::move(settings_); }

 private:
  void take_override(const Value& value) {
    if (const List* items = value.items()) {
      for (std::size_t i = 0; i < items->size(); ++i) {
        const std::string* key = (*items)[i].text();
        const bool pair =
            key != nullptr && i + 1 < items->size() && is_config_key(normal_key(*key));
        if (!pair) {
          take_override((*items)[i]);
          continue;
        }
        const Value& next = (*items)[++i];
        add({.key = normal_key(*key),
             .value =
                 next.text() == nullptr ? next : config::parse_scalar(*next.text(), next.place),
             .precedence = Precedence::given,
             .read = true});
      }
    }
    const std::string* text = value.text();
    if (text == nullptr || !text->contains('=') || text->contains(' ')) return;
    for (const auto part : split(*text, ',')) {
      const auto equals = part.find('=');
      if (equals == std::string_view::npos || equals == 0) continue;
      const auto key = normal_key(part.substr(0, equals));
      const bool dotted = std::ranges::all_of(
          key, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
      if (!dotted) continue;
      add({.key = key,
           .value = config::parse_scalar(part.substr(equals + 1), value.place),
           .precedence = Precedence::given,
           .read = true});
    }
  }

  static bool is_number(std::string_view text) { return parse_number<double>(text).has_value(); }
  static bool is_flag(std::string_view text) {
    return text.starts_with('-') && text.size() > 1 && !is_number(text);
  }
  static command::Word joined(const command::Word& flag, const command::Word& value) {
    return {value.text, value.place ? value.place : flag.place, value.known};
  }

  [[nodiscard]] bool is_config_key(std::string_view key) const {
    return std::ranges::any_of(settings_, [&](const Setting& setting) {
      const bool of_config = setting.precedence == Precedence::config ||
                             (setting.precedence == Precedence::loose && !setting.owner.empty());
      return of_config && setting.key == key;
    });
  }

  /// A word that repeats a key of a config is meant to replace it.
  void add_word(std::string_view key, std::string_view text, const command::Word& word) {
    Value value =
        word.known ? config::parse_scalar(text, word.place) : Value(Value::Data{}, word.place);
    Setting setting{.key = normal_key(key), .value = std::move(value)};
    if (is_config_key(setting.key)) {
      setting.precedence = Precedence::given;
      setting.read = true;
    }
    add(std::move(setting));
    if (word.known) take_file({std::string(text), word.place, true});
  }

  /// A config file that is named but was not seen to be read.
  void take_file(const command::Word& word, Precedence precedence = Precedence::loose) {
    const auto path = word.known && config::config_format(word.text)
                          ? tree_.locate(cwd_, word.text)
                          : fail(ErrorCode::not_found, "");
    if (!path || !config::config_format(*path) || !tree_.is_file(*path)) return;
    if (!taken_.insert(*path).second) return;
    if (const auto config = config::read_config_chain(tree_, *path))
      flatten(*config,
              {.precedence = precedence, .owner = *path, .read = precedence < Precedence::loose});
  }

  tree::Tree& tree_;
  std::string cwd_;
  std::set<std::string, std::less<>> taken_;  ///< config files, once each
  std::vector<Setting> settings_;
};

}  // namespace

std::vector<Setting> gather_settings(tree::Tree& tree, const command::Launch& launch,
                                     const python::Observation& seen) {
  Gatherer gatherer(tree, launch.cwd);
  gatherer.take_launcher(launch.settings);
  gatherer.take_flags(seen);
  gatherer.take_fields(seen);
  std::string words;
  for (const command::Word& word : launch.args) words += word.text + " ";
  gatherer.take_configs(seen, words);
  gatherer.take_overrides(seen);
  gatherer.take_arguments(seen);
  gatherer.take_globals(seen);
  // Without any parser the program looks at its words by itself; Hydra's are applied already.
  const auto by_hydra = [](const python::LoadedConfig& config) { return config.how == "hydra"; };
  const bool parsed = std::ranges::any_of(seen.flags, &python::Flag::given) ||
                      std::ranges::any_of(seen.configs, by_hydra);
  gatherer.take_words(parsed ? std::span<const command::Word>(seen.leftover) : launch.args);
  return gatherer.take();
}

}  // namespace schedmate::facts
