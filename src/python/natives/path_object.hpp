// SPDX-License-Identifier: Apache-2.0
#pragma once

/// pathlib.Path. Paths stay as short as they are written; `.` is the program's folder, and what is
/// made absolute stays relative to it, so that a path of the tree remains one.

#include "python/natives/support.hpp"

namespace schedmate::python::natives {

class PathObject : public NativeObject {
 public:
  PathObject(std::string text, PlacePtr place) : text_(std::move(text)), place_(std::move(place)) {}
  [[nodiscard]] std::string type_name() const override { return "pathlib.Path"; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;
  std::optional<Value> plain() override { return Value(text_, place_); }

 private:
  [[nodiscard]] std::optional<Value> part(std::string_view name) const;
  std::string text_;
  PlacePtr place_;
};

/// As os.path.join, dirname, basename, splitext and normpath have it.
[[nodiscard]] std::string joined_path(std::string_view a, std::string_view b);
[[nodiscard]] std::string parent_path(std::string_view path);
[[nodiscard]] std::string last_part(std::string_view path);
[[nodiscard]] std::size_t suffix_at(std::string_view path);  ///< of ".txt"; the size when none
[[nodiscard]] std::string normal_path(std::string_view path);

enum class PathKind : std::uint8_t { any, file, folder };
/// Yes when it is in the tree, no for an empty path; else unknown: it may be outside.
[[nodiscard]] Value path_exists(Machine& machine, const Value& path, PathKind kind);
/// Entries of a folder of the tree that match a pattern with * and ?, ** for any depth.
[[nodiscard]] Value matching_paths(Machine& machine, std::string_view pattern,
                                   const PlacePtr& place);

}  // namespace schedmate::python::natives
