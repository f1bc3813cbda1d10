#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the Dockerfile without Docker: each stage is a Debian system in a folder, each RUN a chroot. Then runs the image without a network.

    scripts/try_image.py build/image                                 build it, then `vramscope report` and more in it
    scripts/try_image.py build/image --arg TORCH=torch==2.15.0       as `docker build --build-arg`
    scripts/try_image.py build/image --wheel FILE                    the stage `build` is skipped, and this wheel is used as its result
    scripts/try_image.py build/image --ccache ~/.cache/ccache        compiles in minutes if another clone has filled this cache

Needs root, debootstrap and a network for building. It understands what our Dockerfile uses: FROM, ARG, ENV, COPY, WORKDIR, RUN, ENTRYPOINT, CMD.
Exit 0: the image was built, and each command in it did what it should.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Optional, Tuple

SOURCE = Path(__file__).resolve().parent.parent
TRACE = SOURCE / "trace_format/testdata/v1_training.vms"
RELEASES = {"debian:12": "bookworm", "debian:12-slim": "bookworm"}
# The network of the machine: names, certificates, and where its package managers look.
OF_THE_MACHINE = ("etc/resolv.conf", "etc/hosts", "etc/apt/apt.conf.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d", "etc/pip.conf",
                  "usr/local/share/ca-certificates", "etc/ssl/certs")
OF_THE_ENVIRONMENT = re.compile(r"(https?|all|no)_proxy|PIP_\w+|SSL_CERT_\w+", re.IGNORECASE)
TRAINING = """import torch
model = torch.nn.Linear(512, 512).cuda()
for step in range(3):
    model(torch.ones(8, 512, device="cuda")).sum().backward()
"""
# Mounts what a command needs, and runs it in the folder. It runs under unshare, so that the machine's own mounts do not change.
ENTER = """mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" || exit 1
[ -z "$2" ] || { mkdir -p "$1/root/.cache/ccache" && mount --bind "$2" "$1/root/.cache/ccache" || exit 1; }
root=$1 folder=$3; shift 3
exec /usr/sbin/chroot "$root" sh -c 'cd "$1" && shift && exec "$@"' - "$folder" "$@" """


def instructions(text: str) -> List[Tuple[str, str]]:
    """Each instruction with its words; lines that end in a backslash are joined, comments are left out."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines()]


class Stage:
    """A system in a folder."""

    def __init__(self, folder: Path, ccache: Optional[str]) -> None:
        self.folder = folder
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        self.arguments: Dict[str, str] = {}
        self.work = "/"
        self.ccache = ccache or ""

    def install(self, image: str) -> None:
        """Does what `FROM image` does."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        include = "ca-certificates" + (",ccache" if self.ccache else "")
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={include}", RELEASES[image], str(self.folder)], check=True, stdout=subprocess.DEVNULL)
        for name in OF_THE_MACHINE:
            here, there = Path("/") / name, self.folder / name
            if here.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.rmtree(there, ignore_errors=True)
                subprocess.run(["cp", "-rL", str(here), str(there)], check=True)
        if any((self.folder / "etc/apt/sources.list.d").iterdir()):
            (self.folder / "etc/apt/sources.list").unlink(missing_ok=True)

    def run(self, command: List[str], network: bool = True) -> "subprocess.CompletedProcess[str]":
        own = {name: value for name, value in os.environ.items() if OF_THE_ENVIRONMENT.fullmatch(name)} if network else {}
        unshare = ["unshare", "--mount", "--pid", "--fork", *([] if network else ["--net"])]
        return subprocess.run([*unshare, "bash", "-c", ENTER, "-", str(self.folder), self.ccache if network else "", self.work, *command],
                              env={**own, **self.arguments, **self.environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def path(self, name: str) -> Path:
        return self.folder / os.path.normpath(os.path.join(self.work, name)).lstrip("/")

    def expanded(self, text: str) -> str:
        known = {**self.arguments, **self.environment}
        return re.sub(r"\$\{?(\w+)\}?", lambda match: known.get(match.group(1), ""), text)


def copy_context(target: Path) -> None:
    """`COPY . target`: copies the files that git knows, without those of .dockerignore."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, stdout=subprocess.PIPE, check=True)
    target.mkdir(parents=True)
    subprocess.run(["tar", "-c", "--null", "-T", "-", "-f", str(target / "context.tar")], cwd=SOURCE, input=names.stdout, check=True)
    subprocess.run(["tar", "-x", "-f", "context.tar"], cwd=target, check=True)
    (target / "context.tar").unlink()


def without_stage(name: str, found: List[Tuple[str, str]]) -> List[Tuple[str, str]]:
    """The instructions from the next FROM after this stage's."""
    at = next(index for index, (kind, words) in enumerate(found) if kind == "FROM" and words.endswith(f" AS {name}"))
    return found[next(index for index in range(at + 1, len(found)) if found[index][0] == "FROM") :]


def build(folder: Path, given: Dict[str, str], ccache: Optional[str], wheel: Optional[Path]) -> Tuple[Stage, List[str]]:
    """Builds all stages. Returns the last one, and the words of ENTRYPOINT, which come before the user's."""
    stages: Dict[str, Stage] = {}
    entry: List[str] = []
    stage = Stage(folder / "none", None)
    steps = instructions((SOURCE / "Dockerfile").read_text())
    if wheel is not None:
        stages["build"] = Stage(folder / "build", None)
        stages["build"].path("wheel").mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, stages["build"].path("wheel"))
        steps = without_stage("build", steps)
    for kind, words in steps:
        print(f"{kind} {words}", flush=True)
        if kind == "FROM":
            image, *name = [word for word in words.split() if word != "AS"]
            stage = Stage(folder / (name[0] if name else "image"), ccache)
            stages[name[0] if name else ""] = stage
            stage.install(image)
        elif kind == "ARG":
            name_of, _, value = words.partition("=")
            stage.arguments[name_of] = given.get(name_of, value.strip('"'))
        elif kind == "ENV":
            name_of, _, value = words.partition("=")
            stage.environment[name_of] = value
        elif kind == "WORKDIR":
            stage.work = words
            stage.path(words).mkdir(parents=True, exist_ok=True)
        elif kind == "COPY" and words.startswith("--from="):
            source, here, there = words.split()
            shutil.copytree(stages[source.split("=")[1]].path(here), stage.path(there))
        elif kind == "COPY":
            copy_context(stage.path(words.split()[1]))
        elif kind == "RUN":
            done = stage.run(["sh", "-c", words])
            if done.returncode:
                sys.exit(f"{done.stdout[-4000:]}\nexit {done.returncode}")
        elif kind == "ENTRYPOINT":
            entry = [word.strip('" ') for word in words.strip("[]").split(",")]
        elif kind != "CMD":
            sys.exit(f"try_image.py does not know {kind}")
    return stage, entry


def check(image: Stage, entry: List[str], with_torch: bool) -> None:
    """Runs the commands that the Dockerfile's header shows, without a network."""
    shutil.copy(TRACE, image.path("run.vms"))
    image.path("sum.py").write_text("print(sum(range(10**6)))\n")
    image.path("train.py").write_text(TRAINING)
    asked = [["report", "run.vms"], ["record", "--device", "cpu", "-o", "sum.vms", "--", "python3", "sum.py"], ["view", "--screenshot", "a.png", "run.vms"]]
    if with_torch:
        asked.append(["dryrun", "--gpu", "rtx-4090", "--", "python3", "train.py"])
    for words in asked:
        done = image.run([*entry, *words], network=False)
        print(f"-- {shlex.join([*entry, *words])}: exit {done.returncode}\n{done.stdout}", flush=True)
        if done.returncode:
            sys.exit("a command failed in the image")
    network = image.run(["python3", "-c", "import socket; socket.create_connection(('1.1.1.1', 53), 1)"], network=False)
    if network.returncode == 0:
        sys.exit("there was a network, so this was no test")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--ccache", metavar="DIR")
    parser.add_argument("--wheel", type=Path, metavar="FILE")
    asked = parser.parse_args()
    given = dict(each.split("=", 1) for each in asked.arg)
    image, entry = build(asked.folder.resolve(), given, asked.ccache, asked.wheel)
    check(image, entry, bool(given.get("TORCH")))


if __name__ == "__main__":
    main()
