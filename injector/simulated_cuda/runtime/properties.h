// SPDX-License-Identifier: Apache-2.0
// The struct cudaDeviceProp, in the layout of the CUDA version that this library simulates
// (SIMULATED_CUDA_ABI). CUDA 13 removed the fields that CUDA 12 had deprecated.
#pragma once

#include <cstddef>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {

struct DeviceProperties {
  char name[256];
  Uuid uuid;
  char luid[8];
  unsigned luid_device_node_mask;
  size_t total_global_memory;
  size_t shared_memory_per_block;
  int registers_per_block;
  int warp_size;
  size_t memory_pitch;
  int max_threads_per_block;
  int max_block[3];
  int max_grid[3];
#if SIMULATED_CUDA_ABI == 12
  int clock_rate;
#endif
  size_t total_constant_memory;
  int major;
  int minor;
  size_t texture_alignment;
  size_t texture_pitch_alignment;
#if SIMULATED_CUDA_ABI == 12
  int device_overlap;
#endif
  int multiprocessors;
#if SIMULATED_CUDA_ABI == 12
  int kernel_timeout;
#endif
  int integrated;
  int can_map_host_memory;
#if SIMULATED_CUDA_ABI == 12
  int compute_mode;
  int texture_limits[40];
#else
  int texture_limits[39];
#endif
  size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus;
  int pci_device;
  int pci_domain;
  int tcc;
  int async_engines;
  int unified_addressing;
#if SIMULATED_CUDA_ABI == 12
  int memory_clock_rate;
#endif
  int memory_bus_width;
  int l2_bytes;
  int persisting_l2_bytes;
  int max_threads_per_multiprocessor;
  int stream_priorities;
  int global_l1;
  int local_l1;
  size_t shared_memory_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board;
  int multi_gpu_board_group;
  int host_native_atomics;
#if SIMULATED_CUDA_ABI == 12
  int single_to_double_ratio;
#endif
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption;
  int host_pointer_for_registered_memory;
  int cooperative_launch;
#if SIMULATED_CUDA_ABI == 12
  int cooperative_multi_device_launch;
#endif
  size_t shared_memory_per_block_optin;
  int pageable_uses_host_page_tables;
  int direct_managed_access_from_host;
  int max_blocks_per_multiprocessor;
  int access_policy_window;
  size_t reserved_shared_memory_per_block;
  int host_register;
  int sparse_arrays;
  int host_register_read_only;
  int timeline_semaphores;
  int memory_pools;
  int gpu_direct_rdma;
  unsigned gpu_direct_flush;
  int gpu_direct_ordering;
  unsigned memory_pool_handle_types;
  int deferred_mapping;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
#if SIMULATED_CUDA_ABI == 12
  int reserved[63];
#else
  int numa[2];
  int mps;
  int host_numa;
  unsigned pci_ids[2];
  int host_numa_ipc;
  int reserved[56];
#endif
};

#if SIMULATED_CUDA_ABI == 12
static_assert(sizeof(DeviceProperties) == 1032);
static_assert(offsetof(DeviceProperties, multiprocessors) == 388);
static_assert(offsetof(DeviceProperties, shared_memory_per_block_optin) == 696);
#else
static_assert(sizeof(DeviceProperties) == 1008);
static_assert(offsetof(DeviceProperties, multiprocessors) == 384);
static_assert(offsetof(DeviceProperties, shared_memory_per_block_optin) == 672);
#endif

}  // namespace vramscope::simulated
