// SPDX-License-Identifier: Apache-2.0
// Resolves the name of an output file: what it refers to, and what exists there already.
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
  int descriptor = -1;     // if the name refers to a descriptor of this process (/dev/stdout: 1)
};

// An error for a folder.
Result<OutputPlace> PlaceOf(const std::string& path);

// A descriptor to write to the stream; waits for the reader of a FIFO.
Result<int> OpenStream(const OutputPlace& place);

// An error if `output` is one of `inputs` under any name: writing it would destroy the input.
Status CheckIsNoInput(const std::string& output, const std::vector<std::string>& inputs);

// Replaces %r (rank), %h (host), %p (process number), %j (job), %q{VARIABLE} and %% in the name that a user
// gave. Rank and job are those that torchrun, Slurm, Open MPI, MPICH, PBS, LSF or SGE set. An error if one is
// not set: without it the name would be the same for all ranks.
Result<std::string> ExpandName(const std::string& name);

}  // namespace vramscope::collector
