// SPDX-License-Identifier: Apache-2.0
// Allocations, frees and out-of-memory reports of every backend.
//
// CPU: the reporter's New and Delete are called for each block, right after it is allocated and right before
// it is freed, whether or not a profiler runs. If one runs, they also call reportMemoryUsageToProfiler, which
// must not count the block again. Shared-memory and file-mapped storages report there directly. CUDA and
// other backends: reportMemoryUsageToProfiler is called unconditionally, with the allocator's mutex held. So
// our functions only record.
#include "injector/torch/block_records.h"

namespace vramscope::injector {
namespace {

constexpr int8_t kCpu = 0;
constexpr DeviceValue kDefaultCpu = {kCpu, -1};

// True while this thread is in the CPU reporter, whose report is about a block that New or Delete has
// recorded.
constinit thread_local bool in_cpu_reporter __attribute__((tls_model("initial-exec"))) = false;

template <typename Call>
void InsideCpuReporter(Call call) {
  in_cpu_reporter = true;
  call();
  in_cpu_reporter = false;
}

void RecordReport(const void* block, int64_t bytes, uint64_t allocated, uint64_t reserved,
                  DeviceValue device) {
  if (block == nullptr || bytes == 0 || in_cpu_reporter || !WantsBlocksOf(device.type)) return;
  if (bytes > 0) {
    RecordBlock(block, static_cast<uint64_t>(bytes), device, allocated, reserved);
  } else {
    RecordFreedBlock(block, -static_cast<uint64_t>(bytes), device, allocated, reserved);
  }
}

void RecordOutOfMemory(int64_t bytes, uint64_t allocated, uint64_t reserved, DeviceValue device) {
  if (in_cpu_reporter || !WantsBlocksOf(device.type)) return;
  RecordNoBlock(bytes, device, allocated, reserved);
}

}  // namespace

void CpuNew(void* reporter, void* block, size_t bytes) {
  if (block != nullptr && bytes != 0 && WantsBlocksOf(kCpu)) {
    ConsiderShim();
    NoteBlock(block, bytes);
    RecordAfterAll(trace::EventType::kAlloc, Code(kDefaultCpu), BlockStackId(),
                   reinterpret_cast<uint64_t>(block), bytes);
    LabelAsExpected(block, bytes);
  }
  if (auto* const real = RealCpuNew()) InsideCpuReporter([&] { real(reporter, block, bytes); });
}

void CpuDelete(void* reporter, void* block) {
  if (block != nullptr && WantsBlocksOf(kCpu)) {
    Record(trace::EventType::kFree, Code(kDefaultCpu), 0, reinterpret_cast<uint64_t>(block), 0);
  }
  if (auto* const real = RealCpuDelete()) InsideCpuReporter([&] { real(reporter, block); });
}

void CpuOutOfMemory(void* reporter, size_t bytes) {
  RecordOutOfMemory(static_cast<int64_t>(bytes), 0, 0, kDefaultCpu);
  if (auto* const real = RealCpuOutOfMemory()) InsideCpuReporter([&] { real(reporter, bytes); });
}

void ReportMemory(void* block, int64_t bytes, size_t total_allocated, size_t total_reserved,
                  DeviceValue device) {
  RecordReport(block, bytes, total_allocated, total_reserved, device);
  if (auto* const real = RealReportMemory()) real(block, bytes, total_allocated, total_reserved, device);
}

void ReportMemorySigned(void* block, int64_t bytes, int64_t total_allocated, int64_t total_reserved,
                        DeviceValue device) {
  RecordReport(block, bytes, static_cast<uint64_t>(total_allocated), static_cast<uint64_t>(total_reserved),
               device);
  if (auto* const real = RealReportMemorySigned())
    real(block, bytes, total_allocated, total_reserved, device);
}

void ReportOutOfMemory(int64_t bytes, size_t total_allocated, size_t total_reserved, DeviceValue device) {
  RecordOutOfMemory(bytes, total_allocated, total_reserved, device);
  if (auto* const real = RealReportOutOfMemory()) real(bytes, total_allocated, total_reserved, device);
}

void ReportOutOfMemorySigned(int64_t bytes, int64_t total_allocated, int64_t total_reserved,
                             DeviceValue device) {
  RecordOutOfMemory(bytes, static_cast<uint64_t>(total_allocated), static_cast<uint64_t>(total_reserved),
                    device);
  if (auto* const real = RealReportOutOfMemorySigned()) real(bytes, total_allocated, total_reserved, device);
}

}  // namespace vramscope::injector
