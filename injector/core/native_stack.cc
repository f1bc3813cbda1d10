// SPDX-License-Identifier: Apache-2.0
#include "injector/core/native_stack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "injector/core/elf_image.h"
#include "injector/core/hot.h"
#include "injector/core/intern.h"
#include "injector/core/options.h"

namespace vramscope::injector {

VRAMSCOPE_HOT constinit std::atomic<bool> native_stacks_on = false;

namespace {

constexpr size_t kMostNativeFrames = 128;
constexpr size_t kCacheEntries = 1 << 16;
constexpr size_t kMostProbes = 16;

struct CachedName {
  std::atomic<uintptr_t> address;
  std::atomic<uint32_t> name;
};
constinit std::atomic<CachedName*> cache = nullptr;

CachedName* Cache() {
  CachedName* table = cache.load(std::memory_order_acquire);
  if (table != nullptr) return table;
  void* const memory = mmap(nullptr, kCacheEntries * sizeof(CachedName), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (cache.compare_exchange_strong(table, static_cast<CachedName*>(memory)))
    return static_cast<CachedName*>(memory);
  munmap(memory, kCacheEntries * sizeof(CachedName));
  return table;
}

// The entry of this address, or a free one that it now takes; nullptr if its neighborhood is full.
CachedName* EntryOf(uintptr_t address) {
  CachedName* const table = Cache();
  if (table == nullptr) return nullptr;
  const size_t first = address * 0x9E3779B97F4A7C15 >> 48;
  static_assert(kCacheEntries == size_t{1} << 16);
  for (size_t i = 0; i < kMostProbes; ++i) {
    CachedName& entry = table[(first + i) % kCacheEntries];
    uintptr_t holder = entry.address.load(std::memory_order_acquire);
    if (holder == 0) entry.address.compare_exchange_strong(holder, address);
    if (holder == 0 || holder == address) return &entry;
  }
  return nullptr;
}

struct Place {
  uintptr_t address;
  char text[768];
};

const char* FileName(const char* path) {
  if (path[0] == 0) return program_invocation_short_name;  // the program itself
  const char* const slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// The path of the file; "" = not known.
void PathOf(const ElfImage& image, char (&path)[600]) {
  path[0] = 0;
  if (image.name()[0] == '/' && strlen(image.name()) < sizeof path) strcpy(path, image.name());
  if (image.name()[0] != 0) return;
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  path[length > 0 && static_cast<size_t>(length) < sizeof path ? length : 0] = 0;
}

void DescribeUnnamed(const ElfImage& image, unsigned long offset, Place& place) {
  char path[600];
  unsigned char build[8];
  const size_t bytes = image.BuildId(build, sizeof build);
  PathOf(image, path);
  if (path[0] != '/' || bytes == 0) {
    snprintf(place.text, sizeof place.text, "%s+0x%lx", FileName(image.name()), offset);
    return;
  }
  int length = snprintf(place.text, sizeof place.text, "%s+0x%lx [", path, offset);
  for (size_t i = 0; i < bytes; ++i)
    length +=
        snprintf(place.text + length, sizeof place.text - static_cast<size_t>(length), "%02x", build[i]);
  snprintf(place.text + length, sizeof place.text - static_cast<size_t>(length), "]");
}

// A return address is the one after the call: the byte before it is certainly in the calling function.
bool Describe(const ElfImage& image, void* argument) {
  auto& place = *static_cast<Place*>(argument);
  const auto* const call = reinterpret_cast<const void*>(place.address - 1);
  if (!image.Contains(call)) return true;
  const char* const symbol = image.FunctionAt(call);
  const auto offset = static_cast<unsigned long>(place.address - image.base());
  if (symbol == nullptr) {
    DescribeUnnamed(image, offset, place);
  } else {
    snprintf(place.text, sizeof place.text, "%.512s (%.200s+0x%lx)", symbol, FileName(image.name()), offset);
  }
  return false;
}

uint32_t NameOf(uintptr_t address) {
  CachedName* const entry = EntryOf(address);
  if (entry != nullptr) {
    if (const uint32_t known = entry->name.load(std::memory_order_relaxed)) return known;
  }
  Place place = {address, ""};
  ForEachImage(Describe, &place);
  if (place.text[0] == 0) snprintf(place.text, sizeof place.text, "(generated code)");
  const uint32_t name = InternString(place.text);
  if (entry != nullptr) entry->name.store(name, std::memory_order_relaxed);
  return name;
}

struct Frames {
  uintptr_t address[kMostNativeFrames];  // innermost first
  size_t count;
};

_Unwind_Reason_Code CollectFrame(_Unwind_Context* context, void* argument) {
  auto& frames = *static_cast<Frames*>(argument);
  const uintptr_t address = _Unwind_GetIP(context);
  if (address == 0 || frames.count == kMostNativeFrames) return _URC_END_OF_STACK;
  if (!IsOwnCode(reinterpret_cast<const void*>(address))) frames.address[frames.count++] = address;
  return _URC_NO_REASON;
}

}  // namespace

void SwitchNativeStacks(bool deep) {
  native_stacks_on.store(deep && (OptionIs("stacks", "native") || OptionIs("stacks", "all")),
                         std::memory_order_relaxed);
}

uint32_t CaptureNativeStack() {
  Frames frames = {};
  _Unwind_Backtrace(CollectFrame, &frames);
  uint32_t names[kMostNativeFrames];
  for (size_t i = 0; i < frames.count; ++i) names[i] = NameOf(frames.address[frames.count - 1 - i]);
  return InternStack(names, frames.count);
}

}  // namespace vramscope::injector
