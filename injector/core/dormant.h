// SPDX-License-Identifier: Apache-2.0
// A recorder that is loaded into a process but records nothing until a client wakes it. To start a program
// this way, set VRAMSCOPE=dormant instead of VRAMSCOPE_SESSION.
//
// With a dormant recorder, a production run can be recorded later, even where ptrace is forbidden. Until a
// client wakes the recorder, an event costs only a few memory loads, and the recorder has only a socket and
// one waiting thread.
//
//   first event ── thread "vramscope" listens ──► abstract socket vramscope-door-<pid namespace>-<pid>
//
//   client (vramscope start, stop)                this process
//   "start\n<folder>\n<options>\n<collector>" ──► vramscope_attach()   replies with a number: 0 = recording
//   "who"                                     ──► replies with the collector's pid, 0 = not recording
//
// Only this process's user and root may connect. A forked child opens its own socket at its first event.
#pragma once

namespace vramscope::injector {

// Opens the socket, once per process. Called at the first event if no recording is running, or when the
// program calls vramscope_wait_for_start. May be called from any thread. Keeps errno. If the socket cannot be
// opened, nothing is reported, and clients cannot wake this recorder.
void OpenDoor();
// True if clients can connect. After OpenDoor(), the socket needs some microseconds until it accepts clients.
bool DoorIsOpen();

}  // namespace vramscope::injector
