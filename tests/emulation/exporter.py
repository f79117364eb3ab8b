#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's dcgm-exporter would serve of a node's emulated GPUs: exporter.py FOLDER NODE GPUS [PORT]. Prints its port."""
import http.server
import pathlib
import sys
import time

from gpus import MEMORY_MIB, use_of


def metrics(folder, node, gpus):
    rows = {"DCGM_FI_DEV_GPU_UTIL": [], "DCGM_FI_DEV_MEM_COPY_UTIL": [], "DCGM_FI_DEV_FB_USED": [], "DCGM_FI_DEV_FB_FREE": [], "DCGM_FI_DEV_XID_ERRORS": []}
    for gpu in range(gpus):
        compute, bandwidth, mib = use_of(pathlib.Path(folder, node, str(gpu)), time.time())
        values = (round(100 * compute), round(100 * bandwidth), round(mib), round(MEMORY_MIB - mib), 0)
        labels = f'{{gpu="{gpu}",UUID="GPU-emulated-{node}-{gpu}",pci_bus_id="00000000:{gpu + 1:02X}:00.0",device="nvidia{gpu}",modelName="emulated",Hostname="{node}"}}'
        for name, value in zip(rows, values):
            rows[name].append(f"{name}{labels} {value}")
    return "".join(f"# TYPE {name} gauge\n" + "\n".join(lines) + "\n" for name, lines in rows.items())


def main(folder, node, gpus, port=0):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = metrics(folder, node, int(gpus)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
