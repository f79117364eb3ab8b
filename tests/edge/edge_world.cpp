// SPDX-License-Identifier: Apache-2.0
#include "tests/edge/edge_world.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/input.hpp"

namespace schedmate {

EdgeWorld::EdgeWorld() {
  std::string log;
  for (int step = 10; step <= 50; step += 10)
    log += fmt::format("epoch 1 step {}/100 loss 2.{} 1.0 s/it\n", step, step);
  write("a.log", log + "Traceback (most recent call last):\nRuntimeError: CUDA out of memory\n");
  write("job/train.py", "import torch\nmodel = torch.nn.Linear(2, 2)\n");
  write("settings.toml", "placement = \"spread\"\n");
  write("broken.toml", "placement = \n");
  write("empty", "");
  write("slurm.conf", "ClusterName=x\nJobSubmitPlugins=lua\n");
  std::filesystem::create_symlink(house_.socket(), path("api.sock"));
  write("state/journal.sqlite",
        read_file(SCHEDMATE_SOURCE_DIR "/tests/fixtures/journal/journal.sqlite").value());
}

std::vector<std::string> command_names() {
  return {
#define COMMAND(name, summary) #name,
#include "apps/commands.def"
#undef COMMAND
  };
}

const std::map<std::string, std::string>& working_lines() {
  static const std::map<std::string, std::string> lines{
      {"simulate", "--trace helios:jobs.csv --cluster cluster.toml --policy fifo --out out"},
      {"generate",
       "--from helios:jobs.csv --cluster cluster.toml --jobs 20 --gpus 16 --load 0.5 "
       "--out out"},
      {"whatif", "--sacct " SCHEDMATE_SOURCE_DIR "/tests/fixtures/sacct/testbed.txt.gz"},
      {"evaluate", "small.toml --out out"},
      {"facts", "job --command 'python train.py'"},
      {"track", "a.log"},
      {"ask", "a.log 'why did it stop?'"},
      {"diagnose", "a.log"},
      {"advise", "job --command 'python train.py' --user ann"},
      {"history", "list"},
      {"jobs", "--address unix:api.sock"},
      {"cluster", "--address unix:api.sock"},
      {"actions", "--address unix:api.sock"},
      {"ledger", "--address unix:api.sock"},
      {"watch", "--for 3 --address unix:api.sock"},
      {"submit", "--address unix:api.sock -- true"},
      {"cancel", "1 --address unix:api.sock"},
      {"token", "list --set access.tokens_file=tokens"},
      {"slurm", "install --conf slurm.conf"},
      {"list", ""},
      {"config", ""},
      {"doctor", ""},
      {"version", ""},
      {"probe", "--once --kernel-log empty --nvml-from empty"},
      {"worker", "--until-empty --redis memory"},
      {"work", "status --redis memory"},
      {"completion", "bash"},
      {"job", "a.log"},
      {"eta", "--from " SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt"},
      {"audit", "--since 0"},
      {"why", "9 --from " SCHEDMATE_SOURCE_DIR "/tests/fixtures/slurm/queue_22_05.txt"},
      {"report", "--from sacct:" SCHEDMATE_SOURCE_DIR "/tests/fixtures/sacct/testbed.txt.gz"},
  };
  return lines;
}

}  // namespace schedmate
