// SPDX-License-Identifier: Apache-2.0
// Ids for the texts and stacks of this process, defined in the trace before they are used.
//
// The tables are bounded and live in memory of their own (mmap), so that the program's heap is the same as
// without us. A forked child inherits the texts by copy-on-write and continues the ids
// (RingFileHeader::first_own_string). It defines its stacks anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/raw_record.h"

namespace vramscope::injector {

inline constexpr uint32_t kMostStrings = 1 << 18;
inline constexpr size_t kMostStringBytes = 32 << 20;
inline constexpr uint32_t kMostStacks = 1 << 18;
inline constexpr size_t kMostFrames = 4 << 20;  // of all stacks together

// The id of a text; equal texts get the same id. Longer texts are truncated to kRawMaxStringBytes. 0 if not
// recording or if the definition could not be recorded. When the table is full, all new texts get the id of
// "(more names than vramscope keeps)". Takes a lock.
uint32_t InternString(const char* text, size_t length);
uint32_t InternString(const char* text);

// Like InternString, for a stack: string ids, outermost frame first. Deeper stacks keep the innermost
// kRawMaxFrames frames. 0 also if the table is full.
uint32_t InternStack(const uint32_t* frames, size_t count);

// The ids that will be given next.
uint32_t NextStringId();
uint32_t NextStackId();

// Defines all texts of this process again, under their existing ids, in a session that has just begun.
// Forgets the stacks. Call between LockNames and UnlockNames.
void DefineNamesAgain();

// For fork: no thread is inside the tables between the two calls.
void LockNames();
void UnlockNames();
// Unlocks the tables in a child made without fork handlers.
void ResetNamesLock();
// Call in any forked child: it defines its own stacks.
void ForgetStacks();

}  // namespace vramscope::injector
