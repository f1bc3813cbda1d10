// SPDX-License-Identifier: Apache-2.0
// What an NCCL communicator takes of the device: computed as NCCL computes it, from its source (2.18 to 2.30)
// and the topology that boards with such a GPU have.
//
//   init           pool for send/recv through the network   p2p channels x 16 x chunk transport/net.cc first
//   use of   ring     channels x (send + receive)     to and from the neighbours        transport/p2p.cc
//                  tree     what the ring has not           the other direction graph/connect.cc NVLS
//                  channels x 2 x 8 x chunk x GPUs NVLink SHARP, Hopper and later    transport/nvls.cc send,
//                  receive: for each peer             p2p channels per peer             graph/paths.cc
//
//   send = 4 KiB, receive = 4 KiB + LL 512 KiB + LL128 4.69 MiB + Simple 4 MiB, each rounded to 2 MiB: 2 + 10
//   MiB. Between two A100s the Simple buffer lies on the sending side: 6 + 6 MiB.
//
// Held to what users have measured: 544 and 688 MiB in groups of 2 and 4 A100s (NVIDIA/nccl issue 964),
// allocations of 10485760 and 2097152 bytes and 32 channels for each pair of H100s (issue 1685), 512 MiB for
// a group of one (issue 2363). What it cannot know is the topology: boards with NVLink are taken to be full
// HGX boards of eight.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// As far as NCCL's buffers depend on it.
struct NcclGpu {
  int compute_capability;  // 90
  bool nvlink;             // on a board whose GPUs are all connected by it
  bool peer_access;        // without it buffers lie in host memory
};

// -1 = NCCL's own.
struct NcclSettings {
  int64_t buffer = -1, ll_buffer = -1,
          ll128_buffer = -1;  // NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE
  int64_t nvlink_chunk = -1, pci_chunk = -1, net_chunk = -1;  // NCCL_P2P_NVL_CHUNKSIZE, _PCI_, _NET_
  int64_t nvls_chunk = -1;                                    // NCCL_NVLS_CHUNKSIZE
  int min_channels = -1, max_channels = -1;          // NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS; also _CTAS
  int min_p2p_channels = -1, max_p2p_channels = -1;  // NCCL_MIN_P2P_NCHANNELS, NCCL_MAX_P2P_NCHANNELS
  bool nvls = true;                                  // NCCL_NVLS_ENABLE
  bool peer_access = true;                           // NCCL_P2P_DISABLE
};
// From the environment.
NcclSettings NcclSettingsOfProcess();

// All in bytes of this rank's device.
struct NcclMemory {
  uint64_t shared = 0;   // when the communicator is made
  uint64_t ring = 0;     // with the first collective
  uint64_t tree = 0;     // with the first reduction to all
  uint64_t nvls = 0;     // with the first collective that adds up or gathers
  uint64_t send = 0;     // with the first message to a peer on the same board
  uint64_t receive = 0;  // with the first message from one
};

// `release` is NCCL's, 2.26.2 as 22602. `ranks` at least 1.
NcclMemory NcclMemoryFor(const NcclGpu& gpu, const NcclSettings& settings, int release, int ranks, int rank);

// Whether two ranks are on one board, when boards have as many GPUs as NcclMemoryFor takes them to have.
bool OnOneBoard(int rank, int peer);

}  // namespace vramscope::simulated
