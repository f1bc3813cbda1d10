// SPDX-License-Identifier: Apache-2.0
#include "trace_format/definitions.h"

#include <algorithm>

namespace vramscope::trace {
namespace {

constexpr uint64_t kMaxRecords = 1u << 20;  // processes or threads

constexpr size_t kMaxStackDepth = 4096;

constexpr uint64_t kMapEntryBytes = 128;

void PutRecord(uint32_t number, ByteView record, Bytes* out) {
  PutVarint(number, out);
  PutVarint(record.size(), out);
  PutBytes(record, out);
}

uint64_t CodeStatus(int32_t status) { return Zigzag(static_cast<uint64_t>(int64_t{status})); }
int32_t StatusOf(uint64_t coded) { return static_cast<int32_t>(Unzigzag(coded)); }

}  // namespace

void PutString(std::string_view text, Bytes* out) { PutText(text, out); }

void PutStackNode(StackId id, StackNode node, Bytes* out) {
  PutVarint(node.parent == 0 ? 0 : id - node.parent, out);
  PutVarint(node.frame, out);
}

void PutProcess(uint32_t number, const ProcessInfo& info, Bytes* out) {
  Bytes record;
  PutVarint(info.pid, &record);
  PutVarint(info.parent_pid, &record);
  PutVarint(info.start_ns, &record);
  PutVarint(info.end_ns, &record);
  PutVarint(CodeStatus(info.exit_status), &record);
  PutText(std::string_view(info.executable).substr(0, kMaxTextBytes), &record);
  PutText(std::string_view(info.command_line).substr(0, kMaxTextBytes), &record);
  PutRecord(number, record, out);
}

void PutThread(uint32_t number, const ThreadInfo& info, Bytes* out) {
  Bytes record;
  PutVarint(info.process, &record);
  PutVarint(info.os_thread, &record);
  PutText(std::string_view(info.name).substr(0, kMaxTextBytes), &record);
  PutRecord(number, record, out);
}

void PutMetadata(std::string_view key, std::string_view value, Bytes* out) {
  PutText(key.substr(0, kMaxTextBytes), out);
  PutText(value.substr(0, kMaxTextBytes), out);
}

void PutSourceFile(std::string_view path, std::string_view text, Bytes* out) {
  Bytes record;
  PutText(path.substr(0, kMaxTextBytes), &record);
  PutText(text.substr(0, kMaxTextBytes), &record);
  PutVarint(record.size(), out);
  PutBytes(record, out);
}

void PutProgram(uint32_t process, const ProgramText& program, Bytes* out) {
  Bytes record;
  PutVarint(program.step, &record);
  PutText(program.seal.substr(0, kMaxTextBytes), &record);
  PutText(program.text, &record);
  PutRecord(process, record, out);
}

void PutVariant(std::string_view key, ByteView trace, Bytes* out) {
  Bytes record;
  PutText(key.substr(0, kMaxTextBytes), &record);
  PutVarint(trace.size(), &record);
  PutBytes(MaskedTrace(trace), &record);
  PutVarint(record.size(), out);
  PutBytes(record, out);
}

Bytes MaskedTrace(ByteView trace) {
  constexpr std::byte kMask{0x5a};
  Bytes masked(trace.begin(), trace.end());
  for (std::byte& byte : masked) byte ^= kMask;
  return masked;
}

bool Definitions::Charge(uint64_t bytes) {
  if (bytes > memory_left_) return false;
  memory_left_ -= bytes;
  return true;
}

template <typename T>
T* Definitions::RecordAt(uint64_t number, std::vector<T>& records) {
  if (number >= kMaxRecords) return nullptr;
  const uint64_t wanted = number + 1;
  if (wanted > records.size()) {
    // While a vector grows, its old elements also take memory.
    if (!Charge((wanted - records.size()) * 2 * sizeof(T))) return nullptr;
    records.resize(static_cast<size_t>(wanted));
  }
  return &records[static_cast<size_t>(number)];
}

bool Definitions::Apply(BlockType type, uint32_t count, ByteView payload) {
  const ByteCursor cursor(payload);
  switch (type) {
    case BlockType::kStrings:
      return ApplyStrings(count, cursor);
    case BlockType::kStacks:
      return ApplyStacks(count, cursor);
    case BlockType::kProcesses:
      return ApplyProcesses(count, cursor);
    case BlockType::kThreads:
      return ApplyThreads(count, cursor);
    case BlockType::kMetadata:
      return ApplyMetadata(count, cursor);
    case BlockType::kSourceFiles:
      return ApplySourceFiles(count, cursor);
    case BlockType::kPrograms:
      return ApplyPrograms(count, cursor);
    case BlockType::kVariants:
      return ApplyVariants(count, cursor);
    default:
      return true;
  }
}

bool Definitions::ApplyStrings(uint32_t count, ByteCursor cursor) {
  const uint64_t first = cursor.Varint();
  std::vector<std::string_view> texts;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view text = cursor.Text();
    if (!cursor.ok() || !Charge(2 * sizeof(text))) break;
    texts.push_back(text);
  }
  strings_.AddRun(first, std::move(texts));
  return cursor.ok();
}

bool Definitions::ApplyStacks(uint32_t count, ByteCursor cursor) {
  const uint64_t first = cursor.Varint();
  std::vector<StackNode> nodes;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t id = first + i;
    const uint64_t distance = cursor.Varint();
    const StringId frame = static_cast<StringId>(cursor.Varint());
    if (!cursor.ok() || !Charge(2 * sizeof(StackNode))) break;
    const bool is_outermost = distance == 0 || distance > id;
    nodes.push_back({is_outermost ? 0 : static_cast<StackId>(id - distance), frame});
  }
  stacks_.AddRun(first, std::move(nodes));
  return cursor.ok();
}

bool Definitions::ApplyProcesses(uint32_t count, ByteCursor cursor) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t number = cursor.Varint();
    ByteCursor record(cursor.Take(cursor.Varint()));
    ProcessInfo info;
    info.pid = static_cast<uint32_t>(record.Varint());
    info.parent_pid = static_cast<uint32_t>(record.Varint());
    info.start_ns = record.Varint();
    info.end_ns = record.Varint();
    info.exit_status = StatusOf(record.Varint());
    info.executable = record.Text();
    info.command_line = record.Text();
    if (!record.ok() || !cursor.ok()) return false;
    ProcessInfo* place = RecordAt(number, processes_);
    if (place == nullptr || !Charge(info.executable.size() + info.command_line.size())) return false;
    *place = std::move(info);
  }
  return true;
}

bool Definitions::ApplyThreads(uint32_t count, ByteCursor cursor) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t number = cursor.Varint();
    ByteCursor record(cursor.Take(cursor.Varint()));
    ThreadInfo info;
    info.process = static_cast<uint32_t>(record.Varint());
    info.os_thread = static_cast<uint32_t>(record.Varint());
    info.name = record.Text();
    if (!record.ok() || !cursor.ok()) return false;
    ThreadInfo* place = RecordAt(number, threads_);
    if (place == nullptr || !Charge(info.name.size())) return false;
    *place = std::move(info);
  }
  return true;
}

bool Definitions::ApplyMetadata(uint32_t count, ByteCursor cursor) {
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view key = cursor.Text();
    const std::string_view value = cursor.Text();
    if (!cursor.ok() || !Charge(kMapEntryBytes + key.size() + value.size())) return false;
    metadata_.insert_or_assign(std::string(key), std::string(value));
  }
  return true;
}

bool Definitions::ApplySourceFiles(uint32_t count, ByteCursor cursor) {
  for (uint32_t i = 0; i < count; ++i) {
    ByteCursor record(cursor.Take(cursor.Varint()));
    const std::string_view path = record.Text();
    const std::string_view text = record.Text();
    if (!record.ok() || !cursor.ok()) return false;
    if (!Charge(kMapEntryBytes)) return false;
    source_files_.insert_or_assign(path, text);
  }
  return true;
}

bool Definitions::ApplyPrograms(uint32_t count, ByteCursor cursor) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t process = cursor.Varint();
    ByteCursor record(cursor.Take(cursor.Varint()));
    ProgramText program;
    program.step = record.Varint();
    program.seal = record.Text();
    program.text = record.Text();
    if (!record.ok() || !cursor.ok() || process >= kMaxRecords || !Charge(kMapEntryBytes)) return false;
    if (program.text.size() > kMaxProgramBytes) continue;
    programs_.insert_or_assign(static_cast<uint32_t>(process), program);
  }
  return true;
}

bool Definitions::ApplyVariants(uint32_t count, ByteCursor cursor) {
  for (uint32_t i = 0; i < count; ++i) {
    ByteCursor record(cursor.Take(cursor.Varint()));
    const std::string_view key = record.Text();
    const ByteView trace = record.Take(record.Varint());
    if (!record.ok() || !cursor.ok() || !Charge(kMapEntryBytes)) return false;
    if (trace.size() > kMaxVariantBytes) continue;
    variants_.insert_or_assign(key, trace);
  }
  return true;
}

std::vector<StringId> Definitions::Stack(StackId id) const {
  std::vector<StringId> frames;
  while (id != 0 && frames.size() < kMaxStackDepth) {
    const StackNode node = stacks_.At(id);
    if (node.frame == 0 && node.parent == 0) break;  // not defined
    frames.push_back(node.frame);
    id = node.parent;
  }
  std::ranges::reverse(frames);
  return frames;
}

}  // namespace vramscope::trace
