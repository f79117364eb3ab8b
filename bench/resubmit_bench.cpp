// SPDX-License-Identifier: Apache-2.0
/// resubmit_bench FOLDER TREE: how fast a resident process answers a job that was submitted before
/// (another seed), with the history that store_bench has left in FOLDER. Ends with 1 when the tree
/// had to be read again.
#include <schedmate/search.hpp>

#include "advisor/advisor.hpp"
#include "bench/watch.hpp"
#include "facts/extract.hpp"
#include "service/file_access.hpp"

namespace {

using schedmate::bench::measure;
using schedmate::bench::need;
using schedmate::bench::row;

schedmate::Submission submission(const std::string& tree, int number) {
  schedmate::Submission submission;
  submission.id = fmt::format("again-{}", number);
  submission.user = "ann";
  submission.job = {tree, ".", fmt::format("bash run.sh configs/resnet50.yaml --seed {}", number),
                    1,    1,   ""};
  submission.submit = schedmate::at(1'700'000'000 + 60 * number);
  return submission;
}

int run(const std::string& folder, const std::string& tree) {
  const auto store = need(schedmate::open_store("sqlite:" + folder + "/history.db"));
  const auto lexical = need(schedmate::make_embedder("lexical"));
  const auto index = need(schedmate::open_index(*store, lexical, {.folder = folder + "/vectors"}));
  int readings = 0;
  const schedmate::advisor::AdvisorParts parts{*store,
                                               *index,
                                               schedmate::advisor::FlagRules::built_in(),
                                               **schedmate::find_estimate("calibrated"),
                                               {},
                                               [&](const schedmate::JobSource& job) {
                                                 ++readings;
                                                 return schedmate::extract_facts(job);
                                               },
                                               schedmate::service::confined_tree(),
                                               schedmate::Role::owner};
  // A week of the same job, each run ended.
  for (int number = 0; number < 5; ++number) {
    const auto earlier = submission(tree, number);
    need(schedmate::advisor::remember(need(schedmate::advisor::advise(earlier, parts)), parts));
    schedmate::Outcome outcome;
    outcome.state = schedmate::EndState::completed;
    outcome.duration = schedmate::Seconds(3000 + 100 * number);
    need(store->finish(earlier.id, outcome));
  }
  const int before = readings;
  int number = 100;
  row("a resubmission answered, ms (p99; CPU)",
      measure(500, [&] { need(schedmate::advisor::advise(submission(tree, ++number), parts)); }),
      "5");
  row("a resubmission answered and recorded, ms (p99; CPU)", measure(100, [&] {
        need(schedmate::advisor::remember(
            need(schedmate::advisor::advise(submission(tree, ++number), parts)), parts));
      }));
  row("of these, trees read again (model asked: none is configured)",
      fmt::format("{}", readings - before), "0");
  return readings == before ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "resubmit_bench FOLDER TREE: the folder of store_bench, a job's tree\n");
    return 2;
  }
  return run(argv[1], argv[2]);
}
