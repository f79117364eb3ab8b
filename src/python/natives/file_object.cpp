// SPDX-License-Identifier: Apache-2.0
#include "python/natives/file_object.hpp"

namespace schedmate::python::natives {
namespace {

constexpr int most_lines = 2000;

std::string line_text(const tree::TextFile& file, int number) {
  return std::string(file.line(number)) + "\n";
}

}  // namespace

Value FileObject::text() const {
  const Place place{file_->path, 1, std::string(file_->line(1)), FactSource::config, {}};
  return {file_->text, std::make_shared<const Place>(place)};
}

std::optional<Value> FileObject::plain() {
  if (file_->lines() > most_lines) return std::nullopt;
  List lines;
  for (int number = 1; number <= file_->lines(); ++number) {
    const Place place{
        file_->path, number, std::string(file_->line(number)), FactSource::config, {}};
    lines.emplace_back(line_text(*file_, number), std::make_shared<const Place>(place));
  }
  return Value::list(std::move(lines));
}

std::optional<Value> FileObject::attribute(Machine&, std::string_view name) {
  const auto self = shared_from_this();
  const auto method = [&](Value (*run)(FileObject&)) {
    return native_function("file." + std::string(name),
                           [self, run](Machine&, const Arguments&) { return run(*self); });
  };
  if (name == "name") return Value(file_->path);
  if (name == "read") return method([](FileObject& file) { return file.text(); });
  if (name == "readlines")
    return method([](FileObject& file) { return file.plain().value_or(Value{}); });
  if (name == "readline")
    return method([](FileObject& file) { return Value(line_text(file.file(), 1)); });
  if (name == "close" || name == "flush" || name == "seek")
    return method([](FileObject&) { return Value::none(); });
  return std::nullopt;
}

Value open_file(Machine& machine, const Value& path, const PlacePtr& place) {
  const auto text = path_text(path);
  const auto inside = text ? tree_path(machine, *text) : std::nullopt;
  if (!inside || !machine.tree().is_file(*inside)) {
    if (text && config::config_format(*text))
      machine.tree().degrade(*text + " is not in the tree: what it sets is not known");
    return unknown(place);
  }
  const auto file = machine.tree().read(*inside);
  return file ? value_of(std::make_shared<FileObject>(*file), place) : unknown(place);
}

Value read_settings(Machine& machine, const Value& from, config::ConfigFormat format,
                    std::string_view how) {
  const auto* file = object_as<FileObject>(from);
  const std::string* text = from.text();
  if (file == nullptr && text == nullptr) return unknown(from.place);
  const std::string name = file != nullptr ? file->file().path
                           : from.place    ? from.place->file
                                           : std::string("<text>");
  auto parsed = config::parse_config(file != nullptr ? file->file().text : *text, format, name);
  if (file != nullptr) config::note_encoding(machine.tree(), file->file());
  if (!parsed) {
    if (file != nullptr || config::config_format(name))
      machine.tree().degrade(parsed.error().message);
    return unknown(from.place);
  }
  // json.loads(f.read()) reads a file as well; a text written in the program is no config.
  const bool of_file = file != nullptr || (from.place && from.place->source == FactSource::config);
  if (of_file) publish_config(machine, how, name, *parsed);
  return *parsed;
}

}  // namespace schedmate::python::natives
