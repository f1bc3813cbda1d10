// SPDX-License-Identifier: Apache-2.0
// The definition blocks of a trace. They define the ids and numbers that events contain: strings, stacks,
// processes, threads, and data of the whole trace. Each definition is in the file before the first event
// block that uses it.
//
//   strings    varint first id, then texts; their ids count up from the first
//   stacks     varint first id, then nodes: varint (id - parent), or 0 when outermost
//                                           │ varint frame (string id)
//   processes  varint number │ varint length │ varint pid │ varint parent pid │ varint start │ varint end
//                            │ varint zigzag(exit status) │ text executable │ text command line
//   threads    varint number │ varint length │ varint process │ varint os thread │ text name
//   metadata   text key │ text value; a later value replaces an earlier one
//   source     varint length │ text path │ text content; a later one with the same path replaces the earlier
//   files
//   programs   varint number of the process │ varint length │ varint step │ text seal │ text program
//   variants   varint length │ text key │ text trace, masked; a later one with the same key replaces the
//              earlier
//
// "text" is a varint length followed by the bytes. "varint length" of a record is the number of the record's
// bytes that follow. A newer writer may append fields to a record; older readers skip them. The count in the
// block header is the number of records.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/interner.h"
#include "trace_format/sparse_table.h"
#include "trace_format/wire.h"

namespace vramscope::trace {

struct ProcessInfo {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;       // 0 = the process has not ended, or its end is unknown
  int32_t exit_status = -1;  // wait status of waitpid; -1 = unknown
  std::string executable;
  std::string command_line;
};

struct ThreadInfo {
  uint32_t process = 0;  // index into the trace's processes
  uint32_t os_thread = 0;
  std::string name;
};

// Whole source files: path in a frame -> content.
using SourceFiles = std::map<std::string_view, std::string_view>;

// The program of one training step, for re-runs (docs/trace-format.md, "Programs and variants").
struct ProgramText {
  uint64_t step = 0;  // number of the recorded step, 1 = first; 0 = unknown
  // The seal of the user account that made the recording (profiler/collector/output/seal.h); may be empty.
  std::string_view seal;
  std::string_view text;  // JSON
};
// Number of the process -> its program.
using Programs = std::map<uint32_t, ProgramText>;
// Key with the changes of a re-run -> the whole trace of the re-run, masked.
using Variants = std::map<std::string_view, ByteView>;
// Masks a trace, or removes the mask. Without the mask, a search for block headers in a damaged file would
// find the headers of an embedded trace.
Bytes MaskedTrace(ByteView trace);

// The largest program and the largest variant that writers and readers accept.
inline constexpr size_t kMaxProgramBytes = 8 << 20;
inline constexpr size_t kMaxVariantBytes = 16 << 20;

using Metadata = std::map<std::string, std::string, std::less<>>;

// Each function appends one definition to the payload of a block.
void PutString(std::string_view text, Bytes* out);
void PutStackNode(StackId id, StackNode node, Bytes* out);
void PutProcess(uint32_t number, const ProcessInfo& info, Bytes* out);
void PutThread(uint32_t number, const ThreadInfo& info, Bytes* out);
void PutMetadata(std::string_view key, std::string_view value, Bytes* out);
void PutSourceFile(std::string_view path, std::string_view text, Bytes* out);
void PutProgram(uint32_t process, const ProgramText& program, Bytes* out);
// `trace`: without the mask; PutVariant adds the mask.
void PutVariant(std::string_view key, ByteView trace, Bytes* out);

// The definitions that a reader has read so far.
class Definitions {
 public:
  // Limits the memory of a file's definitions to 32 MiB plus twice the file's size. Definitions that exceed
  // the limit are treated as unknown.
  explicit Definitions(uint64_t file_bytes) : memory_left_(kFirstMemory + kMemoryPerFileByte * file_bytes) {}

  // Call before allocating `bytes` for definitions. False if the memory would exceed the limit.
  [[nodiscard]] bool Charge(uint64_t bytes);

  // Reads a definition block. False if its payload is malformed; the definitions before the error are kept.
  // Strings, source files, programs and variants are views into `payload`. Therefore `payload` must outlive
  // this object.
  [[nodiscard]] bool Apply(BlockType type, uint32_t count, ByteView payload);

  std::string_view String(StringId id) const { return strings_.At(id); }
  // Returns the frames of a stack, outermost first.
  std::vector<StringId> Stack(StackId id) const;
  const std::vector<ProcessInfo>& processes() const { return processes_; }
  const std::vector<ThreadInfo>& threads() const { return threads_; }
  const Metadata& metadata() const { return metadata_; }
  const SourceFiles& source_files() const { return source_files_; }
  const Programs& programs() const { return programs_; }
  const Variants& variants() const { return variants_; }

 private:
  bool ApplyStrings(uint32_t count, ByteCursor cursor);
  bool ApplyStacks(uint32_t count, ByteCursor cursor);
  bool ApplyProcesses(uint32_t count, ByteCursor cursor);
  bool ApplyThreads(uint32_t count, ByteCursor cursor);
  bool ApplyMetadata(uint32_t count, ByteCursor cursor);
  bool ApplySourceFiles(uint32_t count, ByteCursor cursor);
  bool ApplyPrograms(uint32_t count, ByteCursor cursor);
  bool ApplyVariants(uint32_t count, ByteCursor cursor);

  static constexpr uint64_t kFirstMemory = uint64_t{32} << 20;
  static constexpr uint64_t kMemoryPerFileByte = 2;

  // Returns element `number` of `records`, which grows if necessary; nullptr if the memory would exceed the
  // limit.
  template <typename T>
  T* RecordAt(uint64_t number, std::vector<T>& records);

  uint64_t memory_left_;
  SparseTable<std::string_view> strings_;
  SparseTable<StackNode> stacks_;
  std::vector<ProcessInfo> processes_;
  std::vector<ThreadInfo> threads_;
  Metadata metadata_;
  SourceFiles source_files_;
  Programs programs_;
  Variants variants_;
};

}  // namespace vramscope::trace
