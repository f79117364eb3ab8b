// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Places where code or configuration gives a name a value. Only such a place can prove a model's
/// answer: what stands in comments, docstrings, help texts or prose binds nothing.

#include <string>
#include <string_view>
#include <vector>

namespace schedmate::agent {

struct Binding {
  std::string key;    ///< as written: "--batch-size", "batch_size"; "import"; "" for a bare call
  std::string owner;  ///< what the key belongs to: a call, a section, an outer key
  std::vector<std::string> values;  ///< literals and names: "64", "torch.bfloat16"
  std::string callee;               ///< the value is a call of this
  int key_line = 0;
  int value_line = 0;
  std::string where;                   ///< names of functions, classes and targets around it
  std::vector<std::string> chosen_by;  ///< literals that `if x == "literal"` around it asks for
  bool dead = false;                   ///< under `if False` and the like
};
using Bindings = std::vector<Binding>;

enum class TextKind { python, config, shell, other };
/// By the name; `other` cannot prove anything (Markdown, plain text, notebooks, tables).
[[nodiscard]] TextKind text_kind(std::string_view path);

[[nodiscard]] Bindings read_bindings(std::string_view text, TextKind kind);
[[nodiscard]] Bindings python_bindings(std::string_view text);
/// YAML, JSON, TOML and INI alike, line by line, so that broken files work as well.
[[nodiscard]] Bindings config_bindings(std::string_view text);
/// Assignments and flags of shell text; also for a submitted command.
[[nodiscard]] Bindings shell_bindings(std::string_view text);

/// Lower-case letters and digits only: "--Batch-Size" -> "batchsize".
[[nodiscard]] std::string squeezed(std::string_view text);
/// Runs of letters and runs of digits, in lower case: "ViT_Large16" -> vit, large, 16 (a number
/// keeps a decimal point, and a b, m or k at its end).
[[nodiscard]] std::vector<std::string> name_words(std::string_view text);
/// The part behind the last dot.
[[nodiscard]] std::string_view last_part(std::string_view dotted);

}  // namespace schedmate::agent
