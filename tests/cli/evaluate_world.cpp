// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/evaluate_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "trace/csv.hpp"

namespace schedmate {

const std::string_view small_experiment = R"toml(title = "Small | <b>crowd</b>"
claim = "none"
published = ["1.23x (paper)"]
perturbations = 3
warm_up_days = 0.05
host = "qssf"
[settings]
workload = "heavy"
[[trace]]
name = "crowd"
trace = "helios:jobs.csv"
cluster = "cluster.toml"
[[arm]]
label = "sm"
policy = "qssf+sm"
standard = true
[[arm]]
policy = "fifo"
)toml";

std::string two_node_crowd() {
  std::string text = "job_id,user,vc,gpu_num,state,submit_s,duration_s\n";
  Random random(11);
  std::int64_t now = 0;
  for (int i = 1; i <= 300; ++i) {
    now += random.below(200);
    text += fmt::format("{},u{},p,{},COMPLETED,{},{}\n", i, random.below(4), 1 + random.below(4),
                        now, 30 + random.below(3000));
  }
  return text;
}

World::World() {
  constexpr std::string_view two_nodes = "[[vc]]\nname = \"p\"\nnodes = 2\ngpus_per_node = 8\n";
  write("jobs.csv", two_node_crowd());
  write("cluster.toml", two_nodes);
  write("small.toml", small_experiment);
}

Ran World::evaluate(const std::string& out, const std::string& threads) const {
  return run({"evaluate", "small.toml", "--out", out, "--book", "report/evaluation.md", "--threads",
              threads});
}

std::string World::report(const std::string& experiment) const {
  const std::string front = read("report/evaluation.md");
  const std::string page = fmt::format("evaluation/{}.md", experiment);
  return front.contains(fmt::format("]({})", page)) ? front + read("report/" + page) : front;
}

std::vector<Row> rows_of(const std::string& csv) {
  auto rows = trace::CsvRows::open(csv, "csv").value();
  const auto field = [&](std::string_view name) {
    return std::string(rows.field(rows.need(name).value()));
  };
  std::vector<Row> read;
  while (rows.next())
    read.push_back({field("arm"), field("figure"), field("value"), field("note")});
  return read;
}

std::string value_of(const std::vector<Row>& rows, std::string_view arm, std::string_view figure) {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& row) { return row.arm == arm && row.figure == figure; });
  return found == rows.end() ? "absent" : found->value;
}

}  // namespace schedmate
