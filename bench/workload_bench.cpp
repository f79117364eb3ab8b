// SPDX-License-Identifier: Apache-2.0

/// What a workload costs and how its pairs spread: rows of users who submit in bursts.
///
///   workload_bench RECIPE.toml FOLDER_OF_DATA [ROWS]

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <schedmate/workload.hpp>

#include "base/random.hpp"
#include "base/text.hpp"

namespace schedmate {
namespace {

double peak_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Trace bursts(std::int64_t rows) {
  Random random(1);
  Trace trace;
  trace.jobs.resize(static_cast<std::size_t>(rows));
  std::int64_t now_s = 0;
  Job shape;
  for (Job& job : trace.jobs) {
    now_s += random.below(60);
    if (shape.gpus == 0 || random.below(6) == 0) {
      shape.user = static_cast<std::uint32_t>(random.below(1 + random.below(1000)));
      shape.gpus = 1 << random.below(1 + random.below(7));
    }
    job = shape;
    job.submit = at(now_s);
    job.duration = Seconds(1 + random.below(100'000));
  }
  return trace;
}

void print_rates(const Workload& workload) {
  const PairRates rates = pair_rates(workload);
  fmt::print(
      "speeds of the {} pairs that can meet, and of the {} whose sharing scores sum to 2 at most\n",
      rates.pairs, rates.allowed_pairs);
  for (std::size_t bin = 0; bin < rates.all.size(); ++bin) {
    if (rates.all[bin] == 0) continue;
    const auto share = [](std::uint64_t part, std::uint64_t pairs) {
      return 50 * static_cast<double>(part) / static_cast<double>(pairs == 0 ? 1 : pairs);
    };
    fmt::print("  {:.2f} to {:.2f} {:6.1f} % {:6.1f} %\n", static_cast<double>(bin) / 20,
               static_cast<double>(bin + 1) / 20, share(rates.all[bin], rates.pairs),
               share(rates.allowed[bin], rates.allowed_pairs));
  }
}

int run(const std::string& recipe_file, const std::string& data, std::int64_t rows) {
  const auto recipe = read_recipe(recipe_file);
  const auto interference = read_interference(data + "/interference.toml");
  const auto errors = read_extraction_errors(data + "/extraction_errors.toml");
  if (!recipe || !interference || !errors) {
    fmt::print(stderr, "the recipe or a file of {} cannot be read\n", data);
    return 3;
  }
  const Trace trace = bursts(rows);
  const double before_mb = peak_mb();
  const auto start = std::chrono::steady_clock::now();
  const auto workload = make_workload(trace, {*recipe, *interference, *errors}, {});
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!workload) return 3;
  fmt::print(
      "{} rows: {:.2f} s, {:.0f} MB beside the {:.0f} of the trace; {} templates, {} facts, "
      "{} commands\n",
      rows, wall_s, peak_mb() - before_mb, before_mb,
      workload->template_of_row.empty() ? 0
                                        : 1 + *std::ranges::max_element(workload->template_of_row),
      workload->facts.size(), workload->places.size());
  print_rates(*workload);
  return 0;
}

}  // namespace
}  // namespace schedmate

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "workload_bench RECIPE.toml FOLDER_OF_DATA [ROWS]\n");
    return 2;
  }
  const std::int64_t rows =
      argc > 3 ? schedmate::parse_number<std::int64_t>(argv[3]).value_or(0) : 1'000'000;
  return schedmate::run(argv[1], argv[2], rows < 0 ? 0 : rows);
}
