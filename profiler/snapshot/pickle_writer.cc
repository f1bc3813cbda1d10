// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/pickle_writer.h"

#include <bit>
#include <span>

namespace vramscope::snapshot {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

}  // namespace

PickleWriter::PickleWriter(trace::ByteSink* sink) : sink_(*sink) {
  Byte(0x80);
  Byte(4);
}

void PickleWriter::Little(uint64_t number, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) Byte(static_cast<uint8_t>(number >> (8 * i)));
}

void PickleWriter::Send() {
  if (status_.ok()) status_ = sink_.Write(std::as_bytes(std::span(buffer_.data(), buffer_.size())));
  buffer_.clear();
}

void PickleWriter::Number(uint64_t number) {
  if (number < 0x100) {
    Byte('K');
    Little(number, 1);
  } else if (number < 0x10000) {
    Byte('M');
    Little(number, 2);
  } else if (number < 0x80000000) {
    Byte('J');
    Little(number, 4);
  } else {  // the highest bit of the last byte is the sign
    const size_t bytes = static_cast<size_t>(std::bit_width(number)) / 8 + 1;
    Byte(0x8a);
    Byte(static_cast<uint8_t>(bytes));
    for (size_t i = 0; i < bytes; ++i) Byte(i < 8 ? static_cast<uint8_t>(number >> (8 * i)) : 0);
  }
}

void PickleWriter::Signed(int64_t number) {
  if (number >= 0) return Number(static_cast<uint64_t>(number));
  Byte(0x8a);
  Byte(8);
  Little(static_cast<uint64_t>(number), 8);
}

void PickleWriter::Double(double number) {
  const auto bits = std::bit_cast<uint64_t>(number);
  Byte('G');
  for (int i = 7; i >= 0; --i) Byte(static_cast<uint8_t>(bits >> (8 * i)));
}

void PickleWriter::Bool(bool value) { Byte(value ? 0x88 : 0x89); }

void PickleWriter::Text(std::string_view text) {
  const auto [known, fresh] = texts_.try_emplace(std::string(text), next_);
  if (!fresh) return Again(known->second);
  if (text.size() < 0x100) {
    Byte(0x8c);
    Little(text.size(), 1);
  } else {
    Byte('X');
    Little(text.size(), 4);
  }
  buffer_.append(text);
  Remember();
}

void PickleWriter::BeginDict() {
  if (buffer_.size() >= kBuffer) Send();
  Byte('}');
  Byte('(');
}

PickleWriter::MemoId PickleWriter::BeginList() {
  Byte(']');
  const MemoId id = Remember();
  Byte('(');
  return id;
}

void PickleWriter::NextBatch() {
  Byte('e');
  Byte('(');
}

void PickleWriter::Pair(uint64_t first, uint64_t second) {
  Number(first);
  Number(second);
  Byte(0x86);
}

PickleWriter::MemoId PickleWriter::Remember() {
  Byte(0x94);
  return next_++;
}

void PickleWriter::Again(MemoId id) {
  if (id < 0x100) {
    Byte('h');
    Little(id, 1);
  } else {
    Byte('j');
    Little(id, 4);
  }
}

Status PickleWriter::Finish() {
  Byte('.');
  Send();
  return status_;
}

}  // namespace vramscope::snapshot
