// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Python does with values that run nothing of the program: equality, slices, methods of text,
/// builtins, binding of parameters.

#include "python/objects/values.hpp"

namespace schedmate::python {

/// As Python's str() for dict keys: "1", "None", "torch.nn.ReLU".
[[nodiscard]] std::string dict_key(const Value& key);
/// Python's ==; nothing when it is not known.
[[nodiscard]] std::optional<bool> equal_values(const Value& a, const Value& b);

/// What the parameters of a function become in a call.
void bind_parameters(const Function& function, const Arguments& given, Dict& names);
/// type(value).
[[nodiscard]] Value type_of(const Value& value);

struct SliceEnds {
  std::optional<std::int64_t> first, last;
  std::int64_t step = 1;
};
/// text[a:b:c] or list[a:b:c].
[[nodiscard]] Value sliced(const Value& of, const SliceEnds& ends);

/// Methods of text, as Python's str; nothing when not modelled or not known.
[[nodiscard]] std::optional<Value> text_method(const std::string& self, std::string_view name,
                                               const Arguments& arguments);
[[nodiscard]] bool is_text_method(std::string_view name);
[[nodiscard]] bool is_data_method(const Value& of, std::string_view name);
/// format(value, how); nothing when it is not modelled.
[[nodiscard]] std::optional<std::string> format_value(const Value& value, std::string_view how);

/// The model of a builtin such as "len"; nullptr when there is none.
[[nodiscard]] const Native* find_builtin(std::string_view name);
/// Names that exist without import and are not modelled: types and exceptions.
[[nodiscard]] bool is_builtin_name(std::string_view name);
/// "torch.optim.adamw.AdamW" -> "torch.optim.AdamW" and the like.
[[nodiscard]] std::string canonical(std::string name);
/// Its class extends dict: its entries are its fields.
[[nodiscard]] bool is_dict(const Thing& thing);
[[nodiscard]] std::shared_ptr<Thing> make_thing(Class* type);

}  // namespace schedmate::python
