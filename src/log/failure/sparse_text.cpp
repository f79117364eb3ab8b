// SPDX-License-Identifier: Apache-2.0
#include "log/failure/sparse_text.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "log/lines/clean.hpp"
#include "log/lines/template.hpp"

namespace schedmate::failure {
namespace {

bool is_embedded_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Words with one space between; '#', '/' and '\'' of a template are words, and so is the level
/// that the logger gave the line.
std::string plain_words(std::string_view line) {
  const lines::PrefixedLine prefixed = lines::read_prefixes(line);
  std::string words = prefixed.level == 'W' ? "warning " : prefixed.level == 'E' ? "error " : "";
  for (const char c : lines::template_of(prefixed.body.substr(0, most_embedded_text))) {
    if (is_embedded_word_char(c))
      words += c;
    else if (c == '#' || c == '/' || c == '\'')
      words.append(" ").append(1, c).append(" ");
    else
      words += ' ';
  }
  return words;
}

}  // namespace

Sparse sparse_of(const Embedder& embedder, std::string_view line) {
  Sparse made;
  const std::string words = plain_words(line);
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    if (end > at)
      for (const Feature& each : embedder.features(std::string_view(words).substr(at, end - at)))
        made[each.bucket] += each.count;
    at = end + 1;
  }
  return made;
}

Rarity::Rarity(std::span<const Sparse> all) {
  std::map<std::uint32_t, int> seen;
  for (const Sparse& each : all)
    for (const auto& [bucket, count] : each) ++seen[bucket];
  const auto weight = [&](double texts) {
    return static_cast<float>(std::log(1 + static_cast<double>(all.size()) / texts));
  };
  for (const auto& [bucket, texts] : seen) weights_[bucket] = weight(texts);
  unknown_ = weight(1);
}

Sparse Rarity::weighed(const Sparse& vector) const {
  Sparse made;
  double sum = 0;
  for (const auto& [bucket, count] : vector) {
    const auto held = weights_.find(bucket);
    // The square root: the tenth "loss" of a line says less than the first.
    const double value = std::sqrt(static_cast<double>(count)) *
                         static_cast<double>(held == weights_.end() ? unknown_ : held->second);
    made[bucket] = static_cast<float>(value);
    sum += value * value;
  }
  for (auto& [bucket, value] : made) value /= static_cast<float>(std::sqrt(sum));
  return made;
}

double dot(const Sparse& one, const Sparse& other) {
  double sum = 0;
  for (const auto& [bucket, value] : one)
    if (const auto held = other.find(bucket); held != other.end())
      sum += static_cast<double>(value) * static_cast<double>(held->second);
  return sum;
}

}  // namespace schedmate::failure
