// SPDX-License-Identifier: Apache-2.0
/// open(), yaml, json, toml and configparser.
#include <algorithm>

#include "base/text.hpp"
#include "python/natives/attribute_dict.hpp"
#include "python/natives/file_object.hpp"
#include "python/natives/parts.hpp"

namespace schedmate::python::natives {
namespace {

Value open_any(Machine& machine, const Arguments& arguments) {
  const Value* path = arguments.find("file", 0);
  if (path == nullptr) path = arguments.named.find("path");
  const std::string mode = text_or(arguments.find("mode", 1), "r");
  if (path == nullptr || mode.find_first_of("wax") != std::string::npos)
    return unknown(arguments.place);
  return open_file(machine, *path, arguments.place);
}

Native reader(config::ConfigFormat format, std::string how) {
  return [format, how = std::move(how)](Machine& machine, const Arguments& arguments) {
    if (arguments.positional.empty()) return unknown(arguments.place);
    return read_settings(machine, arguments.positional[0], format, how);
  };
}

/// toml.load("file.toml") takes a path where others take an opened file.
Native path_reader(config::ConfigFormat format, std::string how) {
  return [format, how = std::move(how)](Machine& machine, const Arguments& arguments) {
    if (arguments.positional.empty()) return unknown(arguments.place);
    const Value& from = arguments.positional[0];
    const Value file = path_text(from) ? open_file(machine, from, arguments.place) : from;
    return read_settings(machine, file, format, how);
  };
}

/// ruamel's YAML() and the like: an object with load().
struct YamlReader : NativeObject {
  std::string type_name() const override { return "ruamel.yaml.YAML"; }
  std::optional<Value> attribute(Machine&, std::string_view name) override {
    if (name != "load") return std::nullopt;
    return native_function(
        "ruamel.yaml.YAML.load", [](Machine& machine, const Arguments& arguments) {
          return path_reader(config::ConfigFormat::yaml, "ruamel.yaml")(machine, arguments);
        });
  }
  bool set_attribute(Machine&, std::string_view, Value) override { return true; }
};

/// configparser.ConfigParser: texts by section, read as numbers on request.
class IniReader : public NativeObject, public std::enable_shared_from_this<IniReader> {
 public:
  std::string type_name() const override { return "configparser.ConfigParser"; }
  std::optional<Value> plain() override { return sections_; }

  std::optional<Value> item(Machine&, const Value& key) override {
    const Value* section = sections_.entries()->find(key_text(key));
    return section == nullptr ? std::nullopt : std::optional(*section);
  }

  std::optional<Value> attribute(Machine&, std::string_view name) override {
    const auto self = shared_from_this();
    if (name == "read" || name == "read_file") {
      return native_function(
          "configparser.read", [self](Machine& machine, const Arguments& arguments) {
            const auto parsed =
                path_reader(config::ConfigFormat::ini, "configparser")(machine, arguments);
            if (parsed.entries() != nullptr)
              self->sections_ = code::merged(self->sections_, parsed);
            return Value::list({});
          });
    }
    static const std::map<std::string_view, FlagType> types{{"get", FlagType::text},
                                                            {"getint", FlagType::integer},
                                                            {"getfloat", FlagType::real},
                                                            {"getboolean", FlagType::yes_no}};
    if (const auto type = types.find(name); type != types.end()) {
      return native_function(std::string(name),
                             [self, kind = type->second](Machine&, const Arguments& arguments) {
                               return self->get(arguments, kind);
                             });
    }
    if (name == "sections") {
      return native_function("sections", [self](Machine&, const Arguments&) {
        List names;
        for (const auto& [key, value] : self->sections_.entries()->all())
          names.emplace_back(key, value.place);
        return Value::list(std::move(names));
      });
    }
    if (name == "has_option" || name == "has_section") {
      return native_function(std::string(name), [self](Machine&, const Arguments& arguments) {
        return Value(self->look_up(arguments) != nullptr);
      });
    }
    return std::nullopt;
  }

 private:
  const Value* look_up(const Arguments& arguments) const {
    const Value* section = sections_.entries()->find(text_or(arguments.find("section", 0)));
    const Value* option = arguments.find("option", 1);
    if (option == nullptr || section == nullptr || section->entries() == nullptr) return section;
    return section->entries()->find(text_or(option));
  }
  Value get(const Arguments& arguments, FlagType type) const {
    const Value* found = look_up(arguments);
    const Value* fallback = arguments.named.find("fallback");
    if (found == nullptr) return fallback == nullptr ? unknown(arguments.place) : *fallback;
    if (found->text() == nullptr) return *found;
    return read_word(type, {*found->text(), found->place, true}).value_or(unknown(found->place));
  }
  Value sections_ = Value::dict({});
};

}  // namespace

void add_files(NativeTable& table) {
  for (const auto* const name : {"open", "io.open", "codecs.open", "fsspec.open", "smart_open.open",
                                 "tensorflow.io.gfile.GFile", "mmengine.fileio.get_text"})
    table[name] = open_any;
  for (const auto* const name :
       {"yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "ruamel.yaml.load",
        "ruamel.yaml.safe_load", "ruamel.yaml.round_trip_load"})
    table[name] = reader(config::ConfigFormat::yaml, name);
  for (const auto* const name :
       {"json.load", "json.loads", "ujson.load", "ujson.loads", "simplejson.load",
        "simplejson.loads", "commentjson.load", "commentjson.loads", "json5.load", "json5.loads",
        "pyjson5.load", "orjson.loads", "hjson.load", "demjson.decode"})
    table[name] = reader(config::ConfigFormat::json, name);
  for (const auto* const name :
       {"tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads", "toml.loads", "pytoml.load"})
    table[name] = reader(config::ConfigFormat::toml, name);
  table["toml.load"] = path_reader(config::ConfigFormat::toml, "toml.load");
  for (const auto* const name : {"ruamel.yaml.YAML", "yaml.YAML"})
    table[name] = [](Machine&, const Arguments& arguments) {
      return value_of(std::make_shared<YamlReader>(), arguments.place);
    };
  for (const auto* const name : {"configparser.ConfigParser", "configparser.RawConfigParser",
                                 "configparser.SafeConfigParser", "ConfigParser.ConfigParser"})
    table[name] = [](Machine&, const Arguments& arguments) {
      return value_of(std::make_shared<IniReader>(), arguments.place);
    };
}

}  // namespace schedmate::python::natives
