// SPDX-License-Identifier: Apache-2.0
// Names, creates, sizes and maps the ring file, without state.
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
// Creates and opens the file with the first unused `image`; -1 on failure.
int CreateFile(uint32_t& image);
void RemoveFile(uint32_t image);

// Data bytes of a ring: option ring_bytes, at most 1/16 of the session's room by default.
uint64_t ChosenRingBytes();
// Rings that fit within the process's file size limit. Growing a file past the limit raises SIGXFSZ.
uint32_t RingsWithinFileLimit(uint64_t ring_bytes);

// Adds to the count of processes that could not record; false if it cannot be written.
bool CountUnrecorded(int64_t processes);
// False if `bytes` more would leave too little free space. The minimum is 256 MiB or 1/16 of the file system,
// whichever is smaller.
bool HasRoomBeside(int file, uint64_t bytes);

// Maps [offset, offset + length) of the file after reserving its space. A full tmpfs is an error here, never
// a SIGBUS later. File systems that cannot reserve are refused. `place`: where to map; nullptr = anywhere.
void* MapReserved(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Like MapReserved, charged to the session's room (trace_format/ring.h): nullptr if too little is left. The
// collector returns the room after the process's end.
void* MapInRoom(int file, uint64_t offset, uint64_t length, void* place = nullptr);
// Touches all pages. Page faults of a cold ring cost 4 to 7 % of a small training step; the records cost 1 %.
void Warm(void* memory, uint64_t length);

// Facts for a new file's header.
struct NewFile {
  uint64_t ring_bytes;
  uint32_t capacity;  // in rings
  pid_t forked_from;  // 0 = not by a recorded process
  uint32_t forked_from_image;
};
void FillHeader(trace::RingFileHeader* header, const NewFile& file);

// Returns when all running threads have passed a full memory barrier.
void WaitForAllProcessors();

}  // namespace vramscope::injector
