// SPDX-License-Identifier: Apache-2.0
// Converts texts of NVTX calls to string ids of the trace. Only the first use of a text takes a lock, because
// programs put a range around every operator.
//
// At most kMostNames texts with together 8 MiB are stored. Further texts get the id of "(more NVTX names than
// vramscope keeps)".
//
// A forked child process inherits the ids (intern.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

inline constexpr size_t kMostNames = 1 << 15;
inline constexpr size_t kLongestName = 1000;  // bytes; longer names are truncated

struct Name {
  uint32_t id;  // from InternString
  uint32_t length;
  char text[];
};

// Returns the stored entry of a text, and adds the text at its first use. Returns nullptr if nothing is being
// recorded. Any thread may call this, but not a signal handler.
const Name* FindName(const char* text, size_t length);

// True for XLA's domain. XLA marks each operator of a compiled program and each pass of its compiler. These
// thousands of names are not recorded, because they would hide the names of the program.
bool IsOfXla(Domain domain);

// Returns the entry for the text of a message. The text is "" if the message has none. Outside the default
// domain, the text is "domain:text", as in Nsight Systems. Returns nullptr if IsOfXla(domain).
const Name* NameOf(Domain domain, int32_t type, const Message& message);
const Name* NameOf(Domain domain, const char* text);
const Name* NameOf(Domain domain, const wchar_t* text);
// Returns the entry for "text = number", for a payload that is a floating-point number.
const Name* NameWithReal(const Name& name, double number);

// The meaning of a handle that a program uses: a `const Name*` for domains, registered strings and heaps; an
// address for regions. At most kMostHandles are stored. MeaningOf returns 0 for other handles.
inline constexpr size_t kMostHandles = 1 << 15;
void RememberHandle(Handle handle, uint64_t meaning);
uint64_t MeaningOf(Handle handle);

}  // namespace vramscope::injector::nvtx
