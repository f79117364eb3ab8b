// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names as they stand in code, hub ids and paths, made comparable: "ResNet-50", "resnet_50" and
/// "resnet50" are one key. A name is found within a text at whole words only.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace schedmate::facts {

/// A run of letters or digits, in lower case; "6.7" is one. `opens` is true where something other
/// than a letter or digit stands before it; "GPT2LMHead" has one opening token and four others.
struct NameToken {
  std::string text;
  bool opens = true;
  bool is_number = false;
  std::size_t part = 0;  ///< number of the path component
};
[[nodiscard]] std::vector<NameToken> name_tokens(std::string_view text);

/// The key of tokens [first, last]: joined, with '_' between two numbers ("llama-2-7b" is
/// "llama2_7b").
[[nodiscard]] std::string name_key(const std::vector<NameToken>& tokens, std::size_t first,
                                   std::size_t last);
[[nodiscard]] std::string name_key(std::string_view text);

/// "7b", "6.7B", "350m", "1b1" behind token `after`: millions, and as written ("6.7B").
struct SizeInName {
  double millions = 0;
  std::string text;
};
[[nodiscard]] std::optional<SizeInName> size_behind(const std::vector<NameToken>& tokens,
                                                    std::size_t after);

/// What a key stands for.
struct NameEntry {
  std::size_t row = 0;
  std::optional<std::size_t> member{};  ///< of the row's sizes
  bool weak = false;                    ///< a common word: counts only as a whole name
  bool sized = false;                   ///< of a family whose sizes follow the name
};

struct NameHit {
  const NameEntry* entry = nullptr;
  std::optional<SizeInName> size;
};

class NameIndex {
 public:
  /// The entry that holds the key already, when it is of another row.
  [[nodiscard]] const NameEntry* add(std::string_view name, NameEntry entry);
  void remove_row(std::size_t row);
  [[nodiscard]] const NameEntry* find(std::string_view name) const;
  /// The longest name within the text, of equals the last. `endings` are words that may follow in
  /// the same word, as "For" does in BertForMaskedLM.
  [[nodiscard]] std::optional<NameHit> search(std::string_view text,
                                              const std::vector<std::string_view>& endings) const;

 private:
  std::unordered_map<std::string, NameEntry> entries_;
  std::size_t longest_ = 0;  ///< tokens of the longest name
};

}  // namespace schedmate::facts
