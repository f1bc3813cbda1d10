// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/testing/script.h"

#include <cstdio>
#include <cstdlib>

namespace vramscope::model::testing {

using trace::EventType;

Script::Script() { Process(100); }

Script& Script::Process(uint32_t pid, uint32_t parent_pid, uint64_t end_ns) {
  const auto [entry, fresh] = processes_.emplace(pid, 0);
  if (fresh) {
    trace::ProcessInfo info;
    info.pid = pid;
    info.parent_pid = parent_pid;
    info.end_ns = end_ns;
    info.executable = "/usr/bin/python3";
    info.command_line = "python train.py";
    entry->second = trace_->AddProcess(info);
  }
  process_ = entry->second;
  return Thread("main");
}

Script& Script::Thread(const std::string& name) {
  const auto [entry, fresh] = threads_.emplace(std::pair{process_, name}, 0);
  if (fresh) {
    trace::ThreadInfo info;
    info.process = process_;
    info.name = name;
    entry->second = trace_->AddThread(info);
  }
  thread_ = entry->second;
  return *this;
}

Script& Script::Device(uint64_t code) {
  device_ = code;
  return *this;
}

Script& Script::At(uint64_t time_ns) {
  time_ns_ = time_ns;
  return *this;
}

Script& Script::Stack(const std::vector<std::string>& frames) {
  next_stack_ = trace_->InternStack(frames);
  return *this;
}

Script& Script::Reusing(const std::string& block) {
  reuse_address_ = Find(block).address;
  return *this;
}

Script& Script::TotalsAre(uint64_t extra, uint64_t reserved) {
  totals_ = true;
  extra_total_ = extra;
  reserved_ = reserved;
  return *this;
}

Script& Script::Event(EventType type, const std::vector<uint64_t>& fields) {
  trace::Event event;
  event.type = type;
  event.thread = thread_;
  event.time_ns = time_ns_;
  for (size_t i = 0; i < fields.size(); ++i) event.field[i] = fields[i];
  trace_->Append(event);
  time_ns_ += 10;
  return *this;
}

Script& Script::Alloc(const std::string& block, uint64_t size, uint64_t requested) {
  uint64_t address = reuse_address_;
  reuse_address_ = 0;
  if (address == 0) {
    address = next_address_;
    next_address_ += (size + 0xfff) & ~uint64_t{0xfff};
    next_address_ += 0x1000;
  }
  Known& known = blocks_[block];
  known.address = address;
  known.size = size;
  known.ids.push_back(next_id_++);
  alive_bytes_ += size;
  const uint32_t stack = next_stack_;
  next_stack_ = 0;
  return Event(EventType::kAlloc, {address, size, device_, 0, stack, requested,
                                   totals_ ? alive_bytes_ + extra_total_ : 0, totals_ ? reserved_ : 0});
}

Script& Script::Free(const std::string& block) {
  const Known& known = Find(block);
  alive_bytes_ -= known.size;
  return Event(EventType::kFree, {known.address, 0, device_, 0, totals_ ? alive_bytes_ + extra_total_ : 0,
                                  totals_ ? reserved_ : 0});
}

Script& Script::Label(const std::string& block, trace::Role role, trace::LabelSource source,
                      const std::string& name, uint64_t tensor) {
  const Known& known = Find(block);
  return Event(EventType::kLabel, {known.address, known.size, static_cast<uint64_t>(role),
                                   static_cast<uint64_t>(source), trace_->Intern(name), tensor});
}

Script& Script::Parameter(const std::string& block, const std::string& name) {
  return Label(block, trace::Role::kParameter, trace::LabelSource::kModuleRegistry, name,
               Find(block).address * 16);
}

Script& Script::Gradient(const std::string& block, const std::string& parameter) {
  const uint64_t variable = Find(parameter).address * 16;  // the TensorImpl, as in Parameter()
  Label(parameter, trace::Role::kParameter, trace::LabelSource::kAccumulateGrad, "", variable);
  const uint64_t gradient = Find(block).address * 16;  // a tensor object of its own
  return Label(block, trace::Role::kGradient, trace::LabelSource::kAccumulateGrad, "", gradient);
}

Script& Script::Saved(const std::string& block) {
  const Known& known = Find(block);
  return Event(EventType::kSaved, {known.address, known.size, 0, 0});
}

Script& Script::SavedOutput(const std::string& block) {
  const Known& known = Find(block);
  return Event(EventType::kSaved, {known.address, known.size, 0, 1});
}

Script& Script::Released(const std::string& block) {
  const Known& known = Find(block);
  return Event(EventType::kSavedReleased, {known.address, known.size});
}

Script& Script::Range(trace::RangeKind kind, const std::string& name, uint64_t id, const Body& body) {
  const uint32_t thread = thread_;
  RangeBegin(kind, name, id);
  body();
  thread_ = thread;  // the body may have switched to other threads
  return RangeEnd(kind, name, id);
}

Script& Script::RangeBegin(trace::RangeKind kind, const std::string& name, uint64_t id) {
  return Event(EventType::kRangeBegin, {static_cast<uint64_t>(kind), trace_->Intern(name), id});
}

Script& Script::RangeEnd(trace::RangeKind kind, const std::string& name, uint64_t id) {
  return Event(EventType::kRangeEnd, {static_cast<uint64_t>(kind), trace_->Intern(name), id});
}

Script& Script::Op(const std::string& name, const Body& body) {
  Event(EventType::kOpBegin, {trace_->Intern(name), ~uint64_t{0}, 0, 0, 0});
  body();
  return Event(EventType::kOpEnd, {});
}

Script& Script::NodeCreated(uint64_t sequence) { return Event(EventType::kNodeCreated, {sequence}); }

Script& Script::Node(const std::string& name, uint64_t sequence, const Body& body) {
  const uint64_t node = 0x5000 + sequence * 16;
  Event(EventType::kNodeBegin, {node, trace_->Intern(name), sequence});
  body();
  return Event(EventType::kNodeEnd, {node});
}

Script& Script::Mark(trace::MarkKind kind, uint64_t value, const std::string& name, uint64_t tensor) {
  return Event(EventType::kMark, {static_cast<uint64_t>(kind), value, trace_->Intern(name), tensor});
}

Script& Script::Lost(uint64_t count) { return Event(EventType::kLost, {count, time_ns_, time_ns_ + 100}); }

Script& Script::Coverage(const std::string& hook, trace::CoverageState state, const std::string& detail) {
  return Event(EventType::kCoverage,
               {trace_->Intern(hook), static_cast<uint64_t>(state), trace_->Intern(detail)});
}

const Script::Known& Script::Find(const std::string& block) const {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) {
    std::fprintf(stderr, "script: no block was called \"%s\"\n", block.c_str());
    std::abort();
  }
  return found->second;
}

BlockId Script::Id(const std::string& name, size_t occurrence) const {
  const Known& known = Find(name);
  return occurrence == 0 ? known.ids.back() : known.ids.at(occurrence - 1);
}

Run Script::Load() const { return model::Load(trace_).value(); }

}  // namespace vramscope::model::testing
