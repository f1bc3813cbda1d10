// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/ring_cursor.h"

#include <algorithm>
#include <cstring>

namespace vramscope::collector {

using trace::RingState;

RingCursor::RingCursor(trace::RingHeader& ring, const std::byte* data, uint64_t ring_bytes)
    : ring_(ring),
      data_(data),
      ring_bytes_(ring_bytes),
      position_(ring.tail.load(std::memory_order_relaxed)),
      head_(position_),
      given_back_(position_) {}

void RingCursor::Refresh() {
  // Read the state before the head: if the state is closed, the head read after it is final.
  closed_ = ring_.state.load(std::memory_order_acquire) == static_cast<uint32_t>(RingState::kClosed);
  const uint64_t head = ring_.head.load(std::memory_order_acquire);
  if (head != head_) {
    // The owner wrote these before it published, and a ring changes hands only after RecycleIfDone.
    os_thread_ = std::atomic_ref<uint32_t>(ring_.os_thread).load(std::memory_order_relaxed);
    generation_ = std::atomic_ref<uint32_t>(ring_.generation).load(std::memory_order_relaxed);
  }
  head_ = head;
  if (head_ - position_ > ring_bytes_ || head_ % trace::kRawUnitBytes != 0) SkipToHead();
  fill_percent_ = static_cast<uint32_t>((head_ - given_back_) * 100 / ring_bytes_);
}

void RingCursor::SkipToHead() {
  broken_bytes_ += std::min(head_ - position_, ring_bytes_);
  position_ = head_;
  next_loaded_ = false;
}

bool RingCursor::LoadNext() {
  while (!next_loaded_ && position_ != head_) {
    const uint64_t offset = position_ & (ring_bytes_ - 1);
    if (offset + sizeof(next_) > ring_bytes_) {  // only after a head that was not a multiple of a unit
      SkipToHead();
      return false;
    }
    std::memcpy(&next_, data_ + offset, sizeof(next_));
    const uint64_t bytes = next_.units * trace::kRawUnitBytes;
    if (bytes == 0 || bytes > head_ - position_ || offset + bytes > ring_bytes_) {
      SkipToHead();
      return false;
    }
    if (next_.type == trace::kRawPadding) {
      position_ += bytes;
    } else {
      next_loaded_ = true;
    }
  }
  return next_loaded_;
}

bool RingCursor::PeekTicks(uint64_t* ticks) {
  if (!LoadNext()) return false;
  *ticks = next_.ticks;
  return true;
}

const trace::RawRecord* RingCursor::Take(RecordBuffer& buffer) {
  const uint64_t offset = position_ & (ring_bytes_ - 1);
  const uint64_t bytes = next_.units * trace::kRawUnitBytes;  // from our copy, which LoadNext has checked
  std::memcpy(buffer.bytes, &next_, sizeof(next_));
  std::memcpy(buffer.bytes + sizeof(next_), data_ + offset + sizeof(next_), bytes - sizeof(next_));
  position_ += bytes;
  next_loaded_ = false;
  return reinterpret_cast<const trace::RawRecord*>(buffer.bytes);
}

void RingCursor::GiveBack() {
  if (given_back_ == position_) return;
  given_back_ = position_;
  ring_.tail.store(position_, std::memory_order_release);
}

void RingCursor::GiveBackSometimes() {
  if (position_ - given_back_ >= ring_bytes_ / 8) GiveBack();
}

RingCursor::Loss RingCursor::TakeLoss() {
  const uint64_t count = ring_.lost_count.load(std::memory_order_acquire);
  if (count == reported_loss_) return {};
  if (count < reported_loss_) reported_loss_ = 0;  // a new owner counts from 0
  const Loss loss{count - reported_loss_, ring_.lost_first_ticks.load(std::memory_order_relaxed),
                  ring_.lost_last_ticks.load(std::memory_order_relaxed)};
  reported_loss_ = count;
  return loss;
}

void RingCursor::RecycleIfDone() {
  if (!closed_ || position_ != head_ || given_back_ != head_) return;
  closed_ = false;
  reported_loss_ = 0;
  ring_.lost_count.store(0, std::memory_order_relaxed);
  ring_.state.store(static_cast<uint32_t>(RingState::kFree), std::memory_order_release);
}

}  // namespace vramscope::collector
