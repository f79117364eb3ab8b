// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines that the rules do not read, kept by shape until somebody is asked about them. Bounded: the
/// last lines of the shapes that come most often, and few questions.

#include <deque>
#include <optional>
#include <schedmate/line_shape.hpp>
#include <string>
#include <vector>

#include "log/progress/reading.hpp"

namespace schedmate::progress {

class UnknownShapes {
 public:
  /// A shape is asked about when `least_lines` of it are there. `words` must outlive this.
  UnknownShapes(const LogWords& words, std::size_t least_lines)
      : words_(&words), least_lines_(least_lines) {}

  /// `reading` is what the rules say of the line; nothing where they say nothing.
  void add(std::uint64_t hash, const lines::PrefixedLine& line, const Reading* reading);

  /// Puts into `progress` what is open there and the answers so far give.
  void fill(Progress& progress) const;
  /// What to ask next, for what is open in `progress`; nothing when nothing more is worth it. One
  /// at a time, since an answer may make the next question pointless.
  [[nodiscard]] std::optional<LineShape> open_question(Progress progress) const;
  /// The answer to it, held against all lines of the shape; nothing: nobody knows.
  std::optional<CheckedMeaning> answer(std::uint64_t hash, const std::optional<LineMeaning>& given);

 private:
  struct KeptLine {
    std::string text;
    std::optional<lines::Stamp> time;
    std::optional<double> step;
  };
  struct Shape {
    std::uint64_t hash = 0;
    std::deque<KeptLine> lines;
    std::uint64_t newest = 0;  ///< number of its last line
    bool asked = false;
    LineMeaning meaning;
  };

  Shape* shape(std::uint64_t hash);
  [[nodiscard]] std::vector<const Shape*> by_size() const;
  [[nodiscard]] LineShape question_of(const Shape& shape) const;
  /// Every answer that is worth it; stops at a shape for which `stop` is true.
  template <class Stop>
  const Shape* fill_until(Progress& progress, const Stop& stop) const;

  const LogWords* words_;
  std::size_t least_lines_;
  std::size_t questions_ = 0;
  std::uint64_t lines_ = 0;
  std::vector<Shape> shapes_;
};

}  // namespace schedmate::progress
