// SPDX-License-Identifier: Apache-2.0
#include "secrets/values.hpp"

#include <bitset>

#include "secrets/words.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t most_compared = 64;

/// Words alone may be a part of a longer one.
bool is_plain_word(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return is_letter(c) || is_among(c, "_-."); });
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  const auto goes_on = [](char c) { return is_word(c) || c == '-'; };
  return (begin == 0 || !goes_on(text[begin - 1])) && !goes_on(at_or_nul(text, end));
}

/// The values that begin with the letters from `at` on, narrowed letter by letter: the longest of
/// them that is whole.
std::size_t longest_at(std::string_view text, std::size_t at,
                       std::span<const std::string_view> values) {
  std::size_t best = 0;
  const std::size_t most = std::min(text.size() - at, most_compared);
  for (std::size_t depth = 0; depth < most && !values.empty(); ++depth) {
    const auto letter = [&](std::string_view value) {
      return depth < value.size() ? static_cast<int>(static_cast<unsigned char>(value[depth])) : -1;
    };
    const int wanted = static_cast<unsigned char>(text[at + depth]);
    const auto alike = std::ranges::equal_range(values, wanted, {}, letter);
    values = {alike.begin(), alike.end()};
    if (values.empty()) break;
    const std::string_view first = values.front();
    if (first.size() == depth + 1 || depth + 1 == most_compared) best = depth + 1;
  }
  if (best < most_compared || values.empty()) return best;
  const std::string_view whole = values.front();
  while (best < whole.size() && at + best < text.size() && text[at + best] == whole[best]) ++best;
  return best;
}

}  // namespace

bool is_telling(std::string_view value) {
  if (is_identifier(value) && kind_of_name(value) != SecretKind::none) return false;
  if (value.size() < 6 || is_placeholder(value, true) || is_common_word(value) || is_path(value))
    return false;
  std::bitset<256> letters;
  for (const char c : value.substr(0, 200)) letters.set(static_cast<unsigned char>(c));
  const bool has_digit = std::ranges::any_of(value, is_digit);
  const bool has_letter = std::ranges::any_of(value, is_letter);
  if (letters.count() < (value.size() >= 16 ? 3U : 4U)) return false;
  if (has_digit && has_letter) return true;
  return value.size() >= (has_digit ? 8U : 10U);
}

void find_values(std::string_view text, std::span<const std::string_view> values, Spans& found) {
  if (values.empty()) return;
  std::vector<bool> begins(65536);
  for (const std::string_view value : values) begins[pair_of(value, 0)] = true;
  for (std::size_t at = 0; at + 1 < text.size();) {
    const std::size_t size = begins[pair_of(text, at)] ? longest_at(text, at, values) : 0;
    const bool masks = size > 0 && ((size >= 12 && !is_plain_word(text.substr(at, size))) ||
                                    stands_alone(text, at, at + size));
    if (masks) found.push_back({at, at + size});
    at += masks ? size : 1;
  }
}

}  // namespace schedmate::secrets
