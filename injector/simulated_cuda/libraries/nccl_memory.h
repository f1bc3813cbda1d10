// SPDX-License-Identifier: Apache-2.0
// Computes the device memory that an NCCL communicator takes, from NCCL's source (2.18 to 2.30) and the usual
// topology of boards with the simulated GPU.
//
//   ring     channels x (send + receive)      to and from the neighbors              transport/p2p.cc
//   tree     the buffers that ring has not    the other direction                    graph/connect.cc
//   NVLS     channels x 2 x 8 x chunk x GPUs  NVLink SHARP, Hopper and later         transport/nvls.cc
//   peers    p2p channels x (send + receive)  messages on the board, for each peer   graph/paths.cc
//   pool     p2p channels x 16 x chunk        messages through the network           transport/net.cc
//
//   send = 4 KiB, receive = 4 KiB + LL 512 KiB + LL128 4.69 MiB + Simple 4 MiB, each in whole 2 MiB: 2 + 10
//   MiB. Between two A100s the Simple buffer lies on the sending side: 6 + 6 MiB.
//
// Since NCCL 2.22, each buffer is allocated at its first use. Earlier releases allocate only the buffers of
// peers at first use, and all other buffers when the communicator is created. Later releases do the same if
// NCCL_RUNTIME_CONNECT=0 or NCCL_CUMEM_ENABLE=0 is set (init.cc, runtimeConn).
//
// The results agree with measurements that users published in issues and pull requests of NVIDIA/nccl:
//
//   issue 964    544 MiB in a group of 2 A100s, 688 MiB in a group of 4
//   issue 1685   buffers of 10485760 and 2097152 bytes, 32 channels for each pair of H100s
//   2363, 2366   a pool of 512 MiB for a group of one rank; no pool by default
//
// Boards with NVLink are assumed to be full HGX boards with eight GPUs.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// The properties of a GPU that decide the size of NCCL's buffers.
struct NcclGpu {
  int compute_capability;  // 90 for 9.0
  bool nvlink;             // true if NVLink connects all GPUs of the board
  bool peer_access;        // false = GPUs cannot access each other's memory; buffers are in host memory
};

// Derives the properties from the driver's answers. GPUs with HBM have boards with NVLink; GeForce cards
// cannot access each other's memory.
NcclGpu NcclGpuOf(int compute_capability, int bus_bits, const char* product);

// NCCL's settings; -1 = NCCL's own default.
struct NcclSettings {
  int64_t buffer = -1, ll_buffer = -1,
          ll128_buffer = -1;  // NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE
  int64_t nvlink_chunk = -1, pci_chunk = -1, net_chunk = -1;  // NCCL_P2P_NVL_CHUNKSIZE, _PCI_, _NET_
  int64_t nvls_chunk = -1;                                    // NCCL_NVLS_CHUNKSIZE
  int min_channels = -1, max_channels = -1;          // NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS; also _CTAS
  int min_p2p_channels = -1, max_p2p_channels = -1;  // NCCL_MIN_P2P_NCHANNELS, NCCL_MAX_P2P_NCHANNELS
  bool nvls = true;                                  // NCCL_NVLS_ENABLE
  bool peer_access = true;                           // NCCL_P2P_DISABLE
  bool runtime_connect = true;                       // NCCL_RUNTIME_CONNECT and NCCL_CUMEM_ENABLE
  int split_share = -1;                              // NCCL_COMM_SPLIT_SHARE_RESOURCES
};
// Reads the settings from this process's environment variables.
NcclSettings NcclSettingsOfProcess();

// Bytes that one communicator allocates on this rank's device. Each comment names the operation that needs
// the memory.
struct NcclMemory {
  uint64_t ring = 0;     // any collective
  uint64_t tree = 0;     // all-reduce
  uint64_t nvls = 0;     // collectives that reduce or gather
  uint64_t send = 0;     // send to a peer on the same board; bytes per peer
  uint64_t receive = 0;  // receive from a peer on the same board; bytes per peer
  uint64_t pool = 0;     // send to a peer on another board; a receive from there needs as many bytes again
};

// True if NCCL allocates each buffer at its first use. False if NCCL allocates ring, tree, NVLS and the pool
// for sends when the communicator is created.
bool ConnectsWhenUsed(const NcclSettings& settings, int release);

// Sets to 0 the buffers that a communicator shares with its parent (`parent_ranks` ranks). The pool is always
// shared. NVLink SHARP's buffers are shared if both communicators have the same number of ranks on the board
// (init.cc, nvls.cc). Ring buffers are not shared.
void ShareWithParent(int parent_ranks, int ranks, NcclMemory* memory);

// Returns the memory of a communicator without a parent. `release`: NCCL's release, 22602 for 2.26.2.
// `ranks`: at least 1.
NcclMemory NcclMemoryFor(const NcclGpu& gpu, const NcclSettings& settings, int release, int ranks, int rank);

// Returns the size of the machine code of all NCCL kernels for that GPU (overheads.def).
uint64_t NcclCodeBytes(int compute_capability);

// True if both ranks are on the same board. Each board has eight consecutive ranks.
bool OnOneBoard(int rank, int peer);

}  // namespace vramscope::simulated
