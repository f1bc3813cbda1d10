// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/open_scopes.h"

namespace vramscope::model {
namespace {

using trace::Event;
using trace::RangeKind;

// A key that a begin and its end share.
uint64_t KeyOf(RangeKind kind, uint32_t name, uint64_t id) {
  return MixBits(uint64_t{static_cast<uint16_t>(kind)} << 32 | name) ^ MixBits(id);
}

uint64_t KeyOf(ContextKind kind, uint32_t name, uint64_t id) {
  const bool named = kind == ContextKind::kModule || kind == ContextKind::kScope;
  return MixBits(uint64_t{static_cast<uint8_t>(kind)} << 32 | (named ? name : 0)) ^ MixBits(id);
}

// The program's own ranges: a started range (id not 0) may end on another thread; a pushed range is
// identified by its name.
uint64_t KeyOfNvtx(uint64_t id, uint32_t thread, uint32_t name) {
  return id != 0 ? MixBits(id) : ~MixBits(uint64_t{thread} << 32 | name);
}

bool GivesContext(RangeKind kind) { return kind == RangeKind::kModule || kind == RangeKind::kScope; }

ContextKind ContextOf(RangeKind kind) {
  return kind == RangeKind::kModule ? ContextKind::kModule : ContextKind::kScope;
}

}  // namespace

OpenScopes::OpenScopes(Run& run)
    : run_(run), threads_(run.threads.size()), processes_(run.processes.size()) {}

void OpenScopes::BeginRange(const Event& event, ProcessIndex process, EventIndex now) {
  const uint64_t* field = event.field;
  Thread& thread = threads_[event.thread];
  Range range;
  range.begin = now;
  range.thread = event.thread;
  range.kind = static_cast<RangeKind>(field[trace::range::kKind]);
  range.name = static_cast<uint32_t>(field[trace::range::kName]);
  range.id = field[trace::range::kId];
  if (!thread.ranges.empty()) range.parent = thread.ranges.back();
  if (GivesContext(range.kind)) Open(thread, ContextOf(range.kind), thread.context, range.name, range.id);
  if (range.kind == RangeKind::kCheckpoint && range.id != 0) thread.checkpoints.Begin(range.id, range.id);
  const auto index = static_cast<uint32_t>(run_.ranges.size());
  if (range.kind == RangeKind::kNvtx) {
    processes_[process].nvtx[KeyOfNvtx(range.id, range.thread, range.name)].push_back(index);
  } else {
    thread.ranges.Begin(KeyOf(range.kind, range.name, range.id), index);
  }
  run_.processes[process].ranges.push_back(index);
  run_.ranges.push_back(range);
}

void OpenScopes::EndRange(const Event& event, ProcessIndex process, EventIndex now) {
  const uint64_t* field = event.field;
  const auto kind = static_cast<RangeKind>(field[trace::range::kKind]);
  const auto name = static_cast<uint32_t>(field[trace::range::kName]);
  const uint64_t id = field[trace::range::kId];
  if (kind == RangeKind::kNvtx) return EndNvtxRange(event, process, now);
  Thread& thread = threads_[event.thread];
  if (kind == RangeKind::kCheckpoint && id != 0) thread.checkpoints.EndFrom(thread.checkpoints.Find(id));
  if (GivesContext(kind)) Close(thread, ContextOf(kind), id, name);

  auto& open = thread.ranges;
  const size_t match = open.Find(KeyOf(kind, name, id));
  if (match == open.size()) {
    ++run_.anomalies.unbalanced_ranges;
    return;
  }
  // Ranges opened inside and not closed (an exception passed through) end here too.
  run_.anomalies.unbalanced_ranges += open.size() - match - 1;
  for (size_t i = match; i < open.size(); ++i) run_.ranges[open[i]].end = now;
  open.EndFrom(match);
}

// The program's own ranges need not nest, neither in each other nor in hooked ranges, so an end closes only
// its own range. A started range (id not 0) is identified by its id and may end on another thread.
void OpenScopes::EndNvtxRange(const Event& event, ProcessIndex process, EventIndex now) {
  const auto name = static_cast<uint32_t>(event.field[trace::range::kName]);
  auto& all = processes_[process].nvtx;
  const auto open = all.find(KeyOfNvtx(event.field[trace::range::kId], event.thread, name));
  if (open == all.end()) {
    ++run_.anomalies.unbalanced_ranges;
    return;
  }
  run_.ranges[open->second.back()].end = now;
  open->second.pop_back();
  if (open->second.empty()) all.erase(open);
}

void OpenScopes::BeginNode(const Event& event, ProcessIndex process) {
  Thread& thread = threads_[event.thread];
  const uint64_t sequence = event.field[trace::node::kSequence];
  // A node's allocations belong to the module whose forward created the node.
  const uint32_t* made_in =
      sequence == trace::node::kNoSequence ? nullptr : processes_[process].created.Find(sequence + 1);
  const ContextId parent = made_in != nullptr ? *made_in : run_.contexts.ModulePath(thread.context);
  Open(thread, ContextKind::kNode, parent, static_cast<uint32_t>(event.field[trace::node::kName]),
       event.field[trace::node::kNode]);
}

void OpenScopes::EndNode(const Event& event) {
  Close(threads_[event.thread], ContextKind::kNode, event.field[trace::node::kNode], 0);
}

void OpenScopes::BeginOp(const Event& event) {
  Thread& thread = threads_[event.thread];
  Open(thread, ContextKind::kOp, thread.context, static_cast<uint32_t>(event.field[trace::op::kName]), 0,
       static_cast<uint32_t>(event.field[trace::op::kStack]));
}

void OpenScopes::EndOp(const Event& event) { Close(threads_[event.thread], ContextKind::kOp, 0, 0); }

void OpenScopes::NoteCreatedNode(const Event& event, ProcessIndex process) {
  const uint64_t sequence = event.field[0];
  if (sequence == trace::node::kNoSequence) return;
  *processes_[process].created.Insert(sequence + 1, 0).value =
      run_.contexts.ModulePath(threads_[event.thread].context);
}

void OpenScopes::Open(Thread& thread, ContextKind kind, ContextId parent, uint32_t name, uint64_t id,
                      uint32_t stack) {
  thread.open.Begin(KeyOf(kind, name, id), {thread.context, thread.stack});
  if (stack != 0) thread.stack = stack;
  thread.context = run_.contexts.Child(parent, kind, name);
}

void OpenScopes::Close(Thread& thread, ContextKind kind, uint64_t id, uint32_t name) {
  const size_t match = thread.open.Find(KeyOf(kind, name, id));
  if (match == thread.open.size()) return;
  thread.context = thread.open[match].before;
  thread.stack = thread.open[match].stack_before;
  thread.open.EndFrom(match);
}

}  // namespace vramscope::model
