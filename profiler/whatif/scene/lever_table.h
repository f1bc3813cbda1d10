// SPDX-License-Identifier: Apache-2.0
// The table of levers, one row each. Help, lists, refusals, `try`, `plan` and the viewer are built from it.
//
// Three kinds of answers to "what if":
//   transform   lives of blocks are moved or removed, and replayed through the allocator model: at once, from
//               any trace
//   allocator   the same blocks under other settings of the allocator: at once, exact on the whole run
//   re-run      PyTorch runs the recorded program again under the change: seconds, or at once if kept
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
  const char* option;   // the placeholder of its value in --help: "N|FACTORx"
  const char* help;     // the text of the option in --help, with line breaks
  const char* summary;  // one phrase for lists and for the viewer
  const char* facts;    // facts that the recording must have
  AnsweredBy kind;      // how most of its values are answered
  bool tried;           // `vramscope try` can apply it, or some of its values
  const char* by_hand;  // why `try` leaves (the rest of) it to the user; "" = it does not
  // Values that are answered the other way: by a re-run instead of a transformation, or the reverse. Patterns
  // separated by spaces, with "*" at the beginning or end: "tp:* pp:*". "" = none.
  const char* other_way = "";
  // A transformation that moves to this lever's re-run if both are requested. "" = none. "checkpoint" for
  // lora and freeze: only PyTorch knows what still requires gradients.
  const char* with = "";
};

// All levers in the order in which they are applied: first changes of operators, then of sizes, then
// repetitions of operators.
[[nodiscard]] std::span<const LeverInfo> LeverTable();

// nullptr if there is no such lever.
[[nodiscard]] const LeverInfo* FindLeverInfo(std::string_view name);

// How a value is answered: "shard" with "fsdp:8" is a transformation, with "tp:8" a re-run. Unknown levers
// count as transformations, which refuse them.
[[nodiscard]] AnsweredBy AnsweredHow(std::string_view lever, std::string_view value);

// One sentence: why only a re-run answers this value, and what to do instead.
[[nodiscard]] std::string WhyRerun(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
