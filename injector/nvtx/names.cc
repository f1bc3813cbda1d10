// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/names.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include <atomic>

#include "injector/core/intern.h"

namespace vramscope::injector::nvtx {
namespace {

constexpr char kTooMany[] = "(more NVTX names than vramscope keeps)";
constexpr char kUnknownString[] = "(NVTX string that was registered before the recording)";
constexpr size_t kArenaBytes = 8 << 20;
constexpr size_t kProbes = 16;

constinit std::atomic<const Name*> names[kMostNames] = {};
constinit std::atomic<char*> arena = nullptr;
constinit std::atomic<size_t> arena_used = 0;

struct HandleSlot {
  std::atomic<uint64_t> handle;
  std::atomic<uint64_t> meaning;
};
constinit HandleSlot handles[kMostHandles] = {};

uint64_t Mixed(uint64_t value) {
  value *= 0x9E3779B97F4A7C15;
  return value ^ value >> 29;
}

// Eight bytes at a time: a name of 20 bytes costs three multiplications.
uint64_t HashOf(const char* text, size_t length) {
  uint64_t hash = length;
  uint64_t word = 0;
  for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
    memcpy(&word, text, sizeof word);
    hash = Mixed(hash ^ word);
  }
  word = 0;
  memcpy(&word, text, length);
  return Mixed(Mixed(hash ^ word));
}

char* Arena() {
  char* memory = arena.load(std::memory_order_acquire);
  if (memory != nullptr) return memory;
  void* const fresh =
      mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  if (arena.compare_exchange_strong(memory, static_cast<char*>(fresh))) return static_cast<char*>(fresh);
  munmap(fresh, kArenaBytes);
  return memory;
}

Name* MakeName(uint32_t id, const char* text, size_t length) {
  char* const memory = Arena();
  const size_t bytes = (sizeof(Name) + length + 7) & ~size_t{7};
  if (memory == nullptr || arena_used.load(std::memory_order_relaxed) + bytes > kArenaBytes) return nullptr;
  const size_t at = arena_used.fetch_add(bytes, std::memory_order_relaxed);
  if (at + bytes > kArenaBytes) return nullptr;
  auto* const name = reinterpret_cast<Name*>(memory + at);
  name->id = id;
  name->length = static_cast<uint32_t>(length);
  memcpy(name->text, text, length);
  return name;
}

bool Is(const Name& name, const char* text, size_t length) {
  return name.length == length && memcmp(name.text, text, length) == 0;
}

const Name* NameForTheRest() {
  static std::atomic<const Name*> rest = nullptr;
  const Name* name = rest.load(std::memory_order_acquire);
  if (name != nullptr) return name;
  alignas(Name) static char storage[sizeof(Name) + sizeof kTooMany];
  auto* const made = reinterpret_cast<Name*>(storage);
  const uint32_t id = InternString(kTooMany);
  if (id == 0) return nullptr;
  made->id = id;  // the same bytes whichever thread writes them
  made->length = sizeof kTooMany - 1;
  memcpy(made->text, kTooMany, sizeof kTooMany - 1);
  rest.store(made, std::memory_order_release);
  return made;
}

// Defines the text in the trace and puts it into the first free slot of its probes.
const Name* AddName(const char* text, size_t length, uint64_t hash) {
  Name* made = nullptr;
  for (size_t i = 0; i < kProbes; ++i) {
    auto& slot = names[(hash + i) % kMostNames];
    const Name* held = slot.load(std::memory_order_acquire);
    if (held != nullptr && Is(*held, text, length)) return held;
    if (held != nullptr) continue;
    if (made == nullptr) {
      const uint32_t id = InternString(text, length);
      if (id == 0) return nullptr;
      made = MakeName(id, text, length);
      if (made == nullptr) return NameForTheRest();
    }
    if (slot.compare_exchange_strong(held, made, std::memory_order_release, std::memory_order_acquire))
      return made;
    if (Is(*held, text, length)) return held;
  }
  return NameForTheRest();
}

// nullptr for the default domain, and for one that was created before we listened.
const Name* NameOfDomain(Domain domain) { return reinterpret_cast<const Name*>(MeaningOf(domain)); }

bool IsXla(const Name* domain) {
  return domain != nullptr && domain->length == 3 && memcmp(domain->text, "TSL", 3) == 0;
}

// A text assembled on the stack, after the name of its domain.
class Composer {
 public:
  explicit Composer(const Name* domain) {
    if (domain == nullptr) return;
    Add(domain->text, domain->length);
    Add(":", 1);
  }
  void Add(const char* text, size_t length) {
    const size_t room = kLongestName - length_;
    if (length > room) length = room;
    memcpy(text_ + length_, text, length);
    length_ += length;
  }
  // As UTF-8; invalid characters become '?'.
  void Add(const wchar_t* text) {
    for (; *text != 0 && length_ + 4 <= kLongestName; ++text) AddCharacter(static_cast<uint32_t>(*text));
  }
  const Name* Find() const { return FindName(text_, length_); }

 private:
  void AddCharacter(uint32_t c) {
    const auto put = [this](uint32_t byte) { text_[length_++] = static_cast<char>(byte); };
    const auto follow = [&](uint32_t shift) { put(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) return put(c);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return put('?');
    if (c < 0x800) return put(0xc0 | c >> 6), follow(0);
    if (c < 0x10000) return put(0xe0 | c >> 12), follow(6), follow(0);
    put(0xf0 | c >> 18), follow(12), follow(6), follow(0);
  }

  size_t length_ = 0;
  char text_[kLongestName];
};

}  // namespace

const Name* FindName(const char* text, size_t length) {
  if (length > kLongestName) length = kLongestName;
  const uint64_t hash = HashOf(text, length);
  for (size_t i = 0; i < kProbes; ++i) {
    const Name* const held = names[(hash + i) % kMostNames].load(std::memory_order_acquire);
    if (held == nullptr) break;
    if (Is(*held, text, length)) return held;
  }
  return AddName(text, length, hash);
}

bool IsOfXla(Domain domain) { return IsXla(NameOfDomain(domain)); }

const Name* NameOf(Domain domain, const char* text) {
  const Name* const prefix = NameOfDomain(domain);
  if (IsXla(prefix)) return nullptr;
  if (text == nullptr) text = "";
  if (prefix == nullptr) return FindName(text, strlen(text));
  Composer composer(prefix);
  composer.Add(text, strlen(text));
  return composer.Find();
}

const Name* NameOf(Domain domain, const wchar_t* text) {
  const Name* const prefix = NameOfDomain(domain);
  if (IsXla(prefix)) return nullptr;
  Composer composer(prefix);
  if (text != nullptr) composer.Add(text);
  return composer.Find();
}

const Name* NameOf(Domain domain, int32_t type, const Message& message) {
  if (type == kAscii) return NameOf(domain, message.ascii);
  if (type == kWide) return NameOf(domain, message.wide);
  if (type != kRegistered) return NameOf(domain, "");
  const auto* const name = reinterpret_cast<const Name*>(MeaningOf(message.registered));
  if (name == nullptr) return NameOf(domain, kUnknownString);
  const Name* const prefix = NameOfDomain(domain);
  if (IsXla(prefix)) return nullptr;
  if (prefix == nullptr) return name;
  Composer composer(prefix);
  composer.Add(name->text, name->length);
  return composer.Find();
}

const Name* NameWithReal(const Name& name, double number) {
  char text[32];
  const int length = snprintf(text, sizeof text, " = %.9g", number);
  Composer composer(nullptr);
  composer.Add(name.text, name.length);
  composer.Add(text, static_cast<size_t>(length));
  return composer.Find();
}

void RememberHandle(Handle handle, uint64_t meaning) {
  const auto key = reinterpret_cast<uint64_t>(handle);
  if (key == 0) return;
  const uint64_t hash = Mixed(Mixed(key));
  for (size_t i = 0; i < kProbes; ++i) {
    HandleSlot& slot = handles[(hash + i) % kMostHandles];
    uint64_t held = slot.handle.load(std::memory_order_acquire);
    if (held == 0) slot.handle.compare_exchange_strong(held, key);
    if (held != 0 && held != key) continue;
    slot.meaning.store(meaning, std::memory_order_release);
    return;
  }
}

uint64_t MeaningOf(Handle handle) {
  const auto key = reinterpret_cast<uint64_t>(handle);
  const uint64_t hash = Mixed(Mixed(key));
  for (size_t i = 0; i < kProbes && key != 0; ++i) {
    const HandleSlot& slot = handles[(hash + i) % kMostHandles];
    const uint64_t held = slot.handle.load(std::memory_order_acquire);
    if (held == key) return slot.meaning.load(std::memory_order_acquire);
    if (held == 0) break;
  }
  return 0;
}

}  // namespace vramscope::injector::nvtx
