// SPDX-License-Identifier: Apache-2.0
// Runs an injection in a process of its own, which outlives the command.
//
// Why: while a thread is being entered, its debug registers or its general registers are ours. The kernel
// lets go of a traced thread when the tracer ends, but puts neither back: after `kill -9` of the command the
// program died at its next malloc (SIGTRAP), or in the middle of the call (SIGSEGV).
//
//   vramscope attach              entering process: own session, no terminal, no files, all signals blocked
//   ──────────────────────────────────────────────────────────────────────────────────────────────────────
//   fork ───────────────────────► waits for a safe point, makes the call, puts the thread back
//   waits for the answer ◄─────── answer
//   goes on                       releases threads that do not stop at once, ends
//
//   killed, or cancelled ───────► its socket is closed. Nothing called yet: it gives up. Otherwise it lets
//                                 the call complete. Either way it puts everything back.
#pragma once

#include <atomic>
#include <functional>

#include "injector/attach/inject.h"

namespace vramscope::attach {

// The end of the socket in the entering process.
class Command {
 public:
  explicit Command(int socket) : socket_(socket) {}
  // Whether the command has ended, or has cancelled the injection.
  [[nodiscard]] bool WantsToStop() const;
  // Hands the answer over; nothing happens when the command is gone.
  void Answer(const Result<Injected>& answer) const;

 private:
  int socket_;
};

// Calls `enter` in a child process and returns what it passed to Command::Answer(); `enter` returns when the
// target is as it was. An error when there is no further process, or when the child ended without an answer.
// `cancelled` may be nullptr. The calling thread waits for the child to end only as long as it ends promptly;
// otherwise the child goes on alone.
Result<Injected> InSeparateProcess(const std::atomic<bool>* cancelled,
                                   const std::function<void(const Command&)>& enter);

}  // namespace vramscope::attach
