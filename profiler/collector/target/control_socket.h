// SPDX-License-Identifier: Apache-2.0
// A Unix socket in the session folder for requests of the same user to a recording.
//
//   asks:     "dump\n"                     one line
//   answers:  "ok run.vms\n"               or "no <one sentence>\n"; then the recording hangs up
//
// The targets' variable VRAMSCOPE_SESSION names the folder, so a pid is enough to find the socket.
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

  // Readable when a client has connected.
  [[nodiscard]] int descriptor() const { return listener_; }

  // Answers all waiting clients. `answer` returns the result of a request, or an error. A client that sends
  // nothing costs at most 0.1 s.
  void Serve(const std::function<Result<std::string>(const std::string& order)>& answer) const;

 private:
  explicit ControlSocket(int listener) : listener_(listener) {}
  int listener_;
};

// Sends `order` to the recording of process `pid` and returns its answer. Waits up to a minute.
Result<std::string> AskRecordingOf(uint32_t pid, const std::string& order);

}  // namespace vramscope::collector
