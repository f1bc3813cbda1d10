// SPDX-License-Identifier: Apache-2.0
// Assigns ids to the texts and stacks of this process. The trace defines each id before the first event that
// uses the id.
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
inline constexpr size_t kMostFrames = 4 << 20;  // sum over all stacks

// Returns the id of a text. Equal texts get the same id. Texts longer than kRawMaxStringBytes are truncated.
// Returns 0 if this process is not recorded. If the table is full, returns the id of "(more names than
// vramscope keeps)". Takes a lock.
uint32_t InternString(const char* text, size_t length);
uint32_t InternString(const char* text);

// Returns the id of a stack. `frames` are string ids, outermost frame first. Only the innermost kRawMaxFrames
// frames are kept. Returns 0 if the table is full or this process is not recorded.
uint32_t InternStack(const uint32_t* frames, size_t count);

// Return the ids that the next new text and the next new stack will get.
uint32_t NextStringId();
uint32_t NextStackId();

// Defines all texts again in a new session, under the same ids. Forgets all stacks. Call between LockNames()
// and UnlockNames().
void DefineNamesAgain();

// Call LockNames() before fork() and UnlockNames() after fork(). Between the two calls, no other thread uses
// the tables.
void LockNames();
void UnlockNames();
// Releases the lock in a child process that was created without fork handlers.
void ResetNamesLock();
// Call in every forked child process, because the child defines its stacks anew.
void ForgetStacks();

}  // namespace vramscope::injector
