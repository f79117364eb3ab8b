# SPDX-License-Identifier: Apache-2.0
"""The build backend of `pip install .` (PEP 517): a wheel with the package and libschedmate.so.

The library is the one that the environment's SCHEDMATE_LIBRARY names; else it is built in
build/release, where a build of the programs finds it again.
"""

import base64
import hashlib
import os
import re
import subprocess
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ("elastic", "philly", "recipes", "synth", "venus", "interference.toml",
        "extraction_errors.toml")


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(schedmate VERSION ([0-9.]+)", text).group(1)


def tag():
    # ctypes: any Python 3, this machine's kind. It needs the shared libraries of the system that
    # it was built on, so it is no manylinux wheel.
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def metadata():
    return (f"Metadata-Version: 2.1\nName: schedmate\nVersion: {version()}\n"
            "Summary: What GPU jobs are, when they start, how long they run and why they failed\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\n")


def library():
    given = os.environ.get("SCHEDMATE_LIBRARY")
    if given:
        return Path(given)
    build = ROOT / "build" / "release"
    if not (build / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release", "-DSCHEDMATE_TESTS=OFF"], cwd=ROOT,
                       check=True)
    jobs = subprocess.run([str(ROOT / "scripts/jobs.sh")], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE).stdout.decode().strip()
    subprocess.run(["cmake", "--build", str(build), "--target", "schedmate_library", "--parallel",
                    jobs], cwd=ROOT, check=True)
    return build / "libschedmate.so"


class Wheel:
    """A zip file with the list of what is in it. Equal inputs give equal bytes."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.rows = []

    def add(self, name, content):
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.rows.append(f"{name},sha256={digest},{len(content)}")

    def add_folder(self, name, folder):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                self.add(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def close(self, info):
        self.rows.append(f"{info}/RECORD,,")
        self.zip.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)),
                          "\n".join(self.rows) + "\n")
        self.zip.close()


def write_info(wheel, info):
    wheel.add(f"{info}/METADATA", metadata().encode())
    wheel.add(f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: schedmate_build\n"
                                f"Root-Is-Purelib: false\nTag: {tag()}\n").encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"schedmate-{version()}-{tag()}.whl"
    info = f"schedmate-{version()}.dist-info"
    wheel = Wheel(Path(wheel_directory) / name)
    wheel.add_folder("schedmate", ROOT / "python" / "schedmate")
    wheel.add("schedmate/libschedmate.so", library().read_bytes())
    for entry in DATA:
        path = ROOT / "data" / entry
        if path.is_dir():
            wheel.add_folder(f"schedmate/data/{entry}", path)
        else:
            wheel.add(f"schedmate/data/{entry}", path.read_bytes())
    write_info(wheel, info)
    wheel.close(info)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"schedmate-{version()}"
    archive = Path(sdist_directory) / f"{name}.tar.gz"
    subprocess.run(["git", "archive", "--format=tar.gz", f"--prefix={name}/", "-o", str(archive),
                    "HEAD"], cwd=ROOT, check=True)
    return archive.name
