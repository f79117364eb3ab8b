// SPDX-License-Identifier: Apache-2.0
#include "screen/evaluate_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "evaluation_report/report_text.hpp"

namespace schedmate::screen {

std::string done_text(const lab::ExperimentDone& done) {
  if (!done.rows) return fmt::format("{}: already exists\n", printable(done.csv));
  return fmt::format("{}: {} rows\n", printable(done.csv), *done.rows);
}

std::string evaluation_text(const lab::Evaluation& evaluation, const std::string& report) {
  std::string text;
  for (const auto& chapter : evaluation.chapters) text += evaluation_report::text_of(chapter);
  text += fmt::format("\nwritten to {}\n", printable(evaluation.page));
  if (!report.empty()) text += fmt::format("written to {}\n", printable(report));
  return text;
}

std::string shard_text(const lab::ShardMade& made) {
  if (made.done.is_csv_there) return fmt::format("{}: already exists\n", printable(made.csv));
  return fmt::format("{}: {} of its {} runs are there\n", printable(made.csv), made.done.runs,
                     made.done.all);
}

Document shard_document(const std::string& shard, const std::vector<lab::ShardMade>& all) {
  Document experiments = Document::array();
  for (const lab::ShardMade& made : all)
    experiments.push_back({{"csv", made.csv},
                           {"csv_is_current", made.done.is_csv_there},
                           {"runs", made.done.runs},
                           {"runs_of_all_shards", made.done.all}});
  return {{"schema", "schedmate.evaluate_shard.v1"},
          {"shard", shard},
          {"experiments", std::move(experiments)}};
}

}  // namespace schedmate::screen
