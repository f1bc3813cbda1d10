# SPDX-License-Identifier: Apache-2.0
"""Tests for which launchers a recording contains the ranks: runs a small gloo job under each, and prints one row for it.

    tests/fleet/launchers.py VRAMSCOPE PYTHON     PYTHON has torch, and accelerate, lightning, deepspeed and ray where these are to be tried

Not part of the test suite: it needs all of these, and each row imports PyTorch several times."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional

RANKS = 2

TRAIN = """
import os, sys
import torch, torch.distributed as dist
rank = os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("SLURM_PROCID", "0")))
world = os.environ.get("WORLD_SIZE", os.environ.get("OMPI_COMM_WORLD_SIZE", os.environ.get("SLURM_NTASKS", "1")))
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29611")
dist.init_process_group("gloo", rank=int(rank), world_size=int(world))
mesh = dist.init_device_mesh("cpu", (int(world), 1), mesh_dim_names=("dp", "tp"))
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(8, 64)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""

LIGHTNING = """
import lightning, torch
from torch.utils.data import DataLoader
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 1)
    def training_step(self, batch, _):
        return self.layer(batch).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
if __name__ == "__main__":
    trainer = lightning.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=3, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Model(), DataLoader(torch.ones(64, 64), batch_size=4))
"""

RAY = """
import os
os.environ["RAY_worker_niceness"] = "0"  # Ray's workers have niceness 15 otherwise, and starve on a busy machine
os.environ["RAY_AUTH_MODE"] = "disabled"  # no token in the home folder
import ray, torch
from ray.train import ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer, prepare_model
def train(_):
    model = prepare_model(torch.nn.Linear(64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.ones(8, 64)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=80 << 20)
    TorchTrainer(train, train_loop_config={}, scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
                 torch_config=TorchConfig(backend="gloo")).fit()
    ray.shutdown()
"""


class Launcher(NamedTuple):
    name: str
    needs: str  # a module, or "" if it comes with torch
    command: List[str]  # {record}, {python}, {script} are replaced; one recorder for all ranks, or one for each
    script: str = TRAIN
    environments: Optional[List[Dict[str, str]]] = None  # of processes that are started side by side, without a launcher


SRUN = [{"SLURM_PROCID": str(rank), "SLURM_LOCALID": "0", "SLURM_NTASKS": str(RANKS), "SLURM_NNODES": str(RANKS), "SLURM_JOB_ID": "77",
         "SLURM_NODEID": str(rank)} for rank in range(RANKS)]
TORCHRUN = ["{python}", "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS), "--master-port", "29612"]
LAUNCHERS = [
    Launcher("vramscope record -- torchrun", "", ["{record}", *TORCHRUN, "{script}"]),
    Launcher("torchrun --no-python vramscope record --", "", [*TORCHRUN, "--no-python", "{record}", "{python}", "{script}"]),
    Launcher("mpirun vramscope record --", "mpirun",
             ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), "{record}", "{python}", "{script}"]),
    Launcher("vramscope record -- mpirun", "mpirun",
             ["{record}", "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), "{python}", "{script}"]),
    Launcher("srun vramscope record -- (its environment)", "", ["{record}", "{python}", "{script}"], TRAIN, SRUN),
    Launcher("vramscope record -- accelerate launch", "accelerate",
             ["{record}", "{python}", "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", str(RANKS), "--num_machines", "1",
              "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "29613", "{script}"]),
    Launcher("vramscope record -- python (Lightning, ddp)", "lightning", ["{record}", "{python}", "{script}"], LIGHTNING),
    Launcher("vramscope record -- python (Ray Train)", "ray", ["{record}", "{python}", "{script}"], RAY),
    Launcher("vramscope record -- deepspeed", "deepspeed",
             ["{record}", "{python}", "-m", "deepspeed.launcher.launch", "--world_info", "eyJsb2NhbGhvc3QiOiBbMCwgMV19", "--master_port", "29614", "{script}"]),
]


def is_there(needs: str, python: str) -> bool:
    if needs == "mpirun":
        return shutil.which("mpirun") is not None
    find = f"import importlib.util as u; raise SystemExit(u.find_spec('{needs}') is None)"
    return needs == "" or subprocess.run([python, "-c", find], check=False).returncode == 0


def row(launcher: Launcher, vramscope: str, python: str) -> List[str]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "job").mkdir()
        (folder / "train.py").write_text(launcher.script, encoding="utf-8")
        record = [vramscope, "record", "--quiet", "--depth", "light", "--program", "off", "-o", str(folder / "job/%p.vms"), "--"]
        words: List[str] = []
        for word in launcher.command:
            words += record if word == "{record}" else [word.replace("{python}", python).replace("{script}", str(folder / "train.py"))]
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "OMPI", "PMI", "RANK", "WORLD", "LOCAL"))}
        clean["OMP_NUM_THREADS"] = "1"
        started = [subprocess.Popen(words, env={**clean, **more}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for more in launcher.environments or [{}]]
        failed = [process.communicate()[1].decode()[-300:] for process in started if process.wait() != 0]
        if failed:
            return [launcher.name, "failed: " + failed[0].strip().splitlines()[-1], "", ""]
        answer = json.loads(subprocess.run([vramscope, "fleet", "--json", "--quiet", str(folder / "job")], stdout=subprocess.PIPE, check=True).stdout)
        ranks = sorted(rank["rank"] for rank in answer["ranks"] if rank["rank"] is not None)
        steps = [len(rank["steps"]) for rank in answer["ranks"]]
        mesh = all(rank["mesh"].get("dp", {}).get("index") == rank["rank"] for rank in answer["ranks"])
        yes = ranks == list(range(RANKS)) and not answer["missing"]
        return [launcher.name, "yes" if yes else f"no: {ranks}, missing {answer['missing']}", str(min(steps, default=0)),
                "-" if launcher.script in (LIGHTNING, RAY) else "yes" if mesh else "no"]


def main() -> None:
    vramscope, python = (str(Path(word).absolute()) for word in sys.argv[1:3])
    print("| launcher | ranks known | steps of each | place in the mesh |\n|---|---|---|---|")
    for launcher in LAUNCHERS:
        cells = row(launcher, vramscope, python) if is_there(launcher.needs, python) else [launcher.name, "not installed here", "", ""]
        print("| `" + "` | ".join((cells[0], " | ".join(cells[1:]))) + " |", flush=True)


if __name__ == "__main__":
    main()
