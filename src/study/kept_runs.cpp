// SPDX-License-Identifier: Apache-2.0
#include "study/kept_runs.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/input.hpp"
#include "base/output.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace schedmate::study {
namespace {

/// The first line, with the hash of the rest.
constexpr std::string_view heading = "schedmate run 1 ";
constexpr std::size_t hash_length = 64;

std::string text_of(std::span<const double> numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format("{}\n", number);
  return text;
}

/// None where the text is not what text_of() gives.
std::optional<RunNumbers> numbers_of(std::string_view text) {
  RunNumbers numbers;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = parse_number<double>(text.substr(0, end));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    text.remove_prefix(end + 1);
  }
  return numbers;
}

}  // namespace

Result<Shard> parse_shard(std::string_view text) {
  constexpr std::uint64_t most = 10'000;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = parse_number<std::uint64_t>(text.substr(0, slash));
    const auto of = parse_number<std::uint64_t>(text.substr(slash + 1));
    if (index && of && *index >= 1 && *index <= *of && *of <= most) return Shard{*index - 1, *of};
  }
  return fail(ErrorCode::unsupported,
              fmt::format("--shard {}: must be K/N with 1 <= K <= N <= {}, as in 2/8", text, most));
}

double NumberReader::next() {
  if (left_.empty()) {
    is_short_ = true;
    return std::nan("");
  }
  const double first = left_.front();
  left_ = left_.subspan(1);
  return first;
}

std::size_t NumberReader::next_count() {
  const double count = next();
  if (count >= 0 && count <= static_cast<double>(left_.size()))
    return static_cast<std::size_t>(count);
  is_short_ = true;
  return 0;
}

void append_numbers(RunNumbers& numbers, const Figures& value) {
  numbers.insert(numbers.end(), value.begin(), value.end());
}

void append_numbers(RunNumbers& numbers, const std::vector<double>& value) {
  numbers.push_back(static_cast<double>(value.size()));
  numbers.insert(numbers.end(), value.begin(), value.end());
}

void append_numbers(RunNumbers& numbers, const EstimateErrors& value) {
  numbers.push_back(static_cast<double>(value.jobs));
  append_numbers(numbers, value.run_time);
  append_numbers(numbers, value.gpu_util);
}

void take_numbers(NumberReader& numbers, Figures& value) {
  for (double& figure : value) figure = numbers.next();
}

void take_numbers(NumberReader& numbers, std::vector<double>& value) {
  value.resize(numbers.next_count());
  for (double& number : value) number = numbers.next();
}

void take_numbers(NumberReader& numbers, EstimateErrors& value) {
  const double jobs = numbers.next();
  value.jobs = jobs >= 0 ? static_cast<std::uint64_t>(jobs) : 0;
  take_numbers(numbers, value.run_time);
  take_numbers(numbers, value.gpu_util);
}

bool KeptRuns::is_own(const RunName& run) const {
  const std::size_t number =
      (run.trace * counts_.points + run.point) * counts_.perturbations + run.perturbation;
  return number % shard_.of == shard_.index;
}

std::string KeptRuns::path_of(const RunName& run) const {
  return fmt::format("{}/{}-{}-{}", folder_, run.trace + 1, run.point + 1, run.perturbation + 1);
}

std::optional<RunNumbers> KeptRuns::find(const RunName& run) const {
  const auto file = read_file(path_of(run));
  if (!file || !file->starts_with(heading)) return std::nullopt;
  const std::string_view rest = std::string_view(*file).substr(heading.size());
  if (rest.size() <= hash_length || rest[hash_length] != '\n') return std::nullopt;
  const std::string_view numbers = rest.substr(hash_length + 1);
  if (sha256(numbers) != rest.substr(0, hash_length)) return std::nullopt;
  return numbers_of(numbers);
}

Result<void> KeptRuns::keep(const RunName& run, std::span<const double> numbers) const {
  if (auto made = make_folder(folder_); !made) return made;
  const std::string text = text_of(numbers);
  return write_file(path_of(run), fmt::format("{}{}\n{}", heading, sha256(text), text));
}

}  // namespace schedmate::study
