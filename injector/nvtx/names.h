// SPDX-License-Identifier: Apache-2.0
// Converts texts of NVTX calls to string ids of the trace. Only a text's first use takes a lock: programs put
// a range around every operator.
//
// At most kMostNames texts or 8 MiB are kept. Others get the id of "(more NVTX names than vramscope keeps)".
//
// A forked child inherits the ids (intern.h).
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

// The entry of a text, added at first use. nullptr if not recorded. Any thread; not from signal handlers.
const Name* FindName(const char* text, size_t length);

// True for the domain of XLA, which marks each operator of a compiled program and each pass of its compiler.
// These thousands of names are not recorded: they would hide the program's own.
bool IsOfXla(Domain domain);

// The text of a message; "" if it has none or it is unreadable; nullptr if IsOfXla(domain). Outside the default
// domain: "domain:text", as in Nsight Systems.
const Name* NameOf(Domain domain, int32_t type, const Message& message);
const Name* NameOf(Domain domain, const char* text);
const Name* NameOf(Domain domain, const wchar_t* text);
// "text = number": for payloads that are not whole.
const Name* NameWithReal(const Name& name, double number);

// The meaning of a program's handle: a `const Name*` for domains, registered strings and heaps, an address
// for regions. At most kMostHandles. 0 = not known.
inline constexpr size_t kMostHandles = 1 << 15;
void RememberHandle(Handle handle, uint64_t meaning);
uint64_t MeaningOf(Handle handle);

}  // namespace vramscope::injector::nvtx
