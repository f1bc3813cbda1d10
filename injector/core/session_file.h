// SPDX-License-Identifier: Apache-2.0
// The ring file on its way from a name to memory: what session.cc needs of the system, without any state.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <cstdint>

#include "injector/core/options.h"
#include "trace_format/ring.h"

namespace vramscope::injector {

inline constexpr size_t kPathBytes = sizeof(Options::session) + 64;

// <session>/<own pid>.<image>.ring
void WritePath(char (&path)[kPathBytes], uint32_t image);
// Makes a file that no other image of this pid has used, opened; -1 when it cannot be made.
int CreateFile(uint32_t& image);
void RemoveFile(uint32_t image);

// Data bytes of a ring, as the option ring_bytes says; by default at most 1/16 of the session's room.
uint64_t ChosenRingBytes();
// How many rings the process's file size limit has room for. To grow a file past the limit is answered with
// the signal SIGXFSZ.
uint32_t RingsWithinFileLimit(uint64_t ring_bytes);

// Adds to the count of processes that could not begin; false when that is not possible either.
bool CountUnrecorded(int64_t processes);
// False when `bytes` more in this file would leave the program less than 1/16 of the file system, or 256 MiB.
bool HasRoomBeside(int file, uint64_t bytes);

// Maps [offset, offset + length) of the open file with its space reserved first, so that a full tmpfs is an
// error here and never a SIGBUS at some later store. File systems that cannot reserve are refused the same
// way. `place`: where to map it, in exchange for what is there; nullptr = anywhere.
void* MapReserved(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// The same, out of the session's room (trace_format/ring.h): nullptr too when that has not so much left. The
// collector gives it back when this process has ended.
void* MapInRoom(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Touches all of it. Page faults of a cold ring cost 4 to 7 % of a small training step, the records 1 %.
void Warm(void* memory, uint64_t length);

// What a file's header says of its process.
struct NewFile {
  uint64_t ring_bytes;
  uint32_t capacity;  // in rings
  pid_t forked_from;  // 0 = by nobody who is recorded
  uint32_t forked_from_image;
};
void FillHeader(trace::RingFileHeader* header, const NewFile& file);

// Waits until what every thread did before is seen here, and what was done here is seen by every thread.
void WaitForAllProcessors();

}  // namespace vramscope::injector
