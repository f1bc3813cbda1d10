// SPDX-License-Identifier: Apache-2.0
#include "trace_format/pending_definitions.h"

#include <algorithm>

namespace vramscope::trace {
namespace {

// A block of definitions ends after this many bytes: far below the format's limit, even with one more text of
// full length.
constexpr size_t kFullPayload = 4u << 20;
constexpr uint32_t kMaxDefinitionsPerBlock = 1u << 18;

bool HasRoom(const Bytes& payload, uint32_t count) {
  return payload.size() < kFullPayload && count < kMaxDefinitionsPerBlock;
}

// Writes the pending entries as blocks, each entry through `put`. Written entries are no longer pending.
template <class Pending, class Put>
Status WritePending(Pending& pending, BlockWriter* blocks, BlockHeader header, Put put) {
  while (!pending.empty()) {
    Bytes payload;
    header.count = 0;
    auto next = pending.begin();
    for (; next != pending.end() && HasRoom(payload, header.count); ++next, ++header.count)
      put(*next, &payload);
    VRAMSCOPE_TRY(blocks->Write(header, payload));
    pending.erase(pending.begin(), next);
  }
  return {};
}

}  // namespace

uint32_t PendingDefinitions::AddProcess(const ProcessInfo& info) {
  processes_.push_back(info);
  const uint32_t number = static_cast<uint32_t>(processes_.size() - 1);
  changed_processes_.insert(number);
  return number;
}

void PendingDefinitions::UpdateProcess(uint32_t process, const ProcessInfo& info) {
  if (process >= processes_.size()) return;
  processes_[process] = info;
  changed_processes_.insert(process);
}

uint32_t PendingDefinitions::AddThread(const ThreadInfo& info) {
  threads_.push_back(info);
  return static_cast<uint32_t>(threads_.size() - 1);
}

void PendingDefinitions::SetMetadata(std::string_view key, std::string_view value) {
  const auto known = metadata_.find(key);
  if (known != metadata_.end() && known->second == value) return;
  metadata_.insert_or_assign(std::string(key), std::string(value));
  changed_keys_.emplace(key);
}

void PendingDefinitions::AddSourceFile(std::string_view path, std::string_view text) {
  source_files_.insert_or_assign(std::string(path), std::string(text));
  unwritten_sources_.emplace(path);
}

void PendingDefinitions::AddProgram(uint32_t process, const ProgramText& program) {
  if (program.text.size() > kMaxProgramBytes) return;
  programs_.insert_or_assign(
      process, OwnedProgram{program.step, std::string(program.seal), std::string(program.text)});
  unwritten_programs_.insert(process);
}

void PendingDefinitions::CopyFrom(const PendingDefinitions& other) {
  for (StringId id = 1; id <= other.strings.count(); ++id) strings.Intern(other.strings.at(id));
  for (StackId id = 1; id <= other.stacks.count(); ++id) stacks.Intern(other.stacks.at(id));
  for (const ProcessInfo& process : other.processes_) AddProcess(process);
  for (const ThreadInfo& thread : other.threads_) AddThread(thread);
  for (const auto& [key, value] : other.metadata_) SetMetadata(key, value);
  for (const auto& [path, text] : other.source_files_) AddSourceFile(path, text);
  for (const auto& [process, program] : other.programs_)
    AddProgram(process, {program.step, program.seal, program.text});
}

Status PendingDefinitions::Write(BlockWriter* blocks, const BlockHeader& position) {
  using Step = Status (PendingDefinitions::*)(BlockWriter*, BlockHeader);
  for (const Step step : {&PendingDefinitions::WriteMetadata, &PendingDefinitions::WriteProcesses,
                          &PendingDefinitions::WriteThreads, &PendingDefinitions::WriteStrings,
                          &PendingDefinitions::WriteStacks, &PendingDefinitions::WriteSourceFiles,
                          &PendingDefinitions::WritePrograms}) {
    VRAMSCOPE_TRY((this->*step)(blocks, position));
  }
  return {};
}

Status PendingDefinitions::WriteStrings(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kStrings;
  while (strings_written_ < strings.count()) {
    Bytes payload;
    PutVarint(strings_written_ + 1, &payload);
    header.count = 0;
    while (strings_written_ + header.count < strings.count() && HasRoom(payload, header.count)) {
      PutString(strings.at(strings_written_ + ++header.count), &payload);
    }
    VRAMSCOPE_TRY(blocks->Write(header, payload));
    strings_written_ += header.count;
  }
  return {};
}

Status PendingDefinitions::WriteStacks(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kStacks;
  while (stacks_written_ < stacks.count()) {
    Bytes payload;
    PutVarint(stacks_written_ + 1, &payload);
    header.count = 0;
    while (stacks_written_ + header.count < stacks.count() && HasRoom(payload, header.count)) {
      const StackId id = stacks_written_ + ++header.count;
      PutStackNode(id, stacks.at(id), &payload);
    }
    VRAMSCOPE_TRY(blocks->Write(header, payload));
    stacks_written_ += header.count;
  }
  return {};
}

Status PendingDefinitions::WriteProcesses(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kProcesses;
  return WritePending(changed_processes_, blocks, header, [&](uint32_t number, Bytes* payload) {
    PutProcess(number, processes_[number], payload);
  });
}

Status PendingDefinitions::WriteThreads(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kThreads;
  while (threads_written_ < threads_.size()) {
    Bytes payload;
    header.count = 0;
    while (threads_written_ + header.count < threads_.size() && HasRoom(payload, header.count)) {
      const uint32_t number = threads_written_ + header.count++;
      PutThread(number, threads_[number], &payload);
    }
    VRAMSCOPE_TRY(blocks->Write(header, payload));
    threads_written_ += header.count;
  }
  return {};
}

Status PendingDefinitions::WriteMetadata(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kMetadata;
  return WritePending(changed_keys_, blocks, header, [&](const std::string& key, Bytes* payload) {
    PutMetadata(key, metadata_.find(key)->second, payload);
  });
}

Status PendingDefinitions::WriteSourceFiles(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kSourceFiles;
  return WritePending(unwritten_sources_, blocks, header, [&](const std::string& path, Bytes* payload) {
    PutSourceFile(path, source_files_.find(path)->second, payload);
  });
}

Status PendingDefinitions::WritePrograms(BlockWriter* blocks, BlockHeader header) {
  header.type = BlockType::kPrograms;
  return WritePending(unwritten_programs_, blocks, header, [&](uint32_t process, Bytes* payload) {
    const OwnedProgram& program = programs_.find(process)->second;
    PutProgram(process, {program.step, program.seal, program.text}, payload);
  });
}

}  // namespace vramscope::trace
