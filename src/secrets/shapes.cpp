// SPDX-License-Identifier: Apache-2.0

/// Keys that show by their own form what they are: a fixed start, then so many letters of an
/// alphabet. The forms are those that issuers publish and that scanners of secrets look for.

#include <array>
#include <cstdint>

#include "secrets/spans.hpp"

namespace schedmate::secrets {
namespace {

enum class Letters : unsigned char {
  alnum,
  alnum_dot,
  word,
  url,
  upper,
  hex,
  hex_dash,
  base64,
  dotted,
  path
};

constexpr bool is_in(Letters letters, char c) {
  switch (letters) {
    case Letters::alnum:
      return is_digit(c) || is_letter(c);
    case Letters::alnum_dot:
      return is_digit(c) || is_letter(c) || c == '.';
    case Letters::word:
      return is_word(c);
    case Letters::url:
      return is_word(c) || c == '-';
    case Letters::upper:
      return is_digit(c) || is_upper(c) || c == '-';
    case Letters::hex:
      return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
    case Letters::hex_dash:
      return is_in(Letters::hex, c) || c == '-';
    case Letters::base64:
      return is_word(c) || is_among(c, "+/=-");
    case Letters::dotted:
      return is_word(c) || is_among(c, "-.=");
    case Letters::path:
      return is_word(c) || is_among(c, "-/.:%+=~");
  }
  return false;
}

/// What besides its length tells a key from a word that begins alike.
enum class Proof : unsigned char { length, digit, random, exact };

/// A key is `start` and at least `least` letters. With `before`, so many letters stand in front of
/// `start`, which is within the key then. `keep_start`: the start only says what follows.
struct Shape {
  std::string_view start;
  Letters letters;
  std::size_t least;
  Proof proof = Proof::length;
  std::size_t before = 0;
  bool keep_start = false;
};

using enum Letters;

constexpr std::array listed_shapes = {
    // Models and experiments.
    Shape{"hf_", alnum, 30},                 // Hugging Face, user
    Shape{"hf_oauth_", url, 30},             // Hugging Face, OAuth
    Shape{"local-", hex, 40},                // W&B, own server
    Shape{"api_org_", alnum, 30},            // Hugging Face, organisation
    Shape{"sk-", url, 20, Proof::random},    // OpenAI, DeepSeek and many that follow it
    Shape{"sk-proj-", url, 20},              // OpenAI, project
    Shape{"sk-svcacct-", url, 20},           // OpenAI, service account
    Shape{"sk-admin-", url, 20},             // OpenAI, admin
    Shape{"sk-ant-", url, 20},               // Anthropic
    Shape{"sk-or-", url, 30},                // OpenRouter
    Shape{"sk-lf-", hex_dash, 30},           // Langfuse
    Shape{"pk-lf-", hex_dash, 30},           // Langfuse, public half
    Shape{"gsk_", alnum, 40},                // Groq
    Shape{"nvapi-", url, 40},                // NVIDIA
    Shape{"r8_", url, 35},                   // Replicate
    Shape{"wandb_v1_", word, 20},            // Weights & Biases
    Shape{"pplx-", alnum, 40},               // Perplexity
    Shape{"xai-", word, 60},                 // xAI
    Shape{"lsv2_", word, 40},                // LangSmith
    Shape{"pcsk_", word, 50},                // Pinecone
    Shape{"fw_", alnum, 22, Proof::random},  // Fireworks
    Shape{"tgp_v1_", url, 30},               // Together
    Shape{"csk-", alnum, 40},                // Cerebras
    Shape{"pa-", url, 40, Proof::random},    // Voyage
    Shape{"jina_", alnum, 40},               // Jina
    Shape{"sk_", hex, 40},                   // ElevenLabs
    Shape{"tvly-", url, 20, Proof::digit},   // Tavily
    Shape{"rpa_", alnum, 40},                // RunPod
    Shape{"KGAT_", word, 30},                // Kaggle
    Shape{"salad_cloud_", word, 16},         // Salad
    Shape{"ak-", alnum, 22, Proof::random},  // Modal
    Shape{"as-", alnum, 22, Proof::random},  // Modal
    Shape{"eyJhcGlf", base64, 60},           // Neptune
    Shape{"pnu_", alnum, 36},                // Prefect
    Shape{"dapi", hex, 32},                  // Databricks
    Shape{"thog-", url, 20, Proof::digit},   // TruffleHog
    // Code and packages.
    Shape{"ghp_", alnum, 30},        // GitHub, personal
    Shape{"gho_", alnum, 30},        // GitHub, OAuth
    Shape{"ghu_", alnum, 30},        // GitHub, user of an app
    Shape{"ghs_", alnum, 30},        // GitHub, server of an app
    Shape{"ghr_", alnum, 30},        // GitHub, refresh
    Shape{"github_pat_", word, 40},  // GitHub, fine-grained
    Shape{"glpat-", dotted, 20},     // GitLab, personal
    Shape{"gldt-", url, 20},         // GitLab, deploy
    Shape{"glrt-", dotted, 20},      // GitLab, runner
    Shape{"glcbt-", url, 20},        // GitLab, job
    Shape{"glptt-", url, 40},        // GitLab, trigger
    Shape{"glft-", url, 20},         // GitLab, feed
    Shape{"glffct-", url, 20},       // GitLab, feature flags
    Shape{"glsoat-", url, 20},       // GitLab, SCIM
    Shape{"glimt-", url, 20},        // GitLab, incoming mail
    Shape{"glagent-", url, 40},      // GitLab, agent
    Shape{"gloas-", url, 60},        // GitLab, OAuth application
    Shape{"GR1348941", url, 20},     // GitLab, runner registration
    Shape{"_gitlab_session=", alnum, 20, Proof::length, 0, true},
    Shape{"ATBB", alnum, 24, Proof::digit},  // Bitbucket
    Shape{"ATATT3", base64, 60},             // Atlassian
    Shape{"ATCTT3", base64, 60},             // Atlassian
    Shape{"BBDC-", base64, 40},              // Bitbucket server
    Shape{"npm_", alnum, 36},                // npm
    Shape{"cio", alnum, 32, Proof::digit},   // Cargo
    Shape{"pypi-", url, 50},                 // PyPI
    Shape{"rubygems_", hex, 40},             // RubyGems
    Shape{"CLOJARS_", alnum, 50},            // Clojars
    Shape{"dckr_pat_", url, 20},             // Docker
    Shape{"dckr_oat_", url, 20},             // Docker, organisation
    Shape{"AKCp", alnum, 60},                // Artifactory
    Shape{"cmVmdGtu", alnum, 50},            // Artifactory, reference token
    Shape{"bkua_", alnum, 36},               // Buildkite
    Shape{"CCIPAT_", word, 50},              // CircleCI
    Shape{"CCIPRJ_", word, 50},              // CircleCI, project
    Shape{"squ_", hex, 40},                  // SonarQube, user
    Shape{"sqp_", hex, 40},                  // SonarQube, project
    Shape{"sqa_", hex, 40},                  // SonarQube, analysis
    Shape{"sgp_", word, 40},                 // Sourcegraph
    Shape{"slk_", hex, 60},                  // Sourcegraph, licence
    Shape{"API-", upper, 26, Proof::exact},  // Octopus Deploy
    Shape{"PMAK-", url, 50},                 // Postman
    Shape{"rdme_", alnum, 60},               // ReadMe
    // Clouds.
    Shape{"AKIA", upper, 16},                        // AWS
    Shape{"SCW", upper, 17, Proof::exact},           // Scaleway
    Shape{"ASIA", upper, 16},                        // AWS, temporary
    Shape{"ABIA", upper, 16},                        // AWS, bearer
    Shape{"ACCA", upper, 16},                        // AWS, context
    Shape{"ABSK", base64, 90},                       // AWS Bedrock
    Shape{"bedrock-api-key-", base64, 30},           // AWS Bedrock, short
    Shape{"amzn.mws.", hex_dash, 30},                // AWS MWS
    Shape{"AIza", url, 35},                          // Google
    Shape{"ya29.", url, 20},                         // Google, OAuth
    Shape{"GOCSPX-", url, 20},                       // Google, client
    Shape{"1//0", url, 40},                          // Google, refresh
    Shape{"Q~", dotted, 31, Proof::length, 4},       // Microsoft Entra
    Shape{"LTAI", alnum, 16},                        // Alibaba
    Shape{"AKID", alnum, 32},                        // Tencent
    Shape{"dop_v1_", hex, 60},                       // DigitalOcean
    Shape{"doo_v1_", hex, 60},                       // DigitalOcean, OAuth
    Shape{"dor_v1_", hex, 60},                       // DigitalOcean, refresh
    Shape{"HRKU-", url, 36},                         // Heroku
    Shape{"fo1_", url, 40},                          // Fly
    Shape{"fm1r_", base64, 80},                      // Fly
    Shape{"fm1a_", base64, 80},                      // Fly
    Shape{"fm2_", base64, 80},                       // Fly
    Shape{"v1.0-", url, 100},                        // Cloudflare, origin CA
    Shape{"cfut_", alnum, 40},                       // Cloudflare, user
    Shape{"cfat_", alnum, 40},                       // Cloudflare, account
    Shape{"cfk_", alnum, 40},                        // Cloudflare, global
    Shape{"nfp_", alnum, 30},                        // Netlify
    Shape{"rnd_", alnum, 28},                        // Render
    Shape{"sbp_", hex, 40},                          // Supabase
    Shape{"sb_secret_", url, 20},                    // Supabase
    Shape{"pscale_tkn_", dotted, 30},                // PlanetScale
    Shape{"pscale_pw_", dotted, 30},                 // PlanetScale
    Shape{"pscale_oauth_", dotted, 30},              // PlanetScale
    Shape{"hvs.", url, 24},                          // Vault, service
    Shape{"hvb.", url, 24},                          // Vault, batch
    Shape{"hvr.", url, 24},                          // Vault, recovery
    Shape{".atlasv1.", url, 50, Proof::length, 14},  // Terraform
    Shape{"pul-", hex, 40},                          // Pulumi
    Shape{"dp.pt.", dotted, 40},                     // Doppler
    Shape{"dp.st.", dotted, 40},                     // Doppler, service
    Shape{"dp.ct.", dotted, 40},                     // Doppler, CLI
    Shape{"dp.sa.", dotted, 40},                     // Doppler, service account
    Shape{"sha256~", url, 40},                       // OpenShift
    Shape{"tk-us-", url, 40},                        // Scalingo
    Shape{"tskey-", url, 16, Proof::digit},          // Tailscale
    Shape{"dnkey-", url, 60},                        // Defined Networking
    Shape{"ico-", alnum, 32, Proof::digit},          // Infracost
    Shape{"sm_aat_", alnum, 16},                     // SettleMint
    Shape{"sm_pat_", alnum, 16},                     // SettleMint
    Shape{"sm_sat_", alnum, 16},                     // SettleMint
    Shape{"t1.", dotted, 100},                       // Yandex, access
    Shape{"AQVN", url, 35},                          // Yandex, key
    Shape{"ops_eyJ", base64, 80},                    // 1Password
    Shape{"A3-", upper, 30},                         // 1Password
    Shape{"AGE-SECRET-KEY-1", upper, 50},            // age
    Shape{"AccountKey=", path, 40, Proof::length, 0, true},
    Shape{"SharedAccessKey=", path, 40, Proof::length, 0, true},
    Shape{"SharedAccessSignature=", path, 40, Proof::length, 0, true},
    Shape{"sig=", path, 20, Proof::digit, 0, true},
    Shape{"X-Amz-Signature=", hex, 32, Proof::length, 0, true},
    Shape{"X-Amz-Security-Token=", path, 32, Proof::length, 0, true},
    // Watching and data.
    Shape{"glsa_", word, 36},                    // Grafana
    Shape{"glc_", base64, 32},                   // Grafana cloud
    Shape{"eyJrIjoi", base64, 60},               // Grafana, old
    Shape{"NRAK-", alnum, 25},                   // New Relic
    Shape{"NRJS-", alnum, 19},                   // New Relic, browser
    Shape{"NRII-", url, 25},                     // New Relic, insert
    Shape{"NRIQ-", url, 25},                     // New Relic, query
    Shape{"NRBR-", alnum, 19},                   // New Relic, browser
    Shape{"sntrys_", base64, 60},                // Sentry, organisation
    Shape{"sntryu_", hex, 60},                   // Sentry, user
    Shape{"phx_", word, 40},                     // PostHog
    Shape{"dt0c01.", dotted, 60},                // Dynatrace
    Shape{"dt0s01.", dotted, 60},                // Dynatrace
    Shape{"rootly_", hex, 60},                   // Rootly
    Shape{"4b1d", alnum, 38, Proof::exact},      // ClickHouse
    Shape{"CFPAT-", url, 40},                    // Contentful
    Shape{"pat", alnum_dot, 75, Proof::random},  // Airtable
    Shape{"pat.", dotted, 60},                   // Harness
    Shape{"sat.", dotted, 60},                   // Harness
    Shape{"pat-na1-", hex_dash, 30},             // HubSpot
    Shape{"pat-eu1-", hex_dash, 30},             // HubSpot
    Shape{"sdk-", hex_dash, 36},                 // LaunchDarkly
    Shape{"api-", hex_dash, 36},                 // LaunchDarkly
    Shape{"rh-api-", hex_dash, 36},              // Rev
    Shape{"_mmk", word, 0, Proof::exact, 35},    // MaxMind
    // Messages, payments, others.
    Shape{"xoxb-", url, 10, Proof::digit},     // Slack, bot
    Shape{"xoxa-", url, 10, Proof::digit},     // Slack, workspace
    Shape{"xoxp-", url, 10, Proof::digit},     // Slack, user
    Shape{"xoxr-", url, 10, Proof::digit},     // Slack, refresh
    Shape{"xoxs-", url, 10, Proof::digit},     // Slack, session
    Shape{"xoxo-", url, 10, Proof::digit},     // Slack, old
    Shape{"xoxc-", url, 10, Proof::digit},     // Slack, client
    Shape{"xoxd-", path, 20, Proof::digit},    // Slack, cookie
    Shape{"xoxe-", url, 10, Proof::digit},     // Slack, configuration
    Shape{"xoxe.", dotted, 10, Proof::digit},  // Slack, configuration
    Shape{"xapp-", url, 10, Proof::digit},     // Slack, app
    Shape{"hooks.slack.com/services/", path, 20, Proof::length, 0, true},
    Shape{"hooks.slack.com/workflows/", path, 20, Proof::length, 0, true},
    Shape{"hooks.slack.com/triggers/", path, 20, Proof::length, 0, true},
    Shape{"discord.com/api/webhooks/", path, 20, Proof::length, 0, true},
    Shape{"discordapp.com/api/webhooks/", path, 20, Proof::length, 0, true},
    Shape{"webhook.office.com/webhookb2/", path, 40, Proof::length, 0, true},
    Shape{"hooks.zapier.com/hooks/catch/", path, 10, Proof::digit, 0, true},
    Shape{"api.telegram.org/bot", path, 20, Proof::length, 0, true},
    Shape{":AA", url, 32, Proof::random, 8},                 // Telegram
    Shape{"sk_live_", alnum, 16},                            // Stripe
    Shape{"sk_test_", alnum, 16},                            // Stripe
    Shape{"sk_prod_", alnum, 16},                            // Stripe
    Shape{"rk_live_", alnum, 16},                            // Stripe
    Shape{"rk_test_", alnum, 16},                            // Stripe
    Shape{"rk_prod_", alnum, 16},                            // Stripe
    Shape{"pk_live_", alnum, 20},                            // Stripe, public half
    Shape{"whsec_", base64, 24},                             // Stripe, webhook
    Shape{"rzp_live_", alnum, 14},                           // Razorpay
    Shape{"rzp_test_", alnum, 14},                           // Razorpay
    Shape{"ak_live_", alnum, 25},                            // Apaleo
    Shape{"flb_live_", alnum, 20},                           // FlatIO
    Shape{"live_", hex, 35},                                 // Lob
    Shape{"test_", hex, 35},                                 // Lob
    Shape{"sq0atp-", url, 20},                               // Square
    Shape{"sq0csp-", url, 20},                               // Square
    Shape{"sq0idp-", url, 20},                               // Square
    Shape{"EAAA", url, 56, Proof::digit},                    // Square
    Shape{"EAA", alnum, 80},                                 // Facebook
    Shape{"EAACEdEose0cBA", alnum, 20},                      // Facebook, short-lived
    Shape{"shpat_", hex, 32},                                // Shopify
    Shape{"shpca_", hex, 32},                                // Shopify
    Shape{"shppa_", hex, 32},                                // Shopify
    Shape{"shpss_", hex, 32},                                // Shopify
    Shape{"shippo_live_", hex, 40},                          // Shippo
    Shape{"shippo_test_", hex, 40},                          // Shippo
    Shape{"duffel_live_", url, 40},                          // Duffel
    Shape{"duffel_test_", url, 40},                          // Duffel
    Shape{"EZAK", alnum, 50},                                // EasyPost
    Shape{"EZTK", alnum, 50},                                // EasyPost
    Shape{"FLWSECK-", url, 12},                              // Flutterwave
    Shape{"FLWSECK_TEST-", url, 12},                         // Flutterwave
    Shape{"access-sandbox-", hex_dash, 36},                  // Plaid
    Shape{"access-development-", hex_dash, 36},              // Plaid
    Shape{"access-production-", hex_dash, 36},               // Plaid
    Shape{"SK", hex, 32, Proof::exact},                      // Twilio
    Shape{"AC", hex, 32, Proof::exact},                      // Twilio
    Shape{"SG.", dotted, 40},                                // SendGrid
    Shape{"xkeysib-", url, 60},                              // Brevo
    Shape{"xsmtpsib-", url, 60},                             // Brevo
    Shape{"key-", hex, 32, Proof::exact},                    // Mailgun
    Shape{"-us", alnum, 1, Proof::exact, 32},                // Mailchimp
    Shape{"lin_api_", alnum, 30},                            // Linear
    Shape{"lin_oauth_", alnum, 30},                          // Linear
    Shape{"ntn_", alnum, 40},                                // Notion
    Shape{"secret_", alnum, 43},                             // Notion, old
    Shape{"figd_", url, 40},                                 // Figma
    Shape{"figp_", url, 40},                                 // Figma
    Shape{"figu_", url, 40},                                 // Figma
    Shape{"fio-u-", url, 50},                                // Frame.io
    Shape{"tfp_", word, 40},                                 // Typeform
    Shape{"sl.", url, 100},                                  // Dropbox
    Shape{"sk.eyJ", dotted, 50},                             // Mapbox
    Shape{"pk.eyJ", dotted, 50},                             // Mapbox, public half
    Shape{"p8e-", alnum, 32},                                // Adobe
    Shape{"s-s4t2ud-", hex, 60},                             // Intra 42
    Shape{"s-s4t2af-", hex, 60},                             // Intra 42
    Shape{"BBFF-", alnum, 30},                               // Ubidots
    Shape{"AAAAAAAAAAAAAAAAAAAAA", path, 40, Proof::digit},  // Twitter
    Shape{"!AQ", dotted, 60, Proof::length, 15},             // Salesforce
    Shape{"!AR", dotted, 60, Proof::length, 15},             // Salesforce
};

/// Sorted by their first letter.
constexpr auto shapes = [] {
  auto sorted = listed_shapes;
  std::ranges::sort(sorted, {}, [](const Shape& shape) { return shape.start.front(); });
  return sorted;
}();

/// Where the shapes with this first letter begin; those of the next letter begin where they end.
constexpr auto first_shapes = [] {
  std::array<std::size_t, 257> first{};
  for (const Shape& shape : shapes) ++first[static_cast<unsigned char>(shape.start.front()) + 1U];
  for (std::size_t letter = 1; letter < first.size(); ++letter) first[letter] += first[letter - 1];
  return first;
}();

/// The first two letters of all starts, a bit each: most places of a text end here.
constexpr auto known_pairs = [] {
  std::array<std::uint64_t, 1024> known{};
  const auto add = [&](std::size_t pair) { known[pair / 64] |= std::uint64_t{1} << pair % 64; };
  for (const Shape& shape : shapes) add(pair_of(shape.start, 0));
  add(pair_of("ey", 0));
  return known;
}();

std::size_t run_end(std::string_view text, std::size_t at, Letters letters) {
  while (at < text.size() && is_in(letters, text[at])) ++at;
  return at;
}

/// Three or more parts of base64 between dots, the first of them a JSON object ("eyJ" is "{\"").
class WebTokens {
 public:
  explicit WebTokens(std::string_view text) : text_(text) {}
  /// End of the token that starts at `at`, or `at`.
  std::size_t end(std::size_t at) {
    if (at < tried_until_ || !text_.substr(at).starts_with("eyJ")) return at;
    std::size_t end = at;
    for (int part = 0; part < 3; ++part) {
      if (part > 0 && at_or_nul(text_, end) != '.') return at;
      if (part > 0) ++end;
      const std::size_t start = end;
      end = run_end(text_, start, url);
      // What fails here fails for each later start in the same run: no second try.
      if (part == 0) tried_until_ = end;
      if (end - start < 8 && (part != 1 || end != start)) return at;
    }
    while (at_or_nul(text_, end) == '.' && end + 1 < text_.size() && is_word(text_[end + 1]))
      end = run_end(text_, end + 1, url);
    return end;
  }

 private:
  std::string_view text_;
  std::size_t tried_until_ = 0;
};

constexpr std::size_t most_looked_at = 200;

/// No chain of words: a long piece without a separator that has digits or changes its case often.
bool is_random(std::string_view letters) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= letters.size(); ++i) {
    if (i < letters.size() && (is_digit(letters[i]) || is_letter(letters[i]))) continue;
    const std::string_view piece = letters.substr(begin, i - begin);
    begin = i + 1;
    const bool has_digit = std::ranges::any_of(piece, is_digit);
    if (piece.size() >= 40 || (piece.size() >= 16 && has_digit)) return true;
    const auto big = std::ranges::count_if(piece, is_upper);
    if (piece.size() >= 20 && big * 5 >= std::ssize(piece)) return true;
  }
  return false;
}

bool is_proven(Proof proof, std::string_view letters, std::size_t least) {
  switch (proof) {
    case Proof::length:
      return true;
    case Proof::digit:
      return std::ranges::any_of(letters, is_digit);
    case Proof::random:
      return is_random(letters);
    case Proof::exact:
      return letters.size() <= least + 1;
  }
  return false;
}

/// Where the part of a key that stands before its start begins; nowhere if it is too short.
std::size_t front_of(std::string_view text, std::size_t at, std::size_t least) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < most_looked_at && is_word(text[begin - 1])) --begin;
  return at - begin >= least ? begin : nowhere;
}

/// Where a key of a known shape stands; empty where none starts at `at`.
Span key_at(std::string_view text, std::size_t at, bool starts) {
  const std::string_view rest = text.substr(at);
  const auto letter = static_cast<unsigned char>(text[at]);
  for (std::size_t i = first_shapes[letter]; i < first_shapes[letter + 1U]; ++i) {
    const Shape& shape = shapes[i];
    if ((!starts && shape.before == 0) || !rest.starts_with(shape.start)) continue;
    const std::size_t start = at + shape.start.size();
    const std::size_t near_end = run_end(
        text.substr(0, start + std::max(most_looked_at, shape.least)), start, shape.letters);
    const std::string_view letters = text.substr(start, near_end - start);
    if (letters.size() < shape.least || !is_proven(shape.proof, letters, shape.least)) continue;
    const std::size_t front = shape.before > 0 ? front_of(text, at, shape.before) : at;
    if (front == nowhere) continue;
    return {shape.keep_start ? start : front, run_end(text, near_end, shape.letters)};
  }
  return {at, at};
}

/// A key may be a part of a file's name: "old_ghp_...".
bool may_start(std::string_view text, std::size_t at) {
  return starts_word(text, at) || text[at - 1] == '_';
}

}  // namespace

void find_shapes(std::string_view text, Spans& found) {
  WebTokens web_tokens(text);
  for (std::size_t at = 0; at + 1 < text.size();) {
    const std::size_t pair = pair_of(text, at);
    if ((known_pairs[pair / 64] >> pair % 64 & 1U) == 0) {
      ++at;
      continue;
    }
    const bool starts = may_start(text, at);
    Span key = key_at(text, at, starts);
    if (starts && text[at] == 'e') key.end = std::max(key.end, web_tokens.end(at));
    if (key.end > at) found.push_back(key);
    at = std::max(key.end, at + 1);
  }
}

}  // namespace schedmate::secrets
