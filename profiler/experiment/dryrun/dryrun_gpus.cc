// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/dryrun_gpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "profiler/allocator/replay.h"
#include "profiler/allocator/rerun.h"
#include "profiler/collector/output/whole_file.h"

namespace vramscope::experiment {
namespace {

// PyTorch's own use differs between compute capabilities by cuBLAS workspaces, 8 or 32 MiB per handle and
// stream. A GPU closer to its limit than this is not judged from a run on a GPU of another capability.
constexpr uint64_t kOtherCapabilityMargin = 256ull << 20;
constexpr uint64_t kCodeBlock = 2ull << 20;  // unit in which drivers place code (overheads.def)
constexpr char kAllocatorLibrary[] = "libc10_cuda.so";

uint64_t InBlocks(uint64_t bytes) { return (bytes + kCodeBlock - 1) / kCodeBlock * kCodeBlock; }

uint64_t Less(uint64_t from, uint64_t bytes) { return from - std::min(from, bytes); }

// The run's figures, replaced by those of `gpu` if both are known.
template <typename Key>
uint64_t Replaced(uint64_t bytes, const std::map<Key, uint64_t>& figures, const Key& own, const Key& other) {
  const auto before = figures.find(own), after = figures.find(other);
  if (before == figures.end() || after == figures.end()) return bytes;
  return Less(bytes + after->second, before->second);
}

uint64_t BesideOfRun(const DeviceLedger& ledger) {
  uint64_t bytes = 0;
  for (const LedgerEntry& entry : ledger.entries)
    if (entry.library != kAllocatorLibrary) bytes += entry.peak_bytes;
  return bytes;
}

uint64_t Processes(const DeviceLedger& ledger) { return std::max<uint64_t>(ledger.processes.size(), 1); }

// The allocator model stands in for the run only if it reproduces it: each event, and the same reserved bytes
// from an empty state. The second replay does not repeat the program's own empty_cache() calls.
bool ModelHolds(const MeasuredRun& run) {
  if (run.history == nullptr) return false;
  // The device decides how much of a GPU TensorFlow's allocator may take, so the program must run again.
  if (run.history->model == allocator::Model::kBfc) return false;
  const auto replayed = allocator::Replay(*run.history);
  if (!replayed.ok() || !replayed->exact()) return false;
  const auto again = allocator::Rerun(*run.history, {run.history->settings});
  return again.ok() && again->peak.reserved_bytes == run.peak_reserved;
}

struct Replayed {
  bool fits = false, retries = false;
  uint64_t reserved_bytes = 0;
};

std::optional<Replayed> AtCapacity(const MeasuredRun& run, const collector::GpuModel& gpu, uint64_t room) {
  allocator::History history = *run.history;
  history.device_bytes = gpu.capacity_bytes;
  const auto result = allocator::Rerun(history, {history.settings, room});
  if (!result.ok()) return std::nullopt;
  return Replayed{result->failed_requests == 0, result->statistics.num_alloc_retries != 0,
                  result->peak.reserved_bytes};
}

}  // namespace

Elsewhere ReadElsewhere(const std::string& folder, std::span<const ProcessShare> processes) {
  Elsewhere elsewhere;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored)) {
    if (file.path().extension() != ".elsewhere") continue;
    const std::string pid = file.path().stem().string();
    if (!processes.empty() && std::ranges::none_of(processes, [&](const ProcessShare& share) {
          return std::to_string(share.pid) == pid;
        }))
      continue;
    std::istringstream lines(collector::ReadWhole(file.path().string()));
    std::string what, whose;
    for (uint64_t bytes = 0; lines >> what >> whose >> bytes;) {
      if (what == "kernels") elsewhere.kernel_bytes[std::atoi(whose.c_str())] += InBlocks(bytes);
      if (what == "nccl") elsewhere.nccl_bytes[whose] += bytes;
      if (what == "attention") elsewhere.fused_attention = true;
    }
  }
  return elsewhere;
}

int AttentionKind(int compute_capability) {
  if (compute_capability < 80) return 0;
  return compute_capability / 10 == 9 || compute_capability / 10 == 10 ? 2 : 1;
}

uint64_t BesidePyTorch(const MeasuredRun& run, const collector::GpuModel& gpu) {
  uint64_t bytes = BesideOfRun(run.ledger);
  bytes =
      Less(bytes + Processes(run.ledger) * gpu.context_bytes, Processes(run.ledger) * run.gpu.context_bytes);
  bytes = Replaced(bytes, run.elsewhere.kernel_bytes, run.gpu.compute_capability, gpu.compute_capability);
  return Replaced(bytes, run.elsewhere.nccl_bytes, run.gpu.name, gpu.name);
}

std::optional<GpuRow> Conclude(const MeasuredRun& run, const collector::GpuModel& gpu) {
  const uint64_t margin = gpu.compute_capability == run.gpu.compute_capability ? 0 : kOtherCapabilityMargin;
  const uint64_t reserved = std::max(run.peak_reserved, run.peak_allocated);
  // As in the run: memory outside PyTorch does not count at PyTorch's own peak if it was allocated only after
  // that peak was freed.
  const uint64_t not_together = Less(reserved + BesideOfRun(run.ledger), run.ledger.peak_bytes);
  const uint64_t beside = Less(BesidePyTorch(run, gpu), not_together);
  const uint64_t capacity = gpu.capacity_bytes;
  if (beside + reserved + margin <= capacity)
    return GpuRow{gpu, true, false, AnsweredBy::kConclusion, beside + reserved};
  if (beside + run.peak_allocated > capacity + margin)
    return GpuRow{gpu, false, false, AnsweredBy::kConclusion, 0};
  if (!ModelHolds(run)) return std::nullopt;
  const auto least = AtCapacity(run, gpu, Less(capacity, beside + margin));
  if (!least) return std::nullopt;
  if (least->fits && (margin == 0 || !least->retries))
    return GpuRow{gpu, true, least->retries, AnsweredBy::kReplay, beside + least->reserved_bytes};
  const auto most = margin == 0 ? least : AtCapacity(run, gpu, Less(capacity + margin, beside));
  if (most && !most->fits) return GpuRow{gpu, false, false, AnsweredBy::kReplay, 0};
  return std::nullopt;
}

}  // namespace vramscope::experiment
