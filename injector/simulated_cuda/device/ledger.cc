// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/ledger.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

namespace vramscope::simulated {
namespace {

const char* LibraryOf(const void* code) {
  Dl_info info;
  if (code == nullptr || dladdr(code, &info) == 0 || info.dli_fname == nullptr) return "";
  const char* const slash = std::strrchr(info.dli_fname, '/');
  return slash != nullptr ? slash + 1 : info.dli_fname;
}

}  // namespace

LedgerRow* Ledger::RowOf(const Origin& origin) {
  const char* const library = LibraryOf(origin.caller);
  for (size_t i = 0; i < count_; ++i) {
    if (std::strcmp(rows_[i].call, origin.call) == 0 &&
        std::strncmp(rows_[i].library, library, sizeof(rows_[i].library) - 1) == 0)
      return &rows_[i];
  }
  if (count_ == kMaxRows) return &rows_[kMaxRows - 1];
  LedgerRow& row = rows_[count_++];
  row.call = origin.call;
  std::snprintf(row.library, sizeof(row.library), "%s", library);
  return &row;
}

LedgerRow* Ledger::Take(const Origin& origin, uint64_t bytes) {
  LedgerRow* const row = RowOf(origin);
  row->takes++;
  row->taken_bytes += bytes;
  row->live_bytes += bytes;
  if (row->live_bytes > row->peak_bytes) row->peak_bytes = row->live_bytes;
  live_ += bytes;
  if (live_ > peak_) peak_ = live_;
  return row;
}

void Ledger::Give(LedgerRow* row, uint64_t bytes) {
  row->gives++;
  row->live_bytes -= bytes;
  live_ -= bytes;
}

}  // namespace vramscope::simulated
