// SPDX-License-Identifier: Apache-2.0
#include "command/programs.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "command/paths.hpp"

namespace schedmate::command {
namespace {

constexpr std::string_view torch_options =
    "nproc-per-node nnodes node-rank rdzv-backend rdzv-endpoint rdzv-id rdzv-conf max-restarts "
    "monitor-interval start-method role log-dir redirects t tee r master-addr master-port "
    "local-addr local-ranks-filter logs-specs nproc-per-node";

constexpr std::string_view slurm_options =
    "n N c p J A t w x G D o e i m q C d a k account array begin chdir comment constraint "
    "container-image container-mounts container-workdir container-name container-env "
    "cpu-bind cpus-per-gpu cpus-per-task dependency distribution epilog error exclude export "
    "gpu-bind gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group input "
    "jobid job-name kill-on-bad-exit licenses mail-type mail-user mem mem-bind mem-per-cpu "
    "mem-per-gpu mpi nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu "
    "ntasks-per-node ntasks-per-socket open-mode output partition prolog qos relative "
    "reservation signal task-epilog task-prolog threads-per-core time time-min unbuffered-mode "
    "wait wckey wrap ntasks-per-switch profile signal-batch";

constexpr auto programs = std::to_array<Program>({
    {"nohup setsid exec command builtin unbuffer catchsegv dumb-init tini chronic", "",
     Role::wrapper, "a"},
    {"time gtime", "", Role::wrapper, "f o format output"},
    {"env", "", Role::wrapper, "u C unset chdir"},
    {"sudo", "", Role::wrapper, "u g h p C U user group"},
    {"stdbuf", "", Role::wrapper, "i o e input output error"},
    {"nice", "", Role::wrapper, "n adjustment"},
    {"ionice", "", Role::wrapper, "c n class classdata"},
    {"timeout gtimeout", "", Role::wrapper, "s k signal kill-after", 1},
    {"taskset chrt", "", Role::wrapper, "", 1},
    {"numactl", "", Role::wrapper, "N m C i p cpunodebind membind physcpubind interleave"},
    {"xvfb-run", "", Role::wrapper, "e f n p s w error-file auth-file server-num server-args wait"},
    {"conda mamba micromamba", "run", Role::wrapper, "n p name prefix cwd"},
    {"poetry pipenv pdm rye hatch", "run", Role::wrapper, "C P e directory project env"},
    {"pixi", "run", Role::wrapper, "e environment manifest-path"},
    {"uv", "run", Role::wrapper,
     "with with-editable with-requirements extra group only-group no-group p python project "
     "directory env-file package index-url extra-index-url index default-index f find-links "
     "index-strategy resolution refresh-package link-mode cache-dir config-file color"},
    {"docker podman nvidia-docker", "run exec", Role::container,
     "v e w u p h l m a env env-file volume mount workdir user name network net gpus shm-size ipc "
     "ulimit memory cpus device runtime entrypoint hostname publish label pid cap-add "
     "security-opt add-host platform restart userns group-add log-driver cpuset-cpus pull "
     "cidfile privileged-mode tmpfs",
     1},
    {"singularity apptainer", "exec run", Role::container,
     "B H W S bind home pwd workdir env env-file overlay scratch app hostname mount nv-visible "
     "fakerootdir security network",
     1},
    {"nsys", "profile", Role::wrapper,
     "o t s c y d w output trace sample capture-range delay duration stats "
     "cuda-memory-usage cudabacktrace gpu-metrics-device kill stop-on-exit wait"},
    {"ncu nv-nsight-cu-cli", "", Role::wrapper, "o k c s export kernel-name launch-count set"},
    {"py-spy", "record", Role::wrapper, "o f r d output format rate duration"},
    {"srun", "", Role::tasks, slurm_options},
    {"sbatch", "", Role::submission, slurm_options},
    {"qsub", "", Role::submission, "l q N o e j P A W v M m t J a p S"},
    {"salloc", "", Role::wrapper, slurm_options},
    {"mpirun mpiexec orterun mpiexec.hydra prterun", "", Role::tasks,
     "n np c N H f hosts hostfile machinefile host npernode ppn bind-to map-by rank-by x wdir wd "
     "genv env prefix launcher mca:2 oversubscribe-mode perhost report-file"},
    {"horovodrun", "", Role::tasks,
     "np p H H-file hostfile host-discovery-script min-np max-np num-proc hosts ssh-port "
     "start-timeout network-interface output-filename fusion-threshold-mb cycle-time-ms "
     "timeline-filename slots reset-limit config-file gloo-timeout-seconds"},
    {"torchrun", "", Role::trainer, torch_options},
    {"torch.distributed.launch", "", Role::trainer, torch_options},
    {"tune", "run", Role::trainer, torch_options},
    {"accelerate", "launch", Role::trainer, {}},
    {"accelerate-launch", "", Role::trainer, {}},
    {"deepspeed ds", "", Role::trainer,
     "H hostfile i include e exclude num-nodes num-gpus min-elastic-nodes max-elastic-nodes "
     "master-port master-addr launcher launcher-args autotuning node-rank ssh-port "
     "bind-core-list elastic-training-mode save-pid-dir venv-script"},
    {"colossalai", "run", Role::trainer,
     "H host hostfile include exclude num-nodes nproc-per-node master-port master-addr "
     "extra-launch-args ssh-port"},
    {"paddle.distributed.launch fleetrun", "", Role::trainer,
     "gpus devices ips xpus npus nproc-per-node nnodes master rank log-dir log-level job-id "
     "run-mode servers workers trainers server-num worker-num trainer-num elastic-level "
     "max-restart host host-rank cluster-topo-path rank-mapping-path legacy nprocs"},
    {"bagua.distributed.launch bagua.distributed.run oneflow.distributed.launch", "", Role::trainer,
     torch_options},
    {"lightning", "run", Role::trainer,
     "accelerator strategy devices num-nodes node-rank main-address main-port precision"},
    {"fabric", "run", Role::trainer,
     "accelerator strategy devices num-nodes node-rank main-address main-port precision"},
    {"composer", "", Role::trainer,
     "n nproc world-size base-rank node-rank master-addr master-port run-directory stdout stderr "
     "run-dir"},
    {"dora", "run", Role::trainer, "P package M main-module f from-sig ddp-workers"},
    {"trainer.distribute", "", Role::trainer, "gpus group-id"},
    {"torch_xla.distributed.xla_dist xla_dist", "", Role::trainer,
     "tpu conda-env env docker-image"},
    {"coverage", "run", Role::profiler, "source omit include data-file p rcfile concurrency"},
    {"kernprof", "", Role::profiler, "o outfile s setup"},
    {"viztracer scalene", "", Role::profiler, "o output-file outfile"},
    {"cProfile profile pdb ipdb trace pudb", "", Role::profiler, "o s c"},
    {"debugpy", "", Role::profiler, "listen connect log-to configure-subProcess"},
    {"memory_profiler", "", Role::profiler, "o T C"},
});

/// accelerate's launcher: the options that are plain switches are fewer than those with a value.
constexpr std::string_view accelerate_switches =
    "cpu multi-gpu tpu ipex use-mps-device use-deepspeed use-fsdp use-parallelism-config "
    "use-megatron-lm use-xpu m module no-python debug tpu-cluster no-tpu-cluster tpu-use-cluster "
    "tpu-use-sudo downcast-bf16 dynamo-use-fullgraph dynamo-use-dynamic quiet q "
    "enable-cpu-affinity h help";

/// `python -m` names of launchers that the table knows by another one.
constexpr auto module_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"torch.distributed.run", "torchrun"},
    {"torch.distributed.launch", "torch.distributed.launch"},
    {"torch.distributed.elastic.launch", "torchrun"},
    {"accelerate.commands.launch", "accelerate-launch"},
    {"accelerate.launch", "accelerate-launch"},
    {"deepspeed.launcher.runner", "deepspeed"},
    {"deepspeed", "deepspeed"},
    {"paddle.distributed.launch", "paddle.distributed.launch"},
    {"paddle.distributed.fleet.launch", "paddle.distributed.launch"},
    {"lightning.fabric.cli", "fabric"},
    {"lightning", "lightning"},
    {"lightning_fabric", "lightning"},
    {"composer.cli.launcher", "composer"},
    {"horovod.runner", "horovodrun"},
    {"torch.utils.bottleneck", "profile"},
});

bool has_word(std::string_view words, std::string_view wanted) {
  const auto all = split(words, ' ');
  return !wanted.empty() && std::ranges::find(all, wanted) != all.end();
}

std::string option_name(std::string_view text) {
  while (text.starts_with('-')) text.remove_prefix(1);
  std::string name(text);
  std::ranges::replace(name, '_', '-');
  return name;
}

bool is_option(const Word& word) { return word.text.size() > 1 && word.text.starts_with('-'); }

bool looks_like_script(std::string_view text) {
  return text.ends_with(".py") || text.ends_with(".sh") || text.ends_with(".pyc");
}

/// How the words of one program are taken.
class WordReader {
 public:
  WordReader(std::span<const Word> argv, ProgramCall& call) : argv_(argv), call_(call) {}

  void options() {
    while (call_.command < argv_.size()) {
      const Word& word = argv_[call_.command];
      if (word.text == "--") {
        ++call_.command;
        return;
      }
      if (is_option(word)) {
        option(word);
      } else if (skips_unknown(word)) {
        ++call_.command;
        call_.complete = false;
      } else if (!assignment(word)) {
        return;
      }
    }
  }

 private:
  /// `torchrun $ARGS train.py`: a word that may hold options, with something known behind it.
  bool skips_unknown(const Word& word) const {
    const bool starts_others =
        call_.program->role != Role::wrapper && call_.program->role != Role::submission;
    const bool nothing_behind = call_.command + 1 >= argv_.size();
    return starts_others && !word.known && word.text.starts_with('$') && !nothing_behind &&
           !looks_like_script(word.text) && !is_option(argv_[call_.command + 1]);
  }

  bool takes_value(const std::string& name, const Word& word) const {
    const auto valued = call_.program->valued;
    if (has_word(valued, name)) return true;
    if (call_.program->role != Role::trainer || !word.text.starts_with("--")) return false;
    const std::size_t next = call_.command;
    const bool free = next < argv_.size() && !is_option(argv_[next]);
    if (!free || looks_like_script(argv_[next].text)) return false;
    if (call_.name.starts_with("accelerate")) return !has_word(accelerate_switches, name);
    // An option that the table does not know: a value if a script still follows.
    return !has_word(
               "standalone use-env no-python module run-path no-local-rank m deepspeed "
               "force-multi no-ssh enable-each-rank-log elastic-training save-pid",
               name) &&
           std::ranges::any_of(argv_.subspan(next + 1),
                               [](const Word& w) { return looks_like_script(w.text); });
  }

  void option(const Word& word) {
    ++call_.command;
    const std::string_view text = word.text;
    const auto equals = text.find('=');
    std::string name = option_name(text.substr(0, equals));
    if (equals != std::string_view::npos) {
      keep(std::move(name), part(word, equals + 1));
    } else if (has_word(call_.program->valued, name + ":2")) {
      call_.command = std::min(call_.command + 2, argv_.size());
    } else if (takes_value(name, word)) {
      const bool there = call_.command < argv_.size();
      keep(std::move(name), there ? std::optional(argv_[call_.command++]) : std::nullopt);
    } else if (!text.starts_with("--") && name.size() > 1 &&
               has_word(call_.program->valued, name.substr(0, 1))) {
      keep(name.substr(0, 1), part(word, 2));
    } else {
      keep(std::move(name), std::nullopt);
    }
  }

  static Word part(const Word& word, std::size_t from) {
    return {word.text.substr(from), word.place, word.known};
  }

  void keep(std::string name, std::optional<Word> value) {
    const bool sets_env =
        (call_.program->role == Role::container && (name == "e" || name == "env")) ||
        (call_.program->role == Role::tasks && name == "x");
    if (sets_env && value) set(*value);
    if (name == "export" && value) {
      for (const auto one : split(value->text, ','))
        set({std::string(one), value->place, value->known});
    }
    const bool sets_folder = has_word("w workdir pwd cwd wdir wd D chdir directory", name);
    const bool moves = call_.program->role == Role::container || name == "chdir" || name == "cwd" ||
                       name == "wdir" || name == "wd" || name == "directory" || name == "D";
    if (sets_folder && moves && value) call_.folder = value;
    call_.options.push_back({std::move(name), std::move(value)});
  }

  void set(const Word& word) {
    const auto equals = word.text.find('=');
    if (equals != std::string::npos)
      call_.env[word.text.substr(0, equals)] = part(word, equals + 1);
  }

  bool assignment(const Word& word) {
    const bool takes = call_.name == "env" || call_.name == "sudo";
    const auto found = takes ? split_assignment(word.text) : std::nullopt;
    if (!found) return false;
    set(word);
    ++call_.command;
    return true;
  }

  std::span<const Word> argv_;
  ProgramCall& call_;
};

std::optional<ProgramCall> read_as(std::string_view name, std::span<const Word> argv,
                                   std::size_t next) {
  for (const auto& program : programs) {
    if (!has_word(program.names, name) || !is_modelled(name)) continue;
    ProgramCall call;
    call.program = &program;
    call.name = name;
    call.command = next;
    if (!program.subcommands.empty()) {
      // `dora -P package run`: options of the program itself stand before its command.
      WordReader(argv, call).options();
      const std::string command = call.command < argv.size() ? argv[call.command].text : "";
      if (!has_word(program.subcommands, command)) continue;
      if (program.role == Role::trainer) call.name += " " + command;
      ++call.command;
    }
    if (name == "lightning" && call.command < argv.size() &&
        has_word("model app", argv[call.command].text))
      ++call.command;
    WordReader(argv, call).options();
    call.command = std::min(call.command + static_cast<std::size_t>(program.operands), argv.size());
    return call;
  }
  return std::nullopt;
}

}  // namespace

const Option* ProgramCall::option(std::span<const std::string_view> names) const {
  const Option* found = nullptr;
  for (const auto& candidate : options) {
    if (std::ranges::find(names, candidate.name) != names.end()) found = &candidate;
  }
  return found;
}

std::optional<ProgramCall> read_program(std::span<const Word> argv, std::size_t at) {
  if (at >= argv.size() || !argv[at].known) return std::nullopt;
  return read_as(program_name(argv[at]), argv, at + 1);
}

std::optional<ProgramCall> read_module(std::string_view module, std::span<const Word> argv,
                                       std::size_t at) {
  const auto known =
      std::ranges::find(module_names, module, [](const auto& row) { return row.first; });
  auto call = read_as(known != module_names.end() ? known->second : module, argv, at);
  const bool fits =
      call && (call->program->role == Role::trainer || call->program->role == Role::profiler ||
               call->program->role == Role::tasks);
  return fits ? call : std::nullopt;
}

[[gnu::weak]] bool is_modelled(std::string_view) { return true; }

std::string_view program_name(const Word& word) { return base_name(word.text); }

bool is_python(std::string_view program) {
  if (has_word("python python2 python3 pythonw ipython ipython3 pypy pypy3 debugpy-python",
               program))
    return true;
  return program.starts_with("python3.") || program.starts_with("python2.");
}

bool is_shell(std::string_view program) { return has_word("bash sh zsh dash ksh ash", program); }

bool is_housekeeping(std::string_view program) {
  constexpr std::string_view names =
      "cd mkdir rm rmdir mv cp ln ls cat echo printf touch chmod chown tar unzip zip gzip gunzip "
      "wget curl rsync scp git pip pip3 conda mamba module ml sleep wait date hostname nvidia-smi "
      "grep egrep fgrep sed awk find sort uniq head tail wc tee tr cut which type whoami pwd env "
      "export set unset ulimit trap true false test kill pkill killall ps top free df du watch "
      "apt apt-get yum brew gsutil aws az gcloud huggingface-cli hf scontrol squeue scancel sacct "
      "sinfo docker podman make cmake ninja gcc g++ nvcc sync mount umount ssh ssh-keygen ssh-add "
      "screen tmux diff patch basename dirname realpath readlink seq expr bc jq less more vi vim "
      "pytest black isort flake8 mypy ruff tensorboard jupyter read shopt alias stty clear source "
      "su sudo uname lscpu nproc id groups xargs parallel shuf split md5sum sha256sum dvc uv "
      "poetry pipenv lsof netstat ss ping nc ibstat tput fi done then else do esac return exit";
  return has_word(names, program);
}

}  // namespace schedmate::command
