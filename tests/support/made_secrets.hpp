// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Secrets that nobody ever had, of the kinds that issuers hand out. Made from a seed, so that no
/// scanner takes these files for a leak. written_forms.hpp has how people write them down.

#include <array>
#include <string>
#include <string_view>

#include "base/random.hpp"

namespace schedmate::testing {

inline constexpr std::string_view small = "abcdefghijklmnopqrstuvwxyz";
inline constexpr std::string_view big = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
inline constexpr std::string_view hex = "0123456789abcdef";
inline constexpr std::string_view letters_only =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
inline constexpr std::string_view alnum =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
inline constexpr std::string_view upper_alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
inline constexpr std::string_view url =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
inline constexpr std::string_view base64 =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";

inline std::string made_letters(Random& random, std::string_view alphabet, int count) {
  std::string made;
  for (int i = 0; i < count; ++i)
    made += alphabet[static_cast<std::size_t>(random.below(std::ssize(alphabet)))];
  return made;
}

/// A key that tells by its form what it is.
struct MadeKind {
  std::string_view name, start, alphabet;
  int length;
  std::string_view end{};
};

inline constexpr auto made_kinds = std::to_array<MadeKind>({
    {"Hugging Face", "hf_", letters_only, 34},
    {"Hugging Face with digits", "hf_", alnum, 34},
    {"Hugging Face organisation", "api_org_", letters_only, 34},
    {"OpenAI", "sk-", alnum, 48},
    {"OpenAI project", "sk-proj-", url, 120},
    {"OpenAI service", "sk-svcacct-", url, 100},
    {"Anthropic", "sk-ant-api03-", url, 93, "AA"},
    {"OpenRouter", "sk-or-v1-", hex, 64},
    {"DeepSeek", "sk-", hex, 32},
    {"Groq", "gsk_", alnum, 52},
    {"NVIDIA", "nvapi-", url, 64},
    {"Replicate", "r8_", alnum, 37},
    {"Perplexity", "pplx-", alnum, 48},
    {"xAI", "xai-", alnum, 80},
    {"LangSmith", "lsv2_pt_", hex, 43},
    {"Pinecone", "pcsk_", alnum, 69},
    {"Together", "tgp_v1_", url, 43},
    {"Jina", "jina_", alnum, 60},
    {"ElevenLabs", "sk_", hex, 48},
    {"RunPod", "rpa_", alnum, 46},
    {"Prefect", "pnu_", alnum, 36},
    {"Databricks", "dapi", hex, 32},
    {"GitHub", "ghp_", letters_only, 36},
    {"GitHub OAuth", "gho_", alnum, 36},
    {"GitHub app", "ghs_", alnum, 36},
    {"GitHub user", "ghu_", alnum, 36},
    {"GitHub refresh", "ghr_", alnum, 36},
    {"GitHub fine-grained", "github_pat_", alnum, 82},
    {"GitLab", "glpat-", url, 20},
    {"GitLab deploy", "gldt-", alnum, 20},
    {"GitLab runner", "glrt-", alnum, 20},
    {"GitLab trigger", "glptt-", hex, 40},
    {"GitLab registration", "GR1348941", alnum, 20},
    {"Atlassian", "ATATT3", alnum, 180},
    {"npm", "npm_", letters_only, 36},
    {"PyPI", "pypi-AgEIcHlwaS5vcmc", url, 80},
    {"RubyGems", "rubygems_", hex, 48},
    {"Docker", "dckr_pat_", alnum, 27},
    {"Artifactory", "AKCp", alnum, 69},
    {"SonarQube", "squ_", hex, 40},
    {"Sourcegraph", "sgp_", hex, 40},
    {"Postman", "PMAK-", hex, 59},
    {"AWS", "AKIA", upper_alnum, 16},
    {"AWS temporary", "ASIA", upper_alnum, 16},
    {"Google", "AIza", url, 35},
    {"Google OAuth", "ya29.", url, 60},
    {"Google client", "GOCSPX-", alnum, 28},
    {"Alibaba", "LTAI", alnum, 20},
    {"DigitalOcean", "dop_v1_", hex, 64},
    {"Heroku", "HRKU-AA", alnum, 58},
    {"Fly", "fo1_", alnum, 43},
    {"Supabase", "sbp_", hex, 40},
    {"PlanetScale", "pscale_tkn_", alnum, 43},
    {"Vault", "hvs.", alnum, 90},
    {"Pulumi", "pul-", hex, 40},
    {"Doppler", "dp.pt.", alnum, 43},
    {"OpenShift", "sha256~", alnum, 43},
    {"Tailscale", "tskey-auth-k1", alnum, 30},
    {"age", "AGE-SECRET-KEY-1", upper_alnum, 58},
    {"Grafana", "glsa_", alnum, 41},
    {"New Relic", "NRAK-", upper_alnum, 27},
    {"Sentry", "sntryu_", hex, 64},
    {"Dynatrace", "dt0c01.", alnum, 89},
    {"Slack bot", "xoxb-", hex, 40},
    {"Slack user", "xoxp-", hex, 40},
    {"Slack app", "xapp-1-", hex, 40},
    {"Stripe", "sk_live_", letters_only, 24},
    {"Stripe restricted", "rk_live_", alnum, 24},
    {"Shopify", "shpat_", hex, 32},
    {"Square", "sq0atp-", alnum, 22},
    {"Twilio", "SK", hex, 32},
    {"SendGrid", "SG.", alnum, 66},
    {"Brevo", "xkeysib-", hex, 81},
    {"Mailgun", "key-", hex, 32},
    {"Linear", "lin_api_", alnum, 40},
    {"Notion", "ntn_", alnum, 46},
    {"Figma", "figd_", alnum, 44},
    {"Typeform", "tfp_", alnum, 50},
    {"EasyPost", "EZAK", alnum, 54},
    {"Facebook", "EAAC", alnum, 110},
});

inline std::string made_key(const MadeKind& kind, Random& random) {
  return std::string(kind.start) + made_letters(random, kind.alphabet, kind.length) +
         std::string(kind.end);
}

/// What people choose as a password, or tools draw: of the name alone it is known to be one.
inline std::string made_password(std::int64_t kind, Random& random) {
  switch (kind % 5) {
    case 0:
      return made_letters(random, small, 12);
    case 1:
      return made_letters(random, alnum, 10) + "7x";
    case 2:
      return made_letters(random, hex, 31) + "a";
    case 3:
      return "Q" + made_letters(random, small, 7) + "9!" + made_letters(random, small, 3);
    default:
      return "k" + made_letters(random, base64, 30) + "==";
  }
}

}  // namespace schedmate::testing
