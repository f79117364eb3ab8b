// SPDX-License-Identifier: Apache-2.0
#include "elastic/application.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/input.hpp"
#include "base/output.hpp"
#include "elastic/elastic_workload.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::elastic {
namespace {

/// A cluster, one application and two jobs, all of it right.
const std::map<std::string, std::string> right_files = {
    {"cluster.toml",
     "name = \"c\"\n[[type]]\nname = \"a\"\nnodes = 4\ngpus_per_node = 4\n"
     "[[type]]\nname = \"b\"\nnodes = 1\ngpus_per_node = 8\n"},
    {"applications.toml",
     "[[application]]\nname = \"app\"\nrestart_s = 20\nbelieved_restart_s = 30\nslowdown = 1.5\n"
     "[[application.cap]]\ntype = \"a\"\natomic_batch = 6\n"
     "[[application]]\nname = \"other\"\nrestart_s = 0\nbelieved_restart_s = 0\nslowdown = 1\n"},
    {"app/placements-a.csv",
     "local_bsz,placement,step_time,sync_time\n4,1,1.0,0\n8,1,2.0,0\n8,44,3.0,1\n"},
    {"app/scalability-a.csv",
     "num_nodes,num_replicas,local_bsz,step_time,sync_time\n3,12,8,4.0,1.5\n"},
    {"app/validation-16.csv",
     "progress,iteration,metric,grad_sqr,grad_var\n10,10,0.1,1,2\n20,20,0.2,3,4\n"},
    {"app/validation-32.csv",
     "progress,iteration,metric,grad_sqr,grad_var\n9,5,0.1,1,2\n21,11,0.2,3,4\n"},
    {"jobs.csv",
     "name,time,application,num_replicas,batch_size,category\n"
     "late,60,app,2,32,rigid\nearly,5,app,1,16,\n"}};

class InputFolder {
 public:
  InputFolder() {
    for (const auto& [name, text] : right_files) write(name, text);
  }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path(name);
    std::filesystem::create_directories(path.parent_path());
    REQUIRE(write_file(path.string(), text));
  }
  void leave_out(const std::string& name) { std::filesystem::remove(folder_.path(name)); }
  [[nodiscard]] Result<ElasticWorkload> read() const {
    const std::string path = folder_.path("cluster.toml");
    const auto cluster = parse_elastic_cluster(read_file(path).value(), path);
    if (!cluster) return tl::unexpected(cluster.error());
    return read_elastic_workload(
        {folder_.path("jobs.csv"), folder_.path(), folder_.path("applications.toml")}, *cluster);
  }

 private:
  testing::Scratch folder_;
};

TEST_CASE("jobs come by time, each with its application's tables") {
  const auto workload = InputFolder().read();
  REQUIRE(workload);
  REQUIRE(workload->jobs.size() == 2);
  CHECK(workload->jobs[0].name == "early");
  CHECK(workload->jobs[0].kind == ElasticKind::adaptive);
  CHECK(workload->jobs[1].kind == ElasticKind::rigid);
  CHECK(workload->jobs[1].replicas == 2);
  CHECK(workload->jobs[1].batch == 32);
  REQUIRE(workload->applications.size() == 1);
  const Application& app = workload->applications[0];
  CHECK(app.traits.restart_s == 20);
  CHECK(app.traits.believed_restart_s == 30);
  CHECK(app.traits.slowdown == 1.5);
  CHECK(app.training.epochs() == 2);
  CHECK(app.training.end_of(0) == 9);
  CHECK(app.training.end_of(1) == 20);
  REQUIRE(app.tables.size() == 2);
  CHECK(!app.tables[1]);
  CHECK(app.least_batch(0) == 4);
  CHECK(app.most_batch(0) == 6);  // the cap
  CHECK(app.most_batch(1) == 0);
  CHECK(app.tables[0]->at({4, 4, 4}, 8)->step_s == 4);
}

TEST_CASE("a type without scalability, and other files beside, are all right") {
  InputFolder folder;
  folder.leave_out("app/scalability-a.csv");
  folder.write("app/validation-x.csv", "nothing of ours");
  folder.write("app/validation-016.csv", "nothing of ours");
  folder.write("app/notes.txt", "nothing of ours");
  const auto workload = folder.read();
  REQUIRE(workload);
  CHECK(workload->applications[0].training.most_batch() == 32);
}

/// One file of the right ones with another text, and words that the error must have.
struct BrokenInput {
  std::string file, text;
  std::vector<std::string> says;
};

const std::string placement_header = "placement,local_bsz,step_time,sync_time\n";
const std::string spread_header = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n";
const std::string epoch_header = "progress,grad_sqr,grad_var\n";
const std::string job_header = "name,time,application,num_replicas,batch_size,category\n";

std::vector<BrokenInput> broken_placements() {
  const std::string file = "app/placements-a.csv";
  const std::string where = "placements-a.csv:2:";
  const std::string& top = placement_header;
  return {
      {file, "", {"placements-a.csv", "header line is needed"}},
      {file, top, {"placements-a.csv", "no row for placement 1", "is needed"}},
      {file, top + "2,4,1,0\n", {"placements-a.csv", "no row for placement 1", "is needed"}},
      {file, "local_bsz,step_time,sync_time\n4,1,0\n", {"placements-a.csv", "'placement'"}},
      {file, "placement,step_time,sync_time\n1,1,0\n", {"placements-a.csv", "'local_bsz'"}},
      {file, "placement,local_bsz,step,sync_time\n1,4,1,0\n", {"'step_time'", "nearest"}},
      {file, "placement,local_bsz,step_time\n1,4,1\n", {"placements-a.csv", "'sync_time'"}},
      {file, top + ",4,1,0\n", {where, "placement must be GPUs by node"}},
      {file, top + "40,4,1,0\n", {where, "placement must be GPUs by node"}},
      {file, top + "4x,4,1,0\n", {where, "placement must be GPUs by node"}},
      {file, top + "1,0,1,0\n", {where, "local_bsz must be a number from 1"}},
      {file, top + "1,4.5,1,0\n", {where, "local_bsz must be a whole number"}},
      {file, top + "1,4,0,0\n", {where, "step_time must be a number from"}},
      {file, top + "1,4,nan,0\n", {where, "step_time must be a number from"}},
      {file, top + "1,4,inf,0\n", {where, "step_time must be a number from"}},
      {file, top + "1,4,1s,0\n", {where, "step_time must be a number from"}},
      {file, top + "1,4,1,-1\n", {where, "sync_time must be a number from 0"}},
      {file, top + "1,4,1,1\n", {where, "sync_time must be shorter than step_time"}},
      {file, top + "1,4,1\n", {where, "fewer fields than the header line has"}},
      {file, top + "1,4,1,0\n\n1,8,2,0,0\n", {"placements-a.csv:4:", "more fields"}},
      {file, top + "\"1,4,1,0\n", {where, "a quote is not closed"}},
      {file, top + "1,7,1,0\n", {"jobs.csv:2:", "cap of a", "must be at least 7"}},
  };
}

std::vector<BrokenInput> broken_scalability() {
  const std::string file = "app/scalability-a.csv";
  const std::string where = "scalability-a.csv:2:";
  const std::string& top = spread_header;
  return {
      {file, "", {"scalability-a.csv", "header line is needed"}},
      {file, "num_nodes,local_bsz,step_time,sync_time\n3,8,4,1\n", {"'num_replicas'", "nearest"}},
      {file, top + "0,12,8,4,1\n", {where, "num_nodes must be a number from 1"}},
      {file, top + "1.5,12,8,4,1\n", {where, "num_nodes must be a whole number"}},
      {file, top + "3,1e9,8,4,1\n", {where, "num_replicas must be a number from 1 to 65536"}},
      {file, top + "3,2,8,4,1\n", {where, "num_replicas must be at least num_nodes"}},
      {file, top + "3,12,8,4,5\n", {where, "sync_time must be shorter"}},
  };
}

std::vector<BrokenInput> broken_trainings() {
  const std::string file = "app/validation-32.csv";
  const std::string where = "validation-32.csv:2:";
  const std::string& top = epoch_header;
  return {
      {file, "", {"validation-32.csv", "header line is needed"}},
      {file, top, {"validation-32.csv", "at least one epoch is needed"}},
      {file, top + "9,1,2\n", {"validation-32.csv", "has 1 epochs but must have 2"}},
      {file, "progress,grad_sqr\n9,1\n", {"validation-32.csv", "'grad_var'"}},
      {file, top + "0,1,2\n9,1,2\n", {where, "progress must be above 0 and increase"}},
      {file,
       top + "9,1,2\n9,1,2\n",
       {"validation-32.csv:3:", "progress must be above 0 and increase"}},
      {file, top + "9,nan,2\n", {where, "grad_sqr must be a number"}},
      {file, top + "9,1,-inf\n", {where, "grad_var must be a number"}},
      {file, top + "1e99,1,2\n", {where, "progress must be a number from 0"}},
  };
}

std::vector<BrokenInput> broken_applications() {
  const std::string file = "applications.toml";
  const std::string where = "applications.toml:";
  const std::string times = "restart_s = 1\nbelieved_restart_s = 1\nslowdown = 1\n";
  const std::string app = "[[application]]\nname = \"app\"\n";
  const std::string cap = "[[application.cap]]\ntype = \"a\"\natomic_batch = 5\n";
  const auto named = [&](const std::string& name) {
    return "[[application]]\nname = \"" + name + "\"\n" + times;
  };
  return {
      {file, "", {"applications.toml", "application"}},
      {file, "application = 3\n", {where + "1:", "each headed [[application]]"}},
      {file, "[[application]\n", {where + "1:"}},
      {file, "[[application]]\n" + times, {where, "name"}},
      {file, "[[application]]\nname = 3\n" + times, {where + "2:", "name must be a quoted string"}},
      {file, named(""), {where + "2:", "name must be a quoted string"}},
      {file, named("../app"), {where + "2:", "must not contain '/'"}},
      {file, named(".."), {where + "2:", "not be '..'"}},
      {file, named("a/b"), {where + "2:", "must not contain '/'"}},
      {file, named("app") + named("app"), {where, "app is listed twice", "names must be unique"}},
      {file, app + "restart_s = 1\nslowdown = 1\n", {where, "believed_restart_s"}},
      {file,
       app + "restart_s = -1\nbelieved_restart_s = 1\nslowdown = 1\n",
       {where + "3:", "restart_s must be a number from 0"}},
      {file,
       app + "restart_s = 1\nbelieved_restart_s = 1\nslowdown = 0\n",
       {where + "5:", "slowdown must be a number from 0.01"}},
      {file, app + times + "restart = 1\n", {where + "6:", "restart"}},
      {file, app + times + "[[application.cap]]\ntype = \"a\"\n", {where, "atomic_batch"}},
      {file, app + times + "[[application.cap]]\natomic_batch = 5\n", {where, "type"}},
      {file, app + times + cap + cap, {where, "cap of a is given twice"}},
      {file,
       app + times + "[[application.cap]]\ntype = \"a\"\natomic_batch = 2\n",
       {"jobs.csv:2:", "application app: the cap of a", "must be at least 4"}},
  };
}

std::vector<BrokenInput> broken_clusters() {
  const std::string file = "cluster.toml";
  const std::string where = "cluster.toml:";
  const auto typed = [](const std::string& rest) { return "name = \"c\"\n[[type]]\n" + rest; };
  const std::string first = "name = \"a\"\nnodes = 4\ngpus_per_node = 4\n";
  return {
      {file, "", {"cluster.toml", "name"}},
      {file, "name = \"c\"\n", {"cluster.toml", "type"}},
      {file, "name = \"c\"\ntype = []\n", {where + "2:", "each headed [[type]]"}},
      {file, "[[type]]\n" + first, {where, "name"}},
      {file, typed("nodes = 4\ngpus_per_node = 4\n"), {where, "name"}},
      {file, typed("name = \"a\"\ngpus_per_node = 4\n"), {where, "nodes"}},
      {file,
       typed("name = \"a\"\nnodes = 0\ngpus_per_node = 4\n"),
       {where + "4:", "nodes must be a whole number from 1"}},
      {file,
       typed("name = \"a\"\nnodes = 1.5\ngpus_per_node = 4\n"),
       {where + "4:", "nodes must be a whole number from 1"}},
      {file,
       typed("name = \"a\"\nnodes = 4\ngpus_per_node = 65\n"),
       {where + "5:", "gpus_per_node must be a whole number from 1 to 64"}},
      {file, typed(first + "measured_nodes = 0\n"), {where + "6:", "measured_nodes must be"}},
      {file, typed(first + "measured = 4\n"), {where + "6:", "measured_nodes"}},
      {file, typed(first) + "[[type]]\n" + first, {where + "7:", "type a is listed twice"}},
      {file,
       typed("name = \"../a\"\nnodes = 4\ngpus_per_node = 4\n"),
       {where + "3:", "must not contain '/'"}},
      {file,
       typed("name = \"z\"\nnodes = 4\ngpus_per_node = 4\n"),
       {"jobs.csv:2:", "no placements-TYPE.csv for any GPU type of the cluster c"}},
  };
}

std::vector<BrokenInput> broken_jobs() {
  const std::string file = "jobs.csv";
  const std::string where = "jobs.csv:2:";
  const std::string& top = job_header;
  return {
      {file, "", {"jobs.csv", "header line is needed"}},
      {file, top, {"jobs.csv", "at least one row is needed"}},
      {file, "name,time,num_replicas,batch_size\nj,1,1,16\n", {"jobs.csv", "'application'"}},
      {file, "time,application,num_replicas,batch_size\n1,app,1,16\n", {"jobs.csv", "'name'"}},
      {file, top + ",1,app,1,16,\n", {where, "name must not be empty"}},
      {file, top + "\"a,b\",1,app,1,16,\n", {where, "contain a comma"}},
      {file, top + "j,1,app,1,16,\nj,2,app,1,16,\n", {"jobs.csv:3:", "job j is listed twice"}},
      {file, top + "j,-1,app,1,16,\n", {where, "time must be a number from 0"}},
      {file, top + "j,soon,app,1,16,\n", {where, "time must be a number from 0"}},
      {file, top + "j,1,app,0,16,\n", {where, "num_replicas must be a number from 1"}},
      {file, top + "j,1,app,1.5,16,\n", {where, "num_replicas must be a whole number"}},
      {file, top + "j,1,app,1,0,\n", {where, "batch_size must be a number from 1"}},
      {file, top + "j,1,app,1,16,fixed\n", {where, "category must be adaptive, scale-gpus or"}},
      {file, top + "j,1,apq,1,16,\n", {where, "unknown application 'apq'", "nearest: app"}},
      {file, top + "j,1,,1,16,\n", {where, "unknown application"}},
      {file, top + "j,1,other,1,16,\n", {where, "no validation-BATCH.csv"}},
  };
}

TEST_CASE("each broken input is an error that says where and what is needed") {
  std::size_t count = 0;
  for (const auto& group : {broken_placements(), broken_scalability(), broken_trainings(),
                            broken_applications(), broken_clusters(), broken_jobs()}) {
    for (const BrokenInput& broken : group) {
      ++count;
      InputFolder folder;
      folder.write(broken.file, broken.text);
      CAPTURE(broken.file);
      CAPTURE(broken.text);
      const auto workload = folder.read();
      REQUIRE(!workload);
      CHECK(workload.error().code == ErrorCode::invalid);
      for (const std::string& word : broken.says)
        CHECK_MESSAGE(workload.error().message.find(word) != std::string::npos, word, " | ",
                      workload.error().message);
    }
  }
  CHECK(count >= 40);
}

TEST_CASE("files that are absent are named") {
  for (const char* file : {"jobs.csv", "applications.toml"}) {
    InputFolder folder;
    folder.leave_out(file);
    const auto workload = folder.read();
    REQUIRE(!workload);
    CHECK(workload.error().message.find(file) != std::string::npos);
  }
}

}  // namespace
}  // namespace schedmate::elastic
