// SPDX-License-Identifier: Apache-2.0
// Definition blocks: the meaning of ids and numbers in events. Each definition comes before the first event
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
// text = varint length, bytes. `length` counts the bytes of the record after it. Readers skip what a newer
// writer appended. The block header's count is the number of records.
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
  uint64_t end_ns = 0;       // 0 = not known to have ended
  int32_t exit_status = -1;  // as waitpid gives it; -1 = unknown
  std::string executable;
  std::string command_line;
};

struct ThreadInfo {
  uint32_t process = 0;  // index into the trace's processes
  uint32_t os_thread = 0;
  std::string name;
};

// Whole source files, by the paths in the frames.
using SourceFiles = std::map<std::string_view, std::string_view>;

// The program of one training step, for re-runs (docs/trace-format.md, "Programs and variants").
struct ProgramText {
  uint64_t step = 0;  // the step of this program, from 1; 0 = unknown
  // the seal of the recording user account (profiler/collector/output/seal.h); may be empty
  std::string_view seal;
  std::string_view text;  // JSON
};
// By number of the process.
using Programs = std::map<uint32_t, ProgramText>;
// Whole small traces of re-runs, masked, by the change that was tried.
using Variants = std::map<std::string_view, ByteView>;
// Masks a trace, or removes the mask. A search for block headers in a damaged file must not find those of an
// embedded trace.
Bytes MaskedTrace(ByteView trace);

// Neither writers nor readers accept more than this.
inline constexpr size_t kMaxProgramBytes = 8 << 20;
inline constexpr size_t kMaxVariantBytes = 16 << 20;

using Metadata = std::map<std::string, std::string, std::less<>>;

// Each appends one definition to the payload of a block.
void PutString(std::string_view text, Bytes* out);
void PutStackNode(StackId id, StackNode node, Bytes* out);
void PutProcess(uint32_t number, const ProcessInfo& info, Bytes* out);
void PutThread(uint32_t number, const ThreadInfo& info, Bytes* out);
void PutMetadata(std::string_view key, std::string_view value, Bytes* out);
void PutSourceFile(std::string_view path, std::string_view text, Bytes* out);
void PutProgram(uint32_t process, const ProgramText& program, Bytes* out);
// Takes `trace` without the mask.
void PutVariant(std::string_view key, ByteView trace, Bytes* out);

// The definitions that a reader has read so far.
class Definitions {
 public:
  // A file's definitions may take 32 MiB plus twice the file's size in memory. Definitions beyond the limit
  // read as unknown.
  explicit Definitions(uint64_t file_bytes) : memory_left_(kFirstMemory + kMemoryPerFileByte * file_bytes) {}

  // Call before allocating `bytes` for definitions. False beyond the limit.
  [[nodiscard]] bool Charge(uint64_t bytes);

  // Reads a definition block. False if its payload is malformed. Definitions before the fault are kept.
  // Strings, source files, programs and variants are views into `payload`, which must outlive their use.
  [[nodiscard]] bool Apply(BlockType type, uint32_t count, ByteView payload);

  std::string_view String(StringId id) const { return strings_.At(id); }
  // The frames of a stack, outermost first.
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

  // Element `number` of `records`, which grows to hold it; nullptr if over the limit.
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
