// SPDX-License-Identifier: Apache-2.0
// The Unix socket through which another vramscope process of the same user sends requests to a running
// recording (`vramscope dump`). The socket is in the session folder of the recording.
//
//   request:  "dump\n"                     one line
//   answer:   "ok run.vms\n"               or "no <one sentence>\n"; the recording then closes the connection
//
// The environment variable VRAMSCOPE_SESSION of each recorded process contains the folder. Therefore a client
// needs only the pid of a recorded process to find the socket.
#pragma once

#include <functional>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

class ControlSocket {
 public:
  static Result<ControlSocket> Listen(const std::string& folder);
  ControlSocket(ControlSocket&& other) noexcept : listener_(other.listener_) { other.listener_ = -1; }
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  // A file descriptor that is readable when a client has connected.
  [[nodiscard]] int descriptor() const { return listener_; }

  // Answers all waiting clients. `answer` returns the text after "ok ", or an error for "no ". Waits at most
  // 0.1 s for the request of each client.
  void Serve(const std::function<Result<std::string>(const std::string& order)>& answer) const;

 private:
  explicit ControlSocket(int listener) : listener_(listener) {}
  int listener_;
};

// Sends the request `order` to the recording of process `pid`. Returns the text after "ok "; the sentence
// after "no " is the error. Waits at most one minute.
Result<std::string> AskRecordingOf(uint32_t pid, const std::string& order);

}  // namespace vramscope::collector
