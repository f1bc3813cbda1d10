// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/variable_buffers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>

#include "injector/core/api.h"
#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/thread_ring.h"
#include "trace_format/event.h"

namespace vramscope::injector::tensorflow {

constinit std::atomic<uint8_t> freed_since_look[kFreedPlaces] = {};

namespace {

constexpr char kHookName[] = "TensorFlow's buffer of each variable";
constexpr size_t kDataInBuffer = 16;  // after the vtable and the reference count
constexpr size_t kWord = sizeof(void*);
constexpr size_t kLargestTensor = 48;
constexpr size_t kLargestResourceHandle = 256;
constexpr size_t kLargestVar = 192;
constexpr size_t kFirstVirtual = 2 * kWord;  // a vtable's address in an object, relative to its symbol

struct Followed {
  const char* var;  // tensorflow::Var; nullptr: this entry is free
  uint64_t address;
  uint64_t bytes;
  VariableName name;
};

constinit Followed* followed = nullptr;  // number - 1 is the index
constinit uint32_t first_free = 0;       // no entry before it is free
constinit uint32_t capacity = 0;
constinit size_t tensor_buffer_in_var = 0;  // 0: not found yet
constinit bool told = false;

// TensorFlow's symbols, looked up once it has been loaded.
struct Symbols {
  const void* var;  // vtables
  const void* handle;
  void* handle_of_eager_tensor;
  void* tensor_of_handle;
};
constinit Symbols symbols = {};

const Symbols& OfTensorFlow() {
  if (symbols.tensor_of_handle == nullptr)
    symbols = {FindSymbol("_ZTVN10tensorflow3VarE"), FindSymbol("_ZTVN10tensorflow12TensorHandleE"),
               FindSymbol("_Z18EagerTensor_HandlePK7_object"),
               FindSymbol("_ZNK10tensorflow12TensorHandle6TensorEPPKNS_6TensorE")};
  return symbols;
}

// The kernel reads the set before it checks `how`, which is invalid. EFAULT: the address is bad; EINVAL: it
// is good.
bool Readable(const char* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  if (value < 4096 || value % kWord != 0) return false;
  const int error = errno;
  const bool readable = syscall(SYS_rt_sigprocmask, ~0, address, nullptr, kWord) != 0 && errno == EINVAL;
  errno = error;
  return readable;
}

const char* WordOf(const char* object, size_t offset) {
  const char* const place = object + offset;
  return Readable(place) ? *reinterpret_cast<const char* const*>(place) : nullptr;
}

bool HasVtable(const char* object, const void* vtable) {
  return object != nullptr && vtable != nullptr &&
         WordOf(object, 0) == static_cast<const char*>(vtable) + kFirstVirtual;
}

// The tensorflow::Tensor of an EagerTensor; nullptr if it is in another process.
const char* TensorOf(const char* eager_tensor) {
  // The result is an absl::Status, which C++ returns in memory of the caller.
  using Ask = void(void** status, const void* handle, const char** tensor);
  auto* const ask = reinterpret_cast<Ask*>(OfTensorFlow().tensor_of_handle);
  auto* const handle_of =
      reinterpret_cast<const char* (*)(const char*)>(OfTensorFlow().handle_of_eager_tensor);
  const char* const handle = handle_of == nullptr ? nullptr : handle_of(eager_tensor);
  if (ask == nullptr || !HasVtable(handle, OfTensorFlow().handle)) return nullptr;
  void* status[2] = {};
  const char* tensor = nullptr;
  ask(status, handle, &tensor);
  return tensor;
}

// A tensorflow::Var that the tensorflow::ResourceHandle at `handle` points to, or nullptr.
const char* VarOfHandle(const char* handle, const void* vtable) {
  for (size_t at = 0; at < kLargestResourceHandle; at += kWord) {
    const char* const var = WordOf(handle, at);
    if (HasVtable(var, vtable)) return var;
  }
  return nullptr;
}

const char* VarOf(const char* eager_tensor) {
  const void* const vtable = OfTensorFlow().var;
  const char* const tensor = TensorOf(eager_tensor);
  for (size_t at = 0; tensor != nullptr && vtable != nullptr && at < kLargestTensor; at += kWord) {
    const char* const buffer = WordOf(tensor, at);
    const char* const handle = buffer == nullptr ? nullptr : WordOf(buffer, kDataInBuffer);
    const char* const var = handle == nullptr ? nullptr : VarOfHandle(handle, vtable);
    if (var != nullptr) return var;
  }
  return nullptr;
}

bool EndsAt(const char* var, size_t offset, uint64_t address) {
  const char* const buffer = WordOf(var, offset);
  return buffer != nullptr && reinterpret_cast<uint64_t>(WordOf(buffer, kDataInBuffer)) == address;
}

// True if the word of `var` that holds its buffer is known, or found now, and leads to `address`.
bool LeadsTo(const char* var, uint64_t address) {
  if (tensor_buffer_in_var != 0) return EndsAt(var, tensor_buffer_in_var, address);
  for (size_t at = kFirstVirtual; at < kLargestVar; at += kWord) {
    if (!EndsAt(var, at, address)) continue;
    tensor_buffer_in_var = at;
    return true;
  }
  return false;
}

void Tell(bool works) {
  if (told) return;
  told = true;
  RecordCoverage(kHookName, works ? trace::CoverageState::kProven : trace::CoverageState::kMissing,
                 works ? nullptr : "its layout in this release of TensorFlow is unknown; Python is asked");
}

Followed* FreePlace() {
  for (uint32_t i = first_free; i < capacity; ++i)
    if (followed[i].var == nullptr) return &followed[first_free = i];
  const uint32_t more = capacity == 0 ? 256 : capacity * 2;
  auto* const grown = static_cast<Followed*>(realloc(followed, more * sizeof(Followed)));
  if (grown == nullptr) return nullptr;
  memset(static_cast<void*>(grown + capacity), 0, (more - capacity) * sizeof(Followed));
  followed = grown;
  first_free = capacity;
  capacity = more;
  return &followed[first_free];
}

const char* BufferOf(const Followed& one) {
  return __atomic_load_n(reinterpret_cast<const char* const*>(one.var + tensor_buffer_in_var),
                         __ATOMIC_RELAXED);
}

// A variable that is looked at: its buffer, and where its bytes are.
struct Look {
  Followed* one;
  const char* buffer;
  uint64_t address;  // 0: not known now
};
constexpr size_t kMostLooks = 64;

// Reads the addresses in the buffers through the kernel, which fails for a buffer that no longer exists.
// False if the kernel forbids such reads altogether, as in some sandboxes.
bool ReadByKernel(Look* looks, size_t count) {
  iovec from[kMostLooks];
  uint64_t addresses[kMostLooks] = {};
  for (size_t i = 0; i < count; ++i)
    from[i] = {const_cast<char*>(looks[i].buffer) + kDataInBuffer, sizeof(uint64_t)};
  for (size_t begin = 0; begin < count;) {
    const iovec into = {addresses + begin, (count - begin) * sizeof(uint64_t)};
    const ssize_t bytes = process_vm_readv(getpid(), &into, 1, from + begin, count - begin, 0);
    if (bytes < 0 && errno != EFAULT) return false;
    begin += bytes < 0 ? 1 : static_cast<size_t>(bytes) / sizeof(uint64_t) + 1;  // the next one is unreadable
  }
  for (size_t i = 0; i < count; ++i) looks[i].address = addresses[i];
  return true;
}

void ReadAddresses(Look* looks, size_t count, Others others) {
  const int error = errno;
  const bool read = others == Others::kMayAssign && ReadByKernel(looks, count);
  errno = error;
  for (size_t i = 0; i < count && !read; ++i)
    looks[i].address = *reinterpret_cast<const uint64_t*>(looks[i].buffer + kDataInBuffer);
}

void LabelIfMoved(const Look& look) {
  Followed& one = *look.one;
  if (look.address == 0 || BufferOf(one) != look.buffer) {
    one.address = 0;  // being assigned: the next look labels it
    return;
  }
  const uint64_t address = look.address;
  if (address == one.address && FreedPlace(address).load(std::memory_order_relaxed) == 0) return;
  one.address = address;
  Record(trace::EventType::kLabel, static_cast<uint16_t>(one.name.role), one.name.name, address, one.bytes,
         one.name.tensor, one.name.source);
}

void LabelMoved(Look* looks, size_t count, Others others) {
  ReadAddresses(looks, count, others);
  for (size_t i = 0; i < count; ++i) LabelIfMoved(looks[i]);
}

}  // namespace

uint32_t FollowVariable(const void* handle, uint64_t address, uint64_t bytes, const VariableName& name) {
  const char* const var = VarOf(static_cast<const char*>(handle));
  const bool works = var != nullptr && LeadsTo(var, address);
  Tell(works);
  Followed* const place = works ? FreePlace() : nullptr;
  if (place == nullptr) return 0;
  *place = {var, address, bytes, name};
  return static_cast<uint32_t>(place - followed) + 1;
}

void ForgetVariable(uint32_t number) {
  if (number == 0 || number > capacity) return;
  followed[number - 1].var = nullptr;
  if (number - 1 < first_free) first_free = number - 1;
}

void LookAtVariables(Others others) {
  Look looks[kMostLooks];
  size_t count = 0;
  for (uint32_t i = 0; i < capacity; ++i) {
    Followed& one = followed[i];
    const char* const buffer = one.var == nullptr ? nullptr : BufferOf(one);
    if (buffer == nullptr) continue;  // not followed, being assigned, or not initialized
    looks[count++] = {&one, buffer, 0};
    if (count < kMostLooks) continue;
    LabelMoved(looks, count, others);
    count = 0;
  }
  LabelMoved(looks, count, others);
  memset(static_cast<void*>(freed_since_look), 0, sizeof freed_since_look);
}

}  // namespace vramscope::injector::tensorflow

extern "C" __attribute__((visibility("default"))) uint32_t vramscope_tensorflow_follow(
    const void* handle, uint64_t address, uint64_t bytes, uint32_t role, uint32_t source, uint32_t name,
    uint64_t tensor) {
  return vramscope::injector::tensorflow::FollowVariable(handle, address, bytes,
                                                         {role, source, name, tensor});
}

extern "C" __attribute__((visibility("default"))) void vramscope_tensorflow_forget(uint32_t number) {
  vramscope::injector::tensorflow::ForgetVariable(number);
}

extern "C" __attribute__((visibility("default"))) void vramscope_tensorflow_look(int others_may_assign) {
  using vramscope::injector::tensorflow::Others;
  vramscope::injector::tensorflow::LookAtVariables(others_may_assign != 0 ? Others::kMayAssign
                                                                          : Others::kNone);
}
