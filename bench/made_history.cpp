// SPDX-License-Identifier: Apache-2.0
/// made_history JOBS STATE_DIR: a history of JOBS made-up jobs with its index, where the programs
/// look for one. STATE_DIR is there.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <schedmate/embed.hpp>
#include <schedmate/search.hpp>
#include <schedmate/store.hpp>
#include <string>
#include <vector>

#include "bench/made_jobs.hpp"
#include "tests/support/need.hpp"

namespace schedmate::bench {
namespace {

using testing::need;

void make(std::int64_t jobs, const std::string& folder) {
  const auto store = need(open_store("sqlite:" + folder + "/history.sqlite",
                                     {.cache_mib = StoreOptions::import_cache_mib}));
  MadeJobs made(1);
  constexpr std::int64_t at_once = 50'000;
  for (std::int64_t from = 0; from < jobs; from += at_once) {
    std::vector<JobRecord> batch;
    for (std::int64_t i = from; i < std::min(jobs, from + at_once); ++i)
      batch.push_back(made.job(i));
    need(store->put_many(batch));
  }
  const auto lexical = need(make_embedder("lexical"));
  need(need(open_index(*store, lexical, {.folder = folder + "/index"}))->refresh());
}

}  // namespace
}  // namespace schedmate::bench

int main(int count, char** words) {
  if (count != 3) return 2;
  schedmate::bench::make(std::atoll(words[1]), words[2]);
}
