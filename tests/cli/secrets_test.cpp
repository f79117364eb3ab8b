// SPDX-License-Identifier: Apache-2.0

/// Secrets of many kinds and forms through everything that the program prints, keeps or sends.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"
#include "tests/support/fake_llm.hpp"
#include "tests/support/made_secrets.hpp"
#include "tests/support/written_forms.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A job whose code, configs, command and log are full of secrets.
struct SecretJob {
  Scratch here;
  std::vector<std::string> secrets;
  std::string command, log, log_secret;

  explicit SecretJob(std::uint64_t seed) : random_(seed) {
    write_tree();
    write_log();
    command = fmt::format(
        "HF_TOKEN={} PGPASSWORD={} python train.py --hub_token {} --password {} db.password={} "
        "--url https://me:{}@host.org/x",
        key(), password(), key(), password(), password(), password());
    here.write("job.sh",
               "#SBATCH --gres=gpu:1\nexport WANDB_API_KEY=" + password() + "\n" + command + "\n");
  }

  std::string key() {
    secrets.push_back(testing::made_key(
        testing::made_kinds[secrets.size() % testing::made_kinds.size()], random_));
    return secrets.back();
  }
  std::string password() {
    secrets.push_back(testing::made_password(std::ssize(secrets), random_));
    return secrets.back();
  }

  /// All files below a folder, with their names.
  [[nodiscard]] std::string everything_in(const std::string& folder) const {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(here.path(folder)))
      if (entry.is_regular_file())
        all += entry.path().string() + "\n" + contents(entry.path().string()) + "\n";
    return all;
  }

  static std::string around(const std::string& text, const std::string& secret) {
    const std::size_t at = text.find(secret);
    return at == std::string::npos ? "" : text.substr(at > 80 ? at - 80 : 0, secret.size() + 120);
  }
  void check(std::string_view outlet, const std::string& text) const {
    for (const std::string& secret : secrets)
      CHECK_MESSAGE(!text.contains(secret),
                    outlet << " shows " << secret << " in " << around(text, secret));
  }
  /// Runs the program and looks at what it prints.
  Ran run(const Words& words) const {
    Words all = words;
    all.insert(all.end(), {"--state-dir", "state"});
    Ran ran = here.run(all);
    check(words.front() + " on standard output", ran.out);
    check(words.front() + " on standard error", ran.err);
    return ran;
  }

 private:
  void write_tree() {
    std::string code =
        "import argparse\nimport torch\nfrom datasets import load_dataset\n"
        "p = argparse.ArgumentParser()\n";
    code += fmt::format("p.add_argument('--epochs', type=int, default=3)  # token={}\n", key());
    code += fmt::format("p.add_argument('--hub_token', default='{}')\n", password());
    code += fmt::format("data = load_dataset('https://me:{}@host.org/squad')\n", password());
    code += fmt::format("model = AutoModel.from_pretrained('org/{}')\n", key());
    code += fmt::format("optimizer = torch.optim.SGD(p, lr=0.1, api_key='{}')\n", key());
    code += "loader = torch.utils.data.DataLoader(data, batch_size=16)\n";
    // Each form once in Python, the rest in files of their own kind.
    std::size_t number = 0;
    for (const auto& form : testing::written_forms) {
      const std::string text = testing::written(form.text, number % 2 == 0 ? password() : key());
      ++number;
      if (form.text.contains("= ") && !form.text.contains(": ") && text.ends_with("\n"))
        code += text;
      here.write(fmt::format("tree/conf/{}.yaml", number), "epochs: 3\n" + text);
    }
    code += "for epoch in range(p.parse_args().epochs):\n    optimizer.step()\n";
    here.write("tree/train.py", code);
    here.write("tree/" + key() + ".py", "x = 1\n");
    here.write("tree/config.yaml", fmt::format("optimizer: sgd\nhub_token: {}\npassword: |\n  {}\n",
                                               password(), password()));
  }

  void write_log() {
    log_secret = password();
    log = "+ python train.py --hub_token " + key() + " --password " + log_secret + "\n";
    for (const auto& form : testing::written_forms)
      log += testing::written(form.text, random_.below(2) == 0 ? password() : key());
    log +=
        "-----BEGIN RSA PRIV"
        "ATE KEY-----\n";
    for (int i = 0; i < 12; ++i) {
      secrets.push_back(testing::made_letters(random_, testing::base64, 64));
      log += secrets.back() + "\n";
    }
    log +=
        "-----END RSA PRIV"
        "ATE KEY-----\n";
    for (int i = 1; i < 40; ++i)
      log += fmt::format("step {} loss {:.3f} lr 0.1 api_key={}\n", i, 3.0 / i,
                         i % 9 == 0 ? key() : "");
    log += fmt::format(
        "Traceback (most recent call last):\n  File \"train.py\", line 3, in main\n"
        "    login(token='{}')\n"
        "RuntimeError: 401 Client Error for url https://me:{}@host.org/x: token {} was refused\n",
        password(), password(), key());
    log += "saved checkpoint to /out/" + key() + "/step-40.pt\nuser logged in with " + log_secret +
           "\n";
    here.write("run.log", log);
  }

  Random random_;
};

TEST_CASE("facts and advice show, keep and send no secret") {
  SecretJob job(1);
  const Words facts{"facts", "tree", "--command", job.command, "--llm", "none"};
  for (const Words& more :
       {Words{}, Words{"--json"}, Words{"--explain"}, Words{"--json", "--explain"}}) {
    Words words = facts;
    words.insert(words.end(), more.begin(), more.end());
    CHECK(job.run(words).status == 0);
  }
  for (const char* id : {"1", "2"}) {
    const Ran ran = job.run({"advise", "tree", "--command", job.command, "--user", "ann",
                             "--job-id", id, "--branch", "b-" + job.key(), "--record",
                             "--submit-time", "1000", "--llm", "none", "--json"});
    CAPTURE(ran.err);
    CHECK(ran.status == 0);
    job.run({"history", "finish", id, "--state", "completed", "--duration-s", "60", "--log",
             "run.log"});
  }
  job.run({"advise", "tree", "--command", job.command, "--user", "bob", "--explain"});
  CHECK(job.run({"history", "show", "1"}).out.contains("[redacted]"));
  job.run({"history", "list"});
  job.run({"history", "export"});
  const std::string kept = job.everything_in("state");
  CHECK(kept.contains("python train.py"));
  job.check("the state folder", kept);
}

TEST_CASE("nothing secret is sent to a model or recorded") {
  SecretJob job(2);
  const std::string file = job.here.path("exchanges.jsonl");
  const testing::FakeLlm server(testing::like_vllm([](const testing::FakeCall&) {
    return std::string("{\"answer\": null, \"action\": null}");
  }));
  const Words model{"--llm", "record:" + file, "--set", "llm.record.url=" + server.url()};
  for (Words words :
       {Words{"facts", "tree", "--command", job.command}, Words{"diagnose", "run.log"},
        Words{"track", "run.log"}, Words{"ask", "run.log", "which token was refused?"}}) {
    words.insert(words.end(), model.begin(), model.end());
    job.run(words);
  }
  CHECK(server.calls().size() >= 2);
  for (const testing::FakeCall& call : server.calls()) job.check("a request to a model", call.body);
  const std::string recorded = contents(file);
  CHECK_FALSE(recorded.empty());
  job.check("a recording", recorded);
}

TEST_CASE("what is read of logs shows and keeps no secret") {
  SecretJob job(3);
  for (const Words& more : {Words{}, Words{"--json"}}) {
    for (Words words : {Words{"diagnose", "run.log"}, Words{"track", "run.log"},
                        Words{"ask", "run.log",
                              "what failed? which token? which key? password? checkpoint? BEGIN"},
                        Words{"ask", "run.log", "is " + job.log_secret + " used?"}}) {
      words.insert(words.end(), more.begin(), more.end());
      words.insert(words.end(), {"--llm", "none"});
      const Ran ran = job.run(words);
      CAPTURE(ran.err);
      const bool asks = words.front() == "ask";  // 1: none of the questions is one for a log
      CHECK((ran.status == 0 || (asks && ran.status == 1)));
    }
  }
  // Every line of the log is asked for.
  std::size_t asked = 0;
  for (std::size_t at = 0; at < job.log.size() && asked < 60; ++asked) {
    const std::size_t end = job.log.find('\n', at);
    job.run({"ask", "run.log", "show " + job.log.substr(at, end - at)});
    at = end + 1;
  }
  job.check("the index of logs", job.everything_in("state/log-index"));
}

TEST_CASE("the index of a log is its owner's alone and goes with the job") {
  SecretJob job(4);
  job.run({"history", "add", "j1", "--user", "ann", "--command", job.command});
  job.run(
      {"history", "finish", "j1", "--state", "failed", "--duration-s", "60", "--log", "run.log"});
  job.here.write("state/log-index/0123456789abcdef.json", "{\"raw\": \"" + job.key() + "\"}");
  ::chmod(job.here.path("state/log-index/0123456789abcdef.json").c_str(), 0644);
  CHECK(job.run({"ask", "j1", "what failed?"}).status == 0);
  const auto kept = job.here.files("state/log-index");
  REQUIRE(kept.size() == 1);  // the one that others may read is gone
  struct stat info{};
  REQUIRE(::stat(job.here.path("state/log-index/" + kept.front()).c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(job.run({"history", "forget", "j1"}).status == 0);
  CHECK(job.here.files("state/log-index").empty());
}

TEST_CASE("a job folder whose name holds a secret is remembered without it") {
  SecretJob job(6);
  const std::string folder = "d-" + job.key();
  fs::copy(job.here.path("tree"), job.here.path(folder), fs::copy_options::recursive);
  job.run({"advise", folder, "--command", "python train.py", "--user", "ann", "--job-id", "1",
           "--record", "--llm", "none"});
  job.run({"history", "add", "2", "--user", "ann", "--dir", folder, "--command", "python x.py"});
  const std::string kept = job.everything_in("state");
  CHECK(kept.contains("python x.py"));
  job.check("the state folder", kept);
}

TEST_CASE("errors, settings and the page repeat no secret") {
  SecretJob job(5);
  for (int i = 0; i < 12; ++i) {
    const std::string key = job.key();
    job.run({"facts", "tree", "--hub_token=" + key});
    job.run({"facts", "nowhere/" + key, "--command", "python x.py"});
    job.run({"ask", key + ".log", "why?"});
    job.run({"diagnose", "/tmp/none/" + key});
    job.run({"track", key});
    job.run({"history", "show", key});
    job.run({"--set", "password=" + key, "doctor"});
    job.run({"config", "--set", "llm.lab.url=https://me:" + job.password() + "@host/v1"});
    job.run({"simulate", "--trace", "helios:" + key + ".csv", "--policy", "fifo"});
    job.run({"whatif", "--sacct", key + ".txt"});
  }
  job.here.write("jobs.csv",
                 "job_id,user,vc,gpu_num,state,submit_s,duration_s\n1,ann,a,4,COMPLETED,0,100\n");
  job.here.write("cluster.toml", "[[vc]]\nname = \"a\"\nnodes = 1\ngpus_per_node = 4\n");
  const std::string trace = job.key() + ".csv";
  fs::copy_file(job.here.path("jobs.csv"), job.here.path(trace));
  job.run({"simulate", "--trace", "helios:" + trace, "--cluster", "cluster.toml", "--policy",
           "fifo@first", "--out", "out"});
  job.run({"simulate", "--trace", "helios:" + trace, "--policy", "fifo@" + job.key()});
  REQUIRE(job.here.read("out/report.html").contains("<html"));
  job.check("the page", job.everything_in("out"));
}

}  // namespace
}  // namespace schedmate
