// SPDX-License-Identifier: Apache-2.0
// The ledger of a simulated device counts every byte that is taken from it, per requesting library and CUDA
// call.
//
// The tests of the recorder use these counts as ground truth. The library is the caller of the outermost CUDA
// function. For example, if libc10_cuda.so calls cudaMalloc, the bytes are counted for libc10_cuda.so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

// The request for memory: the CUDA function that the program called, and an address in the calling code.
struct Origin {
  const char* call;  // string literal: "cudaMalloc"
  const void* caller;
};

struct LedgerRow {
  char library[64];  // file name without its folder; "" = unknown
  const char* call;
  uint64_t live_bytes;
  uint64_t peak_bytes;
  uint64_t taken_bytes;  // sum over all allocations since the start
  uint64_t takes;        // number of allocations
  uint64_t gives;        // number of frees
};

// Not thread-safe: hold the device's lock.
class Ledger {
 public:
  // Counts an allocation and returns its row, for Give(). A row is valid for the lifetime of the ledger.
  // Never nullptr: if the table is full, further origins share its last row.
  LedgerRow* Take(const Origin& origin, uint64_t bytes);
  void Give(LedgerRow* row, uint64_t bytes);

  // Stores that a request by `call` failed because `missing` more bytes were needed.
  void Refuse(uint64_t missing, const char* call) {
    ++refusals_;
    missing_ = missing;
    refused_ = call;
  }

  [[nodiscard]] uint64_t live_bytes() const { return live_; }
  [[nodiscard]] uint64_t peak_bytes() const { return peak_; }
  [[nodiscard]] uint64_t refusals() const { return refusals_; }
  [[nodiscard]] uint64_t missing_bytes() const { return missing_; }  // of the last failed request
  // The function of the last failed request; "" = none.
  [[nodiscard]] const char* refused_call() const { return refused_; }
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
