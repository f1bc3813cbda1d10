# SPDX-License-Identifier: Apache-2.0
"""Compiles the step of samples/jax_train.py for GPUs that are not there, neither simulated nor real, and prints XLA's plan for the memory of one device.

    deviceless.py FOLDER_OF_SAMPLES OPTIONS_OF_THE_SAMPLE...

It is the oracle for dry runs: the same compiler, without any of vramscope. JAX compiles for a described topology; the description is an H100's, in the form
of XLA's GpuTargetConfigProto."""

import importlib
import json
import os
import sys
from typing import Any

os.environ["JAX_SKIP_CUDA_CONSTRAINTS_CHECK"] = "1"  # otherwise JAX asks the CUDA libraries for their versions
sys.path.insert(0, sys.argv[1])
H100 = """
gpu_device_info {
  cuda_compute_capability { major: 9 }
  threads_per_block_limit: 1024  threads_per_warp: 32  threads_per_core_limit: 2048
  shared_memory_per_block: 49152  shared_memory_per_block_optin: 232448  shared_memory_per_core: 233472
  core_count: 132  fpus_per_core: 128  clock_rate_ghz: 1.98
  block_dim_limit_x: 2147483647  block_dim_limit_y: 65535  block_dim_limit_z: 65535
  registers_per_core_limit: 65536  registers_per_block_limit: 65536
  memory_bandwidth: 3352320000000  l2_cache_size: 52428800  device_memory_size: 84929347584
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 12 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


def plan() -> Any:
    hardware: Any = importlib.import_module("jax._src.hardware_utils")
    hardware.has_visible_nvidia_gpu = lambda *_: True  # JAX registers the plug-in only if it sees a device file
    jax: Any = importlib.import_module("jax")
    sample: Any = importlib.import_module("jax_train")
    topologies: Any = importlib.import_module("jax.experimental.topologies")
    sys.argv = sys.argv[1:]
    settings = sample.parse()
    topology = topologies.get_topology_desc(platform="cuda", topology_name="h100", topology=f"1x{settings.devices}x1", target_config=H100)
    mesh = jax.sharding.Mesh(topology.devices, ("data",))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    programs = sample.programs(settings)

    def like(tree: Any, sharding: Any) -> Any:
        return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), tree)

    params, state = like(jax.eval_shape(programs.init), everywhere)
    x, y = like(sample.batches(settings)[0], split)
    return programs.step.lower(params, state, x, y).compile().memory_analysis()


if __name__ == "__main__":
    found = plan()
    names = ("argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes", "temp_size_in_bytes")
    print(json.dumps({name: getattr(found, name) for name in names}))
