// SPDX-License-Identifier: Apache-2.0
// Finds the installed parts that a recording needs, in an installation or in a build tree.
//
//   <prefix>/bin/vramscope                                     <build>/bin/vramscope
//   <prefix>/lib/vramscope/libvramscope_injector.so            <build>/injector/libvramscope_injector.so
//   <prefix>/share/vramscope/python/sitecustomize.py           <build>/share/vramscope/python
//                                                                (a link to the source folder)
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

struct Installation {
  std::string injector;     // the preload library
  std::string python_shim;  // folder that is added to PYTHONPATH
};

// Finds the parts that belong to the running executable. An error names the missing part and the searched
// folders.
Result<Installation> FindInstallation();
// Like FindInstallation, but for an executable in `program_folder`.
Result<Installation> FindInstallationFor(const std::string& program_folder);

// Finds the web viewer. If the web viewer was not built, the error contains the command to build it.
Result<std::string> FindWebViewer();

}  // namespace vramscope::collector
