// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many phrases looked for in one text at once, as the rule tables write them: case does not
/// matter, a phrase stands at whole words, `*` at an end leaves that end open, `^` and `$` bind it
/// to the begin and the end of the text; a `*` within stands for anything. At least three
/// characters before the first of these.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::lines {

/// Which phrases were found, by their numbers.
class Found {
 public:
  explicit Found(std::size_t phrases) : bits_(phrases / 64 + 1) {}
  void add(std::uint32_t phrase) { bits_[phrase / 64] |= std::uint64_t{1} << (phrase % 64); }
  [[nodiscard]] bool has(std::uint32_t phrase) const {
    return ((bits_[phrase / 64] >> (phrase % 64)) & 1U) != 0;
  }
  [[nodiscard]] bool has_any(const std::vector<std::uint32_t>& phrases) const;
  [[nodiscard]] bool has_all(const std::vector<std::uint32_t>& phrases) const;

 private:
  std::vector<std::uint64_t> bits_;
};

class Phrases {
 public:
  static constexpr std::size_t least = 3;
  /// The number of a phrase; equal phrases have one. 0 for one that is too short.
  std::uint32_t add(std::string_view written);
  [[nodiscard]] Found find(std::string_view text) const;
  void find(std::string_view text, Found& found) const;
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  struct Phrase {
    std::string written, text;
    std::vector<std::string> then;  ///< pieces that follow, in this order
    bool open_left = false, open_right = false, at_begin = false, at_end = false;
    std::uint32_t next = 0;
  };
  [[nodiscard]] static std::size_t bucket_of(const char* text);
  [[nodiscard]] static bool fits(const Phrase& phrase, std::string_view text, std::size_t at);

  std::vector<Phrase> all_{Phrase{}};  ///< 0 is nobody's
  std::array<std::uint32_t, 4096> first_{};
};

}  // namespace schedmate::lines
