// SPDX-License-Identifier: Apache-2.0
// The table of levers. A lever is an option of `whatif`, `try` or `plan` that changes the program. The help
// texts, `try`, `plan` and the viewer use this table.
//
// Three kinds of answers to "what if":
//   transform   Lifetimes of blocks are moved or removed, then replayed through the allocator model. The
//               answer is immediate and needs only the trace.
//   allocator   The same blocks are replayed with other allocator settings. The answer is immediate and exact
//               for the whole run.
//   re-run      PyTorch runs the recorded program again with the change. The answer takes seconds, or is
//               immediate if the re-run is stored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vramscope::whatif {

enum class AnsweredBy : uint8_t { kTransform, kAllocator, kRerun };

struct LeverInfo {
  const char* name;     // "batch": the option without dashes
  const char* values;   // "N | FACTORx"
  const char* option;   // placeholder of the value in --help: "N|FACTORx"
  const char* help;     // text of the option in --help, with line breaks
  const char* summary;  // one phrase for lists and for the viewer
  const char* facts;    // facts that the recording must have
  AnsweredBy kind;      // how most values of the lever are answered
  bool tried;           // `vramscope try` can apply at least some values
  const char* by_hand;  // why `try` cannot apply the other values; "" = applies all
  // Values that are not answered as `kind` says: by a re-run instead of a transformation, or the reverse. The
  // text has patterns separated by spaces, with "*" at the beginning or end: "tp:* pp:*". "" = no such
  // values.
  const char* other_way = "";
  // The name of another lever, normally a transformation, that this lever's re-run also answers if both are
  // requested. "" = no such lever. Example: lora and freeze have "checkpoint", because only PyTorch knows
  // which tensors still require gradients.
  const char* with = "";
};

// All levers in the order in which they are applied: first changes of operators, then of sizes, then
// repetitions of operators.
[[nodiscard]] std::span<const LeverInfo> LeverTable();

// Returns the row of a lever, or nullptr if there is no such lever.
[[nodiscard]] const LeverInfo* FindLeverInfo(std::string_view name);

// Returns how a value is answered: "shard" with "fsdp:8" is a transformation, "shard" with "tp:8" is a
// re-run. For unknown levers returns kTransform; the transformation then refuses the lever.
[[nodiscard]] AnsweredBy AnsweredHow(std::string_view lever, std::string_view value);

// Returns a sentence that explains why only a re-run answers this value, and what the user can do instead.
[[nodiscard]] std::string WhyRerun(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
