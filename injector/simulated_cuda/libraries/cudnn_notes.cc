// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_notes.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace vramscope::simulated::cudnn {
namespace {

constexpr int64_t kNone = -1;

struct Source {
  const char* name;
  std::atomic<int64_t> largest{kNone};
};
std::array<Source, 4> sources = {Source{"cudnn"}, Source{"model"}, Source{"attention"}, Source{"batch_norm"}};
constexpr size_t kFirstOperation = 2;

bool IsEmpty() {
  return std::all_of(sources.begin(), sources.end(),
                     [](const Source& source) { return source.largest == kNone; });
}

__attribute__((destructor)) void LeaveNotes() {
  const char* const pattern = std::getenv("VRAMSCOPE_SIMULATED_CUDNN_NOTES");
  if (pattern == nullptr || IsEmpty()) return;
  std::string name = pattern;
  if (const size_t mark = name.find("%p"); mark != std::string::npos)
    name.replace(mark, 2, std::to_string(getpid()));
  std::FILE* const file = std::fopen(name.c_str(), "we");
  if (file == nullptr) return;
  for (const Source& source : sources) {
    if (source.largest != kNone)
      std::fprintf(file, "%s\t%lld\n", source.name, static_cast<long long>(source.largest));
  }
  std::fclose(file);
}

}  // namespace

void NoteWorkspace(bool is_estimated, int64_t bytes) {
  std::atomic<int64_t>& largest = sources[is_estimated ? 1 : 0].largest;
  int64_t known = largest.load(std::memory_order_relaxed);
  while (known < bytes && !largest.compare_exchange_weak(known, bytes, std::memory_order_relaxed)) {
  }
}

void NoteUncounted(Operation operation) {
  sources[kFirstOperation + static_cast<size_t>(operation)].largest.store(0, std::memory_order_relaxed);
}

}  // namespace vramscope::simulated::cudnn
