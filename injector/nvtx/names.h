// SPDX-License-Identifier: Apache-2.0
// Converts texts of NVTX calls to string ids of the trace. Only the first use of a text takes a lock.
//
// Why not InternString alone: it takes a lock that all threads share, and programs put a range around every
// operator of a step. Here a text is found by its hash in a table that only grows. Entries are compared
// whole, so equal hashes do no harm. At most kMostNames texts or 8 MiB are kept: a program that writes
// numbers into its names must not use up all ids. Further texts get the id of "(more NVTX names than
// vramscope keeps)".
//
// Ids stay valid in a forked child, which inherits the texts (intern.h).
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

// Returns the entry of a text, and adds it at the first use. nullptr if this process is not recorded. Any
// thread; not from signal handlers.
const Name* FindName(const char* text, size_t length);

// True for the domain in which XLA, in JAX and TensorFlow, marks each operator of a compiled program and each
// pass of its compiler. These thousands of names are not recorded: they would hide the program's own.
bool IsOfXla(Domain domain);

// The text of a message; "" if it has none or an unreadable one. nullptr if IsOfXla(domain). In a domain other than the default one it is
// "domain:text", as in Nsight Systems.
const Name* NameOf(Domain domain, int32_t type, const Message& message);
const Name* NameOf(Domain domain, const char* text);
const Name* NameOf(Domain domain, const wchar_t* text);
// "text = number": for payloads that are not whole numbers.
const Name* NameWithReal(const Name& name, double number);

// Stores what a handle of the program stands for: a `const Name*` for domains, registered strings and heaps,
// an address for regions. At most kMostHandles handles are kept. 0 = not known.
inline constexpr size_t kMostHandles = 1 << 15;
void RememberHandle(Handle handle, uint64_t meaning);
uint64_t MeaningOf(Handle handle);

}  // namespace vramscope::injector::nvtx
