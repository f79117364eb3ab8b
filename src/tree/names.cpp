// SPDX-License-Identifier: Apache-2.0
#include "tree/names.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.hpp"

namespace schedmate::tree {
namespace {

using NameList = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, NameList names) {
  return std::ranges::find(names, name) != names.end();
}
bool starts_with_one_of(std::string_view name, NameList starts) {
  return std::ranges::any_of(starts, [&](auto start) { return name.starts_with(start); });
}
bool ends_with_one_of(std::string_view name, NameList ends) {
  return std::ranges::any_of(ends, [&](auto end) { return name.ends_with(end); });
}

bool is_secret_folder(std::string_view name) {
  return is_one_of(name, {".git", ".ssh", ".aws", ".azure", ".gcloud", ".gnupg", ".kube", ".docker",
                          ".kaggle", ".huggingface", ".password-store", ".svn", ".hg"});
}

bool is_secret_file(std::string_view name) {
  if (starts_with_one_of(
          name, {".env", ".netrc", "_netrc", ".git-credentials", "credentials", ".credentials",
                 "kubeconfig", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "secrets.", "secret.",
                 "service_account", "service-account", ".npmrc", ".pypirc", ".pgpass"})) {
    return true;
  }
  if (ends_with_one_of(name, {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk",
                              ".env", ".tfstate", ".kubeconfig", "_history"}) &&
      (!name.ends_with("_history") || name.starts_with('.'))) {
    return true;
  }
  if (name.starts_with("id_") && name.find('.') == std::string_view::npos) return true;
  return is_one_of(name, {".htpasswd", ".my.cnf", ".dockercfg", ".boto", ".s3cfg", ".vault-token",
                          ".terraformrc", "rclone.conf", ".rclone.conf", "kaggle.json",
                          ".modal.toml", ".wandb_api_key", "wandb_api_key", ".hf_token", "hf_token",
                          "gcp_key.json", ".databrickscfg", ".cdsapirc"});
}

}  // namespace

bool is_secret_path(std::string_view path) {
  const std::string all = lower_case(path);
  const auto parts = split(all, '/');
  return std::ranges::any_of(parts, is_secret_folder) ||
         std::ranges::any_of(parts, is_secret_file) || all.ends_with("huggingface/token");
}

bool is_agent_text(std::string_view path) {
  const std::string all = lower_case(path);
  const auto parts = split(all, '/');
  return is_one_of(parts.back(), {"agents.md", "claude.md", "gemini.md", "copilot-instructions.md",
                                  ".cursorrules", ".windsurfrules", ".clinerules", "skill.md"}) ||
         std::ranges::any_of(parts, [](auto part) {
           return is_one_of(part, {".claude", ".cursor", ".agents", ".codex", ".gemini"});
         });
}

}  // namespace schedmate::tree
