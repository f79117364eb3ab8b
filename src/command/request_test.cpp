// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/input.hpp"
#include "base/text.hpp"
#include "tests/support/command_lines.hpp"
#include "tests/support/places.hpp"

namespace schedmate::command {
namespace {

using testing::commands_of;
using testing::SmallTree;

std::string shown_value(const Request& request, std::string_view field) {
  const Asked* const asked = request.find(field);
  if (asked == nullptr) return "-";
  if (asked->value.is_unknown()) return "?";
  const auto* const text = asked->value.text();
  return text != nullptr ? *text : repr(asked->value);
}

/// "4 gpus 2 nodes ..." of the first submission.
std::string asked(tree::Tree& tree, const std::string& command) {
  const auto commands = commands_of(tree, {command});
  if (commands.requests.empty()) return "nothing";
  const Request& request = *commands.requests.front();
  std::string all = request.by;
  for (const Asked& one : request.asked)
    all += fmt::format(" {}={}{}", one.field, shown_value(request, one.field), one.sure ? "" : "~");
  return all;
}

std::string asked(const std::string& command, const std::string& script = "") {
  SmallTree tree({{"job.sh", "#!/bin/bash\n" + script}, {"train.py", ""}});
  return asked(*tree, command);
}

struct AskedRow {
  const char* command;
  const char* asked;
};

}  // namespace

// tests/fixtures/slurm/submissions.jsonl: random submissions to Slurm 22.05.8 (the test bed, two
// nodes of 8 A100, two of 8 H100), and what `scontrol -d show job` said of each
// once it ran (where no limit is shown as 365 days, "unlimited" stands here).
TEST_CASE("a request is what Slurm makes of the submission") {
  const auto text = read_file(testing::fixtures + "slurm/submissions.jsonl").value();
  int cases = 0;
  for (const auto line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto row = nlohmann::json::parse(line);
    CAPTURE(std::string(line));
    SmallTree tree({{"job.sh", row["script"].get<std::string>()}});
    const auto commands = commands_of(*tree, {row["command"].get<std::string>()});
    REQUIRE(commands.requests.size() == 1);
    const Request& request = *commands.requests.front();
    ++cases;
    for (const char* field : {"gpus", "nodes", "tasks"}) {
      const auto got = request.number(field);
      if (request.find(field) == nullptr || !request.find(field)->sure) continue;
      CHECK_MESSAGE(got.value_or(-1) == row[field].get<std::int64_t>(), field);
    }
    if (request.find("gpus") == nullptr) CHECK(row["gpus"].get<std::int64_t>() == 0);
    const auto time = shown_value(request, "time_limit_s");
    CHECK((time == "-" ? "unlimited" : time) == row["time"].get<std::string>());
    const auto partition = shown_value(request, "partition");
    CHECK((partition == "-" ? "gpu" : partition) == row["partition"].get<std::string>());
  }
  CHECK(cases >= 60);
}

TEST_CASE("GPUs are asked for in many ways") {
  constexpr AskedRow rows[] = {
      {"sbatch -N2 --gres=gpu:a100:4 job.sh", "sbatch gpus=8 nodes=2 gpu_type=a100"},
      {"sbatch --gres gpu --nodes 3 job.sh", "sbatch gpus=3 nodes=3"},
      {"sbatch -N2 --gpus-per-node=h100:2 job.sh", "sbatch gpus=4 nodes=2 gpu_type=h100"},
      {"sbatch -G 16 job.sh", "sbatch gpus=16 nodes=1~"},
      {"sbatch --gpus=8 --gpus-per-node=4 job.sh", "sbatch gpus=8 nodes=2"},
      {"sbatch -n8 --gpus-per-task=1 job.sh", "sbatch gpus=8 nodes=1~ tasks=8"},
      {"sbatch -n8 --ntasks-per-node=4 --gpus-per-task=2 job.sh", "sbatch gpus=16 nodes=2 tasks=8"},
      {"sbatch -n8 --ntasks-per-gpu=2 job.sh", "sbatch gpus=4 nodes=1~ tasks=8"},
      {"sbatch --gpus-per-socket=2 --sockets-per-node=1 -N2 job.sh", "sbatch gpus=4 nodes=2"},
      {"sbatch --gpus-per-socket=2 --sockets-per-node=2 -N2 job.sh", "sbatch gpus=? nodes=2"},
      {"sbatch --gres=gpu:a100:1,gpu:h100:2 job.sh", "sbatch gpus=3 nodes=1"},
      {"sbatch --gres=craynetwork:1 job.sh", "sbatch nodes=1"},
      {"sbatch -w n[1-3],n7 --gres=gpu:2 job.sh", "sbatch gpus=8 nodes=4"},
      {"sbatch -N 2-4 --gres=gpu:4 job.sh", "sbatch gpus=? nodes=?"},
      {"sbatch --exclusive job.sh", "sbatch nodes=1 exclusive=True gpus=?"},
      {"sbatch --gpus-per-tas=1 -n2 job.sh", "sbatch gpus=2 nodes=1~ tasks=2"},
      {"srun --gres=gpu:4 python train.py", "srun gpus=4 nodes=1"},
      {"salloc -N2 --gres=gpu:4 srun python train.py", "salloc gpus=8 nodes=2"},
      {"nohup srun -n 2 --gpus-per-task 2 python train.py", "srun gpus=4 nodes=1~ tasks=2"},
      {"sbatch --gres=gpu:2 --wrap 'python train.py'", "sbatch gpus=2 nodes=1"},
      {"sbatch <<E\n#!/bin/sh\n#SBATCH --gres=gpu:2 -t 5\npython train.py\nE",
       "sbatch gpus=2 nodes=1 time_limit_s=300"},
  };
  for (const auto& [command, wanted] : rows) {
    CAPTURE(command);
    CHECK(asked(command) == wanted);
  }
}

TEST_CASE("the command line counts over variables, and these over #SBATCH lines") {
  const std::string script =
      "#SBATCH --gres=gpu:2 -N 2\n#SBATCH --time=30 -p big # words\necho\n#SBATCH -N 4\n";
  CHECK(asked("sbatch job.sh", script) == "sbatch gpus=4 nodes=2 partition=big time_limit_s=1800");
  CHECK(asked("SBATCH_GRES=gpu:5 SBATCH_TIMELIMIT=1:0 sbatch job.sh", script) ==
        "sbatch gpus=10 nodes=2 partition=big time_limit_s=60");
  CHECK(asked("export SBATCH_GRES=gpu:5; sbatch --gres=gpu:1 -p small job.sh", script) ==
        "sbatch gpus=2 nodes=2 partition=small time_limit_s=1800");
  CHECK(asked("SBATCH_GRES=gpu:5; SLURM_NNODES=8 sbatch job.sh", script) ==
        "sbatch gpus=4 nodes=2 partition=big time_limit_s=1800");
  CHECK(asked("sbatch --gres=none job.sh", script) ==
        "sbatch nodes=2 partition=big time_limit_s=1800");
  CHECK(asked("SLURM_NNODES=3 SLURM_GRES=gpu:2 srun python train.py") == "srun gpus=6 nodes=3");
}

TEST_CASE("components of a heterogeneous job are added up") {
  const std::string script =
      "#SBATCH -N1 --gres=gpu:1 -t 10\n#SBATCH hetjob\n#SBATCH -N2 --gres=gpu:h100:4\necho\n";
  CHECK(asked("sbatch job.sh", script) ==
        "sbatch gpus=9 nodes=3 gpu_type=h100 time_limit_s=600 components=2");
  CHECK(asked("sbatch --gres=gpu:3 job.sh", script) ==
        "sbatch gpus=9 nodes=3 time_limit_s=600 components=2");
  CHECK(asked("sbatch -N1 --gres=gpu:1 : -N2 --gres=gpu:8 job.sh", "echo\n") ==
        "sbatch gpus=17 nodes=3 components=2");
}

TEST_CASE("time, memory, CPUs and arrays in Slurm's forms") {
  constexpr AskedRow rows[] = {
      {"sbatch -t 90 job.sh", "sbatch nodes=1 time_limit_s=5400"},
      {"sbatch -t 90:30 job.sh", "sbatch nodes=1 time_limit_s=5460"},
      {"sbatch -t 1-12:30:15 job.sh", "sbatch nodes=1 time_limit_s=131460"},
      {"sbatch -t INFINITE job.sh", "sbatch nodes=1 time_limit_s=unlimited"},
      {"sbatch -t 2h job.sh", "sbatch nodes=1 time_limit_s=?"},
      {"sbatch --mem=10G -N2 job.sh", "sbatch nodes=2 memory_mib=20480"},
      {"sbatch --mem-per-cpu=1500 -c4 -n2 job.sh",
       "sbatch nodes=1~ tasks=2 cpus=8 memory_mib=12000"},
      {"sbatch --mem-per-gpu=8G --gres=gpu:4 job.sh", "sbatch gpus=4 nodes=1 memory_mib=32768"},
      {"sbatch --mem=0 job.sh", "sbatch nodes=1 memory_mib=all"},
      {"sbatch --cpus-per-gpu=6 -G 4 job.sh", "sbatch gpus=4 nodes=1~ cpus=24"},
      {"sbatch -a 1,3,5-20:5%2 --qos=q -C 'a|b' job.sh",
       "sbatch nodes=1 qos=q constraint=a|b array_tasks=6"},
  };
  for (const auto& [command, wanted] : rows) {
    CAPTURE(command);
    const std::string got = asked(command);
    CHECK(got == wanted);
  }
}

TEST_CASE("what is asked for shows its lines, and what could not be read is said") {
  SmallTree tree({{"job.sh", "#!/bin/sh\n#SBATCH --gres=gpu:4\n#SBATCH --nodes=$N\necho\n"}});
  const auto commands = commands_of(*tree, {"sbatch -t 1:x job.sh"});
  const Request& request = *commands.requests.front();
  const PlacePtr& place = request.find("gpus")->value.place;
  CHECK(place->file == "job.sh");
  CHECK(place->line == 2);
  CHECK(place->text == "#SBATCH --gres=gpu:4");
  CHECK(request.find("time_limit_s")->value.place->text == "-t 1:x");
  CHECK(request.notes.size() == 2);
  CHECK(commands.degraded.size() == 2);
}

TEST_CASE("submissions to other schedulers are named") {
  for (const char* const command :
       {"bsub -n 4 -gpu num=4 python train.py", "qsub job.sh", "ray job submit -- python train.py",
        "torchx run -s lsf dist.ddp -j 2x4 --script train.py", "sky launch job.yaml",
        "kubectl apply -f job.yaml", "flux submit -N2 python train.py", "condor_submit a.sub",
        "nohup oarsub -l gpu=2 ./job.sh", "yarn jar x.jar"}) {
    CAPTURE(command);
    SmallTree tree({{"train.py", ""}, {"job.sh", "python train.py\n"}});
    const auto commands = commands_of(*tree, {command});
    CHECK(commands.invocations.empty());
    REQUIRE(commands.unread.size() == 1);
    REQUIRE(commands.degraded.size() == 1);
    CHECK(commands.degraded[0].ends_with(commands.unread[0] +
                                         " is not read; give the command it runs"));
  }
}

}  // namespace schedmate::command
