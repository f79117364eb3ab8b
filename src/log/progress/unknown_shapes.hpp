// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines that the rules do not read, kept by shape for a ShapeReader. Bounded: the last
/// lines of the shapes that come most often.

#include <deque>
#include <memory>
#include <schedmate/progress.hpp>
#include <string>
#include <vector>

#include "log/progress/reading.hpp"

namespace schedmate {

class UnknownShapes {
 public:
  /// A shape is asked about when `least_lines` of it are there. `words` must outlive this.
  UnknownShapes(std::shared_ptr<ShapeReader> reader, const LogWords& words, std::size_t least_lines)
      : reader_(std::move(reader)), words_(words), least_lines_(least_lines) {}

  /// `reading` is what the rules say of the line; nothing where they say nothing.
  void add(std::uint64_t hash, const Said& said, const Reading* reading);

  /// Asks about what is open in `progress`, and puts in what the lines bear out.
  void fill(Progress& progress);

 private:
  struct KeptLine {
    std::string text;
    std::optional<Stamp> time;
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
  void ask(Shape& shape);

  std::shared_ptr<ShapeReader> reader_;
  const LogWords& words_;
  std::size_t least_lines_;
  std::size_t questions_ = 0;
  std::uint64_t lines_ = 0;
  std::vector<Shape> shapes_;
};

}  // namespace schedmate
