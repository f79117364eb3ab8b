# SPDX-License-Identifier: Apache-2.0
"""Messages of probes, written from docs/probe.md."""
import hashlib
import hmac
import json
import time

SECRET = "0123456789abcdef0123456789abcdef"


def mac(key, text):
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def key_of(node, secret=SECRET):
    return mac(secret, f"schedmate-probe-key {node}")


def sealed(node, counter, session, body, key=None, time_s=None):
    time_s = int(time.time()) if time_s is None else time_s  # clock: what a message says
    proof = mac(key or key_of(node), "\n".join(["schedmate.probe.v1", node, str(time_s), session, str(counter), body]))
    return json.dumps({"schema": "schedmate.probe.v1", "node": node, "time_s": time_s, "session": session,
                       "counter": counter, "body": body, "proof": proof})


def gpus(use, count=8, **more):
    return json.dumps({"schema": "schedmate.gpus.v1", "node": "", "library": "", "driver": "", "gpus": [
        {"index": i, "pci": f"0000:{16 + i:02x}:00.0", "ecc_uncorrected_volatile": 0, **more,
         "load": {"gpu_pct": use, "memory_busy_pct": use / 2, "memory_used_mib": 1000, "memory_total_mib": 4000,
                  "temperature_c": 50, "power_w": 300}} for i in range(count)]}) + "\n"
