// SPDX-License-Identifier: Apache-2.0
#include "tree/redact.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace schedmate::tree {
namespace {

/// Keys are put together here, so that no scanner takes this file for a leak.
std::string key(std::string_view start, std::size_t length) {
  constexpr std::string_view letters = "a1B2c3D4e5F6g7H8i9J0k";
  std::string out(start);
  for (std::size_t i = 0; i < length; ++i) out += letters[i * 7 % letters.size()];
  return out;
}

std::string hex(std::size_t length) {
  std::string out;
  for (std::size_t i = 0; i < length; ++i) out += "0123456789abcdef"[(i * 11 + 3) % 16];
  return out;
}

struct Case {
  std::string text;
  std::string secret;  ///< what must be gone
};

std::vector<Case> by_form() {
  std::vector<Case> cases;
  for (const auto& [start, length] :
       std::vector<std::pair<std::string_view, std::size_t>>{{"sk-", 48},
                                                             {"sk-proj-", 60},
                                                             {"sk-ant-", 60},
                                                             {"hf_", 34},
                                                             {"ghp_", 36},
                                                             {"gho_", 36},
                                                             {"ghs_", 36},
                                                             {"glpat-", 20},
                                                             {"github_pat_", 60},
                                                             {"AIza", 35},
                                                             {"xoxb-", 40},
                                                             {"xoxp-", 40},
                                                             {"gsk_", 52},
                                                             {"nvapi-", 64},
                                                             {"npm_", 36},
                                                             {"r8_", 37},
                                                             {"hvs.", 30}}) {
    cases.push_back({key(start, length), key(start, length)});
  }
  const std::string aws = "AKIA" + std::string("IOSFODNN7EXAMPL3");
  const std::string jwt = key("eyJ", 20) + "." + key("eyJ", 40) + "." + key("", 43);
  const std::string base64 = key("", 80) + "==";
  cases.push_back({aws, aws});
  cases.push_back({"Cookie: session=" + jwt, jwt});
  cases.push_back({"cs = 'DefaultEndpointsProtocol=https;AccountKey=" + base64 + "'", base64});
  cases.push_back({"url = 'https://x.blob.core.net/c?sv=2020&sig=" + base64 + "&se=1'", base64});
  cases.push_back({"https://hooks.slack.com/services/" + key("T0/B0/", 24), key("T0/B0/", 24)});
  cases.push_back({"https://api.telegram.org/bot" + key("12345:", 35), key("12345:", 35)});
  return cases;
}

std::vector<Case> by_name() {
  const std::string random = key("", 40);
  return {
      {"password: hunter2", "hunter2"},
      {"  password: swordfish  # change me", "swordfish"},
      {"- password: 'two words'", "two words"},
      {"DB_PASSWORD=swordfish", "swordfish"},
      {"export WANDB_API_KEY=" + hex(40), hex(40)},
      {"export HF_TOKEN=\"" + random + "\"", random},
      {"run(api_key=\"" + random + "\", epochs=3)", random},
      {"os.environ[\"OPENAI_API_KEY\"] = '" + random + "'", random},
      {"{\"clientSecret\": \"abc def\", \"x\": 1}", "abc def"},
      {"{\"private_key_id\": \"" + hex(40) + "\"}", hex(40)},
      {"{\\\"password\\\": \\\"hunter2\\\"}", "hunter2"},
      {"python train.py --api-key " + random + " --epochs 3", random},
      {"python train.py --password=hunter2 --epochs 3", "hunter2"},
      {"python train.py --hub_token " + random, random},
      {"Authorization: Bearer " + random, random},
      {"headers = {'Authorization': f'Bearer " + random + "'}", random},
      {"curl -H \"Authorization: Basic dXNlcjpwYXNzMQ==\" x", "dXNlcjpwYXNzMQ=="},
      {"curl -H 'X-Api-Key: " + random + "'", random},
      {"machine api.wandb.ai login user password " + hex(40), hex(40)},
      {"//registry/:_authToken=" + random, random},
      {"wandb login " + hex(40), hex(40)},
      {"wandb.login(key='" + hex(40) + "')", hex(40)},
      {"pip install git+https://user:hunter2@host.org/x.git", "hunter2"},
      {"git clone https://" + key("", 24) + "@host.org/x.git", key("", 24)},
      {"dsn = 'postgres://me:p4ss@db:5432/x'", "p4ss"},
      {"aws_secret_access_key = " + random, random},
      {"password = \"" + std::string(3000, 'x') + "\"", std::string(1000, 'x')},
      {"login.token = b'" + random + "'", random},
  };
}

std::vector<std::string> no_secrets() {
  return {
      "max_tokens=512",
      "token_embedding_dim: 768",
      "tokenizer = AutoTokenizer.from_pretrained('gpt2')",
      "eos_token: \"<|endoftext|>\"",
      "pad_token = '[PAD]'",
      "mask_token_id: 103",
      "token: str = None",
      "token = tokenizer.decode(ids)",
      "password = getpass.getpass('Password: ')",
      "password: Optional[str] = None",
      "api_key = os.environ[\"OPENAI_API_KEY\"]",
      "api_key=args.api_key",
      "password: ${DB_PASSWORD}",
      "export WANDB_API_KEY={wandb_token}",
      "export HF_TOKEN=$HF_TOKEN",
      "api_key: null",
      "use_auth_token=True",
      "parser.add_argument('--hub_token', type=str, default=None)",
      "commit " + hex(40),
      "pip install git+https://github.com/wandb/wandb@" + hex(40),
      "sha256:" + hex(64),
      "image = \"data:image/png;base64," + key("iVBOR", 200) + "\"",
      "https://host.org/a@b:c",
      "user@host.org:/path",
      "if '-----BEGIN PRIVATE KEY-----' in text: raise ValueError(text)",
      "sk-learn-contrib-with-a-long-name-of-words",
      "task-12345678901234567890",
      "hf_hub_download(repo_id='x')",
      "keys: [1, 2, 3]",
      "lr=0.1, monkey=12345678901234567890",
  };
}

}  // namespace

TEST_CASE("keys go by their form and by the name they are given to") {
  for (const auto& cases : {by_form(), by_name()}) {
    for (const Case& one : cases) {
      const std::string out = redact("before\n" + one.text + "\nafter\n");
      CHECK_MESSAGE(out.find(one.secret) == std::string::npos, one.text << " -> " << out);
      CHECK_MESSAGE(out.find(redaction_mark) != std::string::npos, one.text);
      CHECK(out.starts_with("before\n"));
      CHECK(out.ends_with("\nafter\n"));
      CHECK_MESSAGE(redact(out) == out, out << " -> " << redact(out));
    }
  }
}

TEST_CASE("what is no secret stays as it is") {
  for (const std::string& text : no_secrets()) CHECK(redact(text) == text);
}

TEST_CASE("the rest of a line with a secret stays") {
  CHECK(redact("train(lr=0.1, password='x y', epochs=3)") ==
        "train(lr=0.1, password='[redacted]', epochs=3)");
  CHECK(redact("--password=hunter2 --epochs 3") == "--password=[redacted] --epochs 3");
}

TEST_CASE("a private key block keeps its lines") {
  const std::string begin =
      "-----BEGIN RSA PRIV"
      "ATE KEY-----\n";
  const std::string end =
      "-----END RSA PRIV"
      "ATE KEY-----";
  const std::string body = key("", 64) + "\n" + key("", 64) + "\n";
  CHECK(redact("a\n" + begin + body + end + "\nb = 1\n") == "a\n[redacted]\n\n\n\nb = 1\n");
  const std::string cut = redact("a\n" + begin + body);
  CHECK(cut.find(key("", 20)) == std::string::npos);
  CHECK(std::ranges::count(cut, '\n') == 4);
  const std::string json =
      "{\"k\": \"-----BEGIN PRIV"
      "ATE KEY-----\\nMII" +
      key("", 64) +
      "\\n-----END PRIV"
      "ATE KEY-----\\n\", \"x\": 1}";
  CHECK(redact(json) == "{\"k\": \"[redacted]\\n\", \"x\": 1}");
}

TEST_CASE("long texts made to be slow take linear time") {
  for (const std::string_view part : {"sk-", "eyJ-", "eyJaaaaaaaa.", "password=\"",
                                      "token=", "://a:", "-----BEGIN PRIVATE KEY-----", "--token ",
                                      "key wandb ", "\"", "machine login password ", "/home/"}) {
    std::string text;
    while (text.size() < 500'000) text += part;
    const std::clock_t start = std::clock();
    const std::string out = redact(text);
    CHECK(!strip_paths(text).empty());
    const auto taken_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    CHECK_MESSAGE(taken_s < 5, part << " takes " << taken_s << " s of CPU time");
    CHECK(!out.empty());
  }
}

TEST_CASE("paths of people are shortened, other paths stay") {
  const std::string home =
      "/ho"
      "me/";
  CHECK(strip_paths("--data " + home + "ada/sets/imagenet/train") == "--data ~/imagenet/train");
  CHECK(strip_paths(home + "ada") == "~");
  CHECK(strip_paths("out=/Users/ada/x.pt,") == "out=~/x.pt,");
  CHECK(strip_paths("/share/lab/ada/cifar") == "~/ada/cifar");
  CHECK(strip_paths("file://" + home + "ada/x") == "file:~/x");
  CHECK(strip_paths("/export" + home + "ada/x") == "~/x");
  for (const std::string_view same : {"https://host.org/data/x/y", "configs/data/x.yaml",
                                      "/usr/bin/python", "a / b", "s3://data/x"}) {
    CHECK(strip_paths(same) == same);
  }
}

}  // namespace schedmate::tree
