// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "python/natives/parts.hpp"
#include "python/natives/typed_flags.hpp"

namespace schedmate::python::natives {

namespace {

/// What programs ask of TrainingArguments to choose their way, as it is when nothing is said.
Dict decisive_defaults(Machine& machine) {
  Dict fields;
  for (const auto* const name : {"do_train", "do_eval", "do_predict", "overwrite_output_dir",
                                 "push_to_hub", "gradient_checkpointing"})
    fields.set(name, Value(false));
  fields.set("resume_from_checkpoint", Value::none());
  fields.set("should_log", Value(true));
  fields.set("local_rank", Value(std::int64_t{0}));
  fields.set("process_index", Value(std::int64_t{0}));
  fields.set("local_process_index", Value(std::int64_t{0}));
  fields.set("seed", Value(std::int64_t{42}));
  fields.set("world_size", from_request(machine.run().processes, "processes"));
  return fields;
}

bool extends_training_arguments(std::string_view name) {
  return name.ends_with("TrainingArguments") || name.starts_with("trl.");
}

/// HfArgumentParser and TrlParser: dataclasses of the tree get their fields, outside ones all
/// flags that no dataclass of the tree owns.
class DataclassParser : public NativeObject, public std::enable_shared_from_this<DataclassParser> {
 public:
  DataclassParser(std::string type, List classes)
      : type_(std::move(type)), classes_(std::move(classes)) {}
  std::string type_name() const override { return type_; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;

 private:
  struct Part {
    Value type;
    std::string outside;  ///< the dotted name that leftover flags belong to, "" when closed
    TypedFlags flags;
    Dict fields;
  };
  std::vector<Part> parts(Machine& machine) const;
  Value parse(Machine& machine, const Arguments& arguments, bool with_rest);
  Value from_settings(Machine& machine, const Value& settings, const Arguments& arguments,
                      std::vector<command::Word> words = {}) const;
  Value finish(Machine& machine, std::vector<Part>& parts, const Dict& loose) const;
  std::vector<command::Word> overlay_config(Machine& machine, std::vector<Part>& parts, Dict& loose,
                                            std::vector<command::Word> words) const;

  std::string type_;
  List classes_;
};

std::vector<DataclassParser::Part> DataclassParser::parts(Machine& machine) const {
  std::vector<Part> parts;
  for (const Value& type : classes_) {
    Part part{type, "", TypedFlags({.booleans = TypedStyle::Booleans::both}), {}};
    if (const auto view = machine.type(type)) {
      part.flags.add(machine, *view);
      const auto base = std::ranges::find_if(view->bases, extends_training_arguments);
      if (base != view->bases.end()) part.outside = *base;
    } else {
      part.outside = symbol_name(type);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Instances in the order of the classes; `loose` are settings that no dataclass of the tree owns.
Value DataclassParser::finish(Machine& machine, std::vector<Part>& parts, const Dict& loose) const {
  const auto first =
      std::ranges::find_if(parts, [](const Part& part) { return !part.outside.empty(); });
  if (first != parts.end()) {
    for (const auto& [name, value] : loose.all())
      publish(machine, {name, value, {}, true, true, first->outside, value.place});
  }
  List made;
  for (Part& part : parts) {
    Dict fields = part.outside.empty() ? Dict{} : decisive_defaults(machine);
    if (!part.outside.empty()) {
      for (const auto& [name, value] : loose.all()) fields.set(name, value);
    }
    for (const auto& [name, value] : part.fields.all()) fields.set(name, value);
    const bool of_tree = machine.type(part.type).has_value();
    made.push_back(of_tree ? machine.instance(part.type, std::move(fields))
                           : machine.instance(Value(part.outside), std::move(fields)));
  }
  return Value::list(std::move(made));
}

/// TrlParser's --config FILE: its entries stand below the words.
std::vector<command::Word> DataclassParser::overlay_config(Machine& machine,
                                                           std::vector<Part>& parts, Dict& loose,
                                                           std::vector<command::Word> words) const {
  const auto at = std::ranges::find(words, "--config", &command::Word::text);
  if (!type_.starts_with("trl.") || at == words.end() || at + 1 == words.end()) return words;
  const auto path = tree_path(machine, (at + 1)->text);
  words.erase(at, at + 2);
  const auto settings =
      path ? config::read_config(machine.tree(), *path) : fail(ErrorCode::not_found, "");
  if (!settings || settings->entries() == nullptr) return words;
  publish_config(machine, "trl.TrlParser", *path, *settings);
  for (Part& part : parts) part.flags.overlay(*settings);
  loose = *settings->entries();
  return words;
}

Value DataclassParser::parse(Machine& machine, const Arguments& arguments, bool with_rest) {
  const Value* own = arguments.find("args", 0);
  const bool given = own != nullptr && own->items() != nullptr;
  auto words = given ? as_words(machine, *own) : program_words(machine);
  auto all = parts(machine);
  Dict loose;
  words = overlay_config(machine, all, loose, std::move(words));
  const bool open =
      std::ranges::any_of(all, [](const Part& part) { return !part.outside.empty(); });
  bool certain = true;
  for (Part& part : all) {
    const TypedValues values = part.flags.parse(machine, words);
    part.flags.show(machine, values);
    part.fields = part.flags.fields(machine, values);
    for (const TypedFlag& flag : part.flags.flags()) loose.erase(flag.path);
    words = values.leftover;
    certain = certain && values.certain;
  }
  if (open) {
    const Dict typed = loose_flags(words);
    for (const auto& [name, value] : typed.all()) loose.set(name, value);
    std::erase_if(words, [](const command::Word& word) { return word.text.starts_with("--"); });
  } else if (!with_rest && certain && !words.empty() && words.front().known) {
    machine.refuse("no flag or place for the argument '" + words.front().text + "'",
                   words.front().place);
  }
  Value made = finish(machine, all, loose);
  if (with_rest) made.items()->push_back(as_list(words));
  return placed(made, arguments.place);
}

/// `words` stand above the settings: `train.py config.yaml --num_train_epochs=2` is merged by
/// parsers that many projects derive.
Value DataclassParser::from_settings(Machine& machine, const Value& settings,
                                     const Arguments& arguments,
                                     std::vector<command::Word> words) const {
  if (settings.entries() == nullptr) return unknown(arguments.place);
  auto all = parts(machine);
  Dict loose = *settings.entries();
  for (Part& part : all) {
    part.flags.overlay(settings);
    const TypedValues values = part.flags.parse(machine, words);
    part.flags.show(machine, values);
    part.fields = part.flags.fields(machine, values);
    for (const TypedFlag& flag : part.flags.flags()) loose.erase(flag.path);
    words = values.leftover;
  }
  const Dict typed = loose_flags(words);
  for (const auto& [name, value] : typed.all()) loose.set(name, value);
  return placed(finish(machine, all, loose), arguments.place);
}

std::optional<Value> DataclassParser::attribute(Machine&, std::string_view name) {
  const auto self = shared_from_this();
  if (name == "parse_args_into_dataclasses" || name == "parse_args" ||
      name == "parse_args_and_config") {
    return native_function(std::string(name), [self](Machine& machine, const Arguments& arguments) {
      const Value* rest = arguments.named.find("return_remaining_strings");
      const bool with_rest = truth_or(rest, false);
      return self->parse(machine, arguments, with_rest);
    });
  }
  if (name == "parse_json_file" || name == "parse_yaml_file") {
    return native_function(std::string(name), [self](Machine& machine, const Arguments& arguments) {
      const Value* file = arguments.find("json_file", 0);
      if (file == nullptr) file = arguments.named.find("yaml_file");
      const auto text = file == nullptr ? std::nullopt : path_text(*file);
      const auto path = text ? tree_path(machine, *text) : std::nullopt;
      const auto settings =
          path ? config::read_config(machine.tree(), *path) : fail(ErrorCode::not_found, "");
      if (!settings) return unknown(arguments.place);
      publish_config(machine, "transformers.HfArgumentParser", *path, *settings);
      auto words = program_words(machine);
      std::erase_if(words, [&](const command::Word& word) { return word.text == *text; });
      return self->from_settings(machine, *settings, arguments, std::move(words));
    });
  }
  if (name == "parse_dict") {
    return native_function(std::string(name), [self](Machine& machine, const Arguments& arguments) {
      const Value* given = arguments.find("args", 0);
      Value holder;
      const Dict* dict = given == nullptr ? nullptr : dict_of(*given, holder);
      return dict == nullptr ? unknown(arguments.place)
                             : self->from_settings(machine, Value::dict(*dict), arguments);
    });
  }
  return std::nullopt;
}

}  // namespace

void add_hf_parsers(NativeTable& table) {
  for (const std::string name :
       {"transformers.HfArgumentParser", "trl.TrlParser",
        "transformers.hf_argparser.HfArgumentParser", "trl.commands.cli_utils.TrlParser"}) {
    table[name] = [name](Machine&, const Arguments& arguments) {
      const Value* types = arguments.find("dataclass_types", 0);
      List classes;
      if (types != nullptr && types->items() != nullptr) classes = *types->items();
      if (types != nullptr && types->object() != nullptr) classes = {*types};
      return value_of(std::make_shared<DataclassParser>(name, std::move(classes)), arguments.place);
    };
  }
}

}  // namespace schedmate::python::natives
