// SPDX-License-Identifier: Apache-2.0
// The device memory that an NCCL communicator takes. From NCCL's source (2.18 to 2.30) and the topology of
// boards with such a GPU.
//
//   ring     channels x (send + receive)      to and from the neighbors              transport/p2p.cc
//   tree     what the ring has not            the other direction                    graph/connect.cc
//   NVLS     channels x 2 x 8 x chunk x GPUs  NVLink SHARP, Hopper and later         transport/nvls.cc
//   peers    p2p channels x (send + receive)  messages on the board, for each peer   graph/paths.cc
//   pool     p2p channels x 16 x chunk        messages through the network           transport/net.cc
//
//   send = 4 KiB, receive = 4 KiB + LL 512 KiB + LL128 4.69 MiB + Simple 4 MiB, each in whole 2 MiB: 2 + 10
//   MiB. Between two A100s the Simple buffer lies on the sending side: 6 + 6 MiB.
//
// Since NCCL 2.22, each buffer is taken at its first use. Earlier releases take only buffers of peers at
// first use, and others at creation. Later releases do this too with NCCL_RUNTIME_CONNECT=0 or
// NCCL_CUMEM_ENABLE=0 (init.cc, runtimeConn).
//
// Users' measurements agree. Numbers in parentheses are issues or pull requests of NVIDIA/nccl. 544 and 688
// MiB in groups of 2 and 4 A100s (964). Buffers of 10485760 and 2097152 bytes, 32 channels for each pair of
// H100s (1685). A pool of 512 MiB for a group of one (2363), and none by default (2366). Boards with NVLink
// are assumed to be full HGX boards of eight.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Properties of a GPU for NCCL's buffers.
struct NcclGpu {
  int compute_capability;  // 90
  bool nvlink;             // on a board with all GPUs connected by NVLink
  bool peer_access;        // false: buffers lie in host memory
};

// From the driver's answers. GPUs with HBM have boards with NVLink; GeForce cards cannot reach each other's
// memory.
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
// From the environment.
NcclSettings NcclSettingsOfProcess();

// Bytes on this rank's device. Comments name the use that takes the memory.
struct NcclMemory {
  uint64_t ring = 0;     // any collective
  uint64_t tree = 0;     // a reduction to all
  uint64_t nvls = 0;     // a collective that adds up or gathers
  uint64_t send = 0;     // a message to a peer on the board, for each peer
  uint64_t receive = 0;  // a message from a peer on the board, for each peer
  uint64_t pool = 0;     // a message to a peer on another board; as much again for messages from there
};

// True if connections are made at first use; otherwise ring, tree, NVLS and the sending pool are made at
// once.
bool ConnectsWhenUsed(const NcclSettings& settings, int release);

// Removes what a communicator shares with its parent of `parent_ranks` ranks. That is the pool, and NVLink
// SHARP's buffers if both have as many ranks on the board (init.cc, nvls.cc). Rings count in full.
void ShareWithParent(int parent_ranks, int ranks, NcclMemory* memory);

// `release` is NCCL's, 22602 for 2.26.2. `ranks` is at least 1.
NcclMemory NcclMemoryFor(const NcclGpu& gpu, const NcclSettings& settings, int release, int ranks, int rank);

// All code of NCCL's kernels for that GPU (overheads.def).
uint64_t NcclCodeBytes(int compute_capability);

// True if two ranks are on one board, with boards as in NcclMemoryFor.
bool OnOneBoard(int rank, int peer);

}  // namespace vramscope::simulated
