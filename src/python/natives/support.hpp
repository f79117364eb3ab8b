// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the models of outside functions share: reading arguments, turning words into values,
/// showing flags and configs to the observation.

#include "python/objects/native.hpp"

namespace schedmate::python::natives {

/// "int" for the builtin, "torch.float16" for an outside name; "" for anything else.
[[nodiscard]] std::string symbol_name(const Value& value);
[[nodiscard]] std::string text_or(const Value* value, std::string_view otherwise = "");
[[nodiscard]] bool truth_or(const Value* value, bool otherwise);
/// The text of a str or a path object; nothing for what is neither.
[[nodiscard]] std::optional<std::string> path_text(const Value& value);
/// A dict behind a value: itself, or that of an object which stands for one.
[[nodiscard]] Dict* dict_of(const Value& value, Value& holder);
/// The object as a T, or nullptr.
template <class T>
[[nodiscard]] T* object_as(const Value& value) {
  return dynamic_cast<T*>(value.object());
}
template <class T>
[[nodiscard]] Value value_of(std::shared_ptr<T> object, PlacePtr place = {}) {
  return {std::shared_ptr<Object>(std::move(object)), std::move(place)};
}

[[nodiscard]] Arguments call_with(List positional, Dict named = {}, PlacePtr place = {});
[[nodiscard]] Value unknown(PlacePtr place = {});
/// With that place when it has none of its own.
[[nodiscard]] Value placed(Value value, const PlacePtr& place);
/// A default: the place of its declaration, leading on to where the value itself was written.
[[nodiscard]] Value as_fallback(Value value, const PlacePtr& declared);
/// Something that the resource request decides: text "gpus 4".
[[nodiscard]] Value from_request(std::int64_t number, std::string_view what);

enum class FlagType : std::uint8_t { text, integer, real, truthy, yes_no, literal };
/// What a library's parser makes of a word. A word that is not wholly known stays as text where
/// texts are wanted and is unknown elsewhere. Errors: invalid ("'x' is not an integer").
[[nodiscard]] Result<Value> read_word(FlagType type, const command::Word& word);
/// A Python literal; a text that is none stays a text.
[[nodiscard]] Value read_literal(std::string_view text, const PlacePtr& place);
/// `type=` of a flag: a builtin, a class or function of the tree, an outside function.
[[nodiscard]] Result<Value> convert(Machine& machine, const Value& type, const command::Word& word);

/// The words behind sys.argv, without the program; what the program changed there is seen.
[[nodiscard]] std::vector<command::Word> program_words(Machine& machine);
/// The words given as `args` or `argv`, else those behind sys.argv.
[[nodiscard]] std::vector<command::Word> given_words(Machine& machine, const Arguments& arguments);
[[nodiscard]] std::vector<command::Word> as_words(Machine& machine, const Value& list);
[[nodiscard]] Value as_list(const std::vector<command::Word>& words);

/// Puts a flag into the observation (over an older one of that name and owner); its index.
std::size_t publish(Machine& machine, Flag flag);
void publish_config(Machine& machine, std::string_view how, std::string_view file, Value value);

/// The environment that the job sets, as texts.
[[nodiscard]] Dict environment_of(Machine& machine);

/// A path as the program sees it (relative to its folder) as one relative to the root; nothing
/// when it leaves the tree.
[[nodiscard]] std::optional<std::string> tree_path(Machine& machine, std::string_view path);

/// A function or class that decorates: given as the only argument, or called with settings first.
[[nodiscard]] Value returns_first_argument(Machine& machine, const Arguments& arguments);
[[nodiscard]] Value returns_none(Machine& machine, const Arguments& arguments);
[[nodiscard]] Value gives_first(Machine& machine, const Arguments& arguments);

}  // namespace schedmate::python::natives
