// SPDX-License-Identifier: Apache-2.0
#pragma once

/// General knowledge as rows of TOML under rules/: models, data sets, optimisers, defaults of
/// frameworks. Built in; an operator's folder with files of the same names adds rows or replaces
/// those of the same name (docs/formats/rules.md).

#include <memory>
#include <optional>
#include <schedmate/facts.hpp>
#include <span>
#include <string>
#include <string_view>

namespace schedmate::facts {

struct ModelMatch {
  std::string name;    ///< canonical, with its size: "GPT-2 medium", "LLaMA-7B", "ResNet-50"
  std::string family;  ///< "GPT-2"
  std::string type;    ///< cnn, transformer, rnn, mlp, gnn, gan, diffusion, ...
  std::string task;    ///< cv, nlp, speech, rl, multimodal, graph, time series, ...
  std::optional<double> params_millions;
  Evidence row;
};

struct DatasetMatch {
  std::string name;
  std::string domain;
  std::optional<std::int64_t> samples;
  Evidence row;
};

struct OptimizerMatch {
  std::string name;
  Evidence row;
};

/// A framework's own default of one argument, e.g. of "transformers.TrainingArguments".
struct DefaultMatch {
  FactValue value;
  Evidence row;
};

class Tables {
 public:
  /// Errors: invalid (file, line, what is wrong), conflict (an alias that two rows claim).
  static Result<Tables> load(std::span<const std::string> extra_folders = {});
  Tables(Tables&&) noexcept;
  Tables& operator=(Tables&&) noexcept;
  ~Tables();

  /// `text` is a name, hub id or path: "facebook/opt-6.7b", "resnet50", "/models/llama-7b-hf".
  /// Whole words only; the longest match wins. Nothing rather than a far guess.
  [[nodiscard]] std::optional<ModelMatch> find_model(std::string_view text) const;
  /// A name or a path whose words name a data set: "/data/imagenet/train".
  [[nodiscard]] std::optional<DatasetMatch> find_dataset(std::string_view text) const;
  /// A name ("adamw_torch") or a dotted callee ("torch.optim.AdamW").
  [[nodiscard]] std::optional<OptimizerMatch> find_optimizer(std::string_view text) const;
  /// The default of `argument` of a callee or class: ("transformers.TrainingArguments", "optim"),
  /// of the newest version when none is given.
  [[nodiscard]] std::optional<DefaultMatch> find_default(std::string_view callee,
                                                         std::string_view argument,
                                                         std::string_view version = {}) const;

  struct Rows;

 private:
  explicit Tables(std::unique_ptr<Rows> rows);
  std::unique_ptr<Rows> rows_;
};

}  // namespace schedmate::facts
