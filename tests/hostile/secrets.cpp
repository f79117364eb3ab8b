// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/cases.hpp"

namespace schedmate::hostile {
namespace {

constexpr const char* keys = "keys or passwords";

/// A file with a password in it: read, and seen only without the password (hostile_test.cpp reads
/// everything again as it may leave the process).
Case leak_case(const std::string& kind, const std::string& name, const std::string& before,
               const std::string& after) {
  const std::string text = before + std::string(forbidden_text) + after;
  return {"password in " + kind,
          [=](const World& world) { world.write(name, text); },
          {{name, Gives::text, text}}};
}

Case hidden_case(const std::string& name) {
  return {"secret file " + name,
          [=](const World& world) { world.write(name, forbidden_text); },
          {{name, Gives::refused, keys}}};
}

Cases leaks() {
  return {
      leak_case("Python", "a.py", "wandb.login(key='x')\nlogin(password='", "')\n"),
      leak_case("a shell script", "a.sh", "export API_KEY=\"", "\"\npython a.py\n"),
      leak_case("YAML", "a.yaml", "user: me\npassword: ", "\nlr: 0.1\n"),
      leak_case("JSON", "a.json", "{\"client_secret\": \"", "\", \"lr\": 0.1}\n"),
      leak_case("TOML", "a.toml", "[db]\napi_key = \"", "\"\n"),
      leak_case("INI", "a.ini", "[db]\npasswd = ", "\n"),
      leak_case("a Dockerfile", "Dockerfile", "ENV LR=0.1 AUTH_TOKEN=", "\n"),
      leak_case("Markdown", "a.md", "Run\n\n    curl -H 'Authorization: Bearer ", "' host\n"),
      leak_case("a URL", "a.txt", "git+https://me:", "@host.org/x.git\n"),
      leak_case("UTF-8 of one long line", "b.py", std::string(100'000, 'x') + " password='", "'\n"),
  };
}

}  // namespace

Cases secret_cases() {
  Cases cases = leaks();
  for (const char* name :
       {".env", ".env.local", "prod.env", ".ENV", "conf/id_rsa", "ID_ED25519", "server.pem",
        "tls/server.key", ".netrc", ".git/config", "credentials.json", ".aws/credentials", ".npmrc",
        ".pypirc", "kubeconfig", "secrets.yaml", ".kube/config", "kaggle.json", ".bash_history"}) {
    cases.push_back(hidden_case(name));
  }
  cases.push_back(
      {"secret behind a harmless name",
       [](const World& world) {
         world.write(".env", forbidden_text);
         world.write(".ssh/config", forbidden_text);
         world.link(".env", "settings.py");
         world.link(".ssh", "configs");
       },
       {{"settings.py", Gives::refused, keys}, {"configs/config", Gives::refused, keys}}});
  cases.push_back({"names that only look like secrets",
                   [](const World& world) {
                     for (const char* name : {"environment.yml", "keys.py", "tokenizer.json",
                                              "id_mapping.py", "envs/env.py", "training_history"}) {
                       world.write(name, "x\n");
                     }
                   },
                   {{"environment.yml", Gives::text, "x\n"},
                    {"keys.py", Gives::text, "x\n"},
                    {"tokenizer.json", Gives::text, "x\n"},
                    {"id_mapping.py", Gives::text, "x\n"},
                    {"envs/env.py", Gives::text, "x\n"},
                    {"training_history", Gives::text, "x\n"}}});
  return cases;
}

}  // namespace schedmate::hostile
