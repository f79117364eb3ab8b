// SPDX-License-Identifier: Apache-2.0
#include "advisor/admission.hpp"

#include <doctest/doctest.h>

#include <array>

#include "tests/support/near.hpp"

namespace schedmate::advisor {
namespace {

using testing::near;

const FlagRules& rules() { return FlagRules::built_in(); }

Submission submission(std::string command) {
  Submission ours;
  ours.user = "ann";
  ours.job = {"/trees/vision", ".", std::move(command), 4, 1, ""};
  return ours;
}

JobRecord record(const Submission& from) {
  JobRecord earlier;
  earlier.id = "7";
  earlier.user = from.user;
  earlier.root = from.job.root;
  earlier.workdir = from.job.workdir;
  earlier.command = from.job.command;
  earlier.gpus = from.job.gpus;
  earlier.nodes = from.job.nodes;
  return earlier;
}

constexpr const char* base =
    "torchrun --nproc_per_node=4 train.py --model vit_b --epochs 10 --lr 0.1";

Verdict verdict(std::string ours, std::string theirs = base) {
  const JobRecord earlier = record(submission(std::move(theirs)));
  const Submission now = submission(std::move(ours));
  return judge({now, nullptr, earlier}, rules());
}

TEST_CASE("every row of flags.toml knows its own example, and says why") {
  CHECK(rules().all().size() > 15);
  for (const FlagRule& rule : rules().all()) {
    CAPTURE(rule.name);
    CHECK(!rule.reason.empty());
    const CommandFlags flags = read_command_flags("python x.py " + rule.example, rules());
    REQUIRE(flags.flags.size() == 1);
    const FlagRule* found = rules().find(flags.flags[0].name);
    REQUIRE(found != nullptr);
    CHECK(found->name == rule.name);
  }
}

TEST_CASE("a flag belongs to the longest name that ends it") {
  const auto class_of = [](std::string_view flag) {
    const FlagRule* rule = rules().find(flag);
    return rule == nullptr ? std::string_view("none") : name_of(rule->flag_class);
  };
  for (const char* flag : {"lr", "learning-rate", "learning_rate", "optim.lr", "optimizer.base_lr",
                           "warmup_epochs", "learningRate"})
    CHECK_MESSAGE(class_of(flag) == "same_duration", flag);
  for (const char* flag : {"epochs", "trainer.max_epochs", "maxEpochs", "data.batch_size"})
    CHECK_MESSAGE(class_of(flag) == "scaled", flag);
  for (const char* flag : {"wandb_project", "output_dir", "trainer.seed", "MASTER_PORT"})
    CHECK_MESSAGE(class_of(flag) == "same_job", flag);
  CHECK(class_of("frobnicate") == "none");
  CHECK(class_of("") == "none");
}

TEST_CASE("a command is read as launcher, entry, flags and words") {
  const CommandFlags flags = read_command_flags(
      "cd exp && CUDA_VISIBLE_DEVICES=0,1 torchrun --standalone tools/train.py cfg.yaml "
      "--lr=-1e-4 --resume -x -3 +trainer.fast=1 --name 'a b'",
      rules());
  CHECK(flags.entry == "tools/train.py");
  CHECK(flags.words == std::vector<std::string>{"cd", "exp", "tools/train.py", "cfg.yaml"});
  const std::vector<GivenFlag> wanted{{"CUDA_VISIBLE_DEVICES", "0,1"},
                                      {"lr", "-1e-4"},
                                      {"name", "a b"},
                                      {"resume", ""},
                                      {"standalone", ""},
                                      {"trainer.fast", "1"},
                                      {"x", "-3"}};
  CHECK(flags.flags == wanted);
  CHECK(read_command_flags("python -m torch.distributed.launch a.py", rules()).entry == "a.py");
  CHECK(read_command_flags("python -m pkg.train --lr 1", rules()).entry == "pkg.train");
}

TEST_CASE("one script is one entry, however it was submitted") {
  for (const char* const command :
       {"train.sh", "./train.sh", "bash train.sh", "sbatch train.sh", "sbatch ./train.sh",
        "sbatch --gres=gpu:4 -t 60 --exclusive -N2 -J name train.sh", "sbatch -p gpu x/../train.sh",
        "/usr/bin/sbatch --parsable --time 1:00:00 train.sh", "/cluster/ann/net/train.sh",
        "sbatch /cluster/ann/net/train.sh", "sbatch --wrap './train.sh'",
        "sbatch --wrap=train.sh"}) {
    const CommandFlags flags = read_command_flags(command, rules(), "/cluster/ann/net/");
    CHECK_MESSAGE(flags.entry == "train.sh", command);
    CHECK_MESSAGE(flags.words == std::vector<std::string>{"train.sh"}, command);
    CHECK_MESSAGE(flags.flags.empty(), command);
  }
  CHECK(read_command_flags("/cluster/ann/network/train.sh", rules(), "/cluster/ann/net").entry ==
        "/cluster/ann/network/train.sh");
  CHECK(read_command_flags("../train.sh", rules(), "/cluster/ann/net").entry == "../train.sh");
  CHECK(read_command_flags("sbatch --wrap 'python a.py --lr 1'", rules()).flags ==
        std::vector<GivenFlag>{{"lr", "1"}});
  CHECK(read_command_flags("sbatch train.sh --lr 1", rules()).flags ==
        std::vector<GivenFlag>{{"lr", "1"}});
  CHECK(read_command_flags("sbatch", rules()).entry.empty());
  CHECK(read_command_flags("sbatch --wrap", rules()).flags.size() <= 1);
}

TEST_CASE("odd commands are read to their end") {
  CHECK(read_command_flags("", rules()).entry.empty());
  CHECK(read_command_flags("python 'open", rules()).entry == "open");
  CHECK(read_command_flags(std::string(100'000, '"'), rules()).flags.empty());
  CHECK(read_command_flags("a \\", rules()).entry == "a");
  CHECK(read_command_flags("a.py --x 1 --x 2", rules()).flags.at(0).value == "1 2");
}

TEST_CASE("the same command is the same job") {
  const Verdict same = verdict(base);
  CHECK(same.relation == FlagClass::same_job);
  CHECK(same.rule == "same user, directory and command");
  CHECK(same.scale == 1);
}

TEST_CASE("a changed flag decides by its class, and is named with its rule") {
  const std::string command = base;
  const Verdict seed = verdict(command + " --seed 2");
  CHECK(seed.relation == FlagClass::same_job);
  CHECK(seed.rule == "same_job: seed: 2 here, not given there");
  CHECK(verdict(command + " --weight-decay 0.1").relation == FlagClass::same_duration);
  CHECK(verdict(command + " --frobnicate").relation == FlagClass::another_job);
  CHECK(verdict(command + " --fp16").rule.find("precision") != std::string::npos);
  CHECK(verdict("python train.py --model vit_l --epochs 10 --lr 0.1").relation ==
        FlagClass::another_job);
  CHECK(verdict("python test.py --model vit_b --epochs 10 --lr 0.1").rule ==
        "another_job: other program");
}

TEST_CASE("without facts, the flag of the length scales the duration") {
  const Verdict longer =
      verdict("torchrun --nproc_per_node=4 train.py --model vit_b --epochs 20 --lr 0.1");
  CHECK(longer.relation == FlagClass::scaled);
  CHECK(near(longer.scale, 2, 1e-12, 0));
  const Verdict odd =
      verdict("torchrun --nproc_per_node=4 train.py --model vit_b --epochs nan --lr 0.1");
  CHECK(odd.scale == 1);
}

TEST_CASE("user, directory, branch and GPU type have to be the same; GPUs scale") {
  const Submission now = submission(base);
  const auto with = [&](auto change) {
    JobRecord earlier = record(now);
    earlier.gpu_type = "A100";
    change(earlier);
    Submission ours = now;
    ours.job.gpu_type = "A100";
    return judge({ours, nullptr, earlier}, rules()).relation;
  };
  CHECK(with([](JobRecord&) {}) == FlagClass::same_job);
  CHECK(with([](JobRecord& earlier) { earlier.user = "bob"; }) == FlagClass::another_job);
  CHECK(with([](JobRecord& earlier) { earlier.workdir = "sub"; }) == FlagClass::another_job);
  CHECK(with([](JobRecord& earlier) { earlier.branch = "dev"; }) == FlagClass::another_job);
  CHECK(with([](JobRecord& earlier) { earlier.gpu_type = "H100"; }) == FlagClass::another_job);
  CHECK(with([](JobRecord& earlier) { earlier.gpus = 8; }) == FlagClass::scaled);
}

Fields facts_of(std::string_view length) {
  return {{"model_name", "vit-b"}, {"dataset", "imagenet"}, {"length", std::string(length)},
          {"batch_size", "64"},    {"gpus", "4"},           {"runs", "1"}};
}

Verdict by_facts(const std::string& command, const Fields& ours, const Fields& theirs) {
  JobRecord earlier = record(submission(base));
  earlier.fields = theirs;
  const Submission now = submission(command);
  return judge({now, &ours, earlier}, rules());
}

TEST_CASE("known facts overrule flags: equal ones excuse, other ones accuse") {
  const std::string command = base;
  CHECK(by_facts(command + " --frobnicate", facts_of("10 epochs"), facts_of("10 epochs"))
            .resubmission());
  const Verdict longer =
      by_facts(command + " --frobnicate", facts_of("30 epochs"), facts_of("10 epochs"));
  CHECK(longer.relation == FlagClass::scaled);
  CHECK(near(longer.scale, 3, 1e-12, 0));
  Fields other = facts_of("10 epochs");
  other["dataset"] = "cifar-10";
  const Verdict code = by_facts(command, facts_of("10 epochs"), other);
  CHECK(code.relation == FlagClass::another_job);
  CHECK(code.rule == "another_job: facts: dataset is imagenet here, cifar-10 there");
}

TEST_CASE("facts that know too little excuse nothing") {
  const Fields little{{"model_name", "vit-b"}};
  CHECK(!by_facts(std::string(base) + " --frobnicate", little, little).resubmission());
}

TEST_CASE("a key for facts leaves out what does not change them") {
  const std::string key = normal_command(base, rules());
  CHECK(normal_command(std::string(base) + " --seed 3 --lr 7", rules()) == key);
  CHECK(normal_command(std::string(base) + " --batch_size 3", rules()) != key);
}

TEST_CASE("rows of an operator replace and add; broken ones are named with their line") {
  const auto parse = [](std::string_view text) { return FlagRules::parse(std::array{text}); };
  const auto good = parse("[[rule]]\nname='a'\nclass='scaled'\nnames=['zap']\nreason='r'\n");
  REQUIRE(good);
  CHECK(good->find("my-zap")->flag_class == FlagClass::scaled);
  const auto error = [&](std::string_view text) {
    const auto rules = parse(text);
    return rules ? std::string() : rules.error().message;
  };
  CHECK(error("[[rule]]\nname='a'\nclass='odd'\nnames=['x']\n").starts_with("flags.toml:3:7: "));
  CHECK(error("[[rule]]\nname=").find("flags.toml:2") == 0);
  CHECK(!error("rule=[1]").empty());
  CHECK(error("[[rule]]\nname='a'\nclass='scaled'\nnames=['x']\n"
              "[[rule]]\nname='b'\nclass='scaled'\nnames=['x']\n")
            .find("'x' is a name of both 'a' and 'b'") != std::string::npos);
}

}  // namespace
}  // namespace schedmate::advisor
