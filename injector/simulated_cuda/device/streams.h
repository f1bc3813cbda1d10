// SPDX-License-Identifier: Apache-2.0
// Simulated streams and events. Their clock counts kernel launches instead of nanoseconds, so each run gives
// the same result.
//
// If another stream has used a freed block, PyTorch keeps the block until an event on that stream has
// completed. On a GPU, the host runs ahead of the device, so the event completes later. If events completed
// at once here, the run would seem to need less memory than on a GPU.
//
//   launch n         the host's clock becomes n. The work gets the time
//                    max(time of the previous work on its stream, n), and is done at that time + lag
//   record an event  the event gets the time of the last work on its stream
//   wait for it      the stream's next work gets at least the time of the event
//   synchronize      moves the host's clock to the time at which the work or the event is done
//
// With lag 0, all work is done at once. With lag 1 (the default), an event completes at the next launch. With
// lag N, the host is N launches ahead.
//
// A program may wait in a loop that only queries. So after kPatience queries without a launch, the work
// counts as done. For a thread that has never launched anything (TensorFlow has such a thread),
// kPatienceOfPollers queries are enough.
//
// In late mode, work is done when a thread synchronizes with it, or when a thread queries it while all other
// threads are idle (pollers.h). Use late mode for TensorFlow, because its peak depends on when copies
// complete.
//
//   lag 1: launch 5 on stream A, record E: E completes at 6. A query of E returns "not ready" until launch 6.
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
  uint64_t end = 0;                  // time of its last work, without the lag
  bool downloads = false;            // its last work is a copy to the host
  std::shared_ptr<Capture> capture;  // nullptr = the stream is not being captured
  Frontier frontier;
  bool began_capture = false;
};

struct Event {
  unsigned flags = 0;
  uint64_t time = 0;  // time of the work before the event; 0 = never recorded
  bool downloads = false;
  uint64_t host_ns = 0;
  std::shared_ptr<Capture> capture;  // set if recorded during a capture: only captured streams wait for it
  Frontier frontier;
};

// Number of queries after which work counts as done. PyTorch's allocator may query an event hundreds of times
// between two launches, so the number must be larger. A loop that waits for the event queries without end.
inline constexpr uint64_t kPatience = 10'000;
inline constexpr uint64_t kPatienceOfPollers = 1'000;

// Functions that return int return a CUDA error code. A stream handle is what CUDA programs pass: a pointer,
// or 0, 1 or 2 for a default stream.
class Streams {
 public:
  explicit Streams(uint64_t lag, bool late = false) : lag_(lag), late_(late) {}

  Stream* Create(int device, unsigned flags, int priority);
  int Destroy(Stream* stream);
  // Returns the stream of a handle. Each device has its own default stream.
  Stream* Find(void* handle, int device);

  // Adds work to the stream: advances the clock by one, or adds a node to the graph if the stream is being
  // captured. `downloads` = true for a copy to the host.
  int Issue(Stream* stream, NodeType type, bool downloads = false);
  int Query(Stream* stream);
  int Synchronize(Stream* stream);
  void SynchronizeAll();

  int Record(Event* event, Stream* stream);
  int QueryEvent(Event* event);
  int SynchronizeEvent(Event* event);
  int Wait(Stream* stream, Event* event);
  // Computes the time between two events. Returns kNotReady until both events have completed.
  int Elapsed(Event* start, Event* end, float* milliseconds);

  int BeginCapture(Stream* stream, Graph* into, const Frontier& dependencies);
  int EndCapture(Stream* stream, Graph** graph);
  // A consistent copy of a stream's capture state.
  struct CaptureView {
    CaptureStatus status = CaptureStatus::kNone;
    uint64_t id = 0;
    Graph* graph = nullptr;
    const Frontier* frontier = nullptr;  // valid until work is added to the stream
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
  Pollers pollers_;          // used in late mode only
  uint64_t waited_for_ = 0;  // latest time that a thread has waited for
  uint64_t recorded_ = 0;    // number of recorded events
  uint64_t now_ = 0;
  uint64_t next_id_ = 1;
  uint64_t asked_at_ = 0;  // now_ at the last query that returned kNotReady
  // kNotReady answers at asked_at_ to threads that launch work
  uint64_t asked_times_ = 0;
  uint64_t polled_times_ = 0;  // kNotReady answers at asked_at_ to threads that launch nothing
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::map<int, std::unique_ptr<Stream>> default_streams_;
};

Streams& TheStreams();

}  // namespace vramscope::simulated
