// SPDX-License-Identifier: Apache-2.0
#include "advisor/stored_jobs.hpp"

#include <doctest/doctest.h>

#include "advisor/order_of_advice.hpp"

namespace schedmate::advisor {
namespace {

JobRecord stored_record(const std::string& id, std::int64_t submit, const std::string& more) {
  JobRecord record;
  record.id = id;
  record.user = "ann";
  record.root = "/trees/vision";
  record.workdir = ".";
  record.command = "python train.py --epochs 10" + more;
  record.entry = "train.py";
  record.submit = at(submit);
  return record;
}

/// Ids of the earlier submissions that are repeated.
std::string repeated_ids(Store& store, bool unfinished) {
  const Embedder embedder = make_embedder("lexical").value();
  const auto index = open_index(store, embedder).value();
  Submission ours;
  ours.id = "now";
  ours.user = "ann";
  ours.job = {"/trees/vision", ".", "python train.py --epochs 10", 0, 0, ""};
  const Fields unknown;
  StoredJobs jobs(store, *index, {ours, unknown, FlagRules::built_in(), unfinished});
  const auto repeated = repeated_jobs(jobs).value();
  std::string ids;
  for (const auto& [job, verdict] : repeated) ids += job.id + " ";
  return ids;
}

TEST_CASE("earlier submissions come by similarity, then newest first, without the one at hand") {
  const auto store = open_store("memory").value();
  int number = 0;
  for (const char* more : {"", " --seed 1", " --batch_size 9", " --dataset other", " --wd 1"}) {
    JobRecord earlier = stored_record("j" + std::to_string(number), number, more);
    if (number != 1) earlier.outcome.emplace();
    REQUIRE(store->put(earlier));
    ++number;
  }
  REQUIRE(store->put(stored_record("now", number, "")));
  CHECK(repeated_ids(*store, false) == "j0 j4 j2 ");
  CHECK(repeated_ids(*store, true) == "j1 j0 j4 j2 ");
}

TEST_CASE("a record gives its run and how its advice came out") {
  JobRecord record = stored_record("j", 5, "");
  CHECK(!has_run(record));
  record.outcome.emplace().duration = Seconds(200);
  CHECK(!has_run(record));
  CHECK(!residual_of(record));
  record.outcome->state = EndState::completed;
  CHECK(has_run(record));
  CHECK(past_run(record).duration == Seconds(200));
  CHECK(!residual_of(record));
  GivenAdvice& advice = record.advice.emplace();
  advice.source = "similar";
  advice.p50 = Seconds(200);
  advice.p90 = Seconds(199);
  CHECK(residual_of(record)->log_ratio == 0);
  CHECK(outlasted(record));
  advice.source = "none";
  CHECK(!residual_of(record));
}

}  // namespace
}  // namespace schedmate::advisor
