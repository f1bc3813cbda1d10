// SPDX-License-Identifier: Apache-2.0
// Functions that name, create, size and map the ring file: the file in the session folder with the rings of
// one process. They have no state of their own.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <cstdint>

#include "injector/core/options.h"
#include "trace_format/ring.h"

namespace vramscope::injector {

inline constexpr size_t kPathBytes = sizeof(Options::session) + 64;

// Writes "<session>/<own pid>.<image>.ring" to `path`. `image` distinguishes the files of one pid.
void WritePath(char (&path)[kPathBytes], uint32_t image);
// Creates and opens the file with the first unused `image` number, and stores this number. Returns the
// descriptor, or -1 on failure.
int CreateFile(uint32_t& image);
void RemoveFile(uint32_t image);

// Returns the data bytes of one ring: the option ring_bytes. Without that option, at most 1/16 of the
// session's room (the bytes that all rings of the session may still take).
uint64_t ChosenRingBytes();
// Returns the number of rings that fit within the process's file size limit. A file that grows past the limit
// would raise SIGXFSZ.
uint32_t RingsWithinFileLimit(uint64_t ring_bytes);

// Adds `processes` to the session's count of processes that could not record. False if the count cannot be
// written.
bool CountUnrecorded(int64_t processes);
// True if enough space stays free on the file system of `file` after `bytes` more are taken. Enough is 256
// MiB or 1/16 of the file system, whichever is smaller.
bool HasRoomBeside(int file, uint64_t bytes);

// Reserves [offset, offset + length) of the file and maps it; nullptr on failure. With the reservation, a
// full tmpfs is an error here and not a SIGBUS later. File systems that cannot reserve space are refused.
// `place`: the address to map to; nullptr = any address.
void* MapReserved(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Like MapReserved, but also subtracts `length` from the session's room (trace_format/ring.h). Returns
// nullptr if too little room is left. The collector gives the bytes back after the process has ended.
void* MapInRoom(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Touches all pages. Without this, the page faults of a new ring cost 4 to 7 % of a small training step; the
// records themselves cost 1 %.
void Warm(void* memory, uint64_t length);

// Facts for a new file's header.
struct NewFile {
  uint64_t ring_bytes;
  uint32_t capacity;  // number of rings
  pid_t forked_from;  // the recorded process that forked this one; 0 = none
  uint32_t forked_from_image;
};
void FillHeader(trace::RingFileHeader* header, const NewFile& file);

// Returns when all running threads have passed a full memory barrier.
void WaitForAllProcessors();

}  // namespace vramscope::injector
