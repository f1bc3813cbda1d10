// SPDX-License-Identifier: Apache-2.0
// Ids for the texts and stacks of this process, defined in the trace before use.
//
// The tables are bounded and live outside the program's heap (mmap). A forked child inherits the texts and
// continues their ids (RingFileHeader::first_own_string). The child defines its stacks anew.
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
// recorded. When the table is full: the id of "(more names than vramscope keeps)". Takes a lock.
uint32_t InternString(const char* text, size_t length);
uint32_t InternString(const char* text);

// Like InternString, for a stack: string ids, outermost frame first. Keeps the innermost kRawMaxFrames
// frames. 0 if the table is full.
uint32_t InternStack(const uint32_t* frames, size_t count);

// The ids that the next new text and the next new stack will get.
uint32_t NextStringId();
uint32_t NextStackId();

// Defines all texts again, under the same ids, in a new session. Forgets the stacks. Call between LockNames
// and UnlockNames.
void DefineNamesAgain();

// For fork: between the two calls, no thread is inside the tables.
void LockNames();
void UnlockNames();
// Unlocks in a child made without fork handlers.
void ResetNamesLock();
// Call in any forked child.
void ForgetStacks();

}  // namespace vramscope::injector
