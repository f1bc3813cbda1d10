// SPDX-License-Identifier: Apache-2.0
// Names, creates, sizes and maps the ring file: the system calls that session.cc needs. Keeps no state.
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
// Creates and opens a file that no other image of this pid has used; -1 on failure.
int CreateFile(uint32_t& image);
void RemoveFile(uint32_t image);

// Data bytes of a ring, from the option ring_bytes; by default at most 1/16 of the session's room.
uint64_t ChosenRingBytes();
// How many rings fit within the process's file size limit. Growing a file past the limit raises SIGXFSZ.
uint32_t RingsWithinFileLimit(uint64_t ring_bytes);

// Adds to the count of processes that could not start recording; false if even the count cannot be written.
bool CountUnrecorded(int64_t processes);
// False if `bytes` more in this file would leave the program too little free space in the file system: less
// than 256 MiB or 1/16 of the file system, whichever is smaller.
bool HasRoomBeside(int file, uint64_t bytes);

// Maps [offset, offset + length) of the open file after reserving its space. So a full tmpfs is an error here
// and never a SIGBUS at a later store. File systems that cannot reserve are refused the same way. `place`:
// where to map it, replacing the mapping there; nullptr = anywhere.
void* MapReserved(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Like MapReserved, but the memory is charged to the session's room (trace_format/ring.h): nullptr also if
// too little room is left. The collector returns the room when this process has ended.
void* MapInRoom(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Touches all pages. Page faults of a cold ring cost 4 to 7 % of a small training step, the records 1 %.
void Warm(void* memory, uint64_t length);

// What a new file's header states about its process.
struct NewFile {
  uint64_t ring_bytes;
  uint32_t capacity;  // in rings
  pid_t forked_from;  // 0 = not by a recorded process
  uint32_t forked_from_image;
};
void FillHeader(trace::RingFileHeader* header, const NewFile& file);

// Waits until earlier stores of all threads are visible here, and stores made here are visible to all
// threads.
void WaitForAllProcessors();

}  // namespace vramscope::injector
