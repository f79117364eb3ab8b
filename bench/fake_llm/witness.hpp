// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stand-ins for a good and a lying model: from labelled jobs and their trees they answer with the
/// labelled value and a line that shows it, or with a wrong value and a line in which its token
/// stands. They look at text only and share no code with what checks them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::bench {

struct LabelledJob {
  std::string id, command, tree, workdir;
  int gpus = 1, nodes = 1;
  std::map<std::string, std::string> labels;  ///< by field of the facts, as text; no nulls
  std::vector<std::string> key_files;
};
/// Lines of JSON as in the labelled sets; `trees` holds OWNER__NAME.
[[nodiscard]] std::vector<LabelledJob> read_jobs(const std::string& path, const std::string& trees);

struct Citation {
  std::string file;
  int line = 0;
};

/// What kind of line a wrong value is taken from.
enum class Ruse : std::uint8_t { comment, prose, other_number, likely };

/// All text files of a tree, read once.
class Library {
 public:
  explicit Library(const std::string& tree);
  /// The line that shows `value` for `field` best; line 0 when there is none.
  [[nodiscard]] Citation proof(const LabelledJob& job, const std::string& field,
                               const std::string& value) const;
  /// A line with the token of a wrong value; line 0 when there is none.
  [[nodiscard]] Citation trap(const LabelledJob& job, Ruse ruse, const std::string& field,
                              const std::string& value) const;

 private:
  struct Text {
    std::string file;
    std::vector<std::string> lines;
  };
  std::vector<Text> texts_;
};

/// A value of the field that is not the labelled one: another job's, or the number changed.
[[nodiscard]] std::string wrong_value(const std::vector<LabelledJob>& jobs, const LabelledJob& job,
                                      const std::string& field, std::uint64_t drawn);

}  // namespace schedmate::bench
