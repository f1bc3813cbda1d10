// SPDX-License-Identifier: Apache-2.0
// Gives the same random requests to TensorFlow's compiled BFC allocator and to the model, in eight
// configurations. Compares address and statistics after each.
//
//   bfc_differential libtensorflow_framework.so.2 SEED OPERATIONS
//
// No header of TensorFlow: the allocator's constructor and methods are called by their exported names. Both
// sides get regions from devices of their own that behave alike. The allocator never touches the memory, so
// the addresses are made up. Exit 0: no difference; 1: a difference; 2: cannot run.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "profiler/allocator/bfc/bfc_allocator.h"

namespace {

using vramscope::allocator::bfc::BfcAllocator;
using vramscope::allocator::bfc::Options;
using vramscope::allocator::bfc::Statistics;
using vramscope::allocator::bfc::SubAllocator;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

struct Configuration {
  const char* name;
  Options options;
  uint64_t capacity;  // of the device; if less than the limit, the device refuses first
  bool coalescing;
  uint64_t gap;  // between regions; 0: they are adjacent and can become one
};

constexpr uint64_t kLimit = 4096 * kMebibyte;
const Configuration kConfigurations[] = {
    {"one region", {kLimit, false, false, 0}, kLimit, true, 0},
    {"growth", {kLimit, true, false, 0}, kLimit, false, 4096},
    {"growth, adjacent regions", {kLimit, true, false, 0}, kLimit, true, 0},
    {"growth, garbage collection", {kLimit, true, true, 0}, kLimit, false, 4096},
    {"growth, garbage collection, adjacent regions", {kLimit, true, true, 0}, kLimit, true, 0},
    {"growth, small device", {kLimit, true, true, 0}, kLimit / 3, true, 4096},
    {"growth, fragmentation fraction", {kLimit, true, true, 0.01}, kLimit, true, 0},
    {"odd limit", {kLimit / 7 + 100, true, true, 0}, kLimit, true, 0},
};

// First fit among the free address ranges.
class Device {
 public:
  explicit Device(const Configuration& configuration)
      : left_(configuration.capacity), gap_(configuration.gap), coalescing_(configuration.coalescing) {}

  uint64_t Allocate(uint64_t bytes) {
    if (bytes > left_) return 0;
    left_ -= bytes;
    uint64_t address = uint64_t{1} << 40;
    for (const auto& [begin, size] : taken_) {
      if (address + bytes + gap_ <= begin) break;
      address = begin + size + gap_;
    }
    taken_[address] = bytes;
    ++allocated_;
    return address;
  }
  // A range that was coalesced is freed as a whole.
  void Free(uint64_t address, uint64_t bytes) {
    left_ += bytes;
    ++freed_;
    for (auto range = taken_.lower_bound(address); range != taken_.end() && range->first < address + bytes;)
      range = taken_.erase(range);
  }
  [[nodiscard]] bool coalescing() const { return coalescing_; }
  // Calls that succeeded.
  [[nodiscard]] size_t freed() const { return freed_; }
  [[nodiscard]] size_t taken() const { return allocated_; }

 private:
  size_t freed_ = 0;
  size_t allocated_ = 0;
  uint64_t left_;
  uint64_t gap_;
  bool coalescing_;
  std::map<uint64_t, uint64_t> taken_;
};

class ModelDevice : public SubAllocator {
 public:
  explicit ModelDevice(const Configuration& configuration) : device_(configuration) {}
  Region Allocate(uint64_t bytes) override { return {device_.Allocate(bytes), bytes}; }
  void Free(uint64_t address, uint64_t bytes) override { device_.Free(address, bytes); }
  [[nodiscard]] bool SupportsCoalescing() const override { return device_.coalescing(); }
  [[nodiscard]] const Device& device() const { return device_; }

 private:
  Device device_;
};

// tsl::SubAllocator: the order of its virtual functions. Its visitors are not used by the allocator.
class CompiledDevice {
 public:
  explicit CompiledDevice(const Configuration& configuration) : device_(configuration) {}
  virtual ~CompiledDevice() = default;
  virtual void* Alloc(size_t, size_t bytes, size_t* received) {
    *received = bytes;
    return reinterpret_cast<void*>(device_.Allocate(bytes));  // NOLINT: never dereferenced
  }
  virtual void Free(void* region, size_t bytes) { device_.Free(reinterpret_cast<uint64_t>(region), bytes); }
  [[nodiscard]] virtual bool SupportsCoalescing() const { return device_.coalescing(); }
  [[nodiscard]] virtual int GetMemoryType() const { return 1; }

 private:
  Device device_;
};

struct CompiledOptions {
  bool allow_growth;
  bool allow_retry_on_failure;
  bool garbage_collection;
  double fragmentation_fraction;
};

struct Attributes {
  bool retry_on_failure = false;
  bool allocation_will_be_logged = false;
  void* freed_by_func = nullptr;
};

template <typename Function>
Function* Find(void* library, const char* symbol) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (found == nullptr) {
    std::fprintf(stderr, "bfc_differential: this TensorFlow does not export %s\n", symbol);
    std::exit(2);
  }
  return found;
}

// tsl::BFCAllocator of the library.
class Compiled {
  using AllocateRaw = void*(void* object, size_t alignment, size_t bytes, const Attributes& attributes);
  using DeallocateRaw = void(void* object, void* block);
  using GetStats = void(void* result, void* object);
  using Destructor = void(void* object);

 public:
  Compiled(void* library, const Configuration& configuration)
      : allocate_(
            Find<AllocateRaw>(library, "_ZN3tsl12BFCAllocator11AllocateRawEmmRKNS_20AllocationAttributesE")),
        free_(Find<DeallocateRaw>(library, "_ZN3tsl12BFCAllocator13DeallocateRawEPv")),
        statistics_(Find<GetStats>(library, "_ZN3tsl12BFCAllocator8GetStatsEv")),
        destroy_(Find<Destructor>(library, "_ZN3tsl12BFCAllocatorD1Ev")) {
    const auto construct = Find<void(void*, std::unique_ptr<CompiledDevice>*, size_t, const std::string&,
                                     const CompiledOptions&)>(
        library,
        "_ZN3tsl12BFCAllocatorC1ESt10unique_ptrINS_12SubAllocatorESt14default_deleteIS2_EEmRKNSt7__"
        "cxx1112basic_stringIcSt11"
        "char_traitsIcESaIcEEERKNS0_7OptionsE");
    auto device = std::make_unique<CompiledDevice>(configuration);
    const CompiledOptions options = {configuration.options.allow_growth, false,
                                     configuration.options.garbage_collection,
                                     configuration.options.fragmentation_fraction};
    construct(object_, &device, configuration.options.memory_limit, "vramscope", options);
  }
  ~Compiled() { destroy_(object_); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  uint64_t Allocate(uint64_t bytes) {
    const Attributes attributes;
    return reinterpret_cast<uint64_t>(allocate_(object_, 64, bytes, attributes));
  }
  void Free(uint64_t address) { free_(object_, reinterpret_cast<void*>(address)); }  // NOLINT
  // tsl::AllocatorStats in a std::optional: allocations, in use, peak, largest, optional limit, reserved, its
  // peak, optional limit of it, largest free, optional pool bytes, optional peak of them.
  Statistics Stats() {
    alignas(16) uint64_t words[64] = {};
    statistics_(words, object_);
    return {static_cast<int64_t>(words[0]), words[1], words[2], words[3], words[11], words[13]};
  }

 private:
  AllocateRaw* allocate_;
  DeallocateRaw* free_;
  GetStats* statistics_;
  Destructor* destroy_;
  alignas(64) unsigned char object_[16384] = {};
};

bool Same(const Statistics& a, const Statistics& b) {
  return a.allocations == b.allocations && a.bytes_in_use == b.bytes_in_use &&
         a.peak_bytes_in_use == b.peak_bytes_in_use && a.largest_allocation == b.largest_allocation &&
         a.pool_bytes == b.pool_bytes && a.peak_pool_bytes == b.peak_pool_bytes;
}

void Print(const char* who, const Statistics& s) {
  std::fprintf(
      stderr, "  %s: %lld allocations, in use %llu (peak %llu), largest %llu, pool %llu (peak %llu)\n", who,
      static_cast<long long>(s.allocations), static_cast<unsigned long long>(s.bytes_in_use),
      static_cast<unsigned long long>(s.peak_bytes_in_use),
      static_cast<unsigned long long>(s.largest_allocation), static_cast<unsigned long long>(s.pool_bytes),
      static_cast<unsigned long long>(s.peak_pool_bytes));
}

// A third is small, a third up to 16 MiB, the rest up to half of the limit.
uint64_t RandomBytes(std::mt19937_64& random, uint64_t limit) {
  constexpr double kMostBits[] = {14, 24};
  const uint64_t kind = random() % 3;
  const double most = kind < 2 ? kMostBits[kind] : std::log2(static_cast<double>(limit)) - 1;
  return static_cast<uint64_t>(std::exp2(std::uniform_real_distribution<double>(0, most)(random))) +
         random() % 512;
}

struct Seen {
  size_t operations = 0;
  size_t failed = 0;      // requests that failed, on both sides
  size_t given_back = 0;  // regions
};

// Two allocators and the blocks that both have handed out.
class Pair {
 public:
  Pair(void* library, const Configuration& configuration)
      : configuration_(configuration),
        compiled_(library, configuration),
        device_(configuration),
        model_(configuration.options, device_) {}
  ~Pair() {
    for (const uint64_t address : live_) compiled_.Free(address);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void Turn(std::mt19937_64& random, Seen& seen) {
    const uint64_t turn = random() % 1000;
    if (turn >= 998) {  // nearly everything is freed, so that there are free regions
      while (live_.size() > 3) FreeLast(seen);
    } else if (live_.empty() || turn < 520) {
      Allocate(RandomBytes(random, configuration_.options.memory_limit), seen);
    } else {
      std::swap(live_[random() % live_.size()], live_.back());
      FreeLast(seen);
    }
    if (Same(compiled_.Stats(), model_.statistics())) return;
    Differ(seen, "the statistics differ");
    Print("TensorFlow", compiled_.Stats());
    Print("the model", model_.statistics());
    std::exit(1);
  }
  [[nodiscard]] const Device& device() const { return device_.device(); }

 private:
  void Allocate(uint64_t bytes, Seen& seen) {
    const uint64_t there = compiled_.Allocate(bytes);
    const uint64_t here = model_.Allocate(bytes).value_or(0);
    if (there != here) {
      Differ(seen, "the addresses differ");
      std::fprintf(stderr, "  %llu bytes: TensorFlow at %#llx, the model at %#llx\n",
                   static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(there),
                   static_cast<unsigned long long>(here));
      std::exit(1);
    }
    if (there != 0) live_.push_back(there);
    seen.failed += there == 0 ? 1 : 0;
  }
  void FreeLast(const Seen& seen) {
    compiled_.Free(live_.back());
    if (!model_.Free(live_.back())) {
      Differ(seen, "the model does not know a block");
      std::exit(1);
    }
    live_.pop_back();
  }
  void Differ(const Seen& seen, const char* how) const {
    std::fprintf(stderr, "%s, operation %zu: %s\n", configuration_.name, seen.operations, how);
  }

  const Configuration& configuration_;
  Compiled compiled_;
  ModelDevice device_;
  BfcAllocator model_;
  std::vector<uint64_t> live_;
};

// Exits at the first difference. TensorFlow doubles the size of the next region with each region that it
// allocates. At 2^64, after 43 regions, it never returns. Both allocators are created again before that.
Seen Compare(void* library, const Configuration& configuration, uint64_t seed, size_t operations) {
  constexpr size_t kMostRegions = 36;
  std::mt19937_64 random(seed);
  Seen seen;
  while (seen.operations < operations) {
    Pair pair(library, configuration);
    for (size_t i = 0; i < 20'000 && seen.operations < operations && pair.device().taken() < kMostRegions;
         ++i) {
      pair.Turn(random, seen);
      ++seen.operations;
    }
    seen.given_back += pair.device().freed();
  }
  return seen;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: bfc_differential libtensorflow_framework.so.2 SEED OPERATIONS\n");
    return 2;
  }
  setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "bfc_differential: %s\n", dlerror());
    return 2;
  }
  const uint64_t seed = std::strtoull(arguments[2], nullptr, 10);
  const size_t operations = std::strtoull(arguments[3], nullptr, 10) / std::size(kConfigurations);
  for (const Configuration& configuration : kConfigurations) {
    const Seen seen = Compare(library, configuration, seed, operations);
    std::printf("%s: %zu operations alike, %zu out of memory, %zu regions given back\n", configuration.name,
                operations, seen.failed, seen.given_back);
    std::fflush(stdout);
  }
  return 0;
}
