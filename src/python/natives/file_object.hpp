// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An opened text file of the tree.

#include "python/natives/support.hpp"

namespace schedmate::natives {

class FileObject : public python::NativeObject, public std::enable_shared_from_this<FileObject> {
 public:
  explicit FileObject(const tree::TextFile* file) : file_(file) {}
  [[nodiscard]] std::string type_name() const override { return "io.TextIOWrapper"; }
  std::optional<code::Value> attribute(python::Machine& machine, std::string_view name) override;
  std::optional<code::Value> plain() override;  ///< its lines, where there are not too many
  [[nodiscard]] const tree::TextFile& file() const { return *file_; }
  [[nodiscard]] code::Value text() const;

 private:
  const tree::TextFile* file_;
};

/// The file behind open(path) or a path; unknown when it is not in the tree.
[[nodiscard]] code::Value open_file(python::Machine& machine, const code::Value& path,
                                    const code::PlacePtr& place);
/// What a reader is given, parsed: an opened file or the text itself.
[[nodiscard]] code::Value read_settings(python::Machine& machine, const code::Value& from,
                                        config::ConfigFormat format, std::string_view how);

}  // namespace schedmate::natives
