# SPDX-License-Identifier: Apache-2.0
"""The changes that a dry run makes in the program. None of them affects the device memory that it takes.

    stop         ends it after some optimizer steps
    waiting      ends it where it waits for a value that no kernel computes
    weights      random weights are not drawn on the CPU
    objects      collectives of Python objects do not go through the device
    shuffle      another order of the data
    groups       the simulated NCCL gets the sizes of groups
    integers     integers and booleans on the device are computed, so that counts and masks have values
    lone_rank    one rank of a process group whose other ranks do not exist
    compiler     torch.compile and Triton produce no machine code
    tensorflow   the same for TensorFlow programs: their end, XLA, the scaling of losses
    jax          the same for JAX programs: their end, and JAX finds the device
    jax_job      one process of a JAX job whose other processes do not exist

Configured by `vramscope dryrun` through VRAMSCOPE_DRYRUN="key=value;key=value": steps=3|stable|all, init=skip|keep, xla=off, world=64, rank=0, order=1,
masks=0.5, routing=balanced|worst, notes=FOLDER, device=real. With device=real, `vramscope try` uses a real device and needs only the end of the run. Only
the standard library is imported, and nothing happens before torch is imported."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict


def arrange(text: str) -> None:
    """Called by sitecustomize, before the program begins."""
    from vramscope_core.import_hook import when_imported  # the recorder's; it is always there in a dry run

    text, _, notes = text.partition(";notes=")  # the last key, because a folder may have a ";" in its name
    settings: Dict[str, str] = dict(part.split("=", 1) for part in text.split(";") if "=" in part)

    def weights() -> None:
        from . import weights

        weights.install()

    def stop() -> None:
        from . import stop

        stop.install(settings["steps"], notes)

    def integers() -> None:
        from . import integers

        integers.install(settings.get("routing", "balanced"), float(settings["masks"]))

    def ranks() -> None:
        from . import groups, lone_rank, objects

        alone = "world" in settings
        objects.install(alone)
        if alone:
            groups.install()
            lone_rank.install(int(settings["world"]), int(settings.get("rank", "0")))
            when_imported("deepspeed.runtime.zero.utils", lone_rank.agree_in_deepspeed)

    def in_compiler(name: str) -> "Callable[[], None]":
        def react() -> None:
            from . import compiler

            getattr(compiler, name)()

        return react

    def in_tensorflow() -> None:
        from . import tensorflow

        tensorflow.install(settings.get("steps", "all"), notes, settings.get("xla", "on") == "on")

    def find_device() -> None:
        from . import jax

        jax.find_device()

    def in_jax() -> None:
        from . import jax

        jax.stop_after(settings["steps"], notes)

    def in_job_of_jax() -> None:
        from . import jax_job

        jax_job.install(int(settings["world"]), when_imported)

    if "world" in settings:
        when_imported("jax", in_job_of_jax)
    if settings.get("steps", "all") != "all":
        when_imported("jax", in_jax)
        when_imported("torch", stop)  # the recorder, which reports the steps, has registered for torch before
    if settings.get("device") == "real":
        return
    when_imported("tensorflow", in_tensorflow)
    when_imported("jax._src.hardware_utils", find_device)
    when_imported("triton.backends.nvidia.compiler", in_compiler("leave_out_ptxas"))
    when_imported("triton.runtime.build", in_compiler("name_missing_compiler"))
    when_imported("torch._inductor.fx_passes.joint_graph", in_compiler("compute_constants_on_the_host"))
    from . import waiting

    waiting.arrange(notes, when_imported)
    if "order" in settings:
        from . import shuffle

        shuffle.arrange(int(settings["order"]), when_imported)
    if "masks" in settings:
        when_imported("torch", integers)
    if settings.get("init") == "skip":
        when_imported("torch.nn.init", weights)
    when_imported("torch.distributed.distributed_c10d", ranks)
