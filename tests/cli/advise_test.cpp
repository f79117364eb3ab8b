// SPDX-License-Identifier: Apache-2.0

/// facts, advise and history with the real program.

#include <doctest/doctest.h>

#include "tests/cli/program.hpp"

namespace schedmate {
namespace {

using Words = std::vector<std::string>;

constexpr const char* resnet_script =
    "import argparse\n"
    "import torch\n"
    "import torchvision\n"
    "p = argparse.ArgumentParser()\n"
    "p.add_argument('--epochs', type=int, default=10)\n"
    "p.add_argument('--batch-size', type=int, default=64)\n"
    "p.add_argument('--seed', type=int, default=0)\n"
    "args = p.parse_args()\n"
    "data = torchvision.datasets.CIFAR10('data')\n"
    "model = torchvision.models.resnet50()\n"
    "loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for epoch in range(args.epochs):\n"
    "    for x, y in loader:\n"
    "        model(x).sum().backward()\n"
    "        optimizer.step()\n";

struct AdvisedSite {
  Scratch here;
  AdvisedSite() {
    std::filesystem::create_directory(here.path("tree"));
    here.write("tree/train.py", resnet_script);
  }

  Ran advise(const std::string& id, const std::string& user, const std::string& command,
             const Words& more = {}) const {
    Words words{"advise", "tree",        "--command", command,    "--user",
                user,     "--job-id",    id,          "--record", "--submit-time",
                "1000",   "--state-dir", "state",     "--llm",    "none"};
    words.insert(words.end(), more.begin(), more.end());
    return here.run(words);
  }
  Ran history(const Words& more) const {
    Words words{"history"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--state-dir", "state"});
    return here.run(words);
  }
  void finish(const std::string& id, const std::string& duration_s) const {
    const Ran ran = history({"finish", id, "--state", "completed", "--duration-s", duration_s});
    CAPTURE(ran.err);
    CHECK(ran.status == 0);
  }
};

TEST_CASE("facts prints every field with its proof, for people and for programs") {
  const AdvisedSite cluster;
  const Words words{"facts", "tree", "--command", "python train.py --epochs 20"};
  const Ran text = cluster.here.run(words);
  CAPTURE(text.err);
  CHECK(text.status == 0);
  CHECK(text.out.contains("20 epochs"));
  CHECK(text.out.contains("model_name"));
  Words with_json = words;
  with_json.emplace_back("--json");
  CHECK(cluster.here.run(with_json).out.contains("\"schema\": \"schedmate.facts.v1\""));
  CHECK(cluster.here.run({"facts", "nowhere", "--command", "python x.py"}).status != 0);
  CHECK(cluster.here.run({"facts", "tree"}).err.contains("--command"));
}

TEST_CASE(
    "a resubmission is advised from the run before, and twice the epochs take twice as long") {
  const AdvisedSite cluster;
  const Ran first = cluster.advise("1", "ann", "python train.py");
  CAPTURE(first.err);
  CHECK(first.status == 0);
  CHECK(first.out.contains("duration: not known"));
  cluster.finish("1", "3000");
  const Ran second = cluster.advise("2", "ann", "python train.py --seed 2", {"--json"});
  CHECK(second.out.contains("\"source\": \"resubmission\""));
  CHECK(second.out.contains("\"p50\": 3000.0"));
  CHECK(second.out.contains("\"facts_remembered\": true"));
  const Ran third = cluster.advise("3", "ann", "python train.py --epochs 20", {"--json"});
  CHECK(third.out.contains("\"p50\": 6000.0"));
  const Ran limited =
      cluster.advise("4", "ann", "python train.py --epochs 20", {"--json", "--time-limit", "600"});
  CHECK(limited.out.contains("\"p50\": 600.0"));
}

TEST_CASE("advise says first what the job is; the facts come with --explain, the limit as in job") {
  const AdvisedSite cluster;
  for (int i = 1; i <= 6; ++i) {
    const std::string id = std::to_string(i);
    REQUIRE(cluster.advise(id, "ann", "python train.py --seed " + id).status == 0);
    cluster.finish(id, std::to_string(2900 + 20 * i));
  }
  const Ran brief = cluster.advise("7", "ann", "python train.py --seed 7");
  CAPTURE(brief.out);
  CHECK(brief.out.starts_with("ResNet-50 on CIFAR-10, 10 epochs, batch 64, pytorch, 1 GPU ("));
  CHECK(brief.out.find("\nduration: ") == brief.out.find('\n'));
  CHECK_FALSE(brief.out.contains("model_name"));
  const Ran full = cluster.advise("8", "ann", "python train.py --seed 8", {"--explain"});
  CHECK(full.out.contains("\nmodel_name "));
  CHECK(full.out.contains("\nfiles read\n"));
  const std::size_t at = brief.out.find("\ntime limit: --time=");
  REQUIRE(at != std::string::npos);
  const std::string limit = brief.out.substr(at + 13, brief.out.find(')', at) - at - 12);
  CHECK(limit.ends_with(" (risk to be killed by it: at most 5 %)"));
  const Ran job = cluster.here.run({"job", "6", "--state-dir", "state"});
  CHECK_MESSAGE(job.out.contains("next run  " + limit + "\n"), job.out);
}

TEST_CASE("advise: a job of which little is known is said to be one") {
  const AdvisedSite cluster;
  const Ran ran = cluster.advise("1", "ann", "python absent.py");
  CAPTURE(ran.out);
  CHECK(ran.out.starts_with("what it trains is not known, 1 GPU\nexpect: fails early, absent.py"));
}

TEST_CASE("a like job of another user is found") {
  const AdvisedSite cluster;
  cluster.advise("1", "ann", "python train.py");
  cluster.finish("1", "3000");
  const Ran ran = cluster.advise("2", "bob", "python train.py --seed 2", {"--json"});
  CHECK(ran.out.contains("\"source\": \"similar\""));
  CHECK(ran.out.contains("\"job_id\": \"1\""));  // the caller owns the state directory
}

TEST_CASE("history: add, list, show, calibration, export, forget") {
  const AdvisedSite cluster;
  CHECK(cluster
            .history({"add", "a1", "--user", "ann", "--command", "python t.py --api-key=sk-x1y2z3",
                      "--gpus", "8", "--state", "completed", "--duration-s", "60"})
            .status == 0);
  CHECK(cluster.history({"list"}).out.contains("a1"));
  CHECK(cluster.history({"list", "--user", "bob"}).out.find("a1") == std::string::npos);
  CHECK(cluster.history({"list", "--json"}).out.contains("schedmate.history.v1"));
  CHECK(cluster.history({"show", "a1"}).out.contains("\"duration_s\": 60"));
  CHECK(cluster.history({"export"}).out.contains("\"job_id\":\"a1\""));
  CHECK(cluster.history({"calibration"}).out.contains("no advice has met its outcome yet"));
  CHECK(cluster.history({"forget", "a1"}).status == 0);
  CHECK(cluster.history({"show", "a1"}).status == 2);
  CHECK(cluster.history({"forget", "a1"}).status == 2);
}

TEST_CASE("history: facts of a file are kept without their secrets") {
  const AdvisedSite cluster;
  const std::string key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  std::string text =
      R"({"schema": "schedmate.facts.v1", "facts": {"model_name": {"value": "ResNet-50",
          "confidence": 0.9, "source": "code",
          "evidence": [{"file": "a.py", "line": 1, "text": "resnet50() # KEY"}]}},
          "extra": {}, "expect": "runs", "expect_reason": "", "runs": 1, "files_read": ["a.py"],
          "tree": "", "degraded": ["could not open KEY"]})";
  for (std::size_t at = 0; (at = text.find("KEY", at)) != std::string::npos; at += key.size())
    text.replace(at, 3, key);
  const std::string file = cluster.here.write("facts.json", text);
  const Ran added =
      cluster.history({"add", "a1", "--user", "ann", "--command", "python a.py", "--facts", file});
  CAPTURE(added.err);
  CHECK(added.status == 0);
  const std::string shown = cluster.history({"show", "a1"}).out;
  CHECK(shown.contains("ResNet-50"));
  CHECK(shown.contains("[redacted]"));
  CHECK_FALSE(shown.contains(key));
}

TEST_CASE("the commit that is checked out is remembered, from loose and packed refs") {
  const std::string loose(40, 'a');
  const std::string packed(40, 'b');
  const AdvisedSite cluster;
  cluster.here.write("tree/.git/HEAD", "ref: refs/heads/main\n");
  cluster.here.write("tree/.git/refs/heads/main", loose + "\n");
  cluster.advise("1", "ann", "python train.py");
  CHECK(cluster.history({"show", "1"}).out.contains("\"git_commit\": \"" + loose + "\""));
  cluster.here.write("tree/.git/HEAD", "ref: refs/heads/next\n");
  cluster.here.write("tree/.git/packed-refs", packed + " refs/heads/next\n");
  cluster.advise("2", "ann", "python train.py");
  CHECK(cluster.history({"show", "2"}).out.contains("\"git_commit\": \"" + packed + "\""));
}

TEST_CASE("history: import takes accounting dumps and traces") {
  const AdvisedSite cluster;
  const std::string dump = cluster.here.write(
      "jobs.txt",
      "JobID|User|Partition|Submit|Start|End|State|Elapsed|AllocTRES|SubmitLine|WorkDir\n"
      "1|ann|gpu|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T11:00:05|COMPLETED|01:00:00|"
      "gres/gpu=2|sbatch train.sh --lr 1|/cluster/ann/x\n");
  CHECK(cluster.history({"import", "sacct:" + dump}).out.contains("1 jobs from 1 rows"));
  const Ran shown = cluster.history({"show", "1"});
  CHECK(shown.out.contains("sbatch train.sh --lr 1"));
  CHECK(shown.out.contains("\"root\": \"/cluster/ann/x\""));
  CHECK(cluster.history({"import", venus()}).out.contains("11534 jobs"));
  CHECK(cluster.history({"import", "sacct:nowhere"}).status == 3);
}

TEST_CASE("advise takes from the submission what is not given, and says what contradicts it") {
  const AdvisedSite cluster;
  cluster.here.write("tree/job.sbatch",
                     "#!/bin/bash\n#SBATCH --gres=gpu:a100:4 -N 2 -p big\n#SBATCH --time=02:00:00\n"
                     "#SBATCH -c 6 --mem=4G --qos=high\npython train.py\n");
  const Ran ran = cluster.advise("s1", "ann", "sbatch job.sbatch");
  CAPTURE(ran.err);
  CHECK(ran.status == 0);
  const Ran shown = cluster.history({"show", "s1", "--json"});
  for (const char* const part :
       {"\"gpus\": 8", "\"nodes\": 2", "\"gpu_type\": \"a100\"", "\"time_limit_s\": 7200",
        "\"vc\": \"big\"", "\"qos\": \"high\"", "\"memory_mib\": 8192.0"}) {
    CAPTURE(part);
    CHECK(shown.out.contains(part));
  }
  const Ran other = cluster.advise("s2", "ann", "sbatch job.sbatch",
                                   {"--gpus", "2", "--time-limit", "60", "--partition", "small"});
  CHECK(other.out.contains("the time limit is 60 s as given; the command asks for 2 h"));
  CHECK(other.out.contains("the partition is small as given; the command asks for big"));
  CHECK(other.out.contains("gpus: 2 as given is used; sbatch asks for 8 (job.sbatch:2"));
  CHECK(cluster.history({"show", "s2", "--json"}).out.contains("\"gpus\": 2"));
}

TEST_CASE("a submission that is not read is no job of one GPU") {
  const AdvisedSite cluster;
  const Ran ran = cluster.advise("b1", "ann", "bsub -gpu num=4 python train.py");
  CHECK(ran.status == 0);
  CHECK(ran.out.contains("submission by bsub is not read; give the command it runs"));
  const Ran shown = cluster.history({"show", "b1", "--json"});
  CHECK_FALSE(shown.out.contains("\"gpus\": 1"));
  CHECK_FALSE(shown.out.contains("\"gpus\": \"1\""));
}

TEST_CASE("--root says where the tree stood; a senseless one is refused") {
  const AdvisedSite cluster;
  const Words words{"facts", "tree", "--command", "python /data/ann/train.py --epochs 7"};
  const auto with = [&](const std::string& root) {
    Words all = words;
    all.insert(all.end(), {"--root", root});
    return cluster.here.run(all);
  };
  CHECK(with("/data/ann=.").out.contains("7 epochs"));
  CHECK_FALSE(with("/data/ann=.").out.contains("is taken for"));
  CHECK(cluster.here.run(words).out.contains("'/data/ann' is taken for the job's folder"));
  for (const char* const wrong : {"/data/ann", "ann=.", "/data=../x", "/data=/x", "/data="}) {
    CAPTURE(wrong);
    CHECK(with(wrong).status == 2);
    CHECK(with(wrong).err.contains("AS=FOLDER"));
  }
}

TEST_CASE("history: what is wrong is said") {
  const AdvisedSite cluster;
  CHECK(cluster.history({"finsh", "1"}).err.contains("nearest: finish"));
  CHECK(cluster.history({"finish", "1"}).err.contains("--state"));
  CHECK(cluster.history({"finish", "1", "--state", "complete", "--duration-s", "1"})
            .err.contains("nearest: completed"));
  CHECK(cluster.history({"finish", "9", "--state", "completed", "--duration-s", "1"}).status == 2);
  CHECK(cluster.history({"finish"}).err.contains("ID is missing"));
  CHECK(cluster.history({}).status == 2);
  CHECK(cluster.advise("1", "ann", "python train.py", {"--estimate", "papr"})
            .err.contains("nearest: paper"));
  CHECK(cluster.advise("1", "ann", "python train.py", {"--llm", "gpt"}).status == 2);
}

}  // namespace
}  // namespace schedmate
