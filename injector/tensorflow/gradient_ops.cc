// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/gradient_ops.h"

#include <pthread.h>
#include <string.h>

#include <atomic>

#include "injector/core/api.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector::tensorflow {
namespace {

constexpr char kMarker[] = "gradient_tape/";
constexpr size_t kMarkerLength = sizeof(kMarker) - 1;
constexpr size_t kPlaces = 1 << 15;  // a power of two
constexpr size_t kMostOps = kPlaces / 2;

// Written once, under the lock; `hash` last.
struct Op {
  std::atomic<uint64_t> hash;
  std::atomic<uint32_t> name;
  std::atomic<uint64_t> variable;
};
constinit Op ops[kPlaces] = {};
constinit std::atomic<size_t> op_count = 0;
constinit pthread_mutex_t ops_lock = PTHREAD_MUTEX_INITIALIZER;

// The hash of the part from the last "gradient_tape/" on; 0 if there is none.
uint64_t HashOf(const Text& op) {
  if (op.length < kMarkerLength) return 0;
  for (size_t at = op.length - kMarkerLength + 1; at-- > 0;) {
    if (memcmp(op.data + at, kMarker, kMarkerLength) != 0) continue;
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = at + kMarkerLength; i < op.length; ++i)
      hash = (hash ^ static_cast<unsigned char>(op.data[i])) * 0x100000001b3;
    return hash == 0 ? 1 : hash;
  }
  return 0;
}

// The place of this hash, or the free place where it belongs.
Op& PlaceOf(uint64_t hash) {
  size_t at = (hash ^ hash >> 32) % kPlaces;
  while (true) {
    const uint64_t there = ops[at].hash.load(std::memory_order_acquire);
    if (there == 0 || there == hash) return ops[at];
    at = (at + 1) % kPlaces;
  }
}

}  // namespace

void AddGradientOp(const char* operator_name, uint32_t name, uint64_t variable) {
  const uint64_t hash = HashOf({strlen(operator_name), operator_name});
  if (hash == 0) return;
  pthread_mutex_lock(&ops_lock);
  Op& op = PlaceOf(hash);
  const bool fresh = op.hash.load(std::memory_order_relaxed) == 0;
  if (!fresh || op_count.load(std::memory_order_relaxed) < kMostOps) {
    op.name.store(name, std::memory_order_relaxed);
    op.variable.store(variable, std::memory_order_relaxed);
    op.hash.store(hash, std::memory_order_release);
    if (fresh) op_count.fetch_add(1, std::memory_order_relaxed);
  }
  pthread_mutex_unlock(&ops_lock);
}

void LabelIfGradient(const Annotation& annotation, const void* block, uint64_t bytes) {
  if (op_count.load(std::memory_order_relaxed) == 0) return;
  const bool is_output = annotation.region.length == 6 && memcmp(annotation.region.data, "output", 6) == 0;
  const uint64_t hash = is_output ? HashOf(annotation.op) : 0;
  if (hash == 0) return;
  const Op& op = PlaceOf(hash);
  if (op.hash.load(std::memory_order_acquire) != hash) return;
  Record(trace::EventType::kLabel, static_cast<uint16_t>(trace::Role::kGradient),
         op.name.load(std::memory_order_relaxed), reinterpret_cast<uint64_t>(block), bytes,
         op.variable.load(std::memory_order_relaxed), static_cast<uint64_t>(trace::LabelSource::kOptimizer));
}

}  // namespace vramscope::injector::tensorflow

extern "C" __attribute__((visibility("default"))) void vramscope_tensorflow_gradient(
    const char* operator_name, uint32_t name, uint64_t variable) {
  vramscope::injector::tensorflow::AddGradientOp(operator_name, name, variable);
}
