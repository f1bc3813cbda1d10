// SPDX-License-Identifier: Apache-2.0
// The ledger of one device: every byte taken from it, per requesting library and CUDA call.
//
// The ledger is the ground truth for tests of a profiler. The library is the caller of the outermost CUDA
// function: cudaMalloc called by libc10_cuda.so counts for libc10_cuda.so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

// Who took memory: the program's CUDA function, and an address in the calling code.
struct Origin {
  const char* call;  // a literal: "cudaMalloc"
  const void* caller;
};

struct LedgerRow {
  char library[64];  // file name without its folder; "" = unknown
  const char* call;
  uint64_t live_bytes;
  uint64_t peak_bytes;
  uint64_t taken_bytes;  // since the start
  uint64_t takes;
  uint64_t gives;
};

// Not thread-safe: hold the device's lock.
class Ledger {
 public:
  // Rows live as long as the ledger. Never nullptr: a full table shares its last row.
  LedgerRow* Take(const Origin& origin, uint64_t bytes);
  void Give(LedgerRow* row, uint64_t bytes);

  // Notes that a request by `call` was refused because `missing` bytes were not free.
  void Refuse(uint64_t missing, const char* call) {
    ++refusals_;
    missing_ = missing;
    refused_ = call;
  }

  [[nodiscard]] uint64_t live_bytes() const { return live_; }
  [[nodiscard]] uint64_t peak_bytes() const { return peak_; }
  [[nodiscard]] uint64_t refusals() const { return refusals_; }
  [[nodiscard]] uint64_t missing_bytes() const { return missing_; }    // for the last refusal
  [[nodiscard]] const char* refused_call() const { return refused_; }  // the last one; "" = none
  [[nodiscard]] const LedgerRow* begin() const { return rows_; }
  [[nodiscard]] const LedgerRow* end() const { return rows_ + count_; }

 private:
  LedgerRow* RowOf(const Origin& origin);

  static constexpr size_t kMaxRows = 256;
  LedgerRow rows_[kMaxRows] = {};
  size_t count_ = 0;
  uint64_t live_ = 0;
  uint64_t peak_ = 0;
  uint64_t refusals_ = 0;
  uint64_t missing_ = 0;
  const char* refused_ = "";
};

}  // namespace vramscope::simulated
