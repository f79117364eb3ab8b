// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The forms in which people write secrets down.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tests/support/command_forms.hpp"

namespace schedmate::testing {

inline constexpr auto forms_of_files = std::to_array<WrittenForm>({
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
    {"environ get or", "t = os.environ.get(\"HF_TOKEN\") or \"@\"\n"},
    {"item of environ or", "t = os.environ[\"HF_TOKEN\"] or \"@\"\n"},
    {"field with a default", "    api_key: str = field(default=\"@\")\n"},
    {"setattr", "setattr(cfg, \"password\", \"@\")\n"},
    {"pair of requests", "requests.get(u, auth=(\"me\", \"@\"))\n"},
    {"basic auth", "auth = HTTPBasicAuth('me', '@')\n"},
    {"pair of a login", "mail.login(\"me\", \"@\")\n"},
    {"setter of a password", "keyring.set_password(\"store\", \"me\", \"@\")\n"},
    {"Fernet", "box = Fernet(b\"@\")\n"},
    {"field", "    api_key: str = Field(\"@\", min_length=1)\n"},
    {"field with an alias", "    key: str = Field(\"@\", alias=\"api_key\")\n"},
    {"name with an owner", "the_password_for_runs = \"@\"\n"},
    {"dictionary of keys", "api_keys = {\"search\": \"@\", \"maps\": \"@\"}\n"},
    {"said in a string", "print(\"password is @\")\n"},
    // Other languages.
    {"C", "const char *password = \"@\";\n"},
    {"Go", "password := \"@\"\n"},
    {"TypeScript", "const apiKey: string = '@';\n"},
    {"JavaScript object", "const c = { password: '@', user: 'me' };\n"},
    {"PHP array", "'password' => '@',\n"},
    {"R", "password <- \"@\"\n"},
    {"SQL", "ALTER USER me WITH PASSWORD '@';\n"},
    {"SQL, identified", "CREATE USER me IDENTIFIED BY '@';\n"},
    {"SQL, function", "SET PASSWORD FOR me = PASSWORD('@');\n"},
    {"PHP constant", "define('FTP_PASSWORD', '@');\n"},
    {"Ruby symbol", "set :deploy_password, \"@\"\n"},
    {"Rust", "let api_key = String::from(\"@\");\n"},
    {"builder", "client.user(\"me\").password(\"@\").build();\n"},
    {"Terraform", "variable \"mail_password\" { default = \"@\" }\n"},
    // Files of configuration.
    {"YAML", "password: @\n"},
    {"YAML, nested", "db:\n  user: me\n  password: @  # change\nlr: 1\n"},
    {"YAML in quotes", "password: '@'\n"},
    {"YAML block", "token_file: x\npassword: |\n  @\nlr: 1\n"},
    {"YAML folded block", "api_key: >-\n    @\nlr: 1\n"},
    {"YAML on the next line", "db:\n  password:\n    @\n  port: 1\n"},
    {"YAML name and value", "env:\n  - name: HF_TOKEN\n    value: @\n"},
    {"YAML list", "environment:\n  - DB_PASSWORD=@\n"},
    {"YAML flow", "creds: {user: me, password: @}\n"},
    {"YAML flow of name and value", "env:\n  - {name: HF_TOKEN, value: @}\n"},
    {"YAML arguments", "args:\n  - --password\n  - @\n  - --lr\n"},
    {"YAML anchor", "password: &main @\n"},
    {"YAML tag", "password: !str @\n"},
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
    {"XML name and value", "<property><name>db.password</name><value>@</value></property>\n"},
    {"XML attribute", "<add key=\"Password\" value=\"@\" />\n"},
    {"netrc", "machine api.wandb.ai login user password @\n"},
    {"npmrc", "//registry/:_authToken=@\n"},
    {"connection string", "Server=db;User Id=me;Password=@;Port=1\n"},
    {"ODBC", "DRIVER=x;UID=me;PWD=@\n"},
    {"section of secrets", "secrets:\n  tracker: @\n  lab: @\n"},
    {"JSON, logins of registries", "{\"auths\": {\"reg.org\": {\"auth\": \"@\"}}}\n"},
    {"npmrc, basic", "_auth = @\n"},
    {"pgpass", "db:5432:runs:me:@\n"},
    {"properties of Spark", "spark.hadoop.fs.s3a.secret.key @\n"},
    {"redis.conf", "requirepass @\n"},
    {"LDAP", "binddn: cn=me\nbindpw: @\n"},
    // URLs.
    {"query of a token", "GET https://host.org/x?token=@&page=1\n"},
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
    {"log, logger", "INFO:root:api_key: @\n"},
    {"log, table", "│ password │ @ │\n"},
    {"log, Markdown table", "| password | @ |\n"},
    {"log, command", "+ srun python train.py --hub_token=@ --lr 1\n"},
    {"log, cell without a border", "Config: password | @\n"},
    {"log, column", "user          me\npassword      @\n"},
    {"log, aside", "Access denied for user me (using password: @)\n"},
    {"log, new password", "Your new password is: @\n"},
    {"log, temporary password", "A temporary password is generated for root: @\n"},
    {"log, set to", "INFO password set to @\n"},
    {"log, with password", "login with password @\n"},
    {"log, in single quotes", "ann came with password '@' today\n"},
    {"log, cookie", "Set-Cookie: session=@; HttpOnly\n"},
    {"comment, user and pass", "# user me pass @\n"},
    {"comment, key of a service", "# my wandb key is @\n"},
    {"log, header", "> Authorization: Basic @\n"},
});

inline constexpr auto written_forms = [] {
  std::array<WrittenForm, forms_of_files.size() + forms_of_commands.size()> all;
  std::ranges::copy(forms_of_commands, std::ranges::copy(forms_of_files, all.begin()).out);
  return all;
}();

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
