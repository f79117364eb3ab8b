// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "python/interpreter/interpreter.hpp"
#include "python/interpreter/observe.hpp"
#include "python/objects/release.hpp"

namespace schedmate::python {
namespace {

constexpr int longest_chain = 20;

/// mmengine's merge: dicts are joined unless the upper one says _delete_; all else is replaced.
Value merged_config(const Value& below, const Value& above) {
  const Dict* over = above.entries();
  if (below.entries() == nullptr || over == nullptr) return above.deep_copy();
  const Value* drop = over->find("_delete_");
  const bool replace = drop != nullptr && drop->truth() == true;
  Value result = replace ? Value::dict({}, above.place) : below.deep_copy();
  for (const auto& [key, value] : over->all()) {
    if (key == "_delete_") continue;
    const Value* old = result.entries()->find(key);
    result.entries()->set(key, merged_config(old == nullptr ? Value{} : *old, value));
  }
  return result;
}

/// Text with mmengine's {{fileDirname}} and the like replaced by what they stand for.
void fill_in(Value& value, const std::string& file, int depth) {
  if (depth > 40) return;
  if (Dict* dict = value.entries()) {
    for (const auto& entry : dict->all()) fill_in(*dict->find(entry.key), file, depth + 1);
  } else if (List* list = value.items()) {
    for (Value& item : *list) fill_in(item, file, depth + 1);
  } else if (auto* text = std::get_if<std::string>(&value.data)) {
    const auto slash = file.rfind('/');
    const std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
    const std::pair<std::string, std::string> words[] = {
        {"fileDirname", tree::folder_of(file)},
        {"fileBasename", base},
        {"fileBasenameNoExtension", base.substr(0, base.rfind('.'))},
        {"fileExtname", ".py"}};
    for (const auto& [word, meaning] : words) {
      for (const auto& mark : {"{{ " + word + " }}", "{{" + word + "}}"}) {
        const auto at = text->find(mark);
        if (at != std::string::npos) text->replace(at, mark.size(), meaning);
      }
    }
  }
}

/// Whether a value belongs into a config: data, down to its leaves.
bool is_plain(const Value& value) { return value.object() == nullptr; }

/// Classes and functions become their dotted names, as mmengine's new configs have them.
Value without_objects(const Value& value, int depth) {
  if (depth > 40) return {};
  if (const List* list = value.items()) {
    List items;
    for (const Value& item : *list) items.push_back(without_objects(item, depth + 1));
    return Value::list(std::move(items), value.place);
  }
  if (const Dict* dict = value.entries()) {
    Dict entries;
    for (const auto& [key, item] : dict->all()) entries.set(key, without_objects(item, depth + 1));
    return Value::dict(std::move(entries), value.place);
  }
  if (const auto* outside = as<Symbol>(value)) return {outside->name, value.place};
  if (const auto* type = as<Class>(value)) return {type->name, value.place};
  return value.object() == nullptr ? value : Value(Unknown{}, value.place);
}

struct ConfigReader {
  tree::Tree& tree;
  std::vector<std::string> chain;

  Result<Value> read(const std::string& file) {
    if (chain.size() > longest_chain || std::ranges::find(chain, file) != chain.end())
      return fail(ErrorCode::invalid, fmt::format("{}: its _base_ files lead back to it", file));
    chain.push_back(file);
    auto value = run(file);
    chain.pop_back();
    return value;
  }

  Result<Value> bases_of(const Value& bases, const std::string& file) {
    Value all = Value::dict({});
    List names = bases.items() != nullptr ? *bases.items() : List{bases};
    for (const Value& name : names) {
      if (name.text() == nullptr) continue;
      auto path = tree.locate(tree::folder_of(file), *name.text());
      if (!path || !tree.is_file(*path)) {
        tree.degrade(fmt::format("{}: its _base_ {} is not in the tree", file, *name.text()));
        continue;
      }
      auto base = path->ends_with(".py") ? read(*path) : config::read_config_chain(tree, *path);
      if (!base) return base;
      all = merged_config(all, *base);
    }
    return all;
  }

  Result<Value> run(const std::string& file) {
    PythonRun settings;
    settings.script = file;
    settings.cwd = tree::folder_of(file);
    settings.steps = 100'000;
    Interpreter interpreter(tree, settings);
    interpreter.literal_source = FactSource::config;
    interpreter.config_bases = std::make_shared<Value>(Value::dict({}));
    std::optional<Error> wrong;
    interpreter.on_base = [&](const Value& bases) {
      auto all = bases_of(bases, file);
      if (all) {
        *interpreter.config_bases = *all;
      } else {
        wrong = all.error();
      }
    };
    const auto done = interpreter.run_entry();
    if (!done) return tl::unexpected(done.error());
    if (wrong) return tl::unexpected(*wrong);
    Dict own;
    for (const auto& [name, value] : interpreter.entry_names().all()) {
      const bool config = !name.starts_with("_") && is_plain(value);
      if (config) own.set(name, value);
    }
    Value whole = Value::dict(std::move(own));
    cut_circles(whole);
    whole = without_objects(whole, 0);
    fill_in(whole, file, 0);
    return merged_config(*interpreter.config_bases, whole);
  }
};

}  // namespace

Result<Value> Interpreter::read_config(std::string_view path) {
  return read_python_config(tree_, path);
}

Result<Value> read_python_config(tree::Tree& tree, std::string_view path) {
  auto file = tree.locate("", path);
  if (!file) return tl::unexpected(file.error());
  return ConfigReader{tree, {}}.read(*file);
}

}  // namespace schedmate::python
