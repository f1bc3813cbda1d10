// SPDX-License-Identifier: Apache-2.0
// The half of the loader that follows where each thread is: ranges, and the modules, operators and graph
// nodes that a block is allocated in.
//
// Begins and ends come from different hooks and an exception may pass through any of them, so an end closes
// what was opened inside it too.
#include <algorithm>

#include "profiler/model/loader.h"

namespace vramscope::model {
namespace {

using trace::Event;
using trace::RangeKind;

// How far an end looks for its begin; deeper nesting is taken for damage.
constexpr size_t kDeepestNesting = 4096;

bool EndsForwardSearch(RangeKind kind) {
  return kind == RangeKind::kBackward || kind == RangeKind::kOptimizer || kind == RangeKind::kDataLoader;
}

bool GivesContext(RangeKind kind) { return kind == RangeKind::kModule || kind == RangeKind::kScope; }

ContextKind ContextOf(RangeKind kind) {
  return kind == RangeKind::kModule ? ContextKind::kModule : ContextKind::kScope;
}

}  // namespace

void Loader::BeginRange(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  ThreadState& thread = threads_[event.thread];
  Range range;
  range.begin = now_;
  range.thread = event.thread;
  range.kind = static_cast<RangeKind>(field[trace::range::kKind]);
  range.name = static_cast<uint32_t>(field[trace::range::kName]);
  range.id = field[trace::range::kId];
  if (!thread.open_ranges.empty()) range.parent = thread.open_ranges.back();
  if (EndsForwardSearch(range.kind)) StartForwardSearch(process);
  if (GivesContext(range.kind)) {
    OpenContextOn(thread, ContextOf(range.kind), thread.context, range.name, range.id);
  }
  if (range.kind == RangeKind::kCheckpoint && range.id != 0) thread.checkpoints.push_back(range.id);
  const auto index = static_cast<uint32_t>(run_.ranges.size());
  if (range.kind == RangeKind::kNvtx) {
    processes_[process].open_nvtx.push_back(index);
  } else {
    thread.open_ranges.push_back(index);
  }
  run_.processes[process].ranges.push_back(index);
  run_.ranges.push_back(range);
}

void Loader::StartForwardSearch(ProcessIndex process) {
  processes_[process].save_noted = false;
  processes_[process].last_edge = now_;
}

void Loader::EndRange(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  const auto kind = static_cast<RangeKind>(field[trace::range::kKind]);
  const auto name = static_cast<uint32_t>(field[trace::range::kName]);
  const uint64_t id = field[trace::range::kId];
  if (kind == RangeKind::kNvtx) return EndNvtxRange(event, process);
  ThreadState& thread = threads_[event.thread];
  if (EndsForwardSearch(kind)) StartForwardSearch(process);
  if (kind == RangeKind::kCheckpoint && id != 0) CloseCheckpoint(thread, id);
  if (GivesContext(kind)) CloseContextOn(thread, ContextOf(kind), id, name);

  auto& open = thread.open_ranges;
  const auto last = open.rbegin() + static_cast<ptrdiff_t>(std::min(open.size(), kDeepestNesting));
  const auto match = std::find_if(open.rbegin(), last, [&](uint32_t index) {
    const Range& range = run_.ranges[index];
    return range.kind == kind && range.name == name && range.id == id;
  });
  if (match == last) {
    ++run_.anomalies.unbalanced_ranges;
    return;
  }
  // What was opened inside and not closed (an exception passed through) ends here too.
  const auto keep = static_cast<size_t>(open.rend() - match) - 1;
  run_.anomalies.unbalanced_ranges += open.size() - keep - 1;
  for (size_t i = keep; i < open.size(); ++i) run_.ranges[open[i]].end = now_;
  open.resize(keep);
}

// The program's own ranges need not nest, neither in each other nor in those that hooks see: an end closes
// its range and nothing else. A started range (id not 0) is known by its id and may end on another thread.
void Loader::EndNvtxRange(const Event& event, ProcessIndex process) {
  const auto name = static_cast<uint32_t>(event.field[trace::range::kName]);
  const uint64_t id = event.field[trace::range::kId];
  auto& open = processes_[process].open_nvtx;
  const auto last = open.rbegin() + static_cast<ptrdiff_t>(std::min(open.size(), kDeepestNesting));
  const auto match = std::find_if(open.rbegin(), last, [&](uint32_t index) {
    const Range& range = run_.ranges[index];
    return range.id == id && (id != 0 || (range.thread == event.thread && range.name == name));
  });
  if (match == last) {
    ++run_.anomalies.unbalanced_ranges;
    return;
  }
  run_.ranges[*match].end = now_;
  open.erase(match.base() - 1);
}

void Loader::CloseCheckpoint(ThreadState& thread, uint64_t id) {
  const auto match = std::find(thread.checkpoints.rbegin(), thread.checkpoints.rend(), id);
  if (match != thread.checkpoints.rend())
    thread.checkpoints.erase(match.base() - 1, thread.checkpoints.end());
}

void Loader::BeginNode(const Event& event, ProcessIndex process) {
  ThreadState& thread = threads_[event.thread];
  const uint64_t sequence = event.field[trace::node::kSequence];
  // What a node allocates belongs to the module whose forward made the node.
  const uint32_t* made_in =
      sequence == trace::node::kNoSequence ? nullptr : processes_[process].created.Find(sequence + 1);
  const ContextId parent = made_in != nullptr ? *made_in : run_.contexts.ModulePath(thread.context);
  OpenContextOn(thread, ContextKind::kNode, parent, static_cast<uint32_t>(event.field[trace::node::kName]),
                event.field[trace::node::kNode]);
}

void Loader::OpenContextOn(ThreadState& thread, ContextKind kind, ContextId parent, uint32_t name,
                           uint64_t id, uint32_t stack) {
  thread.open.push_back({kind, thread.context, thread.stack, id, name});
  if (stack != 0) thread.stack = stack;
  thread.context = run_.contexts.Child(parent, kind, name);
}

void Loader::CloseContextOn(ThreadState& thread, ContextKind kind, uint64_t id, uint32_t name) {
  const bool named = kind == ContextKind::kModule || kind == ContextKind::kScope;
  const size_t last = thread.open.size() - std::min(thread.open.size(), kDeepestNesting);
  for (size_t i = thread.open.size(); i-- > last;) {
    const OpenContext& open = thread.open[i];
    if (open.kind != kind || open.id != id || (named && open.name != name)) continue;
    thread.context = open.before;
    thread.stack = open.stack_before;
    thread.open.resize(i);
    return;
  }
}

}  // namespace vramscope::model
