// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Secrets that nobody ever had, of the kinds that issuers hand out, and the forms in which people
/// write them down. Made here from a seed, so that no scanner takes these files for a leak.

#include <array>
#include <string>
#include <string_view>
#include <vector>

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
  std::string_view end = "";
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

/// A way of writing a secret down; '@' stands for it.
struct WrittenForm {
  std::string_view what, text;
};

inline constexpr auto written_forms = std::to_array<WrittenForm>({
    // Python.
    {"assignment", "password = \"@\"\n"},
    {"assignment, single quotes", "    self.db_password = '@'\n"},
    {"annotated assignment", "password: str = \"@\"\n"},
    {"annotated with a generic type", "api_key: Optional[str] = '@'\n"},
    {"argument of a call", "db = connect('host', user='me', password='@', port=1)\n"},
    {"argument after spaces", "login( token = \"abc\", password = \"@\" )\n"},
    {"constant of a module", "HF_TOKEN = \"@\"\n"},
    {"environ", "os.environ[\"OPENAI_API_KEY\"] = \"@\"\n"},
    {"environ setdefault", "os.environ.setdefault(\"OPENAI_API_KEY\", \"@\")\n"},
    {"putenv", "os.putenv('HF_TOKEN', '@')\n"},
    {"getenv with a default", "key = os.getenv(\"HF_TOKEN\", \"@\")\n"},
    {"environ get with a default", "token = os.environ.get('WANDB_API_KEY', '@')\n"},
    {"or a default", "api_key = os.environ.get('X') or '@'\n"},
    {"argparse default", "parser.add_argument(\"--db-password\", type=str, default=\"@\")\n"},
    {"argparse default first", "p.add_argument('--hub_token', default='@', help='the token')\n"},
    {"argparse over lines",
     "p.add_argument(\n    '--password',\n    type=str,\n    default='@',\n)\n"},
    {"click option", "@click.option('--api-key', default='@')\n"},
    {"set_defaults", "parser.set_defaults(password='@')\n"},
    {"dictionary", "cfg = {\"password\": \"@\", 'lr': 0.1}\n"},
    {"item of a dictionary", "cfg['db']['password'] = '@'\n"},
    {"dict()", "cfg = dict(user='me', password='@')\n"},
    {"wrapped", "api_key = SecretStr(\"@\")\n"},
    {"bytes", "secret_key = b'@'\n"},
    {"comparison", "if password == \"@\":\n    pass\n"},
    {"value on the next line", "password = (\n    \"@\"\n)\n"},
    {"continued line", "password = \\\n    '@'\n"},
    {"triple quotes", "password = \"\"\"@\"\"\"\n"},
    {"header", "headers = {'Authorization': 'Bearer @'}\n"},
    {"formatted header", "headers = {\"Authorization\": f\"Bearer @\"}\n"},
    {"subprocess", "subprocess.run(['tool', '--password', '@'])\n"},
    {"conditional", "password = args.password if args.password else '@'\n"},
    {"list of keys", "api_keys = ['@', '@']\n"},
    // Other languages.
    {"C", "const char *password = \"@\";\n"},
    {"Go", "password := \"@\"\n"},
    {"TypeScript", "const apiKey: string = '@';\n"},
    {"JavaScript object", "const c = { password: '@', user: 'me' };\n"},
    {"PHP array", "'password' => '@',\n"},
    {"R", "password <- \"@\"\n"},
    {"SQL", "ALTER USER me WITH PASSWORD '@';\n"},
    // Shells and command lines.
    {"shell variable", "HF_TOKEN=@\n"},
    {"export", "export WANDB_API_KEY=@\n"},
    {"export in quotes", "export HF_TOKEN=\"@\"\n"},
    {"variable of a command", "PGPASSWORD=@ psql -h db\n"},
    {"csh", "setenv HF_TOKEN @\n"},
    {"fish", "set -gx HF_TOKEN @\n"},
    {"PowerShell", "$env:HF_TOKEN = \"@\"\n"},
    {"default in braces", "TOKEN=${HF_TOKEN:-@}\n"},
    {"flag", "python train.py --hub_token @ --epochs 3\n"},
    {"flag with =", "python train.py --password=@ --epochs 3\n"},
    {"flag on the next line", "python train.py \\\n  --password \\\n  @ \\\n  --epochs 3\n"},
    {"flag in quotes", "python train.py --api-key '@'\n"},
    {"override", "python train.py db.password=@ lr=0.1\n"},
    {"override with +", "python train.py +logger.wandb.api_key=@\n"},
    {"container variable", "docker run -e DB_PASSWORD=@ image\n"},
    {"docker login", "docker login -u me -p @ registry.org\n"},
    {"mysql", "mysql -u root -p@ db\n"},
    {"mysql with a space", "mysql -u root -p @ db\n"},
    {"sshpass", "sshpass -p @ ssh me@host\n"},
    {"curl user", "curl -u me:@ https://host/x\n"},
    {"curl header", "curl -H \"Authorization: Bearer @\" https://host/x\n"},
    {"curl header of a key", "curl -H 'X-Api-Key: @' https://host/x\n"},
    {"redis-cli", "redis-cli -h host -a @ ping\n"},
    {"password over a pipe", "echo @ | docker login -u me --password-stdin\n"},
    {"config set", "npm config set //registry/:_authToken @\n"},
    {"aws configure", "aws configure set aws_secret_access_key @\n"},
    {"kubectl", "kubectl create secret generic s --from-literal=key=@\n"},
    {"Dockerfile", "ENV HF_TOKEN=@\n"},
    {"Dockerfile with a space", "ENV HF_TOKEN @\n"},
    // Files of configuration.
    {"YAML", "password: @\n"},
    {"YAML, nested", "db:\n  user: me\n  password: @  # change\nlr: 1\n"},
    {"YAML in quotes", "password: '@'\n"},
    {"YAML block", "token_file: x\npassword: |\n  @\nlr: 1\n"},
    {"YAML folded block", "api_key: >-\n    @\nlr: 1\n"},
    {"YAML on the next line", "db:\n  password:\n    @\n  port: 1\n"},
    {"YAML name and value", "env:\n  - name: HF_TOKEN\n    value: @\n"},
    {"YAML list", "environment:\n  - DB_PASSWORD=@\n"},
    {"Kubernetes secret", "kind: Secret\nmetadata:\n  name: x\ndata:\n  anything: @\n"},
    {"JSON", "{\"clientSecret\": \"@\", \"x\": 1}\n"},
    {"JSON over lines", "{\n  \"password\":\n    \"@\",\n  \"x\": 1\n}\n"},
    {"JSON name and value", "{\"name\": \"HF_TOKEN\", \"value\": \"@\"}\n"},
    {"JSON within a string", "\"{\\\"password\\\": \\\"@\\\"}\"\n"},
    {"INI", "[db]\npassword = @\n"},
    {"properties", "spring.datasource.password=@\n"},
    {"properties, short", "db.password=@\n"},
    {"TOML", "[db]\npassword = \"@\"\n"},
    {"XML element", "<server><password>@</password></server>\n"},
    {"XML attribute", "<add key=\"Password\" value=\"@\" />\n"},
    {"netrc", "machine api.wandb.ai login user password @\n"},
    {"npmrc", "//registry/:_authToken=@\n"},
    {"connection string", "Server=db;User Id=me;Password=@;Port=1\n"},
    // URLs.
    {"URL", "postgres://me:@@db:5432/x\n"},
    {"URL of pip", "pip install git+https://me:@@host.org/x.git\n"},
    {"query", "GET https://host.org/x?access_token=@&page=1\n"},
    // Logs.
    {"log, colon", "2024-05-01 10:00:00 INFO password: @\n"},
    {"log, equals", "INFO connecting with password=@ user=me\n"},
    {"log, said", "the password is '@'\n"},
    {"log, label", "API key: @\n"},
    {"log, Namespace", "Namespace(lr=0.1, hub_token='@', seed=1)\n"},
    {"log, dictionary", "config: {'wandb_api_key': '@', 'lr': 0.1}\n"},
    {"log, command", "+ srun python train.py --hub_token=@ --lr 1\n"},
    {"log, header", "> Authorization: Basic @\n"},
});

/// The form with the secret in it.
inline std::string written(std::string_view form, std::string_view secret) {
  // A URL has an '@' of its own, behind the secret's: "me:@@db".
  std::string text;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool of_url = form[i] == '@' && i > 0 && form[i - 1] == '@';
    const bool plain = form[i] == '@' && form.substr(i).starts_with("@host\n");
    const bool decorates = form.substr(i).starts_with("@click");
    if (form[i] == '@' && !of_url && !plain && !decorates)
      text += secret;
    else
      text += form[i];
  }
  return text;
}

}  // namespace schedmate::testing
