# SPDX-License-Identifier: Apache-2.0
"""Small programs that end, fail, crash and fork in every way that training programs do. programs.py NAME [arguments]"""
import os
import signal
import sys
import time
from typing import Any, Callable, Dict

PROGRAMS: Dict[str, Callable[[], Any]] = {}


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    PROGRAMS[function.__name__] = function
    return function


def train(steps: int = 5) -> float:
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    loss = torch.zeros(())
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 8)).square().mean()
        loss.backward()
        optimizer.step()
    return loss.item()


@program
def success() -> None:
    print("loss", train())
    print("warned", file=sys.stderr)


@program
def exception() -> None:
    train()
    raise ValueError("nothing to learn")


@program
def exit_3() -> None:
    train()
    sys.exit(3)


@program
def hard_exit_4() -> None:
    train()
    os._exit(4)


@program
def out_of_memory() -> None:
    import torch

    train()
    try:
        torch.empty(1 << 60, dtype=torch.uint8)
    except RuntimeError as error:
        print(type(error).__name__, "caught")
    torch.empty(1 << 60, dtype=torch.uint8)


@program
def segfault() -> None:
    import ctypes

    print("loss", train(), flush=True)
    ctypes.string_at(0)


@program
def abort() -> None:
    print("loss", train(), flush=True)
    os.abort()


def wait_for_ever() -> None:
    while True:
        time.sleep(0.05)  # a signal that another thread received is handled afterwards


@program
def wait_for_a_signal() -> None:
    sys.tracebacklimit = 0  # any of the lines below may be the interrupted one
    train()
    os.write(1, b"ready\n")
    wait_for_ever()


@program
def handle_a_signal() -> None:
    def stop(number: int, _frame: Any) -> None:
        os.write(1, f"stopping on {signal.Signals(number).name}\n".encode())  # print may be what was interrupted
        sys.exit(5)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    train()
    os.write(1, b"ready\n")
    wait_for_ever()


class Squares:
    """A data set whose items are made with PyTorch in the workers."""

    def __len__(self) -> int:
        return 256

    def __getitem__(self, index: int) -> Any:
        import torch

        return torch.full((32,), float(index)).square()


@program
def data_loader_workers() -> None:
    import torch

    for epoch in range(3):  # workers are forked anew for each epoch
        loader = torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=4)
        print(epoch, sum(batch.sum().item() for batch in loader), train())


def spawned(rank: int, queue: Any) -> None:
    queue.put((rank, train(3 + rank)))


@program
def spawn() -> None:
    import torch.multiprocessing as multiprocessing

    queue = multiprocessing.get_context("spawn").SimpleQueue()
    multiprocessing.spawn(spawned, args=(queue,), nprocs=2)
    print(sorted(queue.get() for _ in range(2)))


@program
def fork_exec_and_threads() -> None:
    import subprocess
    import threading

    import torch

    results = []
    threads = [threading.Thread(target=lambda: results.append(train())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child = os.fork()
    if child == 0:
        os._exit(int(torch.full((7,), 1.0).sum().item()))
    print(len(results), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(subprocess.run([sys.executable, "-c", "import torch; print(torch.ones(3).sum().item())"], capture_output=True).stdout)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, __file__, "success"])


@program
def gloo_rank() -> None:
    import torch
    import torch.distributed as distributed

    distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    torch.nn.init.ones_(model.module.weight)
    model(torch.full((2, 4), float(distributed.get_rank() + 1))).sum().backward()
    if distributed.get_rank() == 0:
        print("gradient", model.module.weight.grad.sum().item())
    distributed.destroy_process_group()


@program
def without_torch() -> None:
    print(sum(range(1000)), "torch" in sys.modules, sorted(os.environ.get(key, "") for key in ("LANG", "USER")))


@program
def standard_input() -> None:
    print(train(), repr(sys.stdin.read()), sys.stdin.isatty())


@program
def what_a_program_sees() -> None:
    """Prints what a program can see of itself, except the environment, which must differ."""
    import subprocess

    print(sys.argv, os.getcwd(), sys.flags.isolated, sys.flags.no_site, sys.flags.ignore_environment)
    print(subprocess.run(["sh", "-c", "echo child; exit 9"], capture_output=True))
    print(train(), sys.getrecursionlimit(), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    print([number for number in signal.Signals if signal.getsignal(number) not in (signal.SIG_DFL, None)])


if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
