// SPDX-License-Identifier: Apache-2.0
#include "agent/evaluate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "agent/fields.hpp"
#include "tests/support/near.hpp"
#include "tests/support/small_job.hpp"

namespace schedmate::agent {
namespace {

using testing::near;
using testing::SmallJobTree;

Claim claim(std::string field, FactValue value, std::string file, int line) {
  return {
      .field = std::move(field), .value = std::move(value), .file = std::move(file), .line = line};
}

/// "" when the claim is taken, else why not.
std::string verdict(SmallJobTree& small, const Claim& one) {
  const AgentTask task = small.task();
  Evaluator evaluator(task, gaps_of(small.found(), 0));
  const auto fact = evaluator.check(one);
  if (!fact) return fact.error();
  CHECK(fact->source == FactSource::model);
  CHECK_FALSE(fact->evidence.at(0).text.empty());
  return {};
}

FactValue whole(std::int64_t value) { return value; }
FactValue word(const char* value) { return std::string(value); }

}  // namespace

TEST_CASE("a value counts with a line of the job that sets it") {
  SmallJobTree small;
  CHECK(verdict(small, claim("batch_size", whole(48), "train.py", 11)).empty());
  CHECK(verdict(small, claim("batch_size", whole(48), "conf.yaml", 4)).empty());
  CHECK(verdict(small, claim("length", Length{30, "epochs"}, "train.py", 14)).empty());
  CHECK(verdict(small, claim("optimizer", word("SGD"), "train.py", 19)).empty());
  CHECK(verdict(small, claim("optimizer", word("AdamW"), "conf.yaml", 6)).empty());
  CHECK(verdict(small, claim("dataset", word("CIFAR10"), "conf.yaml", 3)).empty());
  CHECK(verdict(small, claim("precision", word("bf16"), "conf.yaml", 12)).empty());
  CHECK(verdict(small, claim("model_name", word("ResNet-18"), "net.py", 7)).empty());
  CHECK(verdict(small, claim("model_name", word("ResNet18"), "<command>", 1)).empty());
  CHECK(verdict(small, claim("learning_rate", 1e-3, "conf.yaml", 7)).empty());
  CHECK(verdict(small, claim("learning_rate", 0.1, "train.py", 19)) ==
        "a configuration says otherwise");
}

TEST_CASE("the softer fields are proven by their keys as well") {
  SmallJobTree small;
  small.write("conf.yaml", "model_type: cnn\ntask_type: cv\naugmentation: RandAugment\n");
  CHECK(verdict(small, claim("model_family", word("ResNet"), "net.py", 7)).empty());
  CHECK(verdict(small, claim("model_type", word("cnn"), "conf.yaml", 1)).empty());
  CHECK(verdict(small, claim("task_type", word("cv"), "conf.yaml", 2)).empty());
  CHECK(verdict(small, claim("augmentation", word("RandAugment"), "conf.yaml", 3)).empty());
  CHECK_FALSE(verdict(small, claim("task_type", word("nlp"), "conf.yaml", 2)).empty());
  CHECK_FALSE(verdict(small, claim("model_type", word("cv"), "conf.yaml", 2)).empty());
}

TEST_CASE("what the program calls its model proves the name; what stands beside it does not") {
  SmallJobTree small;
  small.write("net.py",
              "def build(args):\n"
              "    student_model, head = make_resnet18(3)\n"
              "    teacher_model = ResNet50()\n"
              "    loss_net = VGG16()\n"
              "    model_dir = join('vgg16')\n");
  CHECK(verdict(small, claim("model_name", word("ResNet-18"), "net.py", 2)).empty());
  CHECK_FALSE(verdict(small, claim("model_name", word("ResNet-50"), "net.py", 3)).empty());
  CHECK_FALSE(verdict(small, claim("model_name", word("VGG-16"), "net.py", 4)).empty());
  CHECK_FALSE(verdict(small, claim("model_name", word("VGG-16"), "net.py", 5)).empty());
}

TEST_CASE("where key and value stand on two lines, the value's line is the evidence") {
  SmallJobTree small;
  const AgentTask task = small.task();
  Evaluator evaluator(task, gaps_of(small.found(), 0));
  const auto fact = evaluator.check(claim("length", Length{30, "epochs"}, "train.py", 13));
  REQUIRE(fact);
  CHECK(fact->evidence[0].line == 14);
  CHECK(fact->evidence[0].text == "default=30)");
}

TEST_CASE("the evidence of a value shows no secret that stands beside it") {
  SmallJobTree small;
  small.write("conf.yaml", "data: {name: CIFAR-10, password: hunter2secret}\n");
  const AgentTask task = small.task();
  Evaluator evaluator(task, gaps_of(small.found(), 0));
  const auto fact = evaluator.check(claim("dataset", word("CIFAR-10"), "conf.yaml", 1));
  REQUIRE(fact);
  CHECK(fact->evidence[0].text.find("hunter2") == std::string::npos);
  CHECK(fact->evidence[0].text.find("CIFAR-10") != std::string::npos);
}

TEST_CASE("a right-looking token in another role counts for nothing") {
  SmallJobTree small;
  const auto dropped = [&](const Claim& one) {
    const std::string why = verdict(small, one);
    CHECK_MESSAGE(!why.empty(), one.field << " " << one.file << ":" << one.line);
    return why;
  };
  dropped(claim("batch_size", whole(512), "train.py", 1));        // a comment
  dropped(claim("length", Length{77, "epochs"}, "train.py", 4));  // a docstring
  dropped(claim("batch_size", whole(64), "train.py", 11));        // a help text
  dropped(claim("batch_size", whole(8), "train.py", 15));         // another key
  dropped(claim("batch_size", whole(256), "train.py", 19));       // behind the code
  dropped(claim("optimizer", word("Adam"), "train.py", 17));      // commented out
  dropped(claim("optimizer", word("RMSprop"), "train.py", 21));   // asleep in quotes
  dropped(claim("batch_size", whole(100), "train.py", 23));       // the test loader's
  dropped(claim("batch_size", whole(16), "train.py", 25));        // never runs
  dropped(claim("batch_size", whole(99), "train.py", 26));        // in a string
  dropped(claim("batch_size", whole(200), "conf.yaml", 11));      // of validation
  dropped(claim("dataset", word("imagenet"), "conf.yaml", 1));    // a comment
  dropped(claim("dataset", word("ImageNet"), "conf.yaml", 3));    // behind the value
  dropped(claim("dataset", word("MNIST"), "conf.yaml", 9));       // a text block
  dropped(claim("batch_size", whole(48), "README.md", 1));        // prose
  dropped(claim("batch_size", whole(7), "other.py", 1));          // not of this job
  dropped(claim("model_name", word("VGG16"), "net.py", 5));       // another branch
  dropped(claim("length", Length{30, "steps"}, "train.py", 14));  // another unit
  dropped(claim("batch_size", whole(30), "train.py", 14));        // another field's line
  dropped(claim("length", Length{12, "epochs"}, "run.sh", 5));    // a script not used
}

TEST_CASE("what is resolved, foreign, impossible or badly typed is dropped with its reason") {
  SmallJobTree small;
  CHECK(verdict(small, claim("framework", word("torch"), "train.py", 7)) == "resolved already");
  CHECK(verdict(small, claim("mood", word("good"), "train.py", 7)) == "no such field");
  CHECK(verdict(small, claim("batch_size", whole(-1), "train.py", 11)) ==
        "wrong type or outside the vocabulary");
  CHECK(verdict(small, claim("batch_size", word("many"), "train.py", 11)) ==
        "wrong type or outside the vocabulary");
  CHECK(verdict(small, claim("precision", word("int4"), "conf.yaml", 12)) ==
        "wrong type or outside the vocabulary");
  CHECK(verdict(small, claim("batch_size", whole(13), "../outside.py", 1)) ==
        "the file is not in the tree");
  CHECK(verdict(small, claim("batch_size", whole(13), "/etc/hosts.py", 1)) ==
        "the file is not in the tree");
  CHECK(verdict(small, claim("batch_size", whole(48), "train.py", 900)) == "no such line");
  CHECK(verdict(small, claim("distributed", word("ddp"), "train.py", 19)) ==
        "the line does not hold the value");
  small.job().command += " --batch-size 32";
  CHECK(verdict(small, claim("batch_size", whole(48), "train.py", 11)) ==
        "the command says otherwise");
  small.job().command = "python train.py --model big-400b";
  CHECK(verdict(small, claim("model_name", word("big-400b"), "<command>", 1)) ==
        "implausible: size against memory");
}

TEST_CASE("extra fields need their own name at the line; a log may prove with less weight") {
  SmallJobTree small;
  auto extra = claim("workers", whole(8), "train.py", 15);
  extra.extra = true;
  CHECK(verdict(small, extra).empty());
  extra.field = "batch_size";
  CHECK_FALSE(verdict(small, extra).empty());
  small.log = "start\nbatch_size: 24\nloss 3.1\n";
  CHECK(verdict(small, claim("batch_size", whole(24), "<log>", 2)).empty());
  CHECK_FALSE(verdict(small, claim("batch_size", whole(24), "<log>", 3)).empty());
}

TEST_CASE("a majority of the samples decides, and its share is the confidence") {
  const auto vote_of = [](const std::vector<int>& values, int samples) {
    std::vector<CheckedClaim> claims;
    for (const int value : values) {
      CheckedClaim one{claim("batch_size", whole(value), "a.py", 1), {}};
      one.fact.value = whole(value);
      one.fact.confidence = 0.8;
      claims.push_back(one);
    }
    return vote(claims, samples);
  };
  const auto clear = vote_of({4, 4, 8}, 3);
  REQUIRE(clear.facts.contains("batch_size"));
  CHECK(clear.facts.at("batch_size").value == whole(4));
  CHECK(near(clear.facts.at("batch_size").confidence, 0.8 * 2 / 3, 1e-12, 0));
  CHECK(clear.dropped.size() == 1);
  CHECK(vote_of({4, 8}, 2).facts.empty());
  CHECK(vote_of({4}, 3).facts.empty());
  CHECK(vote_of({}, 3).facts.empty());
}

TEST_CASE("names compare by words, sizes by their letter, numbers exactly") {
  CHECK(shared_words("ViT-L/16", "vit_large_patch16") == 1.0);
  CHECK(shared_words("llama-7b", "llama-70b") == 0.0);
  CHECK(shared_words("ResNet-50", "resnet18") == 0.0);
  CHECK(parameters_named("models/opt-6.7b") == 6.7e9);
  CHECK_FALSE(parameters_named("resnet50"));
}

TEST_CASE("only open fields are gaps; an unknown with confidence is settled") {
  Facts found;
  found.facts["batch_size"].confidence = 0.8;
  found.expect = Outlook::evaluation_only;
  const auto gaps = gaps_of(found, 0);
  const auto open = [&](const char* name) { return std::ranges::find(gaps, name) != gaps.end(); };
  CHECK_FALSE(open("batch_size"));
  CHECK_FALSE(open("length"));
  CHECK(open("dataset"));
}

}  // namespace schedmate::agent
