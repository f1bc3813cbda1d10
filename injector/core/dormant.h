// SPDX-License-Identifier: Apache-2.0
// A recorder that sleeps in its process until it is woken: VRAMSCOPE=dormant instead of a session folder.
//
// Why: a production run should cost nothing and be recordable all the same, also where ptrace is forbidden.
// Asleep, an event costs a few loads; a socket and one waiting thread are all there is.
//
//   first event ── thread "vramscope" listens ──► abstract socket vramscope-door-<pid namespace>-<pid>
//
// An abstract name is in no file system: it takes no room there, is never left behind, and a process in
// another container that has the same number has another name.
//
//   guest (vramscope start, stop)                 door
//   "start\n<folder>\n<options>\n<collector>" ──► vramscope_attach()   its answer as a number: 0 = begun
//   "who"                                     ──► the pid of the collector that records it, 0 = nobody
//
// Guests of another user than this process's or root are sent away unheard. A forked child opens a door of
// its own at its first event.
#pragma once

namespace vramscope::injector {

// Opens the door, once per process. At an event of a process without a session; any thread, keeps errno.
// Silent when it cannot: then nobody can wake this recorder.
void OpenDoor();

}  // namespace vramscope::injector
