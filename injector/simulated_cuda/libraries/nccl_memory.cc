// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/nccl_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "injector/simulated_cuda/device/overheads.h"

namespace vramscope::simulated {
namespace {

constexpr int64_t kKib = 1024, kMib = 1024 * kKib;
constexpr int kBoard = 8;                  // GPUs of an HGX board
constexpr int64_t kSteps = 8;              // NCCL_STEPS
constexpr int64_t kSharedSteps = 16;       // NCCL_SHARED_STEPS
constexpr int64_t kConnection = 4 * kKib;  // ncclSendMem, ncclRecvMem
constexpr int64_t kWhole = 2 * kMib;       // CUDA_IPC_MIN

// init.cc, computeBuffSizes: lines per thread x threads x steps x bytes.
constexpr int64_t kLl = 8 * 512 * kSteps * 16;
constexpr int64_t kLl128 = 120 * 640 * kSteps * 8;
constexpr int64_t kSimple = 4 * kMib;

int64_t Or(int64_t set, int64_t own) { return set >= 0 ? set : own; }

uint64_t Rounded(int64_t bytes) { return static_cast<uint64_t>((bytes + kWhole - 1) / kWhole * kWhole); }

int PowerOfTwoUp(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

int AtLeastAtMost(int value, int least, int most) {
  if (most > 0) value = std::min(value, most);
  return least > 0 ? std::max(value, least) : value;
}

// device.h, MAXCHANNELS.
int MostChannels(int release) { return release >= 22500 ? 64 : 32; }

// What the search for rings (graph/search.cc) finds on a full board, twice: each ring is used twice
// (graph/connect.cc). 8 V100: 6 rings (issue 713). A100: 12 links of 20 GB/s make 12. H100: 18 of 20.6 make
// 12. B200: 18 of 40.1 make 16. Over PCIe 4 ("4 coll channels", issue 1706). Alone, as many as there can be.
int Channels(const NcclGpu& gpu, int release, int ranks) {
  if (ranks == 1) return MostChannels(release);
  if (!gpu.nvlink) return 4;
  if (gpu.compute_capability >= 100) return 32;
  return gpu.compute_capability >= 80 ? 24 : 12;
}

// transport/nvls.cc, NVLS_NCHANNELS_*.
int64_t NvlsChannels(const NcclGpu& gpu, int boards) {
  if (gpu.compute_capability < 100) return 16;
  return boards > 1 ? 32 : 24;
}

// graph/paths.cc, ncclTopoGetNchannels: twice the links between two GPUs, with NVSwitch all that a GPU has.
int ChannelsPerPeer(const NcclGpu& gpu, int p2p_channels) {
  if (!gpu.nvlink) return std::min(2, p2p_channels);
  const int links = gpu.compute_capability >= 90 ? 18 : gpu.compute_capability >= 80 ? 12 : 1;
  return std::min(PowerOfTwoUp(2 * links), p2p_channels);
}

struct Connection {
  uint64_t send, receive;
};

// transport/p2p.cc, p2pSendSetup and p2pRecvSetup. GPUs of compute capability 8.0 read from each other.
Connection ConnectionOf(const NcclGpu& gpu, const NcclSettings& settings) {
  const bool reads = gpu.nvlink && gpu.compute_capability == 80;
  const int64_t simple = Or(settings.buffer, kSimple);
  const int64_t others = Or(settings.ll_buffer, kLl) + Or(settings.ll128_buffer, kLl128);
  return {Rounded(kConnection + (reads ? simple : 0)), Rounded(kConnection + others + (reads ? 0 : simple))};
}

int64_t Number(const char* name, int64_t absent) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return absent;
  char* end = nullptr;
  const long long number = std::strtoll(text, &end, 0);
  return end != text && number >= 0 ? number : absent;
}

int Count(const char* name, const char* other) {
  return static_cast<int>(std::min<int64_t>(Number(name, Number(other, -1)), 1 << 10));
}

}  // namespace

NcclGpu NcclGpuOf(int compute_capability, int bus_bits, const char* product) {
  constexpr int kNarrowestHbm = 3072;
  return {compute_capability, bus_bits >= kNarrowestHbm, std::strstr(product, "GeForce") == nullptr};
}

bool ConnectsWhenUsed(const NcclSettings& settings, int release) {
  return release >= 22200 && settings.runtime_connect;
}

uint64_t NcclCodeBytes(int compute_capability) {
  const uint64_t mib = compute_capability >= 120   ? kNcclCodeMibGeForceBlackwell
                       : compute_capability >= 100 ? kNcclCodeMibBlackwell
                       : compute_capability >= 90  ? kNcclCodeMibHopper
                                                   : kNcclCodeMib;
  return mib << 20;
}

void ShareWithParent(int parent_ranks, int ranks, NcclMemory* memory) {
  memory->pool = 0;
  if (std::min(parent_ranks, kBoard) == std::min(ranks, kBoard)) memory->nvls = 0;
}

bool OnOneBoard(int rank, int peer) { return rank / kBoard == peer / kBoard; }

NcclSettings NcclSettingsOfProcess() {
  NcclSettings settings;
  settings.buffer = Number("NCCL_BUFFSIZE", -1);
  settings.ll_buffer = Number("NCCL_LL_BUFFSIZE", -1);
  settings.ll128_buffer = Number("NCCL_LL128_BUFFSIZE", -1);
  settings.nvlink_chunk = Number("NCCL_P2P_NVL_CHUNKSIZE", -1);
  settings.pci_chunk = Number("NCCL_P2P_PCI_CHUNKSIZE", -1);
  settings.net_chunk = Number("NCCL_P2P_NET_CHUNKSIZE", -1);
  settings.nvls_chunk = Number("NCCL_NVLS_CHUNKSIZE", -1);
  settings.min_channels = Count("NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS");
  settings.max_channels = Count("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS");
  settings.min_p2p_channels = Count("NCCL_MIN_P2P_NCHANNELS", "NCCL_MIN_CTAS");
  settings.max_p2p_channels = Count("NCCL_MAX_P2P_NCHANNELS", "NCCL_MAX_CTAS");
  settings.nvls = Number("NCCL_NVLS_ENABLE", 1) != 0;
  settings.peer_access = Number("NCCL_P2P_DISABLE", 0) == 0;
  settings.split_share =
      static_cast<int>(std::min<int64_t>(Number("NCCL_COMM_SPLIT_SHARE_RESOURCES", -1), 1));
  settings.runtime_connect = Number("NCCL_RUNTIME_CONNECT", 1) != 0 && Number("NCCL_CUMEM_ENABLE", 1) != 0;
  return settings;
}

NcclMemory NcclMemoryFor(const NcclGpu& gpu, const NcclSettings& settings, int release, int ranks, int rank) {
  const int boards = (ranks + kBoard - 1) / kBoard;
  const int on_board = std::min(ranks, kBoard);
  const int most = MostChannels(release);
  const int channels = std::min(
      AtLeastAtMost(Channels(gpu, release, ranks), settings.min_channels, settings.max_channels), most);
  const int p2p_channels = std::min(
      PowerOfTwoUp(AtLeastAtMost(channels, settings.min_p2p_channels, settings.max_p2p_channels)), most);

  NcclMemory memory;
  int64_t chunk = boards > 1                 ? Or(settings.net_chunk, 128 * kKib)
                  : gpu.nvlink || ranks == 1 ? Or(settings.nvlink_chunk, 512 * kKib)
                                             : Or(settings.pci_chunk, 128 * kKib);
  chunk = std::min(chunk, Or(settings.buffer, kSimple) / kSteps);
  memory.pool = Rounded(p2p_channels * kSharedSteps * chunk);
  if (ranks == 1 || !gpu.peer_access || !settings.peer_access) return memory;

  const Connection one = ConnectionOf(gpu, settings);
  const auto of_channels = [](int count, uint64_t bytes) { return static_cast<uint64_t>(count) * bytes; };
  memory.ring = of_channels(channels, one.send + one.receive);
  // On a board the tree is a chain along the ring: it goes both ways, and its ends have one neighbor.
  const int place = rank % kBoard;
  const bool first = boards == 1 && place == 0, last = boards == 1 && place == on_board - 1;
  if (ranks > 2) memory.tree = of_channels(channels, (last ? 0 : one.receive) + (first ? 0 : one.send));
  if (gpu.nvlink && gpu.compute_capability >= 90 && settings.nvls) {
    const int64_t step = Or(settings.nvls_chunk, 128 * kKib);
    memory.nvls = Rounded(NvlsChannels(gpu, boards) * 2 * kSteps * step * on_board);
  }
  const int per_peer = ChannelsPerPeer(gpu, p2p_channels);
  memory.send = of_channels(per_peer, one.send);
  memory.receive = of_channels(per_peer, one.receive);
  return memory;
}

}  // namespace vramscope::simulated
