// SPDX-License-Identifier: Apache-2.0
// Finds the installed parts that a recording needs, in an installation or in a build tree.
//
//   <prefix>/bin/vramscope                                     <build>/bin/vramscope
//   <prefix>/lib/vramscope/libvramscope_injector.so            <build>/injector/libvramscope_injector.so
//   <prefix>/share/vramscope/python/sitecustomize.py           <build>/share/vramscope/python
//                                                                -> the source folder
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct Installation {
  std::string injector;     // the preload library
  std::string python_shim;  // folder for PYTHONPATH
};

// The parts of this executable. An error names the missing part and where it was searched.
Result<Installation> FindInstallation();
// Like FindInstallation, for a program in `program_folder`.
Result<Installation> FindInstallationFor(const std::string& program_folder);

// The viewer for browsers. If it was not built, the error has the command to build it.
Result<std::string> FindWebViewer();

}  // namespace vramscope::collector
