// SPDX-License-Identifier: Apache-2.0
#include "advisor/variant.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "advisor/match.hpp"

namespace schedmate::advisor {
namespace {

const FlagRules& variant_rules() { return FlagRules::built_in(); }

std::string method_in(std::string_view command) {
  return method_of(read_command_flags(command, variant_rules()), variant_rules());
}

std::string variant_in(std::string_view command, const Fields& fields = {}) {
  return variant_of(read_command_flags(command, variant_rules()), variant_rules(), fields);
}

bool nothing_known(std::string_view /*fact*/) { return false; }

double variants_agree(std::string_view ours, std::string_view theirs) {
  return variant_agreement(variant_in(ours), variant_in(theirs), nothing_known);
}

TEST_CASE("script, config and switches name the method") {
  const std::pair<std::string_view, std::string_view> named[] = {
      {"python train.py --lr 0.1 --pretrained", "training"},
      {"bash scripts/finetune_lora.sh", "finetuning lora"},
      {"python scripts/dpo.py --config recipes/zephyr/dpo/config_qlora.yaml", "dpo qlora"},
      {"python -u train.py model=pythia28 loss=sft", "sft"},
      {"python run_mae_pretraining.py --epochs 800", "pretraining"},
      {"python train.py --fine_tuning True", "finetuning"},
      {"python train.py --fine_tuning False", "training"},
      {"python main.py --config cifar10.yml --sample", "evaluation"},
      {"python train.py --eval_steps 100 --sample_size 4", "training"},
  };
  for (const auto& [command, method] : named) {
    CAPTURE(command);
    CHECK(method_in(command) == method);
  }
}

TEST_CASE("no user's name is kept") {
  for (const std::string_view command :
       {"python train.py --config /home"
        "/ann/a.yaml --data-path /home"
        "/ann",
        "python /home"
        "/ann/train.py --config ~ann/a.yaml --data-path /Users/ann",
        "python train.py /gpfs/users/ann/a.yaml",
        "python train.py ../home"
        "/ann/conf/a.yaml",
        "bash /home"
        "/ann/train.sh"}) {
    CAPTURE(command);
    CHECK_FALSE(variant_in(command).contains("ann"));
  }
  CHECK(variant_in("python train.py --config /home"
                   "/ann/unet.yaml")
            .contains("unet"));
  CHECK(variant_in("python train.py --config conf/users/unet.yaml").contains("unet"));
}

TEST_CASE("what scales, starts or names a run is no variant") {
  const std::string base = "python train.py --config configs/unet_r50.yaml";
  for (const std::string_view added :
       {" --lr 0.1", " --seed 3", " --epochs 40", " --batch-size 8", " --output out/b",
        " --replay-buffer-size 1000", " OUTPUT_DIR ckpt/b", " --lr-encoder 0.01"}) {
    CAPTURE(added);
    CHECK(variants_agree(base, base + std::string(added)) == 1);
  }
  CHECK(variants_agree("python train.py c/r50_8xb32_100e.yaml",
                       "python train.py c/r50_4xb8_300e.yaml") == 1);
  CHECK(variants_agree("torchrun --nproc_per_node=2 train_ddp.py", "python train.py") == 1);
}

TEST_CASE("config, size and flags for them are another variant") {
  CHECK(variants_agree("python t.py --cfg e/hrnet/w32_256.yaml",
                       "python t.py --cfg e/hrnet/w48_256.yaml") == 0);
  CHECK(variants_agree("python t.py --config ve/net.py", "python t.py --config ve/net_deep.py") ==
        0);
  CHECK(variants_agree("python t.py --image-min-side 400", "python t.py") == 0);
  CHECK(variants_agree("python t.py model_size=5", "python t.py model_size=48") == 0);
  CHECK(variants_agree("python t.py TRAIN.X 1 MODEL.DEPTH 50",
                       "python t.py TRAIN.X 1 MODEL.DEPTH 101") == 0);
  // A config on one side alone may say what the other's flags or defaults say.
  const double alone = variants_agree("python t.py --config c/net.yaml", "python t.py");
  CHECK(alone > 0);
  CHECK(alone < 1);
}

TEST_CASE("a fact that both know says more than its flag") {
  const std::string ours = variant_in("python t.py --data-path /a/imagenet");
  const std::string theirs = variant_in("python t.py --data-path /b/ilsvrc");
  CHECK(variant_agreement(ours, theirs, nothing_known) == 0);
  CHECK(variant_agreement(ours, theirs, [](std::string_view fact) { return fact == "dataset"; }) ==
        1);
}

TEST_CASE("a schedule in the name of a config is the length that the facts show") {
  const Fields steps{{"length", "160000 steps"}};
  CHECK(variant_in("python t.py --config c/seg_160k.yml", steps) == "config:c-seg entry:t");
  CHECK(variant_in("python t.py --config c/seg_64k.yml", steps) == "config:c-seg-64k entry:t");
}

TEST_CASE("programs are compared by the names of their files") {
  Facts facts;
  facts.files_read = {"tools/train.py", "lib/models/hrnet.py", "lib/utils/vis.py", "cfg/a.yaml"};
  const std::string ours = program_of(facts);
  CHECK(ours.size() == 20);
  CHECK(program_agreement(ours, ours) == 1);
  facts.files_read = {"main.py", "utils.py"};
  CHECK(program_agreement(ours, program_of(facts)) == 0);
  CHECK(program_of({}).empty());
}

Fields job_of_program(std::string_view program) {
  return {{"model_name", "resnet-50"}, {"dataset", "imagenet"}, {"framework", "pytorch"},
          {"method", "training"},      {"variant", "entry:"},   {"program", std::string(program)}};
}

TEST_CASE("another program must agree in network, data and framework by name") {
  CHECK(match_fields(job_of_program("aaaaaa"), job_of_program("bbbbbb")).same_kind);
  for (const auto* const name : {"model_name", "dataset", "framework"}) {
    CAPTURE(name);
    Fields theirs = job_of_program("bbbbbb");
    theirs.erase(name);
    CHECK(!match_fields(job_of_program("aaaaaa"), theirs).same_kind);
  }
}

TEST_CASE("two unknowns do not agree") {
  Fields ours = job_of_program("aaaaaa");
  ours.erase("dataset");
  Fields theirs = ours;
  CHECK(match_fields(ours, theirs).same_kind);  // one program, one command
  theirs["variant"] = "dataset/data:own entry:";
  CHECK(!match_fields(ours, theirs).same_kind);
  CHECK(!similarity(FieldRow(ours), FieldRow(theirs)).same_kind);
}

TEST_CASE("method and variant decide, and are told") {
  Fields theirs = job_of_program("aaaaaa");
  theirs["method"] = "finetuning";
  CHECK(!match_fields(job_of_program("aaaaaa"), theirs).same_kind);
  theirs = job_of_program("aaaaaa");
  theirs["variant"] = "=depth:12 entry:";
  const Match match = match_fields(job_of_program("aaaaaa"), theirs);
  CHECK(!match.same_kind);
  REQUIRE(match.differing.size() == 1);
  CHECK(match.differing[0].ours == "not named");
  CHECK(match.differing[0].theirs == "depth 12");
}

}  // namespace
}  // namespace schedmate::advisor
