// SPDX-License-Identifier: Apache-2.0
// A recorder that sleeps in its process until it is woken: VRAMSCOPE=dormant instead of a session folder.
//
// Why: a production run should cost nothing and still be recordable, even where ptrace is forbidden. While
// the recorder sleeps, an event costs a few loads, and only a socket and one waiting thread exist.
//
//   first event ── thread "vramscope" listens ──► abstract socket vramscope-door-<pid namespace>-<pid>
//
// An abstract socket has no file: it takes no space, and nothing remains when the process ends. A process
// with the same pid in another container has another name.
//
//   client (vramscope start, stop)                this process
//   "start\n<folder>\n<options>\n<collector>" ──► vramscope_attach()   its answer as a number: 0 = begun
//   "who"                                     ──► the pid of the collector that records it, 0 = nobody
//
// Only this process's user and root may connect. Requests from anyone else are rejected without being read.
// A forked child opens its own socket at its first event.
#pragma once

namespace vramscope::injector {

// Opens the socket, once per process: at an event of a process without a session, or when the program asks
// for it (vramscope_wait_for_start). Any thread; keeps errno. Fails silently: then nobody can wake this
// recorder.
void OpenDoor();
// True once clients can connect. The listening thread needs some microseconds after OpenDoor().
bool DoorIsOpen();

}  // namespace vramscope::injector
