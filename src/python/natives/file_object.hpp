// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An opened text file of the tree.

#include "python/natives/support.hpp"

namespace schedmate::python::natives {

class FileObject : public NativeObject, public std::enable_shared_from_this<FileObject> {
 public:
  explicit FileObject(const tree::TextFile* file) : file_(file) {}
  [[nodiscard]] std::string type_name() const override { return "io.TextIOWrapper"; }
  std::optional<Value> attribute(Machine& machine, std::string_view name) override;
  std::optional<Value> plain() override;  ///< its lines, where there are not too many
  [[nodiscard]] const tree::TextFile& file() const { return *file_; }
  [[nodiscard]] Value text() const;

 private:
  const tree::TextFile* file_;
};

/// The file behind open(path) or a path; unknown when it is not in the tree.
[[nodiscard]] Value open_file(Machine& machine, const Value& path, const PlacePtr& place);
/// What a reader is given, parsed: an opened file or the text itself.
[[nodiscard]] Value read_settings(Machine& machine, const Value& from, config::ConfigFormat format,
                                  std::string_view how);

}  // namespace schedmate::python::natives
