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
  std::string path;        // of the file or stream itself, links followed
  bool is_stream = false;  // anything but a regular file
  int descriptor = -1;     // /dev/stdout: 1
};

// An error for a folder.
Result<OutputPlace> PlaceOf(const std::string& path);

// Waits for the reader of a FIFO.
Result<int> OpenStream(const OutputPlace& place);

// An error if `output` is one of `inputs` under any name.
Status CheckIsNoInput(const std::string& output, const std::vector<std::string>& inputs);

// Replaces %r (rank), %h (host), %p (process number), %j (job), %q{VARIABLE} and %% in a user's file name.
// Rank and job come from torchrun, Slurm, Open MPI, MPICH, PBS, LSF or SGE. An error if `name` uses one that
// is not set.
Result<std::string> ExpandName(const std::string& name);

}  // namespace vramscope::collector
