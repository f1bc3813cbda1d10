// SPDX-License-Identifier: Apache-2.0
// Where a recording takes orders: a Unix socket in its session folder, for its user alone (mode 0600 in a
// folder of mode 0700).
//
//   asks:     "dump\n"                     one line
//   answers:  "ok run.vms\n"               or "no <one sentence>\n", then it hangs up
//
// The targets name the folder in their environment (VRAMSCOPE_SESSION), so that a pid is enough to find it.
#pragma once

#include <functional>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

class ControlSocket {
 public:
  // Listens in `folder`. An error when it cannot: the recording goes on without orders.
  static Result<ControlSocket> Listen(const std::string& folder);
  ControlSocket(ControlSocket&& other) noexcept : listener_(other.listener_) { other.listener_ = -1; }
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  // Readable when somebody asks.
  [[nodiscard]] int descriptor() const { return listener_; }

  // Answers everybody who has come; `answer` gives what an order brings, or the sentence why not. A guest
  // who says nothing costs 0.1 s at most.
  void Serve(const std::function<Result<std::string>(const std::string& order)>& answer) const;

 private:
  explicit ControlSocket(int listener) : listener_(listener) {}
  int listener_;
};

// Gives `order` to the recording of the process `pid`; its answer, or one sentence why there is none. Waits
// up to a minute: a large trace takes seconds to write.
Result<std::string> AskRecordingOf(uint32_t pid, const std::string& order);

}  // namespace vramscope::collector
