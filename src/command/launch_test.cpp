// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/command_lines.hpp"

namespace schedmate::command {
namespace {

using testing::commands_of;
using testing::SmallTree;

/// "launchers > script(args) processes/nodes" of what the command starts last.
std::string launched(tree::Tree& tree, const std::string& command, int gpus = 8, int nodes = 1) {
  const CommandSource source{command, ".", gpus, nodes};
  std::string shown = "nothing";
  for (const auto& invocation : commands_of(tree, source).invocations) {
    const auto launch = read_launch(tree, invocation, source);
    if (!launch) continue;
    std::string args;
    for (const auto& word : launch->args) args += " " + word.text;
    const auto& entry = launch->script.empty() ? "~" + launch->program : launch->script;
    shown = fmt::format("{}{}{}{} {}/{}", fmt::join(launch->launchers, "+"),
                        launch->launchers.empty() ? "" : " > ", entry, args,
                        repr(launch->processes_per_node), repr(launch->nodes));
  }
  return shown;
}

struct LaunchRow {
  const char* command;
  const char* launched;
};

SmallTree small_tree() {
  return {{"train.py", ""},
          {"tools/train.py", ""},
          {"src/pkg/cli.py", ""},
          {"pkg2/__main__.py", ""},
          {"lib/inner/run.py", ""},
          {"pyproject.toml", "[project.scripts]\nmy-train = \"pkg.cli:main\"\n"},
          {"setup.py", "entry_points={'console_scripts': ['old_train=inner.run:go']}\n"},
          {"acc.yaml",
           "num_processes: 4\nnum_machines: 1\nmixed_precision: 'bf16'\n"
           "deepspeed_config:\n  zero_stage: 3\n"}};
}

}  // namespace

TEST_CASE("launchers are taken off and say how many processes run") {
  auto tree = small_tree();
  constexpr LaunchRow rows[] = {
      {"python train.py --a 1", "train.py --a 1 ?/?"},
      {"python3.10 -u -W ignore ./tools/../train.py", "train.py ?/?"},
      {"torchrun --nproc_per_node=4 train.py x", "torchrun > train.py x 4/?"},
      {"torchrun --standalone --nproc-per-node gpu --nnodes 1:1 train.py",
       "torchrun > train.py 8/1"},
      {"torchrun --nproc_per_node $N --nnodes=1:4 train.py", "torchrun > train.py ?/?"},
      {"torchrun -m pkg.cli a", "torchrun > src/pkg/cli.py a 1/?"},
      {"torchrun --nproc_per_node 2 --no_python my-train b", "torchrun > src/pkg/cli.py b 2/?"},
      {"python -m torch.distributed.launch --nproc_per_node 2 --use_env train.py",
       "torch.distributed.launch > train.py 2/?"},
      {"python -m torch.distributed.run --nproc_per_node=2 -m pkg2",
       "torchrun > pkg2/__main__.py 2/?"},
      {"accelerate launch train.py", "accelerate launch > train.py 8/?"},
      {"accelerate launch --multi_gpu --num_processes 2 --mixed_precision fp16 train.py q",
       "accelerate launch > train.py q 2/?"},
      {"accelerate launch --config_file acc.yaml train.py", "accelerate launch > train.py 4/1"},
      {"accelerate launch --some_new_flag 3 train.py", "accelerate launch > train.py 8/?"},
      {"deepspeed --num_gpus 4 train.py --deepspeed ds.json",
       "deepspeed > train.py --deepspeed ds.json 4/?"},
      {"deepspeed --include localhost:0,1,2 train.py", "deepspeed > train.py 3/?"},
      {"deepspeed --module pkg.cli", "deepspeed > src/pkg/cli.py 8/?"},
      {"srun -N 2 --ntasks-per-node=8 --gres gpu:8 python -u train.py", "srun > train.py 8/2"},
      {"srun python train.py", "srun > train.py 1/?"},
      {"mpirun -np 4 -x A=1 --allow-run-as-root python train.py", "mpirun > train.py 4/?"},
      {"horovodrun -np 8 -H localhost:8 python train.py", "horovodrun > train.py 8/?"},
      {"python -m paddle.distributed.launch --gpus 0,1 train.py",
       "paddle.distributed.launch > train.py 2/?"},
      {"lightning run model --devices 2 --accelerator cuda train.py",
       "lightning run > train.py 2/?"},
      {"fabric run --devices=2,3 --precision bf16-mixed train.py", "fabric run > train.py 2/?"},
      {"composer -n 4 train.py", "composer > train.py 4/?"},
      {"colossalai run --nproc_per_node 4 train.py --x", "colossalai run > train.py --x 4/?"},
      {"CUDA_VISIBLE_DEVICES=0,3 accelerate launch train.py", "accelerate launch > train.py 2/?"},
      {"srun --nodes=2 torchrun --nproc_per_node 4 --nnodes 2 train.py",
       "srun+torchrun > train.py 4/2"},
      {"torchrun $ARGS train.py x", "torchrun > train.py x ?/?"},
      {"srun $ARGS python $FLAGS train.py", "srun > train.py ?/?"},
      {"$LAUNCH --gpus 8 tools/train.py y", "$LAUNCH > tools/train.py y ?/?"},
      {"tune run --nproc_per_node 2 lora --config c", "tune run > ~lora --config c 2/?"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    CHECK(launched(*tree, row.command) == row.launched);
  }
}

TEST_CASE("wrappers change neither the script nor its words") {
  auto tree = small_tree();
  for (const char* const wrapper : {"nohup",
                                    "time",
                                    "env A=1 -u B",
                                    "timeout -k 5 2h",
                                    "nice -n 10",
                                    "stdbuf -oL",
                                    "xvfb-run -a",
                                    "conda run -n e --no-capture-output",
                                    "poetry run",
                                    "pixi run -e gpu",
                                    "uv run --with x --extra gpu",
                                    "pipenv run",
                                    "numactl --cpunodebind=0",
                                    "sudo -E A=b",
                                    "docker run --rm -v /a:/b --gpus all image",
                                    "singularity exec --nv -B /a image.sif",
                                    "apptainer exec --nv image.sif",
                                    "nsys profile -o out",
                                    "taskset -c 0-7",
                                    "exec",
                                    "ionice -c 2 -n 0",
                                    "mamba run -p /env"}) {
    CAPTURE(wrapper);
    CHECK(launched(*tree, std::string(wrapper) + " python train.py --x 1") == "train.py --x 1 ?/?");
  }
  CHECK(launched(*tree, "uv run train.py a") == "train.py a ?/?");
  CHECK(launched(*tree, "uv run -m pkg2 a") == "pkg2/__main__.py a ?/?");
  CHECK(launched(*tree, "coverage run -m pkg.cli") == "coverage > src/pkg/cli.py ?/?");
  CHECK(launched(*tree, "python -m cProfile -o p.out train.py") == "cProfile > train.py ?/?");
}

TEST_CASE("modules, folders and console scripts are found in the tree") {
  auto tree = small_tree();
  CHECK(launched(*tree, "python -m tools.train --y") == "tools/train.py --y ?/?");
  CHECK(launched(*tree, "python -m inner.run") == "lib/inner/run.py ?/?");
  CHECK(launched(*tree, "python pkg2") == "pkg2/__main__.py ?/?");
  CHECK(launched(*tree, "my-train a=1") == "src/pkg/cli.py a=1 ?/?");
  CHECK(launched(*tree, "old_train") == "lib/inner/run.py ?/?");
  CHECK(launched(*tree, "dora run -d a=1") == "dora run > tools/train.py a=1 8/?");
  CHECK(launched(*tree, "torchrun --nproc-per-node=4 -m dora -P tools run a=1") ==
        "torchrun+dora run > tools/train.py a=1 4/?");
  CHECK(launched(*tree, "yolo detect train data=coco.yaml") ==
        "~yolo detect train data=coco.yaml ?/?");
  CHECK(launched(*tree, "python -m litgpt finetune") == "~litgpt finetune ?/?");
  CHECK(launched(*tree, "python absent.py") == "~absent.py ?/?");
  CHECK(launched(*tree, "cd tools && python train.py") == "tools/train.py ?/?");
  CHECK(launched(*tree, "python /data/repo/tools/train.py") == "tools/train.py ?/?");
  CHECK(launched(*tree, "python $ROOT/tools/train.py") == "tools/train.py ?/?");
  CHECK(launched(*tree, "$PYTHON train.py") == "train.py ?/?");
  CHECK(launched(*tree, "cd repo && python train.py") == "train.py ?/?");
}

TEST_CASE("housekeeping is no launch") {
  auto tree = small_tree();
  for (const char* const command :
       {"mkdir -p x", "pip install .", "python -m pip install x", "python setup.py install",
        "python -c 'print(1)'", "echo train.py", "conda activate e", "rsync -a a b", "wandb=1",
        "module load cuda", "python", "--lr 3", "$CMD --x", "torchrun", "nvidia-smi",
        "git clone x"}) {
    CAPTURE(command);
    CHECK(launched(*tree, command) == "nothing");
  }
}

TEST_CASE("launcher settings keep their values and places") {
  auto tree = small_tree();
  const CommandSource source{"accelerate launch --config_file acc.yaml --num_processes=2 train.py"};
  const auto made = commands_of(*tree, source);
  REQUIRE(made.invocations.size() == 1);
  const auto launch = read_launch(*tree, made.invocations[0], source);
  REQUIRE(launch);
  CHECK(repr(*launch->settings.find("mixed_precision")) == "'bf16'");
  const auto* const stage = launch->settings.find("zero_stage");
  REQUIRE(stage != nullptr);
  CHECK(stage->place->file == "acc.yaml");
  CHECK(stage->place->line == 5);
  CHECK(launch->processes_per_node.place->text == "--num_processes=2");
}

TEST_CASE("sbatch headers and flags set what the script sees") {
  SmallTree tree({{"job.sh",
                   "#!/bin/bash\n#SBATCH --nodes=2  # two\n#SBATCH --ntasks-per-node 4\n"
                   "#SBATCH -a 0-9:3%2\n#SBATCH --gres=gpu:a100:4\ncd $SLURM_SUBMIT_DIR\n"
                   "srun python train.py --n $SLURM_NNODES --g $SLURM_GPUS_ON_NODE --t "
                   "$SLURM_NTASKS --i $SLURM_ARRAY_TASK_ID $1\n"},
                  {"train.py", ""}});
  CHECK(testing::started(*tree, "sbatch -N 3 job.sh q") ==
        "srun python train.py --n 3 --g 4 --t 12 --i ?$SLURM_ARRAY_TASK_ID q x4");
  CHECK(launched(*tree, "sbatch job.sh", 8, 2).starts_with("srun > train.py"));
  CHECK(launched(*tree, "sbatch job.sh", 8, 2).ends_with(" 4/2"));
  CHECK(launched(*tree, "sbatch --gpus 2 --wrap \"python train.py --lr 1\"") ==
        "train.py --lr 1 ?/?");
}

TEST_CASE("make runs the recipe of its goal with the variables of file and command") {
  SmallTree tree({{"Makefile",
                   "EPOCHS ?= 10\nLR := 0.1\nFLAGS = --lr $(LR) --epochs ${EPOCHS}\n\n"
                   "data:\n\techo data\n\ntrain: data\n\t@python train.py $(FLAGS) \\\n"
                   "\t  --dir $$HOME --goal $@\n"},
                  {"train.py", ""}});
  CHECK(launched(*tree, "make train EPOCHS=3") ==
        "train.py --lr 0.1 --epochs 3 --dir $HOME --goal train ?/?");
  const auto made = commands_of(*tree, {"make train"});
  REQUIRE(made.invocations.size() == 1);
  CHECK(made.invocations[0].argv[5].text == "10");
  CHECK(made.invocations[0].argv[5].place->file == "Makefile");
}

}  // namespace schedmate::command
