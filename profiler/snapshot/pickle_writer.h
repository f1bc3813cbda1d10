// SPDX-License-Identifier: Apache-2.0
// Writes plain data as a pickle (protocol 4). Uses only opcodes that PyTorch's browser viewer for snapshots
// understands.
//
// Equal strings are written once (memo).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

class PickleWriter {
 public:
  using MemoId = uint32_t;

  explicit PickleWriter(trace::ByteSink* sink);

  void Number(uint64_t number);
  void Signed(int64_t number);
  void Double(double number);
  void Bool(bool value);
  void None() { Byte('N'); }
  void Text(std::string_view text);
  // To write a dict, call BeginDict, then write keys and values in turn, then call EndDict. To write a list,
  // call BeginList, write the elements, and call EndList.
  void BeginDict();
  void EndDict() { Byte('u'); }
  MemoId BeginList();  // the id is an argument of Again()
  void EndList() { Byte('e'); }
  // Ends a batch of list elements. Call it after every thousand elements, because readers keep a whole batch
  // on their stack.
  void NextBatch();
  void Pair(uint64_t first, uint64_t second);
  // Remember() returns an id of the value that was written last. Again(id) writes this value again.
  MemoId Remember();
  void Again(MemoId id);

  // Ends the pickle. Returns the first error of the sink, if any.
  [[nodiscard]] Status Finish();

 private:
  void Byte(uint8_t byte) { buffer_.push_back(static_cast<char>(byte)); }
  void Little(uint64_t number, size_t bytes);
  void Send();

  trace::ByteSink& sink_;
  std::string buffer_;
  Status status_;
  MemoId next_ = 0;
  std::unordered_map<std::string, MemoId> texts_;
};

}  // namespace vramscope::snapshot
