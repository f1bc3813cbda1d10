// SPDX-License-Identifier: Apache-2.0
// Runs scripts that operate the viewer without a display. A script has one command per line:
//
//   wait loaded                      waits until all files are completely loaded
//   wait events 5000                 waits until the shown file has this many events
//   wait 5                           waits 5 frames
//   repeat 10 key ]                  runs any other command 10 times
//   move timeline 0.5 0.3            moves the mouse to a point of an element: fractions of its width and
//                                    height
//   click tab.map                    clicks in the middle of an element
//   click timeline 0.2 0.5           clicks at a point of an element
//   doubleclick NAME [X Y]
//   drag timeline 0.2 0.5 0.6 0.5    drags with the left button; dragright: with the right button
//   wheel timeline 0.5 0.5 3         turns the wheel up by 3 notches
//   key ctrl+f                       presses a key
//   text category:activation         types a text
//   goto step:3                      moves to a place (Session::GoTo)
//   shot step3.png                   writes a picture; the path is absolute or relative to the current folder
//   expect moment_text = step 3, backward
//                                    checks a value of the state; operators: =, !=, <, >, ~ (contains);
//                                    a.b is a member, a.0 is an element of an array
//   state state.json                 writes the whole state
//   open FILE
//
// Before a mouse command, the script waits for answers of other threads that may move elements.
#pragma once

#include <string>
#include <vector>

#include "trace_format/result.h"
#include "viewer/script/headless.h"

namespace vramscope::viewer {

// Runs a script. Stops at the first command that fails; the error tells the file, the line and the reason.
[[nodiscard]] Status RunScript(const std::string& path, Headless& viewer);

// Returns the state that `expect` reads: the session, and what the panels show. `cut_texts`: from
// SeekCutTexts().
[[nodiscard]] std::string StateJson(const App& app, const std::vector<std::string>& cut_texts);

}  // namespace vramscope::viewer
