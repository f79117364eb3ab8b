# SPDX-License-Identifier: Apache-2.0
"""A daemon that is none: it serves the page's files from their folder and made documents to them."""
import bisect
import http.server
import json
import pathlib
import queue
import random
import re
import socketserver
import threading
import urllib.parse

import made

REPO = pathlib.Path(__file__).resolve().parents[2]
FILES = REPO / "src/page/files"
UPLOT = {"uplot.js": REPO / "third_party/uplot/uPlot.iife.min.js", "uplot.css": REPO / "third_party/uplot/uPlot.min.css"}
# As src/http sends them.
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Connection": "close",
           "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}


class MadeServer:
    def __init__(self, jobs=None, hostile=False, port=0, role="operator"):
        self.jobs = jobs if jobs is not None else made.jobs(300)
        self.actions = made.actions()
        self.hostile = hostile
        self.role = role
        self.breaker_open = False
        self.missing = set()    # routes that answer 501
        self.status = {}        # route: (status, document) instead of its answer
        self.token = None       # if set, the only one that is known
        self.mute_events = False
        self.posted = []
        self.last = 1
        self.listeners = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.get(self)

            def do_POST(self):
                outer.post(self)

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def stop(self):
        for listener in self.listeners:
            listener.put(None)
        self.server.shutdown()
        self.server.server_close()

    # --- answers ---
    def reply(self, request, status, body, kind="application/json", more=None):
        data = body.encode() if isinstance(body, str) else body
        request.send_response(status)
        for name, value in {**HEADERS, **(more or {}), "Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(data))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data)

    def tell(self, request, document, status=200):
        if self.hostile and status == 200:
            document = made.spoil(document, random.Random(len(str(document))))
        self.reply(request, status, json.dumps(document))

    def error(self, request, status, message, mend="", more=None):
        self.reply(request, status, json.dumps({"schema": "schedmate.error.v1", "code": "x", "message": message, "mend": mend}), more=more)

    def file(self, request, name):
        path = UPLOT.get(name, FILES / name)
        if "/" in name or not path.exists():
            return self.error(request, 404, "no such file")
        kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
        self.reply(request, 200, path.read_bytes(), kinds[name.rsplit(".")[-1]])

    def get(self, request):
        url = urllib.parse.urlparse(request.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/":
            return self.file(request, "index.html")
        if url.path.startswith("/page/"):
            return self.file(request, url.path[6:])
        if not self.known(request):
            return None
        route = url.path.removeprefix("/api/v1/")
        name = re.sub(r"/.*?(/|$)", r"/ID\1", route, count=1)
        if name in self.status:
            status, message, more = self.status[name]
            return self.error(request, status, message, "", more)
        if name in self.missing:
            return self.error(request, 501, f"this daemon does not answer '{name}' yet")
        return self.answer(request, route, query)

    def known(self, request):
        if self.token is None or request.headers.get("Authorization") == f"Bearer {self.token}":
            return True
        has = request.headers.get("Authorization")
        self.error(request, 401, "this token is not known here, or was revoked" if has else "this route needs a token", "get a token from the operator (schedmate token add) and send it as Authorization: Bearer TOKEN")
        return False

    def answer(self, request, route, query):
        parts = [urllib.parse.unquote(each) for each in route.split("/")]
        if route == "cluster":
            return self.tell(request, made.cluster(self.jobs, role=self.role) | {"breaker_open": self.breaker_open})
        if route == "jobs":
            ids = sorted(self.jobs)
            at = bisect.bisect_right(ids, query.get("cursor", ""))
            fits = [each for each in ids[at:] if not query.get("state") or self.jobs[each]["state"] == query["state"]]
            limit = int(query.get("limit", 1000))
            return self.tell(request, {"schema": "schedmate.jobs.v1", "jobs": [self.jobs[each] for each in fits[:limit]], "next": fits[limit - 1] if len(fits) > limit else None})
        if parts[0] == "jobs":
            base = self.jobs.get(parts[1])
            if base is None:
                return self.error(request, 404, f"no job {parts[1]}")
            if parts[2:] == ["why"]:
                return self.tell(request, {"schema": "schedmate.why.v1", "job_id": parts[1], "state": base["state"], "blocked_by": {"reason": "resources", "text": "8 GPUs on one node are free at 14:20 at the earliest", "jobs": ["2", "3"], "jobs_of_others": 4}, "eta": base["eta"]})
            if parts[2:] == ["log"]:
                return self.tell(request, {"schema": "schedmate.log.v1", "lines": [f"step {i} loss {6 / (1 + i):.3f}" for i in range(200)]})
            return self.tell(request, made.rich_job(base))
        if route == "actions":
            since = int(query.get("since", 0))
            return self.tell(request, {"schema": "schedmate.actions.v1", "actions": [each for each in self.actions.values() if each["id"] > since], "next": None})
        if parts[0] == "actions":
            found = self.actions.get(int(parts[1]))
            return self.tell(request, found) if found else self.error(request, 404, f"no action {parts[1]}")
        if route == "audit":
            return self.tell(request, {"schema": "schedmate.audit.v1", "entries": [{"sequence": 900 + i, "when_s": made.NOW, "by": "schedmate", "action": 20 + i, "state": "verified", "seen": "it runs", "hash": f"{i:064x}"} for i in range(25)]})
        if route == "ledger":
            return self.tell(request, made.ledger())
        if route == "changes":
            return self.tell(request, {"schema": "schedmate.changes.v1", "full": query.get("since") != str(self.last), "changes": [], "last": self.last})
        if route == "events":
            return self.stream(request)
        return self.error(request, 404, "there is nothing at this path")

    def stream(self, request):
        waiting = queue.Queue()
        self.listeners.append(waiting)
        request.send_response(200)
        for name, value in {**HEADERS, "Content-Type": "text/event-stream"}.items():
            request.send_header(name, value)
        request.end_headers()
        if not self.mute_events:
            request.wfile.write(f"id: {self.last}\nevent: full\ndata: {{}}\n\n".encode())
        while True:
            event = waiting.get()
            if event is None:
                return
            if self.mute_events:
                continue
            self.last += 1
            request.wfile.write(f"id: {self.last}\nevent: {event[0]}\ndata: {json.dumps(event[1])}\n\n".encode())

    def publish(self, kind, data):
        for listener in self.listeners:
            listener.put((kind, data))

    def post(self, request):
        if not self.known(request):
            return None
        route = request.path.removeprefix("/api/v1/")
        self.posted.append(route)
        if route in self.status:
            status, message, more = self.status[route]
            return self.error(request, status, message, "", more)
        parts = route.split("/")
        if route == "breaker/close":
            self.breaker_open = False
            return self.tell(request, {"schema": "schedmate.breaker.v1", "open": False})
        if parts[0] == "actions":
            found = self.actions[int(parts[1])]
            if parts[2] == "undo":
                found["state"] = "undone"
            else:
                found["state"] = "verified" if parts[2] == "approve" else "rejected"
            found["steps"].append({"state": found["state"], "when_s": made.NOW, "by": "root (uid 0)", "note": ""})
            return self.tell(request, found)
        if parts[0] == "jobs":
            self.jobs[parts[1]]["state"] = "cancelled"
            return self.tell(request, self.jobs[parts[1]])
        return self.error(request, 404, "nothing")


if __name__ == "__main__":
    import sys
    import time
    server = MadeServer(made.jobs(int(sys.argv[1]) if len(sys.argv) > 1 else 300), port=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(server.address, flush=True)
    while True:
        time.sleep(60)
