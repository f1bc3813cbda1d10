// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a snapshot. The result must be an error sentence, or a snapshot whose indices are valid.
// It must not crash, take more than a second, or use more memory than twice the input plus 64 MiB. Then the
// snapshot is converted to a trace, which runs the allocator model: that must end too. Seeds: pickles of
// two protocols, packed and cut off, and JSON.
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

#include "profiler/snapshot/read.h"
#include "profiler/snapshot/source.h"

namespace {

size_t live_bytes = 0;
size_t most_bytes = 0;

void* Take(size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) std::abort();
  live_bytes += malloc_usable_size(block);
  if (live_bytes > most_bytes) most_bytes = live_bytes;
  return block;
}

void Give(void* block) {
  if (block != nullptr) live_bytes -= malloc_usable_size(block);
  std::free(block);
}

[[noreturn]] void Die(const char* why, size_t figure) {
  std::fprintf(stderr, "%s: %zu\n", why, figure);
  std::abort();
}

}  // namespace

void* operator new(size_t size) { return Take(size); }
void* operator new[](size_t size) { return Take(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Take(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Take(size); }
void operator delete(void* block) noexcept { Give(block); }
void operator delete[](void* block) noexcept { Give(block); }
void operator delete(void* block, size_t) noexcept { Give(block); }
void operator delete[](void* block, size_t) noexcept { Give(block); }

namespace vramscope::snapshot {
namespace {

void Check(const Snapshot& snapshot) {
  for (size_t device = 0; device < snapshot.device_traces.size(); ++device) {
    ForEachEvent(snapshot, device, [&](const Event& event) {
      if (event.stack >= snapshot.stacks.stack_count() || event.origin >= snapshot.origins.size())
        std::abort();
    });
  }
  for (StackId id = 0; id < snapshot.stacks.stack_count(); ++id) {
    for (const FrameId frame : snapshot.stacks.stack(id)) {
      if (snapshot.stacks.frame(frame).file >= snapshot.texts.size()) std::abort();
    }
  }
}

}  // namespace
}  // namespace vramscope::snapshot

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramscope::snapshot;
  const std::clock_t begin = std::clock();  // of this process: the machine may be busy with others
  const size_t before = live_bytes;
  most_bytes = before;
  uint64_t unpacked = size;
  const auto snapshot = ReadBytes({data, size}, "fuzz.pickle");
  if (snapshot.ok()) {
    Check(**snapshot);
    unpacked = std::max<uint64_t>(unpacked, (*snapshot)->bytes_read);
  } else if (snapshot.error().sentence.empty()) {
    std::abort();
  }
  const bool packed = size > 2 && (data[0] == 0x1f || data[0] == 0x28);
  const uint64_t allowed = 2 * unpacked + (uint64_t{64} << 20);
  if (!packed && most_bytes - before > allowed) Die("memory", most_bytes - before);
  if (std::clock() - begin > CLOCKS_PER_SEC) Die("milliseconds", 1000);
  if (!snapshot.ok()) return 0;
  const auto source = MakeSource(*snapshot, "fuzz.pickle");
  uint64_t told = 0;
  const auto status = source->ForEachBatch([&](const auto& batch) { return told += batch.size(), true; });
  if (!status.ok() || std::clock() - begin > 5 * CLOCKS_PER_SEC)
    Die("telling it failed or took too long; events", told);
  return 0;
}
