// SPDX-License-Identifier: Apache-2.0
// Streams and events on a clock that counts launches instead of nanoseconds: each run is the same.
//
// PyTorch keeps a block that another stream has used until an event on that stream has passed. On a GPU the
// host runs ahead, so the event is late. If it were never late, the run would seem to need less memory.
//
//   launch n         the host's clock becomes n; the work is done at
//                    max(end of the work before it on its stream, n) + lag
//   record an event  it gets the time of the last work of its stream
//   wait for it      a stream that waits for an event goes on from that time
//   synchronize      moves the host's clock to the time waited for
//
// lag = 0: all is done at once. 1 (default): an event passes with the next launch. N: the host is N launches
// ahead. A program that only queries is waiting: after kPatience queries the wait ends. For a thread that has
// never launched anything (TensorFlow has one): after kPatienceOfPollers.
//
// late: work is done when a thread waits for it. Work is also done when an asking thread finds all others at
// rest (pollers.h). Use it for TensorFlow, whose peak depends on copies.
//
//   lag 1: launch 5 on stream A, record E ─► E passes at 6: query = not ready; launch 6 ─► query = ready
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "injector/simulated_cuda/device/graph.h"
#include "injector/simulated_cuda/device/pollers.h"

namespace vramscope::simulated {

struct Stream {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  uint64_t end = 0;                  // when all its work is done
  bool downloads = false;            // its last work is a copy to the host
  std::shared_ptr<Capture> capture;  // null = not capturing
  Frontier frontier;
  bool began_capture = false;
};

struct Event {
  unsigned flags = 0;
  uint64_t time = 0;  // of the work before; 0 = never recorded
  bool downloads = false;
  uint64_t host_ns = 0;
  std::shared_ptr<Capture> capture;  // recorded in a capture: waits only there
  Frontier frontier;
};

// PyTorch's allocator may query an event hundreds of times between two launches. A waiting loop queries
// forever.
inline constexpr uint64_t kPatience = 10'000;
inline constexpr uint64_t kPatienceOfPollers = 1'000;

// Returns CUDA's errors as int. Streams as callers pass them: a pointer, or 0, 1 or 2 for a default stream.
class Streams {
 public:
  explicit Streams(uint64_t lag, bool late = false) : lag_(lag), late_(late) {}

  Stream* Create(int device, unsigned flags, int priority);
  int Destroy(Stream* stream);
  // The stream of a handle. Each device has its own default streams.
  Stream* Find(void* handle, int device);

  // Puts work on the stream: a step of the clock, or a node of the capture. `downloads`: a copy to the host.
  int Issue(Stream* stream, NodeType type, bool downloads = false);
  int Query(Stream* stream);
  int Synchronize(Stream* stream);
  void SynchronizeAll();

  int Record(Event* event, Stream* stream);
  int QueryEvent(Event* event);
  int SynchronizeEvent(Event* event);
  int Wait(Stream* stream, Event* event);
  // kNotReady until both have passed.
  int Elapsed(Event* start, Event* end, float* milliseconds);

  int BeginCapture(Stream* stream, Graph* into, const Frontier& dependencies);
  int EndCapture(Stream* stream, Graph** graph);
  // A copy, consistent at one moment.
  struct CaptureView {
    CaptureStatus status = CaptureStatus::kNone;
    uint64_t id = 0;
    Graph* graph = nullptr;
    const Frontier* frontier = nullptr;  // valid until the stream's next work
  };
  CaptureView CaptureOf(Stream* stream);
  int SetFrontier(Stream* stream, const Frontier& nodes, bool add);

 private:
  [[nodiscard]] bool IsPast(uint64_t time) const {
    return time == 0 || (late_ ? time <= waited_for_ : now_ >= time + lag_);
  }
  int Answer(uint64_t time, bool downloads);
  void WaitFor(uint64_t time);
  int CannotWait(const Stream& stream) const;

  std::mutex mutex_;
  uint64_t lag_;
  bool late_;
  Pollers pollers_;          // if late
  uint64_t waited_for_ = 0;  // latest time that a thread has waited for
  uint64_t recorded_ = 0;    // events
  uint64_t now_ = 0;
  uint64_t next_id_ = 1;
  uint64_t asked_at_ = 0;  // the clock at the last kNotReady answers, and their number
  uint64_t asked_times_ = 0;
  uint64_t polled_times_ = 0;  // by threads that launch nothing
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::map<int, std::unique_ptr<Stream>> default_streams_;
};

Streams& TheStreams();

}  // namespace vramscope::simulated
