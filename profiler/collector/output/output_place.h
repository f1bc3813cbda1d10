// SPDX-License-Identifier: Apache-2.0
// Resolves the name of an output file.
//
//   train.html           a file; replaces an old file of that name
//   link.html -> a.html  the file a.html; the link stays
//   /dev/stdout, /dev/null, a FIFO, /dev/fd/3     a stream: written to, never replaced by a file
#pragma once

#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::collector {

struct OutputPlace {
  std::string path;        // of the file or stream; symbolic links are resolved
  bool is_stream = false;  // true for anything but a regular file
  int descriptor = -1;     // open descriptor that the path names (/dev/stdout: 1); -1 if none
};

// Resolves `path`. Returns an error if `path` is a folder.
Result<OutputPlace> PlaceOf(const std::string& path);

// Opens the stream. For a FIFO, waits until a process has opened it for reading.
Result<int> OpenStream(const OutputPlace& place);

// Returns an error if `output` is the same file as one of `inputs`.
Status CheckIsNoInput(const std::string& output, const std::vector<std::string>& inputs);

// Replaces %r (rank), %h (host), %p (process id), %j (job), %q{VARIABLE} and %% in a user's file name. Rank
// and job come from the variables of torchrun, Slurm, Open MPI, MPICH, PBS, LSF or SGE. Returns an error if a
// needed variable is not set.
Result<std::string> ExpandName(const std::string& name);

}  // namespace vramscope::collector
