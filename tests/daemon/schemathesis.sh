#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# schemathesis.sh SCHEDMATED TRACE [EXAMPLES]: asks a daemon beside a replay and the schedmate-reader that lies beside it
# what its own OpenAPI document allows and what it does not, by schemathesis of the Python registry (installed beside
# nothing, in a folder of its own). Not a part of ctest: it needs the network once, and root.
set -euo pipefail
daemon=$1 trace=$2 examples=${3:-50}
here=$(cd "$(dirname "$0")" && pwd)
tools=${SCHEMATHESIS:-${TMPDIR:-/tmp}/schedmate_schemathesis}
[[ -x $tools/bin/schemathesis ]] || { python3 -m venv "$tools" && "$tools/bin/pip" --quiet install schemathesis==4.32.5; }
python3 - "$daemon" "$trace" "$here" "$tools/bin/schemathesis" "$examples" <<'PYTHON'
import pathlib
import subprocess
import sys

daemon, trace, here, tool, examples = sys.argv[1:]
sys.path.insert(0, here)
from site_of import Site

site = Site(daemon, trace, 100, 'speed = 60\n[order]\npolicy = "fifo"\n[mode]\norder = "act"\n')
secret = site.folder / "probe.secret"
secret.write_text("5" * 64)
secret.chmod(0o600)
site.config.write_text(site.config.read_text() + f'[probe]\nsecret_file = "{secret}"\n')
site.give_home("nobody", {})
reads = site.begin_reader(pathlib.Path(daemon).with_name("schedmate-reader"))
each = site.start()
site.wait(site.answers, "it answers")
address = f"http://127.0.0.1:{site.port}"
# A method that HTTP does not know is 501, not 405 (RFC 9110); an action's id is no job's, which the tool guesses.
settings = site.folder / "schemathesis.toml"
settings.write_text('[phases.coverage]\nunexpected-methods = ["PUT", "DELETE", "PATCH"]\n'
                    '[checks]\nensure_resource_availability.enabled = false\n'
                    # That there are no more nodes than GPUs a schema cannot say.
                    '[[operations]]\ninclude-operation-id = "submit"\nchecks.positive_data_acceptance.enabled = false\n')
# The stream never ends.
done = subprocess.run([tool, "--config-file", settings, "run", f"{address}/api/v1/openapi.json", "--url", address, "--max-examples", examples,
                       "--header", f"Authorization: Bearer {site.tokens['olga']}", "--exclude-operation-id", "events",
                       "--workers", "1", "--request-timeout", "10", "--seed", "1"], cwd=site.folder)
alive = each.poll() is None and reads.poll() is None
site.end(each, reads)
sys.exit(done.returncode if alive else "daemon or reader ended")
PYTHON
