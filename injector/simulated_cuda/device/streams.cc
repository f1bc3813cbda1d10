// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/streams.h"

#include <time.h>

#include <algorithm>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/settings.h"

namespace vramscope::simulated {
namespace {

using Lock = std::lock_guard<std::mutex>;

thread_local bool launches = false;  // this thread has launched something, or recorded an event

uint64_t HostNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void Join(Frontier& frontier, const Frontier& more) {
  for (GraphNode* const node : more) {
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) frontier.push_back(node);
  }
}

}  // namespace

Stream* Streams::Create(int device, unsigned flags, int priority) {
  const Lock lock(mutex_);
  auto stream = std::make_unique<Stream>();
  stream->device = device;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = next_id_++;
  Stream* const handle = stream.get();
  streams_[handle] = std::move(stream);
  return handle;
}

int Streams::Destroy(Stream* stream) {
  const Lock lock(mutex_);
  return streams_.erase(stream) != 0 ? kSuccess : kInvalidHandle;
}

Stream* Streams::Find(void* handle, int device) {
  if (reinterpret_cast<uintptr_t>(handle) > kPerThreadStream) return static_cast<Stream*>(handle);
  const Lock lock(mutex_);
  std::unique_ptr<Stream>& stream = default_streams_[device];
  if (stream == nullptr) {
    stream = std::make_unique<Stream>();
    stream->device = device;
    stream->id = next_id_++;
  }
  return stream.get();
}

int Streams::Issue(Stream* stream, NodeType type, bool downloads) {
  launches = true;
  const Lock lock(mutex_);
  if (stream->capture != nullptr) {
    if (stream->capture->status != CaptureStatus::kActive) return kCaptureInvalidated;
    stream->frontier = {stream->capture->graph->Add(type, stream->frontier)};
    return kSuccess;
  }
  ++now_;
  stream->end = std::max(stream->end, now_);
  stream->downloads = downloads;
  return kSuccess;
}

void Streams::WaitFor(uint64_t time) {
  if (time == 0) return;
  waited_for_ = std::max(waited_for_, time);
  now_ = std::max(now_, time + (late_ ? 0 : lag_));
}

int Streams::Answer(uint64_t time, bool downloads) {
  if (late_ && !launches && time != 0) {
    if (!pollers_.IsDone({downloads, time}, now_ + recorded_)) return kNotReady;
    WaitFor(time);
    return kSuccess;
  }
  if (IsPast(time)) return kSuccess;
  if (now_ != asked_at_) asked_times_ = polled_times_ = 0;
  asked_at_ = now_;
  if (launches ? ++asked_times_ < kPatience : ++polled_times_ < kPatienceOfPollers) return kNotReady;
  WaitFor(time);
  return kSuccess;
}

// Waiting for a stream that captures would never end; CUDA returns an error and invalidates the capture.
int Streams::CannotWait(const Stream& stream) const {
  if (stream.capture == nullptr) return kSuccess;
  stream.capture->status = CaptureStatus::kInvalidated;
  return kCaptureUnsupported;
}

int Streams::Query(Stream* stream) {
  const Lock lock(mutex_);
  if (const int error = CannotWait(*stream)) return error;
  return Answer(stream->end, stream->downloads);
}

int Streams::Synchronize(Stream* stream) {
  const Lock lock(mutex_);
  if (const int error = CannotWait(*stream)) return error;
  WaitFor(stream->end);
  return kSuccess;
}

void Streams::SynchronizeAll() {
  const Lock lock(mutex_);
  for (const auto& [handle, stream] : streams_) WaitFor(stream->end);
  for (const auto& [device, stream] : default_streams_) WaitFor(stream->end);
}

int Streams::Record(Event* event, Stream* stream) {
  if (late_) launches = true;
  const Lock lock(mutex_);
  ++recorded_;
  event->capture = stream->capture;
  event->frontier = stream->frontier;
  event->time = stream->end;
  event->downloads = stream->downloads;
  event->host_ns = HostNanoseconds();
  return kSuccess;
}

int Streams::QueryEvent(Event* event) {
  const Lock lock(mutex_);
  if (event->capture != nullptr && event->capture->status == CaptureStatus::kActive)
    return kCaptureUnsupported;
  return Answer(event->time, event->downloads);
}

int Streams::SynchronizeEvent(Event* event) {
  const Lock lock(mutex_);
  if (event->capture != nullptr && event->capture->status == CaptureStatus::kActive)
    return kCaptureUnsupported;
  WaitFor(event->time);
  return kSuccess;
}

int Streams::Wait(Stream* stream, Event* event) {
  const Lock lock(mutex_);
  if (event->capture != nullptr && event->capture->status == CaptureStatus::kActive) {
    if (stream->capture != nullptr && stream->capture != event->capture) return kCaptureUnmatched;
    stream->capture = event->capture;
    Join(stream->frontier, event->frontier);
    return kSuccess;
  }
  if (stream->capture == nullptr) stream->end = std::max(stream->end, event->time);
  return kSuccess;
}

int Streams::Elapsed(Event* start, Event* end, float* milliseconds) {
  const Lock lock(mutex_);
  if (start->host_ns == 0 || end->host_ns == 0) return kInvalidHandle;
  if (!IsPast(start->time) || !IsPast(end->time)) return kNotReady;
  *milliseconds =
      static_cast<float>(static_cast<double>(end->host_ns) - static_cast<double>(start->host_ns)) / 1e6f;
  return kSuccess;
}

int Streams::BeginCapture(Stream* stream, Graph* into, const Frontier& dependencies) {
  const Lock lock(mutex_);
  if (stream->capture != nullptr) return kInvalidValue;
  stream->capture =
      std::make_shared<Capture>(Capture{next_id_++, into != nullptr ? into : new Graph, into == nullptr});
  stream->frontier = dependencies;
  stream->began_capture = true;
  return kSuccess;
}

int Streams::EndCapture(Stream* stream, Graph** graph) {
  const Lock lock(mutex_);
  if (stream->capture == nullptr || !stream->began_capture) return kCaptureUnmatched;
  const std::shared_ptr<Capture> capture = stream->capture;
  const auto leave = [&](Stream& member) {
    if (member.capture != capture) return;
    member.capture.reset();
    member.frontier.clear();
    member.began_capture = false;
  };
  for (const auto& [handle, member] : streams_) leave(*member);
  for (const auto& [device, member] : default_streams_) leave(*member);
  const bool whole = capture->status == CaptureStatus::kActive;
  capture->status = CaptureStatus::kNone;
  // Nodes that cuBLAS and similar libraries would have added are missing here, and PyTorch warns of a graph
  // without nodes.
  if (capture->graph->nodes.empty()) capture->graph->Add(NodeType::kEmpty, {});
  *graph = whole ? capture->graph : nullptr;
  if (whole) return kSuccess;
  if (capture->owns_graph) delete capture->graph;
  return kCaptureInvalidated;
}

Streams::CaptureView Streams::CaptureOf(Stream* stream) {
  const Lock lock(mutex_);
  if (stream->capture == nullptr) return {};
  return {stream->capture->status, stream->capture->id, stream->capture->graph, &stream->frontier};
}

int Streams::SetFrontier(Stream* stream, const Frontier& nodes, bool add) {
  const Lock lock(mutex_);
  if (stream->capture == nullptr) return kInvalidValue;
  if (!add) stream->frontier.clear();
  Join(stream->frontier, nodes);
  return kSuccess;
}

Streams& TheStreams() {
  static Streams* const streams = new Streams(TheSettings().lag, TheSettings().late);
  return *streams;
}

}  // namespace vramscope::simulated
