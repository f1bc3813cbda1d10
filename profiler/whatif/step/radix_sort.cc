// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/radix_sort.h"

#include <initializer_list>

#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kValueBytes = 8, kOffsetBytes = 8;

// Pieces of one allocation, each at a multiple of 256 behind wherever it begins (detail::AliasTemporaries).
uint64_t TogetherBytes(std::initializer_list<uint64_t> pieces) {
  constexpr uint64_t kAligned = 256;
  uint64_t bytes = kAligned - 1;
  for (const uint64_t piece : pieces) bytes += UpTo(piece, kAligned);
  return bytes;
}

}  // namespace

uint64_t OneSweepSortBytes(uint64_t items) {
  constexpr uint64_t kKeyBytes = 4, kPasses = 4, kDigits = 256, kCounterBytes = 4;
  constexpr uint64_t kTile = uint64_t{384} * 8;  // threads, and pairs of each
  return TogetherBytes({kPasses * kDigits * kOffsetBytes,
                        UpTo(items, kTile) / kTile * kDigits * kCounterBytes, items * kKeyBytes,
                        items * kValueBytes, kPasses * kCounterBytes});
}

uint64_t ManySweepSortBytes(uint64_t items, int multiprocessors) {
  constexpr uint64_t kKeyBytes = 2, kDigits = 128;
  constexpr uint64_t kScanTile = uint64_t{512} * 11;
  // One thread block takes all registers of a multiprocessor, as ptxas states for 8.0: 128 for each of 512
  // threads, and 255 for each of 256. Five times as many blocks are started (CUB_SUBSCRIPTION_FACTOR).
  constexpr uint64_t kResident = 1, kSubscription = 5;
  const uint64_t blocks = static_cast<uint64_t>(multiprocessors) * kResident * kSubscription;
  const uint64_t counts = (blocks * kDigits + kScanTile) * kOffsetBytes;
  return TogetherBytes({counts, items * kKeyBytes, items * kValueBytes});
}

}  // namespace vramscope::whatif
