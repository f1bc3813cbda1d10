# SPDX-License-Identifier: Apache-2.0
"""Measures how well `vramscope fleet` aligns the clocks of hosts: four network namespaces with a host name each, one gloo rank in each, and clocks that
are 0, 3, 6 and 9 seconds ahead. Prints the offset that fleet finds for each host, and its distance from the true one.

    tests/fleet/hosts.py VRAMSCOPE PYTHON     as root, with `ip` and libfaketime; PYTHON has torch

Not part of the test suite: it needs root, and on a busy machine it measures how late the ranks are scheduled."""
import glob
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List

HOSTS = 4
AHEAD_S = 3  # how far each host's clock is ahead of the previous one's
MOST_NS = 1_000_000
STEPS = 2000

TRAIN = f"""
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range({STEPS}):
    model(torch.ones(8, 64)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""


def run(*command: str) -> None:
    subprocess.run(command, check=True)


def name(host: int) -> str:
    return f"vramscope-{os.getpid()}-{host}"


def connect() -> None:
    """One bridge with a cable to each host."""
    bridge = f"vsb{os.getpid()}"[:15]
    run("ip", "link", "add", bridge, "type", "bridge")
    run("ip", "link", "set", bridge, "up")
    for host in range(HOSTS):
        outside = f"vs{host}p{os.getpid()}"[:15]
        run("ip", "netns", "add", name(host))
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name(host))
        run("ip", "link", "set", outside, "master", bridge, "up")
        run("ip", "-n", name(host), "addr", "add", f"10.77.0.{host + 1}/24", "dev", "eth0")
        run("ip", "-n", name(host), "link", "set", "eth0", "up")
        run("ip", "-n", name(host), "link", "set", "lo", "up")


def disconnect() -> None:
    for host in range(HOSTS):
        subprocess.run(["ip", "netns", "del", name(host)], check=False)
    subprocess.run(["ip", "link", "del", f"vsb{os.getpid()}"[:15]], check=False)


def start(host: int, command: List[str], faketime: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "RANK": str(host), "WORLD_SIZE": str(HOSTS), "LOCAL_RANK": "0", "MASTER_ADDR": "10.77.0.1", "MASTER_PORT": "29631",
                   "GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": "1"}
    if host != 0:
        environment.update(LD_PRELOAD=faketime, FAKETIME=f"+{host * AHEAD_S}s", DONT_FAKE_MONOTONIC="1", FAKETIME_DONT_RESET="1")
    inside = ["sh", "-c", f'hostname node-{host} && exec "$@"', "sh", *command]
    return subprocess.Popen(["ip", "netns", "exec", name(host), "unshare", "--uts", *inside], env=environment)


def main() -> int:
    vramscope, python = (str(Path(word).absolute()) for word in sys.argv[1:3])
    libraries = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not libraries:
        sys.exit("libfaketime is not installed")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "job").mkdir()
        (folder / "train.py").write_text(TRAIN, encoding="utf-8")
        options = ["--quiet", "--depth", "light", "--program", "off", "-o", str(folder / "job/%r.vms")]
        record = [vramscope, "record", *options, "--", python, str(folder / "train.py")]
        try:
            connect()
            ranks = [start(host, record, libraries[0]) for host in range(HOSTS)]
            if any([rank.wait() for rank in ranks]):
                sys.exit("a rank failed")
        finally:
            disconnect()
        answer = json.loads(subprocess.run([vramscope, "fleet", "--json", str(folder / "job")], stdout=subprocess.PIPE, check=True).stdout)
    worst = 0
    print("| host | offset found | distance from the true one | drift | steps |\n|---|---|---|---|---|")
    for clock in answer["hosts"]:
        true_ns = int(clock["host"].rpartition("-")[2]) * AHEAD_S * 1_000_000_000
        wrong_ns = clock["offset_ns"] - true_ns
        worst = max(worst, abs(wrong_ns))
        print(f"| {clock['host']} | {clock['offset_ns'] / 1e9:.6f} s | {wrong_ns / 1e3:.0f} us | {clock['drift_ppm']:.1f} ppm | {clock['steps']} |")
    return 0 if worst <= MOST_NS else 1


if __name__ == "__main__":
    sys.exit(main())
