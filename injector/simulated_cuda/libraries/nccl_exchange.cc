// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/nccl_exchange.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "injector/simulated_cuda/device/messages.h"
#include "injector/simulated_cuda/libraries/nccl_data.h"

namespace vramscope::simulated {
namespace {

using Bytes = std::vector<unsigned char>;

// ncclRedOp_t
enum Operation { kSum, kProduct, kMax, kMin, kAverage };

thread_local std::vector<std::function<void()>>* put_off = nullptr;

template <typename Function>
Function OfDriver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return reinterpret_cast<Function>(driver != nullptr ? dlsym(driver, name) : nullptr);
}

bool Tell(const MessageKey& key, const void* bytes, size_t count) {
  static const auto tell =
      OfDriver<int (*)(const MessageKey*, const void*, size_t)>("vramscope_simulated_tell");
  return tell != nullptr && tell(&key, bytes, count) != 0;
}

// Waits for bytes.size() bytes. Returns false, with `bytes` unchanged, if they do not come.
bool Told(const MessageKey& key, Bytes& bytes) {
  static const auto told =
      OfDriver<int64_t (*)(const MessageKey*, void*, size_t)>("vramscope_simulated_told");
  Bytes found(bytes.size());
  if (told == nullptr || told(&key, found.data(), found.size()) != static_cast<int64_t>(found.size()))
    return false;
  bytes = std::move(found);
  return true;
}

bool Travels(size_t bytes, int type, const Communicator& communicator) {
  return type >= 0 && type < kIntegerTypes && bytes != 0 && bytes <= kMostExchangedBytes &&
         communicator.ranks() > 1;
}

void WhenAllIsTold(std::function<void()> finish) {
  if (!InGroup()) return finish();
  if (put_off == nullptr) put_off = new std::vector<std::function<void()>>;
  put_off->push_back(std::move(finish));
}

// The bytes that another rank sends here, or else nccl_data.h's stand-in for them.
void Arrive(const MessageKey& key, void* to, size_t bytes, void* stream) {
  Bytes told(bytes);
  if (Told(key, told)) {
    CopyOnDevice(to, told.data(), bytes, stream);
  } else {
    Receive(to, bytes, stream);
  }
}

Bytes Copied(const void* from, size_t bytes) {
  const auto* const begin = static_cast<const unsigned char*>(from);
  return {begin, begin + bytes};
}

template <typename Integer>
void Combine(Bytes& total, const Bytes& part, int operation) {
  for (size_t at = 0; at + sizeof(Integer) <= total.size(); at += sizeof(Integer)) {
    Integer a, b;
    std::memcpy(&a, total.data() + at, sizeof(a));
    std::memcpy(&b, part.data() + at, sizeof(b));
    using Wide = uint64_t;  // wraps around, as the device does
    if (operation == kProduct)
      a = static_cast<Integer>(static_cast<Wide>(a) * static_cast<Wide>(b));
    else if (operation == kMax)
      a = std::max(a, b);
    else if (operation == kMin)
      a = std::min(a, b);
    else
      a = static_cast<Integer>(static_cast<Wide>(a) + static_cast<Wide>(b));
    std::memcpy(total.data() + at, &a, sizeof(a));
  }
}

void CombineAs(int type, Bytes& total, const Bytes& part, int operation) {
  switch (type) {
    case 0:
      return Combine<int8_t>(total, part, operation);
    case 1:
      return Combine<uint8_t>(total, part, operation);
    case 2:
      return Combine<int32_t>(total, part, operation);
    case 3:
      return Combine<uint32_t>(total, part, operation);
    case 4:
      return Combine<int64_t>(total, part, operation);
    default:
      return Combine<uint64_t>(total, part, operation);
  }
}

}  // namespace

bool ExchangeReduced(const void* from, void* to, size_t count, int type, int operation, bool wanted,
                     Communicator& communicator, void* stream) {
  static constexpr size_t kBytes[kIntegerTypes] = {1, 1, 4, 4, 8, 8};
  if (operation > kMin || !Travels(type < kIntegerTypes ? count * kBytes[type] : 0, type, communicator))
    return false;
  const size_t bytes = count * kBytes[type];
  const MessageKey own = {communicator.id(), communicator.CountMessage(MessageKey::kToAll),
                          communicator.rank(), MessageKey::kToAll};
  if (!Tell(own, from, bytes)) return false;
  if (!wanted) return true;
  WhenAllIsTold([=, total = Copied(from, bytes), ranks = communicator.ranks()]() mutable {
    for (int rank = 0; rank < ranks; ++rank) {
      Bytes part(bytes);
      if (rank != own.from && Told({own.group, own.number, rank, own.to}, part))
        CombineAs(type, total, part, operation);
    }
    CopyOnDevice(to, total.data(), total.size(), stream);
  });
  return true;
}

bool ExchangeFromRoot(const void* from, void* to, size_t bytes, int type, int root,
                      Communicator& communicator, void* stream) {
  if (!Travels(bytes, type, communicator)) return false;
  const MessageKey key = {communicator.id(), communicator.CountMessage(MessageKey::kToAll), root,
                          MessageKey::kToAll};
  if (root == communicator.rank()) {
    Tell(key, from, bytes);
    return false;  // the root goes on as without other ranks
  }
  WhenAllIsTold([=] { Arrive(key, to, bytes, stream); });
  return true;
}

bool ExchangeGathered(const void* from, void* to, size_t bytes, int type, Communicator& communicator,
                      void* stream) {
  if (!Travels(bytes, type, communicator)) return false;
  const MessageKey own = {communicator.id(), communicator.CountMessage(MessageKey::kToAll),
                          communicator.rank(), MessageKey::kToAll};
  if (!Tell(own, from, bytes)) return false;
  WhenAllIsTold([=, mine = Copied(from, bytes), ranks = communicator.ranks()] {
    for (int rank = 0; rank < ranks; ++rank) {
      Bytes part = mine;  // as if all held the same
      if (rank != own.from) Told({own.group, own.number, rank, own.to}, part);
      CopyOnDevice(static_cast<char*>(to) + static_cast<size_t>(rank) * bytes, part.data(), bytes, stream);
    }
  });
  return true;
}

bool ExchangeSent(const void* from, size_t bytes, int type, int peer, Communicator& communicator) {
  if (!Travels(bytes, type, communicator) || peer == communicator.rank()) return false;
  return Tell({communicator.id(), communicator.CountMessage(peer), communicator.rank(), peer}, from, bytes);
}

bool ExchangeReceived(void* to, size_t bytes, int type, int peer, Communicator& communicator, void* stream) {
  if (!Travels(bytes, type, communicator) || peer == communicator.rank()) return false;
  const MessageKey key = {communicator.id(), communicator.CountAwaited(peer), peer, communicator.rank()};
  WhenAllIsTold([=] { Arrive(key, to, bytes, stream); });
  return true;
}

void FinishExchanges() {
  if (put_off == nullptr) return;
  for (const auto& finish : std::exchange(*put_off, {})) finish();
}

}  // namespace vramscope::simulated
