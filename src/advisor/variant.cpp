// SPDX-License-Identifier: Apache-2.0
#include "advisor/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "advisor/names.hpp"
#include "base/characters.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace schedmate::advisor {
namespace {

using WordList = std::span<const std::string_view>;

bool is_among(WordList list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// Without the names of users, which stand behind "home" or "~": "~ann/conf/a.yaml" ->
/// "conf/a.yaml".
std::string without_home(std::string_view path) {
  constexpr auto homes = std::to_array<std::string_view>({"home", "Users", "users"});
  std::vector<std::string_view> kept;
  const auto parts = split(path, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // A file may be called "users/model.yaml".
    const std::size_t least = path.starts_with('/') ? 1 : 2;
    const bool home = is_among(homes, parts[i]) && i + least < parts.size();
    const bool named = parts[i].starts_with('~') || parts[i].starts_with('$');
    if (home) ++i;
    if (!home && !named) kept.push_back(parts[i]);
  }
  return fmt::format("{}", fmt::join(kept, "/"));
}

/// "lib/models/hrnet.py" -> "models/hrnet.py".
std::string_view with_folder(std::string_view path) {
  const std::size_t last = path.rfind('/');
  if (last == 0 || last == std::string_view::npos) return path;
  const std::size_t before = path.rfind('/', last - 1);
  return path.substr(before == std::string_view::npos ? 0 : before + 1);
}

/// Of an absolute path the file and its folder; of others all: they name files of the repository.
std::string named_part(std::string_view path) {
  const bool absolute = path.starts_with('/') || path.starts_with('~') || path.starts_with('$');
  const std::string part = without_home(path);
  return absolute ? std::string(with_folder(part)) : part;
}

/// "configs/hrnet/w32_256x192_lr1e-3.yaml" -> "hrnet-w-32-256-x-192".
std::string telling_words(std::string_view name, const FlagRules& rules, const Fields& fields) {
  std::string flat = named_part(name);
  std::ranges::replace(flat, '/', ' ');
  const std::string normal = normal_name(flat);
  const auto all = split(normal, '-');
  const auto length = length_field(fields);
  const auto counts = [&](std::size_t i) {
    return i < all.size() && rules.words().counting.contains(all[i]);
  };
  const auto is_number = [&](std::size_t i) { return i < all.size() && is_digit(all[i].front()); };
  std::vector<std::string_view> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view word = all[i];
    if (word.empty() || rules.words().neutral.contains(word)) continue;
    if (is_number(i)) {
      const bool thousands =
          word.ends_with('k') && length && length->unit == "steps" &&
          word.substr(0, word.size() - 1) == fmt::format("{}", length->amount / 1000);
      const bool times = i + 1 < all.size() && all[i + 1] == "x" && !is_number(i + 2) &&
                         (i == 0 || all[i - 1] != "x");
      if (thousands || times || counts(i + 1) || (i > 0 && counts(i - 1))) continue;
    }
    kept.push_back(word);
  }
  return fmt::format("{}", fmt::join(kept, "-"));
}

bool is_config_file(std::string_view word) {
  constexpr auto ends =
      std::to_array<std::string_view>({".yaml", ".yml", ".gin", ".toml", ".cfg", ".config"});
  return std::ranges::any_of(ends, [&](std::string_view end) { return word.ends_with(end); });
}

/// A file of the repository, a script's name or a name with its owner: neither text of sed nor a
/// list of settings.
bool names_something(std::string_view word) {
  return word.contains('/') && std::ranges::all_of(word, [](char c) {
           return is_digit(c) || is_letter(c) || std::string_view("_./:,@+-").contains(c);
         });
}

bool is_off(std::string_view value) {
  constexpr auto off = std::to_array<std::string_view>({"false", "0", "no", "none", "null", "off"});
  return is_among(off, lower_case(value));
}

bool has_word_of(std::string_view words, const WordSet& set) {
  return std::ranges::any_of(split(words, ' '),
                             [&](std::string_view word) { return set.contains(word); });
}

bool says_size(std::string_view words, const VariantWords& known) {
  return has_word_of(words, known.sizes) && !has_word_of(words, known.sizes_of_no_work);
}

bool is_number(std::string_view value) { return parse_number<double>(value).has_value(); }

/// "MODEL.DEPTH" and "DIR" of `--opts MODEL.DEPTH 50 DIR out`.
bool is_key(std::string_view word) {
  const bool plain = std::ranges::all_of(
      word, [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; });
  const bool capital =
      std::ranges::none_of(word, [](char c) { return is_letter(c) && c == lower(c); });
  return plain && !word.empty() && is_letter(word.front()) && !is_config_file(word) &&
         !is_script(word) && (capital || word.contains('.'));
}

/// Settings that are given as words, "KEY VALUE", made flags; the words that are left.
CommandFlags with_keys(const CommandFlags& given) {
  CommandFlags flags = given;
  flags.words.clear();
  for (std::size_t i = 0; i < given.words.size(); ++i) {
    const std::string& word = given.words[i];
    const bool pair = i > 0 && is_key(word) && i + 1 < given.words.size() && word != given.entry;
    if (pair)
      flags.flags.push_back({word, given.words[++i]});
    else
      flags.words.push_back(word);
  }
  return flags;
}

/// The names that are given to a program: its script, its configs.
struct GivenNames {
  std::vector<std::string> configs;
  std::string entry;
};

GivenNames names_in(const CommandFlags& flags, const FlagRules& rules) {
  GivenNames names;
  for (const std::string& word : flags.words) {
    if (word == flags.entry && !is_shell_script(word)) continue;
    const bool absolute = word.starts_with('/') || word.starts_with('~');
    if (is_shell_script(word) || is_config_file(word) || (names_something(word) && !absolute))
      names.configs.push_back(word);
  }
  for (const GivenFlag& flag : flags.flags) {
    const FlagRule* rule = rules.find(flag.name);
    const bool is_config =
        is_config_file(flag.value) || (rule != nullptr && rule->name == "config file");
    if (is_config && !flag.value.empty() && !flag.value.contains('='))
      names.configs.push_back(flag.value);
  }
  if (!is_shell_script(flags.entry)) names.entry = flags.entry;
  return names;
}

/// A flag as a slot, or "" when it says nothing beyond the facts.
std::string slot_of(const GivenFlag& flag, const FlagRules& rules) {
  const FlagRule* rule = rules.find(flag.name);
  const std::string words = flag_words(flag.name);
  constexpr auto telling =
      std::to_array<std::string_view>({"model_name", "dataset", "resolution", "sequence_length"});
  const bool known_kind = rule != nullptr && is_among(telling, rule->field);
  const VariantWords& known = rules.words();
  const bool is_size = is_number(flag.value) && !has_word_of(words, known.sizes_of_no_work) &&
                       (known_kind || (rule == nullptr && says_size(words, known)));
  const bool is_name = known_kind && !is_number(flag.value);
  if (flag.value.empty() || (!is_size && !is_name)) return "";
  std::string name = words;
  std::ranges::replace(name, ' ', '-');
  // The name of a model hides its size: a number says what no fact does.
  const bool fact_says_it = known_kind && !(rule->field == "model_name" && is_size);
  if (fact_says_it) name = rule->field + "/" + name;
  const std::string value = is_size ? flag.value : normal_name(without_home(flag.value));
  return value.empty() ? "" : fmt::format("{}{}:{}", is_size ? "=" : "", name, value);
}

bool is_named(std::string_view word, const MethodWords& row) {
  return std::ranges::any_of(row.words, [&](std::string_view name) {
    return name.ends_with('*') ? word.starts_with(name.substr(0, name.size() - 1)) : word == name;
  });
}

using Methods = std::set<std::string_view>;

/// Of words between spaces.
void add_methods(std::string_view words, const FlagRules& rules, Methods& methods) {
  const auto& known = rules.words().methods;
  for (const std::string_view word : split(words, ' ')) {
    const auto found =
        std::ranges::find_if(known, [&](const MethodWords& row) { return is_named(word, row); });
    if (found != known.end() && !found->name.empty()) methods.insert(found->name);
  }
}

/// "pre-training" and "fine_tuning" are written in two words, too.
std::string method_text(std::string_view name) {
  std::string text = flag_words(named_part(name));
  for (const auto& [two, one] : {std::pair{"pre train", "pretrain"}, {"fine tun", "finetun"}})
    for (std::size_t at = text.find(two); at != std::string::npos; at = text.find(two, at))
      text.replace(at, std::string_view(two).size(), one);
  return text;
}

/// A switch says what is done when it is on and its whole name is a method; `loss=dpo` and
/// `stage sft` say it by a plain word.
void add_flag_methods(const GivenFlag& flag, const FlagRules& rules, Methods& methods) {
  const FlagRule* rule = rules.find(flag.name);
  if (rule != nullptr && rule->flag_class != FlagClass::another_job) return;
  if (is_off(flag.value)) return;
  const std::string words = method_text(flag.name);
  const bool is_switch = std::ranges::count(words, ' ') <= 1 && !says_size(words, rules.words());
  const bool numeric = is_number(flag.value) && flag.value != "1";
  constexpr auto evaluating = std::to_array<std::string_view>(
      {"eval", "evaluate", "test only", "eval only", "sample", "test"});
  const bool trains_so =
      rule == nullptr ? words == "finetuning" || words == "finetune" : rule->name == "weights";
  if (is_switch && !numeric && (is_among(evaluating, words) || trains_so))
    add_methods(words, rules, methods);
  if (words == "no weights" || words == "from scratch") methods.insert("scratch");
  if (words == "load in 4bit") methods.insert("qlora");
  const bool plain = !flag.value.contains('/') && !flag.value.contains('.');
  if (plain && (rule == nullptr || rule->field == "expect" || rule->field == "dataset"))
    add_methods(method_text(flag.value), rules, methods);
}

using Slots = std::map<std::string_view, std::string_view>;

Slots slots_of(std::string_view variant) {
  Slots slots;
  for (const std::string_view each : split(variant, ' '))
    if (const std::size_t colon = each.find(':'); colon != std::string_view::npos)
      slots.emplace(each.substr(0, colon), each.substr(colon + 1));
  return slots;
}

/// Neither has a word that the other lacks: 1. Both have: 0. One has more: `more`.
double names_agree(std::string_view ours, std::string_view theirs, double more) {
  if (ours == theirs) return 1;
  const auto words_in = [](std::string_view name) {
    auto words = split(name, '-');
    std::erase(words, "");
    std::ranges::sort(words);
    const auto again = std::ranges::unique(words);
    words.erase(again.begin(), again.end());
    return words;
  };
  const auto left = words_in(ours);
  const auto right = words_in(theirs);
  const bool left_has = !std::ranges::includes(right, left);
  const bool right_has = !std::ranges::includes(left, right);
  if (!left_has && !right_has) return 1;
  return left_has && right_has ? 0 : more;
}

constexpr double one_says_more = 0.9;

double slots_agree(std::string_view name, std::string_view ours, std::string_view theirs) {
  if (name.starts_with('=')) return parse_number<double>(ours) == parse_number<double>(theirs);
  if (name == "config") return names_agree(ours, theirs, 0);
  if (name == "entry") return names_agree(ours, theirs, one_says_more);
  return compare_names(ours, theirs).alike() ? 1 : 0;
}

/// "model_name/arch" -> "model_name"; "=hidden-dim" -> "".
std::string_view fact_of(std::string_view slot) {
  if (slot.starts_with('=')) slot.remove_prefix(1);
  const std::size_t slash = slot.find('/');
  return slash == std::string_view::npos ? "" : slot.substr(0, slash);
}

}  // namespace

std::string method_of(const CommandFlags& given, const FlagRules& rules) {
  const CommandFlags flags = with_keys(given);
  Methods methods;
  const GivenNames names = names_in(flags, rules);
  add_methods(method_text(names.entry), rules, methods);
  for (const std::string& each : names.configs) add_methods(method_text(each), rules, methods);
  for (const std::string& word : flags.words)
    if (!word.contains('/')) add_methods(method_text(word), rules, methods);
  for (const GivenFlag& flag : flags.flags) add_flag_methods(flag, rules, methods);
  return methods.empty() ? "training" : fmt::format("{}", fmt::join(methods, " "));
}

std::string variant_of(const CommandFlags& given, const FlagRules& rules, const Fields& fields) {
  const CommandFlags flags = with_keys(given);
  std::set<std::string> slots;
  const GivenNames names = names_in(flags, rules);
  std::vector<std::string> configs;
  for (const std::string& each : names.configs)
    if (std::string words = telling_words(each, rules, fields); !words.empty())
      configs.push_back(std::move(words));
  if (!configs.empty()) slots.insert(fmt::format("config:{}", fmt::join(configs, "-")));
  slots.insert("entry:" + telling_words(names.entry, rules, fields));
  for (const GivenFlag& flag : flags.flags)
    if (std::string slot = slot_of(flag, rules); !slot.empty()) slots.insert(std::move(slot));
  return fmt::format("{}", fmt::join(slots, " "));
}

double variant_agreement(std::string_view ours, std::string_view theirs,
                         const std::function<bool(std::string_view)>& decided) {
  if (ours == theirs) return 1;
  const Slots left = slots_of(ours);
  const Slots right = slots_of(theirs);
  double agreed = 1;
  const auto alone = [&](const Slots& has, const Slots& lacks) {
    for (const auto& [name, value] : has) {
      if (lacks.contains(name) || decided(fact_of(name))) continue;
      agreed = std::min(agreed, name.starts_with('=') ? 0 : one_says_more);
    }
  };
  alone(left, right);
  alone(right, left);
  for (const auto& [name, value] : left) {
    const auto other = right.find(name);
    if (other == right.end() || decided(fact_of(name))) continue;
    agreed = std::min(agreed, slots_agree(name, value, other->second));
  }
  return agreed;
}

VariantDifference differing_slots(std::string_view ours, std::string_view theirs) {
  const auto only = [](const Slots& slots, const Slots& others) {
    std::string text;
    for (const auto& [name, value] : slots) {
      const auto found = others.find(name);
      if (value.empty() || (found != others.end() && found->second == value)) continue;
      const std::string_view shown = name.starts_with('=') ? name.substr(1) : name;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown, value);
    }
    return text.empty() ? "not named" : text;
  };
  const Slots left = slots_of(ours);
  const Slots right = slots_of(theirs);
  return {only(left, right), only(right, left)};
}

std::string program_of(const Facts& facts) {
  constexpr std::size_t kept = 12;  // the least hashes: equal sets keep equal ones
  std::set<std::string> hashes;
  for (const std::string& file : facts.files_read) {
    if (!file.ends_with(".py")) continue;
    constexpr std::uint64_t mask = 0xff'ffff;
    // With its folder: "train.py" and "utils.py" are in every repository.
    hashes.insert(fmt::format("{:06x}", hash_bytes(with_folder(file)) & mask));
  }
  while (hashes.size() > kept) hashes.erase(std::prev(hashes.end()));
  return fmt::format("{}", fmt::join(hashes, " "));
}

double program_agreement(std::string_view ours, std::string_view theirs) {
  const auto left = split(ours, ' ');
  const auto right = split(theirs, ' ');
  const auto common = std::ranges::count_if(
      left, [&](std::string_view each) { return std::ranges::find(right, each) != right.end(); });
  return static_cast<double>(common) / static_cast<double>(std::min(left.size(), right.size()));
}

}  // namespace schedmate::advisor
