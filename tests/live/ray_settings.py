# SPDX-License-Identifier: Apache-2.0
"""A daemon's settings over the Ray of a test: its state, socket and token in `folder`, one node as lucid's profiler."""
import json


def ray_settings(folder, dashboard, profiler, policy, modes='order = "act"', starts="jobs_api"):
    return f"""state_dir = "{folder}/state"
[listen]
unix = "{folder}/api.sock"
tcp = ""
[cluster]
connector = "ray"
name = "bed"
poll_ms = 500
[cluster.ray]
address = "{dashboard}"
token_file = "{folder}/token"
ends = "{folder}"
starts = "{starts}"
partitions = {json.dumps([f"{profiler}=profiler"] if profiler else [])}
[mode]
{modes}
[order]
policy = "{policy}"
"""
