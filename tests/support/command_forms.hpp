// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The forms in which secrets stand in shells and command lines.

#include <array>
#include <string_view>

namespace schedmate::testing {

/// A way of writing a secret down; '@' stands for it.
struct WrittenForm {
  std::string_view what, text;
};

inline constexpr auto forms_of_commands = std::to_array<WrittenForm>({
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
    {"twine", "twine upload -u __token__ -p @ d/*\n"},
    {"ipmitool", "ipmitool -I lan -U me -P @ power status\n"},
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
    {"token flag", "python serve.py --token @ --port 1\n"},
    {"token flag in quotes", "python serve.py --token \"@\"\n"},
    {"token flag with a prefix", "jupyter lab --ServerApp.token=@ --port 1\n"},
    {"shell variable TOKEN", "export TOKEN=@\n"},
    {"wandb login", "wandb login @\n"},
    {"wandb login after another", "cd x && wandb login --relogin @ && python t.py\n"},
    {"vault login", "$ vault login @\n"},
    {"mc alias", "mc alias set lab https://s3.lab.org ann @\n"},
    {"net use", "net use q: @ /user:me\n"},
    {"sqlplus", "sqlplus -s me/@@db\n"},
    {"htpasswd", "htpasswd -b users me @\n"},
    {"rabbitmqctl", "rabbitmqctl add_user me @\n"},
    {"poetry", "poetry config http-basic.lab me @\n"},
    {"nmcli", "nmcli dev wifi connect lab password @\n"},
    {"dvc", "dvc remote modify --local store password @\n"},
    {"gh secret", "gh secret set KEY --body @\n"},
    {"az keyvault", "az keyvault secret set --vault-name v --name k --value @\n"},
    {"lftp", "lftp -u me,@ sftp://host\n"},
    {"process substitution", "rsync --password-file=<(echo @) a b\n"},
    {"password command", "restic --password-command \"echo @\" check\n"},
    {"silent read", "read -s P <<< \"@\"\n"},
    {"expect", "expect \"assword:\"\nsend \"@\\r\"\n"},
});

}  // namespace schedmate::testing
