// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a model may say in words of its own. A log is written by the job, and a model repeats what
/// it is told there: names, commands and advice are shown only where a cited line holds them, and a
/// machine only where the scheduler gave it to the job.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::lines {

struct SaidWords {
  std::string_view text;                 ///< of the model
  std::string_view question;             ///< of the user: plain words of it may come again
  std::vector<std::string_view> cited;   ///< the lines that it names as proof
  std::span<const std::string> nodes{};  ///< of the job's allocation
};

/// "" when every word is a plain one of a report, or stands in a cited line; else what is wrong,
/// without the model's words. Numbers are checked elsewhere.
[[nodiscard]] std::string fault_of_words(const SaidWords& said);

}  // namespace schedmate::lines
