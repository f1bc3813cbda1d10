// SPDX-License-Identifier: Apache-2.0
// Scripts that operate the viewer without a display: one command per line.
//
//   wait loaded                      until all files are open and placed
//   wait events 5000                 until the file that is shown has this many
//   wait 5                           frames
//   repeat 10 key ]                  any other command, this many times
//   move timeline 0.5 0.3            the mouse, to a point in an element as fractions of its width and height
//   click tab.map                    in its middle; or: click timeline 0.2 0.5
//   doubleclick NAME [X Y]
//   drag timeline 0.2 0.5 0.6 0.5    with the left button; dragright with the right one
//   wheel timeline 0.5 0.5 3         notches up
//   key ctrl+f
//   text category:activation
//   goto step:3
//   (The mouse waits for answers that may move what it points at.)
//   shot step3.png                   relative to the current folder, or an absolute path
//   expect moment_text = step 3, backward     a value of the state; "=", "!=", "<", ">" or "~" (contains);
//                                             a.b is a member, a.0 an element
//   state state.json                 writes the whole state
//   open FILE
#pragma once

#include <string>
#include <vector>

#include "trace_format/result.h"
#include "viewer/script/headless.h"

namespace vramscope::viewer {

// Stops at the first command that fails; the error names file, line and why.
[[nodiscard]] Status RunScript(const std::string& path, Headless& viewer);

// The state for `expect`: the session, and what panels show. `cut_texts`: from SeekCutTexts().
[[nodiscard]] std::string StateJson(const App& app, const std::vector<std::string>& cut_texts);

}  // namespace vramscope::viewer
