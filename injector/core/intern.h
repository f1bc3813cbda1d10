// SPDX-License-Identifier: Apache-2.0
// Ids for the texts and stacks of this process, defined in the trace before they are used.
//
// The tables live in memory of their own (mmap), so that the program's heap is as it would be without us, and
// are bounded. A forked child inherits the texts by copy-on-write and goes on counting
// (RingFileHeader::first_own_string); its stacks it defines anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/raw_record.h"

namespace vramscope::injector {

inline constexpr uint32_t kMostStrings = 1 << 18;
inline constexpr size_t kMostStringBytes = 32 << 20;
inline constexpr uint32_t kMostStacks = 1 << 18;
inline constexpr size_t kMostFrames = 4 << 20;  // of all stacks together

// The id of a text, the same for the same text; longer ones are cut at kRawMaxStringBytes. 0 when not
// recording or when the definition could not be recorded. When the table is full, new texts all get the id of
// "(more names than vramscope keeps)". Takes a lock.
uint32_t InternString(const char* text, size_t length);
uint32_t InternString(const char* text);

// The same for a stack: string ids, outermost frame first; deeper ones keep the innermost kRawMaxFrames. 0
// also when the table is full.
uint32_t InternStack(const uint32_t* frames, size_t count);

// The ids that will be given next.
uint32_t NextStringId();
uint32_t NextStackId();

// Defines all texts of this process once more, under the ids that they have, in a session that has just
// begun; stacks it forgets. Between LockNames and UnlockNames.
void DefineNamesAgain();

// For fork: nobody is inside the tables between the two calls.
void LockNames();
void UnlockNames();
// In a child made without fork handlers.
void ResetNamesLock();
// In any forked child: its stacks are not those of its parent.
void ForgetStacks();

}  // namespace vramscope::injector
