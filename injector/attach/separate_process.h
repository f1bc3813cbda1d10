// SPDX-License-Identifier: Apache-2.0
// Runs an injection in a process of its own, which outlives the command.
//
// Why: during the injection we change the thread's debug registers and general registers. When the tracer
// ends, the kernel releases the traced thread but restores neither. After `kill -9` of the command, the
// program died at its next malloc (SIGTRAP), or in the middle of the call (SIGSEGV).
//
//   vramscope attach              entering process: own session, no terminal, no files, all signals blocked
//   ──────────────────────────────────────────────────────────────────────────────────────────────────────
//   fork ───────────────────────► waits for a safe point, makes the call, puts the thread back
//   waits for the answer ◄─────── answer
//   goes on                       releases threads that do not stop at once, ends
//
//   killed, or canceled ────────► its socket is closed. Nothing called yet: it gives up. Otherwise it lets
//                                 the call complete. Either way it puts everything back.
#pragma once

#include <atomic>
#include <functional>

#include "injector/attach/inject.h"

namespace vramscope::attach {

// The injecting process's end of the socket.
class Command {
 public:
  explicit Command(int socket) : socket_(socket) {}
  // True if the command has ended or has canceled the injection.
  [[nodiscard]] bool WantsToStop() const;
  // Sends the answer; does nothing if the command is gone.
  void Answer(const Result<Injected>& answer) const;

 private:
  int socket_;
};

// Calls `enter` in a child process and returns what `enter` passed to Command::Answer(). `enter` returns when
// the target is restored. Returns an error if no process can be created, or if the child ended without an
// answer. `canceled` may be nullptr. After the answer, the calling thread waits a short time for the child to
// end. A child that takes longer runs on alone.
Result<Injected> InSeparateProcess(const std::atomic<bool>* canceled,
                                   const std::function<void(const Command&)>& enter);

}  // namespace vramscope::attach
