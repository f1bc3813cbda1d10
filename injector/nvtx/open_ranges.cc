// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/open_ranges.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>

#include "injector/core/session.h"

namespace vramscope::injector::nvtx {
namespace {

struct OpenRange {
  Domain domain;
  uint32_t name;
};

struct OpenRanges {
  uint32_t count;
  uint32_t too_deep;  // pushed on top of the full page
  OpenRange range[kDeepest];
};
static_assert(sizeof(OpenRanges) <= kPageBytes);

constinit thread_local OpenRanges* open __attribute__((tls_model("initial-exec"))) = nullptr;
constinit pthread_once_t prepared = PTHREAD_ONCE_INIT;
constinit pthread_key_t key = 0;

// A range that the parent pushed has its begin in the parent's part of the trace: the child pops it without a
// record.
void ForgetNamesInChild() {
  if (open == nullptr) return;
  for (uint32_t i = 0; i < open->count; ++i) open->range[i].name = 0;
}

void Prepare() {
  pthread_key_create(&key, [](void* page) {
    open = nullptr;
    munmap(page, kPageBytes);
  });
  AtForkInChild(ForgetNamesInChild);
}

OpenRanges* TakePage() {
  pthread_once(&prepared, Prepare);
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  pthread_setspecific(key, page);
  return open = static_cast<OpenRanges*>(page);
}

int LevelOf(const OpenRanges& ranges, Domain domain) {
  int level = 0;
  for (uint32_t i = 0; i < ranges.count; ++i) level += ranges.range[i].domain == domain;
  return level;
}

}  // namespace

int PushRange(Domain domain, uint32_t name, bool& recorded) {
  OpenRanges* const ranges = open != nullptr ? open : TakePage();
  recorded = ranges != nullptr && ranges->count < kDeepest;
  if (ranges == nullptr) return kNoTracking;
  const int level = LevelOf(*ranges, domain);
  if (!recorded) return level + static_cast<int>(ranges->too_deep++);
  ranges->range[ranges->count++] = {domain, name};
  return level;
}

Popped PopRange(Domain domain) {
  OpenRanges* const ranges = open;
  if (ranges == nullptr) return {kNoTracking, 0};
  if (ranges->too_deep > 0) {
    --ranges->too_deep;
    return {LevelOf(*ranges, domain) + static_cast<int>(ranges->too_deep), 0};
  }
  for (uint32_t i = ranges->count; i-- > 0;) {
    if (ranges->range[i].domain != domain) continue;
    const uint32_t name = ranges->range[i].name;
    memmove(&ranges->range[i], &ranges->range[i + 1], (ranges->count - i - 1) * sizeof(OpenRange));
    --ranges->count;
    return {LevelOf(*ranges, domain), name};
  }
  return {kNoTracking, 0};
}

}  // namespace vramscope::injector::nvtx
