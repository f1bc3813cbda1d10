// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/tensor_layout.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/core/coverage.h"
#include "injector/core/hot.h"

namespace vramscope::injector {

VRAMSCOPE_HOT constinit TensorLayout tensor_layout = {};

namespace {

constexpr char kCoverageName[] = "tensor layout";
constexpr size_t kRemembered = 1 << 16;
constexpr uint64_t kSmallestBlock = 64;  // smaller sizes could match by chance
constexpr uint64_t kLargestRemainder =
    1 << 20;  // a caching allocator hands out blocks up to this much larger than the storage
constexpr uint32_t kMostTries = 4096;

constexpr uint32_t kStorageOffsets[] = {0x10, 0x18, 0x20};
constexpr uint32_t kPointerOffsets[] = {0x10, 0x18, 0x20};
// Distances from the data pointer: past its context, deleter and device in all known releases; then other
// candidates.
constexpr uint32_t kSizeDistances[] = {0x20, 0x18, 0x28, 0x10, 0x30};

// A lossy map from address to size: the latest block in its bucket wins.
struct Bucket {
  std::atomic<uint64_t> address;
  std::atomic<uint64_t> bytes;
};
constinit std::atomic<Bucket*> buckets = nullptr;
constinit std::atomic<uint32_t> tries = 0;

Bucket& BucketOf(Bucket* table, uint64_t address) { return table[(address >> 6) * 0x9E3779B97F4A7C15 >> 48]; }
static_assert(kRemembered == size_t{1} << 16, "BucketOf takes 16 bits");

Bucket* Buckets() {
  Bucket* table = buckets.load(std::memory_order_acquire);
  if (table != nullptr) return table;
  void* const memory = mmap(nullptr, kRemembered * sizeof(Bucket), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (buckets.compare_exchange_strong(table, static_cast<Bucket*>(memory)))
    return static_cast<Bucket*>(memory);
  munmap(memory, kRemembered * sizeof(Bucket));
  return table;
}

uint64_t RememberedSize(uint64_t address) {
  Bucket* const table = buckets.load(std::memory_order_acquire);
  if (table == nullptr || address == 0) return 0;
  const Bucket& bucket = BucketOf(table, address);
  return bucket.address.load(std::memory_order_acquire) == address
             ? bucket.bytes.load(std::memory_order_relaxed)
             : 0;
}

uint64_t WordAt(uint64_t address) {
  return CanRead(reinterpret_cast<const void*>(address)) ? *reinterpret_cast<const uint64_t*>(address) : 0;
}

// (dp, sz) if this looks like the StorageImpl of a remembered block; 0 otherwise. On the CPU the next word,
// the context, is the same address: the first match is the pointer.
uint32_t MatchStorage(uint64_t storage) {
  for (const uint32_t pointer : kPointerOffsets) {
    const uint64_t block_bytes = RememberedSize(WordAt(storage + pointer));
    if (block_bytes < kSmallestBlock) continue;
    for (const uint32_t distance : kSizeDistances) {
      const uint64_t bytes = WordAt(storage + pointer + distance);
      if (bytes != 0 && bytes <= block_bytes && block_bytes - bytes <= kLargestRemainder) {
        return pointer << 8 | (pointer + distance) << 16;
      }
    }
  }
  return 0;
}

void GiveUp() {
  tensor_layout.given_up.store(true, std::memory_order_relaxed);
  RecordCoverage(
      kCoverageName, trace::CoverageState::kMissing,
      "no tensor's storage matches a reported block; saved tensors, parameters and gradients are not seen");
}

}  // namespace

// The kernel reads the set before it checks `how`, which is invalid. EFAULT: the address is bad; EINVAL: it
// is good.
bool CanRead(const void* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  if (value < 4096 || value % 8 != 0) return false;
  const int error = errno;
  const bool readable = syscall(SYS_rt_sigprocmask, ~0, address, nullptr, 8) != 0 && errno == EINVAL;
  errno = error;
  return readable;
}

void RememberBlock(const void* block, uint64_t bytes) {
  if (bytes < kSmallestBlock) return;
  Bucket* const table = Buckets();
  if (table == nullptr) return;
  const auto address = reinterpret_cast<uint64_t>(block);
  Bucket& bucket = BucketOf(table, address);
  bucket.address.store(0, std::memory_order_relaxed);
  bucket.bytes.store(bytes, std::memory_order_release);
  bucket.address.store(address, std::memory_order_release);
}

uint32_t SearchLayout(const void* tensor) {
  if (tensor_layout.given_up.load(std::memory_order_relaxed)) return 0;
  const uint64_t impl = WordAt(reinterpret_cast<uint64_t>(tensor));
  for (const uint32_t offset : kStorageOffsets) {
    const uint64_t storage = impl == 0 ? 0 : WordAt(impl + offset);
    const uint32_t match = storage == 0 ? 0 : MatchStorage(storage);
    if (match == 0) continue;
    const uint32_t found = offset | match;
    uint32_t expected = 0;
    if (!tensor_layout.offsets.compare_exchange_strong(expected, found)) return expected;
    // Not unmapped: another thread may be in RememberBlock. Its page tables still go back to the kernel.
    madvise(buckets.load(std::memory_order_relaxed), kRemembered * sizeof(Bucket), MADV_DONTNEED);
    RecordCoverage(kCoverageName, trace::CoverageState::kProven, nullptr);
    return found;
  }
  if (tries.fetch_add(1, std::memory_order_relaxed) == kMostTries) GiveUp();
  return 0;
}

}  // namespace vramscope::injector
