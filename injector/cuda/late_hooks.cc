// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/late_hooks.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "injector/core/coverage.h"
#include "injector/core/driver_sight.h"
#include "injector/core/elf_image.h"
#include "injector/cuda/deep_binding.h"
#include "injector/cuda/driver_abi.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_coverage.h"
#include "injector/cuda/driver_image.h"

namespace vramscope::injector {
namespace {

constexpr char kCoverage[] = "CUDA driver pointers found at attach";
constexpr uintptr_t kCopied = 4096;  // divides the page size of every kernel

constinit bool patched = false;
constinit size_t pointers_replaced = 0;
constinit char own_byte = 0;

// A word's old value, and its replacement.
struct Exchange {
  void* from;
  void* to;
};
struct Exchanges {
  Exchange entry[2 * kDriverFunctions];
  size_t count;
  uintptr_t begin, end;  // no `from` lies outside

  void Add(void* from, void* to) {
    if (from == nullptr || to == nullptr || from == to) return;
    const auto address = reinterpret_cast<uintptr_t>(from);
    if (count == 0 || address < begin) begin = address;
    if (count == 0 || address >= end) end = address + 1;
    entry[count++] = {from, to};
  }
  [[nodiscard]] void* Of(uintptr_t word) const {
    if (word - begin >= end - begin) return nullptr;
    for (size_t i = 0; i < count; ++i) {
      if (reinterpret_cast<uintptr_t>(entry[i].from) == word) return entry[i].to;
    }
    return nullptr;
  }
};
constinit Exchanges exchanges = {};

// The pages that were written to since they were mapped, from /proc/self/pagemap
// (Documentation/admin-guide/mm/pagemap.rst). They are in memory or swapped out, and no longer pages of the
// file. All pages, if pagemap cannot be read.
class WrittenPages {
 public:
  WrittenPages() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~WrittenPages() {
    if (file_ >= 0) close(file_);
  }
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  [[nodiscard]] bool Contains(uintptr_t address) {
    constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62,
                       kOfFile = uint64_t{1} << 61;
    const uintptr_t page = address / page_bytes_;
    if (page - first_ >= kAtOnce) Read(page);
    const uint64_t entry = entries_[page - first_];
    return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfFile) == 0;
  }

 private:
  static constexpr size_t kAtOnce = 512;

  void Read(uintptr_t page) {
    first_ = page;
    const ssize_t wanted = sizeof entries_;
    if (file_ < 0 || pread(file_, entries_, sizeof entries_, static_cast<off_t>(page * 8)) != wanted)
      for (uint64_t& entry : entries_) entry = uint64_t{1} << 63;
  }

  int file_;
  uintptr_t page_bytes_ = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t first_ = ~uintptr_t{0} / 2;
  uint64_t entries_[kAtOnce] = {};
};

// At most kCopied bytes of one page. Copied before they are examined: a program may have removed the page's
// access rights.
void ExchangeWordsOfPage(uintptr_t begin, uintptr_t end, size_t& changed) {
  uintptr_t words[kCopied / sizeof(uintptr_t)];
  const iovec local = {words, end - begin};
  const iovec remote = {reinterpret_cast<void*>(begin), end - begin};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != static_cast<ssize_t>(end - begin)) return;
  for (size_t i = 0; i < (end - begin) / sizeof(uintptr_t); ++i) {
    void* const to = exchanges.Of(words[i]);
    if (to == nullptr) continue;
    auto* const word = reinterpret_cast<uintptr_t*>(begin) + i;
    uintptr_t expected = words[i];
    changed += __atomic_compare_exchange_n(word, &expected, reinterpret_cast<uintptr_t>(to), false,
                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
}

// Replaces words in the object's variables: its segments that are writable now.
size_t ExchangeWordsOf(const dl_phdr_info& info, WrittenPages& pages) {
  size_t changed = 0;
  uintptr_t read_only_end = 0;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const auto& part = info.dlpi_phdr[i];
    if (part.p_type == PT_GNU_RELRO) read_only_end = info.dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const auto& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    uintptr_t at = (info.dlpi_addr + part.p_vaddr + 7) & ~uintptr_t{7};
    const uintptr_t end = (info.dlpi_addr + part.p_vaddr + part.p_memsz) & ~uintptr_t{7};
    if (read_only_end > at && read_only_end <= end) at = (read_only_end + 7) & ~uintptr_t{7};
    while (at < end) {
      const uintptr_t copied_end = (at & ~(kCopied - 1)) + kCopied;
      const uintptr_t part_end = copied_end < end ? copied_end : end;
      if (pages.Contains(at)) ExchangeWordsOfPage(at, part_end, changed);
      at = part_end;
    }
  }
  return changed;
}

// True for the driver's own libraries and CUPTI. They call each other directly, and their words stay
// unchanged.
bool IsPartOfDriver(const ElfImage& image) {
  const char* const slash = strrchr(image.name(), '/');
  const char* const name = slash == nullptr ? image.name() : slash + 1;
  for (const char* const prefix : {"libcuda.so", "libcupti", "libnvidia-"}) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return image.Find("cuInit") != nullptr;
}

struct Visit {
  bool restore;
  WrittenPages pages = {};
  size_t words = 0;
  size_t objects = 0;
};

int VisitObject(dl_phdr_info* info, size_t, void* argument) {
  auto& visit = *static_cast<Visit*>(argument);
  ElfImage image;
  if (!image.Read(*info) || image.Contains(&own_byte) || IsPartOfDriver(image)) return 0;
  if (visit.restore) {
    RestoreLookupsOf(image);
  } else {
    PatchLookupsOf(image);
  }
  const size_t words = exchanges.count == 0 ? 0 : ExchangeWordsOf(*info, visit.pages);
  visit.words += words;
  visit.objects += words != 0;
  return 0;
}

// The driver's functions: its exports, and its answers to look-ups.
void ListDriverFunctions() {
  using GetProcAddress = int (*)(const char*, void**, int, uint64_t, int*);
  exchanges.count = 0;
  ElfImage driver;
  if (!FindDriverImage(&driver)) return;
  const auto ask = reinterpret_cast<GetProcAddress>(driver.Find("cuGetProcAddress_v2"));
  for (size_t i = 0; i < kDriverFunctions; ++i) {
    const DriverForm& form = driver_forms[i];
    void* const exported = driver.Find(form.symbol);
    if (exported != nullptr) exchanges.Add(exported, StandInFor(static_cast<DriverFunction>(i), exported));
    void* answer = nullptr;
    const uint64_t flags = form.stream == StreamForm::kPerThread ? driver::kPerThreadStream : 0;
    if (ask == nullptr || ask(form.base, &answer, form.since, flags, nullptr) != driver::kSuccess) continue;
    if (answer != nullptr && answer != exported &&
        FindByBase(form.base, form.since, flags) == static_cast<DriverFunction>(i))
      exchanges.Add(answer, StandInFor(static_cast<DriverFunction>(i), answer));
  }
}

void ListOurFunctions() {
  exchanges.count = 0;
  for (size_t i = 0; i < kDriverFunctions; ++i)
    exchanges.Add(driver_forms[i].ours, real_driver[i].load(std::memory_order_relaxed));
}

void Say(const Visit& visit) {
  ElfImage driver;
  if (!FindDriverImage(&driver)) return;
  pointers_replaced += visit.words;
  seen_by_hooks.lookups.fetch_add(visit.words, std::memory_order_relaxed);
  char detail[160];
  snprintf(
      detail, sizeof detail,
      "%zu pointers to the driver in variables of the loaded libraries; those kept elsewhere are not seen",
      pointers_replaced);
  RecordCoverage(kCoverage,
                 pointers_replaced != 0 ? trace::CoverageState::kHooked : trace::CoverageState::kMissing,
                 detail);
}

}  // namespace

void PatchDriverLate() {
  if (!patched) {
    if (driver_hooks.load(std::memory_order_relaxed) == DriverHooks::kOn || DriverHooksAreForbidden()) return;
    patched = true;
    pointers_replaced = 0;
    ForgetDriverCoverage();
    driver_hooks.store(DriverHooks::kOn, std::memory_order_release);
  }
  ListDriverFunctions();
  Visit visit{.restore = false};
  dl_iterate_phdr(VisitObject, &visit);
  if (visit.words != 0 || pointers_replaced == 0) Say(visit);
}

void RestoreDriverLate() {
  if (!patched) return;
  patched = false;
  RecordDriverLookups();
  ListOurFunctions();
  Visit visit{.restore = true};
  dl_iterate_phdr(VisitObject, &visit);
  driver_hooks.store(DriverHooks::kOff, std::memory_order_release);
}

}  // namespace vramscope::injector
