// SPDX-License-Identifier: Apache-2.0
// Writes pickles of plain data, protocol 4, with the few opcodes that PyTorch's own viewer in the browser
// understands.
//
// Strings go through a memo: the same text is written once.
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
  // {, then keys and values in turn, then EndDict. Lists likewise; they may be split with NextBatch.
  void BeginDict();
  void EndDict() { Byte('u'); }
  MemoId BeginList();  // for Again
  void EndList() { Byte('e'); }
  // A thousand elements at most between Begin and End, as Python does it: readers keep a batch on a stack.
  void NextBatch();
  void Pair(uint64_t first, uint64_t second);
  // The thing just written, to be referred to later.
  MemoId Remember();
  void Again(MemoId id);

  // Ends the pickle. The first error of the sink, if there was one.
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
