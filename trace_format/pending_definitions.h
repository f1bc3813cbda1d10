// SPDX-License-Identifier: Apache-2.0
// The definitions (strings, stacks, processes, threads, ...) of a trace that is being written. Remembers
// which definitions are not yet in the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/block_writer.h"
#include "trace_format/definitions.h"
#include "trace_format/interner.h"

namespace vramscope::trace {

class PendingDefinitions {
 public:
  StringInterner strings;
  StackInterner stacks;

  uint32_t AddProcess(const ProcessInfo& info);
  void UpdateProcess(uint32_t process, const ProcessInfo& info);
  uint32_t AddThread(const ThreadInfo& info);
  void SetMetadata(std::string_view key, std::string_view value);
  void AddSourceFile(std::string_view path, std::string_view text);
  // Does nothing if the program is larger than readers accept.
  void AddProgram(uint32_t process, const ProgramText& program);

  // Returns the process of a thread; 0 for unknown threads.
  uint32_t ProcessOf(uint32_t thread) const {
    return thread < threads_.size() ? threads_[thread].process : 0;
  }

  // Copies the definitions of `other` with the same ids. They count as not yet written. Call before anything
  // is defined in this object.
  void CopyFrom(const PendingDefinitions& other);

  // Writes all definitions that are new since the last successful call. `position`: a header with times and
  // counts. After a failure, the definitions are written by the next call.
  Status Write(BlockWriter* blocks, const BlockHeader& position);

 private:
  Status WriteStrings(BlockWriter* blocks, BlockHeader header);
  Status WriteStacks(BlockWriter* blocks, BlockHeader header);
  Status WriteProcesses(BlockWriter* blocks, BlockHeader header);
  Status WriteThreads(BlockWriter* blocks, BlockHeader header);
  Status WriteMetadata(BlockWriter* blocks, BlockHeader header);
  Status WriteSourceFiles(BlockWriter* blocks, BlockHeader header);
  Status WritePrograms(BlockWriter* blocks, BlockHeader header);

  uint32_t strings_written_ = 0;
  uint32_t stacks_written_ = 0;
  uint32_t threads_written_ = 0;
  std::vector<ProcessInfo> processes_;
  std::vector<ThreadInfo> threads_;
  Metadata metadata_;
  std::map<std::string, std::string, std::less<>> source_files_;
  std::set<std::string, std::less<>> unwritten_sources_;
  struct OwnedProgram {
    uint64_t step = 0;
    std::string seal;
    std::string text;
  };
  std::map<uint32_t, OwnedProgram> programs_;
  std::set<uint32_t> unwritten_programs_;
  std::set<uint32_t> changed_processes_;
  std::set<std::string, std::less<>> changed_keys_;
};

}  // namespace vramscope::trace
