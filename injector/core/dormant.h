// SPDX-License-Identifier: Apache-2.0
// A recorder that sleeps in its process until woken: VRAMSCOPE=dormant instead of a session folder.
//
// A production run can be recorded later, even where ptrace is forbidden. Until then, an event costs a few
// loads. Only a socket and one waiting thread exist.
//
//   first event ── thread "vramscope" listens ──► abstract socket vramscope-door-<pid namespace>-<pid>
//
//   client (vramscope start, stop)                this process
//   "start\n<folder>\n<options>\n<collector>" ──► vramscope_attach()   its answer as a number: 0 = begun
//   "who"                                     ──► the pid of the collector of this process, 0 = nobody
//
// Only this process's user and root may connect. A forked child opens its own socket at its first event.
#pragma once

namespace vramscope::injector {

// Opens the socket, once per process: at an event without a session, or on request
// (vramscope_wait_for_start). Any thread; keeps errno. Fails silently: this recorder cannot be woken then.
void OpenDoor();
// True once clients can connect. OpenDoor() needs some microseconds for that.
bool DoorIsOpen();

}  // namespace vramscope::injector
