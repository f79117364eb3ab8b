# SPDX-License-Identifier: Apache-2.0
"""A redis-server on a unix socket, which ends with the program that began it."""
import socket
import subprocess

from site_of import Site, begin_process

#: What it has acknowledged is on the disk.
SAFE = ("--appendonly", "yes", "--appendfsync", "always")


class Redis:
    def __init__(self, folder, *flags):
        folder.mkdir(exist_ok=True)
        self.folder, self.path, self.flags = folder, folder / "redis.sock", flags
        self.where = f"redis:unix:{self.path}"
        self.start()

    def start(self, seconds=60):
        self.process = begin_process(["redis-server", "--port", "0", "--unixsocket", self.path, "--dir", self.folder, "--save", "", *self.flags],
                                     stdout=subprocess.DEVNULL)
        Site.wait(lambda: not (self.ask("PING") or "-LOADING").startswith("-LOADING"), "redis-server answers", seconds)

    def ask(self, command):
        """The line that answers it, of a text the text; None: there is no such text, or no server."""
        with socket.socket(socket.AF_UNIX) as door:
            try:
                door.connect(str(self.path))
                door.sendall(command.encode() + b"\r\n")
                answer = door.makefile()
                line = answer.readline().strip()
                if line == "$-1":
                    return None
                return answer.readline().strip() if line.startswith("$") else line
            except OSError:
                return None

    def kill(self):
        self.process.kill()
        self.process.wait()
