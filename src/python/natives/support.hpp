// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the models of outside functions share: reading arguments, turning words into values,
/// showing flags and configs to the observation.

#include "python/objects/native.hpp"

namespace schedmate::natives {

/// "int" for the builtin, "torch.float16" for an outside name; "" for anything else.
[[nodiscard]] std::string symbol_name(const code::Value& value);
[[nodiscard]] std::string text_or(const code::Value* value, std::string_view otherwise = "");
[[nodiscard]] bool truth_or(const code::Value* value, bool otherwise);
/// The text of a str or a path object; nothing for what is neither.
[[nodiscard]] std::optional<std::string> path_text(const code::Value& value);
/// A dict behind a value: itself, or that of an object which stands for one.
[[nodiscard]] code::Dict* dict_of(const code::Value& value, code::Value& holder);
/// The object as a T, or nullptr.
template <class T>
[[nodiscard]] T* object_as(const code::Value& value) {
  return dynamic_cast<T*>(value.object());
}
template <class T>
[[nodiscard]] code::Value value_of(std::shared_ptr<T> object, code::PlacePtr place = {}) {
  return {std::shared_ptr<code::Object>(std::move(object)), std::move(place)};
}

[[nodiscard]] python::Arguments call_with(code::List positional, code::Dict named = {},
                                          code::PlacePtr place = {});
[[nodiscard]] code::Value unknown(code::PlacePtr place = {});
/// With that place when it has none of its own.
[[nodiscard]] code::Value placed(code::Value value, const code::PlacePtr& place);
/// A default: the place of its declaration, leading on to where the value itself was written.
[[nodiscard]] code::Value as_fallback(code::Value value, const code::PlacePtr& declared);
/// Something that the resource request decides: text "gpus 4".
[[nodiscard]] code::Value from_request(std::int64_t number, std::string_view what);

enum class FlagType : std::uint8_t { text, integer, real, truthy, yes_no, literal };
/// What a library's parser makes of a word. A word that is not wholly known stays as text where
/// texts are wanted and is unknown elsewhere. Errors: invalid ("'x' is not an integer").
[[nodiscard]] Result<code::Value> read_word(FlagType type, const command::Word& word);
/// A Python literal; a text that is none stays a text.
[[nodiscard]] code::Value read_literal(std::string_view text, const code::PlacePtr& place);
/// `type=` of a flag: a builtin, a class or function of the tree, an outside function.
[[nodiscard]] Result<code::Value> convert(python::Machine& machine, const code::Value& type,
                                          const command::Word& word);

/// The words behind sys.argv, without the program; what the program changed there is seen.
[[nodiscard]] std::vector<command::Word> program_words(python::Machine& machine);
/// The words given as `args` or `argv`, else those behind sys.argv.
[[nodiscard]] std::vector<command::Word> given_words(python::Machine& machine,
                                                     const python::Arguments& arguments);
[[nodiscard]] std::vector<command::Word> as_words(python::Machine& machine,
                                                  const code::Value& list);
[[nodiscard]] code::Value as_list(const std::vector<command::Word>& words);

/// Puts a flag into the observation (over an older one of that name and owner); its index.
std::size_t publish(python::Machine& machine, python::Flag flag);
void publish_config(python::Machine& machine, std::string_view how, std::string_view file,
                    code::Value value);

/// The environment that the job sets, as texts.
[[nodiscard]] code::Dict environment_of(python::Machine& machine);

/// A path as the program sees it (relative to its folder) as one relative to the root; nothing
/// when it leaves the tree.
[[nodiscard]] std::optional<std::string> tree_path(python::Machine& machine, std::string_view path);

/// A function or class that decorates: given as the only argument, or called with settings first.
[[nodiscard]] code::Value returns_first_argument(python::Machine& machine,
                                                 const python::Arguments& arguments);
[[nodiscard]] code::Value returns_none(python::Machine& machine,
                                       const python::Arguments& arguments);
[[nodiscard]] code::Value gives_first(python::Machine& machine, const python::Arguments& arguments);

}  // namespace schedmate::natives
