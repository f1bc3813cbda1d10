// SPDX-License-Identifier: Apache-2.0
// The ledger as JSON: on request, and as a file when the process ends.
//
//   {"process": 1, "devices": [
//     {"device": 0, "gpu": "t4", "capacity_bytes": 2, "live_bytes": 1, "peak_bytes": 1,
//      "refusals": 0, "missing_bytes": 0, "refused_call": "", "refused_basis": "exact", "rows": [
//       {"library": "libc10_cuda.so", "call": "cudaMalloc", "live_bytes": 1, "peak_bytes": 1,
//        "taken_bytes": 1, "takes": 1, "gives": 0, "basis": "exact",
//        "low_percent": 100, "high_percent": 100}]}]}
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injector/simulated_cuda/device/overheads.h"
#include "injector/simulated_cuda/driver/context.h"
#include "injector/simulated_cuda/driver/private_calls.h"

namespace vramscope::simulated {
namespace {

// Writes as much as fits, and counts all bytes.
class Text {
 public:
  Text(char* begin, size_t capacity) : begin_(begin), capacity_(capacity) {}

  __attribute__((format(printf, 2, 3))) void Add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const bool fits = size_ < capacity_;
    const int length =
        std::vsnprintf(fits ? begin_ + size_ : nullptr, fits ? capacity_ - size_ : 0, format, arguments);
    va_end(arguments);
    if (length > 0) size_ += static_cast<size_t>(length);
  }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  char* begin_;
  size_t capacity_;
  size_t size_ = 0;
};

unsigned long long Wide(uint64_t value) { return value; }

void AddRow(Text& text, const LedgerRow& row, bool first) {
  text.Add("%s\n    {\"library\": \"%s\", \"call\": \"%s\", \"live_bytes\": %llu, \"peak_bytes\": %llu, ",
           first ? "" : ",", row.library, row.call, Wide(row.live_bytes), Wide(row.peak_bytes));
  text.Add("\"taken_bytes\": %llu, \"takes\": %llu, \"gives\": %llu, ", Wide(row.taken_bytes),
           Wide(row.takes), Wide(row.gives));
  const Certainty certainty = CertaintyOf(row.call, TheSettings().context_basis);
  text.Add("\"basis\": \"%s\", \"low_percent\": %u, \"high_percent\": %u}", certainty.basis,
           certainty.low_percent, certainty.high_percent);
}

void AddDevice(Text& text, int number) {
  DeviceNumber(number).ReadLedger([&](const Ledger& ledger) {
    text.Add("%s\n  {\"device\": %d, \"gpu\": \"%s\", \"capacity_bytes\": %llu, ", number == 0 ? "" : ",",
             PhysicalNumber(number), TheSettings().gpu->name, Wide(TheSettings().capacity));
    text.Add("\"live_bytes\": %llu, \"peak_bytes\": %llu, ", Wide(ledger.live_bytes()),
             Wide(ledger.peak_bytes()));
    text.Add("\"refusals\": %llu, \"missing_bytes\": %llu, ", Wide(ledger.refusals()),
             Wide(ledger.missing_bytes()));
    text.Add("\"refused_call\": \"%s\", \"refused_basis\": \"%s\", \"rows\": [", ledger.refused_call(),
             CertaintyOf(ledger.refused_call(), TheSettings().context_basis).basis);
    for (const LedgerRow& row : ledger) AddRow(text, row, &row == ledger.begin());
    text.Add("]}");
  });
}

size_t WriteLedger(char* buffer, size_t capacity) {
  Text text(buffer, capacity);
  text.Add("{\"process\": %d, \"devices\": [", static_cast<int>(getpid()));
  for (int i = 0; i < TheSettings().devices; ++i) AddDevice(text, i);
  text.Add("]}\n");
  return text.size() + 1;
}

// "%p" in the name becomes the process id: every process of a run writes its own.
void FileName(const char* pattern, char* name, size_t capacity) {
  const char* const mark = std::strstr(pattern, "%p");
  if (mark == nullptr) {
    std::snprintf(name, capacity, "%s", pattern);
  } else {
    std::snprintf(name, capacity, "%.*s%d%s", static_cast<int>(mark - pattern), pattern,
                  static_cast<int>(getpid()), mark + 2);
  }
}

__attribute__((destructor)) void LeaveLedger() {
  if (TheSettings().ledger == nullptr || !AnyDevice()) return;
  const size_t size = WriteLedger(nullptr, 0);
  auto* const text = static_cast<char*>(std::malloc(size));
  if (text == nullptr) return;
  WriteLedger(text, size);
  char name[4096];
  FileName(TheSettings().ledger, name, sizeof(name));
  const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0) {
    if (write(file, text, size - 1) < 0) {
      // Not reported: the program's output is not ours.
    }
    close(file);
  }
  std::free(text);
}

}  // namespace
}  // namespace vramscope::simulated

SIMULATED_EXPORT size_t vramscope_simulated_ledger(char* text, size_t capacity) {
  return vramscope::simulated::WriteLedger(text, capacity);
}
