#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""with_daemon.py COMMAND...: runs it while api.sock of this folder answers as a daemon did: "METHOD PATH" of
input/answers.json, else 404."""
import http.server
import json
import os
import socketserver
import subprocess
import sys
import threading

ANSWERS = json.load(open(os.path.join(os.path.dirname(__file__), "answers.json")))


class Handler(http.server.BaseHTTPRequestHandler):
    streams = 0

    def answer(self):
        path = self.path.split("?")[0]
        if path.endswith("/events"):
            Handler.streams += 1
            if Handler.streams > 1:  # whoever connects again hears nothing more
                return threading.Event().wait()
        found = ANSWERS.get(f"{self.command} {path}") or {
            "schema": "schedmate.error.v1", "code": "not_found", "message": f"no {path.rsplit('/', 1)[-1]} here",
            "mend": "choose a name that exists"}
        is_stream = isinstance(found, str)
        body = found.encode() if is_stream else json.dumps(found).encode()
        statuses = {"not_found": 404, "conflict": 409, "refused": 403, "unavailable": 503, "unsupported": 501}
        self.send_response(200 if is_stream else statuses.get(found.get("code"), 200))
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def get_request(self):
        connection, _ = super().get_request()
        return connection, ("unix", 0)


with Server("api.sock", Handler) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = subprocess.call(sys.argv[1:])
    server.shutdown()
os.unlink("api.sock")
sys.exit(code)
