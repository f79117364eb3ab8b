// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "python/natives/flag_parser.hpp"
#include "python/natives/namespace_object.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {

namespace {

constexpr std::string_view memory_key = "absl.flags";

struct AbslFlag {
  FlagSpec spec;
  FlagType type = FlagType::text;
  enum class Shape : std::uint8_t { one, commas, spaces, repeated, config } shape = Shape::one;
  List choices;
  Value fallback;
  PlacePtr place;
};

/// absl.flags.FLAGS: the words are read when the program first asks, or app.run starts.
class AbslFlags : public FlagNamespace {
 public:
  AbslFlags() : FlagNamespace("absl.flags.FlagValues") {}
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;
  void declare(Machine& machine, AbslFlag flag);
  void parse(Machine& machine, const std::vector<command::Word>& words);
  void require(std::string_view name);
  [[nodiscard]] const std::vector<command::Word>& rest() const { return rest_; }

 private:
  void put(Machine& machine, const AbslFlag& flag, const std::vector<FlagUse>& uses);
  Value read(Machine& machine, const AbslFlag& flag, const FlagUse& use, const Value& before);
  Value read_one(Machine& machine, const AbslFlag& flag, const command::Word& word);
  Value load_config(Machine& machine, const AbslFlag& flag, Value named);
  std::vector<command::Word> take_overrides(const std::vector<command::Word>& words);

  std::vector<AbslFlag> flags_;
  std::map<std::string, std::vector<command::Word>, std::less<>>
      overrides_;  ///< config flag -> a.b=3
  std::vector<command::Word> rest_;
  bool parsed_ = false;
};

std::shared_ptr<AbslFlags> registry(Machine& machine) {
  auto& held = machine.memory[std::string(memory_key)];
  if (!held) held = std::make_shared<AbslFlags>();
  return std::static_pointer_cast<AbslFlags>(held);
}

void AbslFlags::declare(Machine& machine, AbslFlag flag) {
  std::erase_if(flags_, [&](const AbslFlag& old) { return old.spec.dest == flag.spec.dest; });
  flags_.push_back(std::move(flag));
  if (parsed_) parse(machine, program_words(machine));
}

void AbslFlags::require(std::string_view name) {
  for (AbslFlag& flag : flags_) {
    if (flag.spec.dest == name) flag.spec.required = flag.fallback.is_none();
  }
}

Value AbslFlags::read_one(Machine& machine, const AbslFlag& flag, const command::Word& word) {
  const auto value = read_word(flag.type, word);
  const bool allowed = !value || flag.choices.empty() || !word.known ||
                       std::ranges::any_of(flag.choices, [&](const Value& choice) {
                         return choice.is_unknown() || repr(choice) == repr(*value);
                       });
  if (value && allowed) return *value;
  machine.refuse(fmt::format("the flag --{} may not be '{}'", flag.spec.dest, word.text),
                 word.place);
  return unknown(word.place);
}

Value AbslFlags::read(Machine& machine, const AbslFlag& flag, const FlagUse& use,
                      const Value& before) {
  using Shape = AbslFlag::Shape;
  if (use.values.empty()) return {!use.negated, use.place};
  const command::Word& word = use.values.front();
  if (flag.shape == Shape::one || flag.shape == Shape::config) return read_one(machine, flag, word);
  List items;
  if (flag.shape == Shape::repeated) {
    if (before.items() != nullptr) items = *before.items();
    items.push_back(read_one(machine, flag, word));
  } else {
    for (const auto part : split(word.text, flag.shape == Shape::commas ? ',' : ' ')) {
      if (!trim(part).empty())
        items.push_back(read_one(machine, flag, {std::string(trim(part)), word.place, word.known}));
    }
  }
  return Value::list(std::move(items), use.place);
}

/// `--config.a.b=3` and `--config.a.b 3` belong to the config that --config names.
std::vector<command::Word> AbslFlags::take_overrides(const std::vector<command::Word>& words) {
  std::vector<command::Word> kept;
  overrides_.clear();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    const auto bare = text.substr(std::min(text.find_first_not_of('-'), text.size()));
    const auto owner = std::ranges::find_if(flags_, [&](const AbslFlag& flag) {
      return flag.shape == AbslFlag::Shape::config && text.starts_with('-') &&
             bare.starts_with(flag.spec.dest + ".");
    });
    if (owner == flags_.end()) {
      kept.push_back(words[i]);
      continue;
    }
    command::Word word = words[i];
    word.text = std::string(bare.substr(owner->spec.dest.size() + 1));
    if (bare.find('=') == std::string_view::npos) {
      const bool has_value = i + 1 < words.size() && !words[i + 1].text.starts_with("--");
      word.text += "=" + (has_value ? words[i + 1].text : std::string("True"));
      if (has_value) word.place = words[++i].place;
    }
    overrides_[owner->spec.dest].push_back(std::move(word));
  }
  return kept;
}

/// The result of get_config() of the file, with the argument after its colon.
Value AbslFlags::load_config(Machine& machine, const AbslFlag& flag, Value named) {
  const bool by_file = named.text() != nullptr;
  if (const std::string* text = named.text()) {
    const auto colon = text->find(':');
    const std::string path = text->substr(0, colon);
    std::string module = path.substr(0, path.rfind(".py"));
    while (module.starts_with("./")) module.erase(0, 2);
    std::ranges::replace(module, '/', '.');
    List arguments;
    if (colon != std::string::npos) arguments.emplace_back(text->substr(colon + 1), named.place);
    const Value make = machine.resolve(module + ".get_config");
    const PlacePtr place = named.place;
    named = symbol_name(make).empty()
                ? machine.call(make, call_with(std::move(arguments), {}, place))
                : unknown(place);
    publish_config(machine, "ml_collections", path, unwrapped(named));
  }
  auto* config = object_as<AttributeDict>(named);
  if (config == nullptr) return named;
  Value held = config->held();
  if (!by_file) {
    Dict whole;
    whole.set(flag.spec.dest, held);
    publish_config(machine, "ml_collections", "", Value::dict(std::move(whole)));
  }
  for (const command::Word& word : overrides_[flag.spec.dest]) {
    const auto equals = word.text.find('=');
    const std::string key = word.text.substr(0, equals);
    const Value* before = find_path(held, key);
    Value value = read_literal(word.text.substr(equals + 1), word.place);
    if (before != nullptr && before->text() != nullptr)
      value = {word.text.substr(equals + 1), word.place};
    if (before != nullptr && before->real() != nullptr && value.number())
      value = {*value.number(), word.place};
    if (!set_path(held, key, std::move(value)))
      machine.refuse(fmt::format("the config has no entry '{}'", key), word.place);
  }
  return named;
}

void AbslFlags::put(Machine& machine, const AbslFlag& flag, const std::vector<FlagUse>& uses) {
  Value value = flag.fallback;
  Value before;
  for (const FlagUse& use : uses) before = value = read(machine, flag, use, before);
  if (flag.shape == AbslFlag::Shape::config) value = load_config(machine, flag, value);
  FlagNamespace::put(flag.spec.dest, value,
                     publish(machine, {flag.spec.dest, value, flag.fallback, !uses.empty(), false,
                                       "", flag.place}));
}

/// Flags that absl and the libraries on it declare by themselves.
bool is_of_library(std::string_view word) {
  constexpr std::array own{"logtostderr",
                           "alsologtostderr",
                           "log_dir",
                           "verbosity",
                           "stderrthreshold",
                           "logger_levels",
                           "showprefixforinfo",
                           "run_with_pdb",
                           "pdb_post_mortem",
                           "pdb",
                           "flagfile",
                           "undefok",
                           "v",
                           "profile_file",
                           "run_with_profiling",
                           "helpfull",
                           "only_check_args",
                           "use_cprofile_for_profiling"};
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  const auto name = word.substr(0, word.find('='));
  const auto positive = name.starts_with("no") ? name.substr(2) : name;
  return name.starts_with("jax_") || name.starts_with("tfds_") ||
         std::ranges::find(own, name) != own.end() || std::ranges::find(own, positive) != own.end();
}

void AbslFlags::parse(Machine& machine, const std::vector<command::Word>& words) {
  parsed_ = true;
  std::vector<FlagSpec> specs;
  for (const AbslFlag& flag : flags_) specs.push_back(flag.spec);
  FlagSyntax syntax;
  syntax.abbreviations = false;
  syntax.bundles = false;
  FlagMatch match = match_flags(specs, take_overrides(words), syntax);
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    std::vector<FlagUse> uses;
    std::ranges::copy_if(match.uses, std::back_inserter(uses),
                         [&](const FlagUse& use) { return use.spec == i; });
    put(machine, AbslFlag(flags_[i]), uses);
  }
  rest_ = std::move(match.leftover);
  for (const FlagError& error : match.errors) {
    if (match.certain) machine.refuse(error.message, error.place);
  }
  for (const command::Word& word : rest_) {
    if (word.known && word.text.starts_with("--") && match.certain && !is_of_library(word.text))
      machine.refuse(fmt::format("unknown flag '{}'", word.text), word.place);
  }
}

std::optional<Value> AbslFlags::attribute(Machine& machine, std::string_view name) {
  const auto self = std::static_pointer_cast<AbslFlags>(shared_from_this());
  if (name == "__call__") {
    return native_function("FLAGS", [self](Machine& inner, const Arguments& arguments) {
      self->parse(inner, program_words(inner));
      return placed(as_list(self->rest()), arguments.place);
    });
  }
  if (name == "flag_values_dict") return FlagNamespace::method(machine, "to_dict");
  if (!parsed_ && !name.starts_with("__")) parse(machine, program_words(machine));
  return FlagNamespace::attribute(machine, name);
}

/// What DEFINE_* returns: its value is read later.
struct FlagHolder : NativeObject {
  std::string flag;
  std::string type_name() const override { return "absl.flags.FlagHolder"; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override {
    if (name == "name") return Value(flag);
    if (name != "value") return std::nullopt;
    return registry(machine)->attribute(machine, flag);
  }
};

struct Definition {
  std::string_view name;
  FlagType type;
  AbslFlag::Shape shape;
  bool chooses = false;
};

Value define(Machine& machine, const Arguments& arguments, const Definition& kind) {
  const std::string name = text_or(arguments.find("name", 0));
  if (name.empty()) return {};
  AbslFlag flag;
  flag.type = kind.type;
  flag.shape = kind.shape;
  flag.place = arguments.place;
  flag.spec.dest = name;
  flag.spec.names = {"--" + name, "-" + name};
  if (const std::string brief = text_or(arguments.named.find("short_name")); !brief.empty())
    flag.spec.names.push_back("-" + brief);
  if (kind.type == FlagType::yes_no) {
    flag.spec.negations = {"--no" + name, "-no" + name};
    set_nargs(flag.spec, "?");
    flag.spec.attached_only = true;
  }
  const Value* fallback = arguments.find("default", 1);
  if (fallback == nullptr) fallback = arguments.named.find("default_value");
  Value given = fallback == nullptr ? Value::none() : *fallback;
  const std::string* text = given.text();
  if (text != nullptr && kind.shape == AbslFlag::Shape::commas) {
    List items;
    for (const auto part : split(*text, ','))
      items.emplace_back(std::string(trim(part)), given.place);
    given = Value::list(std::move(items), given.place);
  } else if (text != nullptr && kind.type != FlagType::text) {
    if (const auto value = read_word(kind.type, {*text, given.place, true})) given = *value;
  }
  flag.fallback = as_fallback(std::move(given), arguments.place);
  flag.spec.required = truth_or(arguments.named.find("required"), false);
  const Value* choices = kind.chooses ? arguments.find("enum_values", 2) : nullptr;
  if (choices != nullptr && choices->items() != nullptr) flag.choices = *choices->items();
  registry(machine)->declare(machine, std::move(flag));
  auto holder = std::make_shared<FlagHolder>();
  holder->flag = name;
  return value_of(holder, arguments.place);
}

Value define_config_dict(Machine& machine, const Arguments& arguments) {
  Arguments declaration = arguments;
  if (const Value* config = arguments.find("config", 1)) declaration.named.set("default", *config);
  return define(machine, declaration,
                {"DEFINE_config_dict", FlagType::text, AbslFlag::Shape::config});
}

Value require(Machine& machine, const Arguments& arguments) {
  const Value* name = arguments.find("flag_name", 0);
  if (name == nullptr) return {};
  if (name->text() != nullptr) registry(machine)->require(*name->text());
  if (name->items() != nullptr) {
    for (const Value& each : *name->items()) registry(machine)->require(text_or(&each));
  }
  return Value::none(arguments.place);
}

Value run(Machine& machine, const Arguments& arguments) {
  const Value* program = arguments.find("main", 0);
  const auto flags = registry(machine);
  flags->parse(machine, program_words(machine));
  const Value target =
      program == nullptr || program->is_none() ? machine.resolve("__main__.main") : *program;
  List argv = *as_list(flags->rest()).items();
  argv.insert(argv.begin(), Value(machine.run().script));
  return machine.call(target, call_with({Value::list(std::move(argv))}, {}, arguments.place));
}

void add_definitions(NativeTable& table, const std::string& module) {
  using Shape = AbslFlag::Shape;
  static const Definition kinds[] = {{"DEFINE_string", FlagType::text, Shape::one},
                                     {"DEFINE_integer", FlagType::integer, Shape::one},
                                     {"DEFINE_float", FlagType::real, Shape::one},
                                     {"DEFINE_bool", FlagType::yes_no, Shape::one},
                                     {"DEFINE_boolean", FlagType::yes_no, Shape::one},
                                     {"DEFINE_enum", FlagType::text, Shape::one, true},
                                     {"DEFINE_enum_class", FlagType::text, Shape::one},
                                     {"DEFINE_list", FlagType::text, Shape::commas},
                                     {"DEFINE_spaceseplist", FlagType::text, Shape::spaces},
                                     {"DEFINE_multi_string", FlagType::text, Shape::repeated},
                                     {"DEFINE_multi_integer", FlagType::integer, Shape::repeated},
                                     {"DEFINE_multi_float", FlagType::real, Shape::repeated},
                                     {"DEFINE_multi_enum", FlagType::text, Shape::repeated, true}};
  for (const Definition& kind : kinds) {
    table[module + "." + std::string(kind.name)] = [kind](Machine& machine,
                                                          const Arguments& arguments) {
      return define(machine, arguments, kind);
    };
  }
  for (const auto* const name : {".mark_flag_as_required", ".mark_flags_as_required"})
    table[module + name] = require;
}

}  // namespace

std::optional<Value> absl_flags(Machine& machine) { return value_of(registry(machine)); }

void add_absl(NativeTable& table) {
  for (const std::string module :
       {"absl.flags", "tensorflow.app.flags", "tensorflow.flags", "tensorflow.compat.v1.flags",
        "tensorflow.compat.v1.app.flags", "tensorflow.python.platform.flags"})
    add_definitions(table, module);
  for (const auto* const name :
       {"absl.app.run", "tensorflow.app.run", "tensorflow.compat.v1.app.run"})
    table[name] = run;
  table["ml_collections.config_flags.DEFINE_config_file"] = [](Machine& machine,
                                                               const Arguments& arguments) {
    return define(machine, arguments,
                  {"DEFINE_config_file", FlagType::text, AbslFlag::Shape::config});
  };
  table["ml_collections.config_flags.DEFINE_config_dict"] = define_config_dict;
  for (const auto* const name : {"DEFINE_config_file", "DEFINE_config_dict"}) {
    table["ml_collections.config_flags.config_flags." + std::string(name)] =
        table["ml_collections.config_flags." + std::string(name)];
  }
}

}  // namespace schedmate::python::natives
