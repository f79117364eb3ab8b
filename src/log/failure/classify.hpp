// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What kind of line a log line is (paper 3.3, Log Classifier). A classifier is asked once for each
/// template; LineKinds keeps the answers.

#include <functional>
#include <optional>
#include <schedmate/diagnosis.hpp>
#include <schedmate/embed.hpp>
#include <schedmate/result.hpp>
#include <span>
#include <string>
#include <string_view>

#include "log/lines/template.hpp"

namespace schedmate::failure {

enum class LineKind : std::uint8_t { failure, warning, progress, other };
[[nodiscard]] std::string_view name_of(LineKind kind);
[[nodiscard]] std::optional<LineKind> kind_named(std::string_view name);

/// What a line does to the lines around it.
enum class LineMark : std::uint8_t {
  none,
  traceback,   ///< "Traceback (most recent call last):"
  frame,       ///< "  File "x.py", line 3, in f"
  handles,     ///< "During handling of the above exception, another exception occurred:"
  follows,     ///< "The above exception was the direct cause of the following exception:"
  ignores,     ///< "Exception ignored in: <...>": the next traceback did no harm
  announces,   ///< "Last error:": the next line says what happened
  quotes,      ///< "RemoteTraceback:": what is quoted was raised by another process
  starts_run,  ///< a launcher or shell restarts
};

struct LineVerdict {
  LineKind kind = LineKind::other;
  LineMark mark = LineMark::none;
  LineRole role = LineRole::cause;
  /// How surely a failure line names the cause: 4 hardware, system or scheduler say so; 3 an
  /// exception or a program's own last word; 2 an end without its reason; 1 a word like "error".
  std::uint8_t weight = 0;
};

/// Pure: the same answer for every line of one template.
using ClassifyLine = std::function<LineVerdict(std::string_view state)>;

struct ClassifierInput {
  std::string rules{};                 ///< folder that adds rows, "" = none
  const Embedder* embedder = nullptr;  ///< of `embedding`; the classifier keeps a copy
  /// Called with the reason why a line could not be judged (a server that is away); such a line is
  /// `other`.
  std::function<void(const Error&)> report{};
};

struct ClassifierRow {
  std::string_view name;
  std::string_view summary;
  /// Errors: as rule_rows(); of `embedding` also those of the embedder.
  Result<ClassifyLine> (*make)(const ClassifierInput& input);
};
[[nodiscard]] std::span<const ClassifierRow> classifier_rows();
/// Errors: not_found, naming the nearest.
[[nodiscard]] Result<const ClassifierRow*> find_classifier(std::string_view name);

#define CLASSIFIER(name, summary) \
  [[nodiscard]] Result<ClassifyLine> make_##name##_classifier(const ClassifierInput& input);
#include "log/failure/classifiers.def"
#undef CLASSIFIER

/// A classifier with its cache of templates.
class LineKinds {
 public:
  explicit LineKinds(ClassifyLine classify) : classify_(std::move(classify)) {}
  [[nodiscard]] LineVerdict of(std::string_view state) {
    return of(lines::template_hash(state), state);
  }
  [[nodiscard]] LineVerdict of(std::uint64_t hash, std::string_view state);
  [[nodiscard]] std::uint64_t misses() const { return cache_.misses(); }

 private:
  ClassifyLine classify_;
  lines::TemplateCache<LineVerdict> cache_;
};

}  // namespace schedmate::failure
