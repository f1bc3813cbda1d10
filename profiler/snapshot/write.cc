// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/write.h"

#include <algorithm>

#include "profiler/snapshot/pickle_writer.h"
#include "profiler/text/number.h"

namespace vramscope::snapshot {
namespace {

constexpr uint32_t kNotYet = 0xffffffff;
constexpr size_t kBatch = 1000;

constexpr const char* kActions[] = {"alloc",        "free_requested", "free_completed", "segment_alloc",
                                    "segment_free", "segment_map",    "segment_unmap",  "snapshot",
                                    "oom",          "annotate",       "unknown"};

class Writing {
 public:
  Writing(const Snapshot& snapshot, trace::ByteSink* sink)
      : snapshot_(snapshot),
        out_(sink),
        frames_(snapshot.stacks.frame_count(), kNotYet),
        stacks_(snapshot.stacks.stack_count(), kNotYet) {}

  Status Run() {
    out_.BeginDict();
    out_.Text("segments");
    List(snapshot_.segments, [this](const Segment& segment) { Write(segment); });
    out_.Text("device_traces");
    out_.BeginList();
    for (const auto& trace : snapshot_.device_traces) WriteTrace(trace);
    out_.EndList();
    if (snapshot_.has_settings) {
      out_.Text("allocator_settings");
      WriteSettings("", snapshot_.settings, 1);
    }
    out_.Text("external_annotations");
    List(snapshot_.annotations, [this](const Annotation& annotation) { Write(annotation); });
    if (!snapshot_.host_segments.empty() || !snapshot_.host_trace.empty()) {
      out_.Text("host_segments");
      List(snapshot_.host_segments, [this](const Segment& segment) { Write(segment); });
      out_.Text("host_traces");
      WriteTrace(snapshot_.host_trace);
    }
    out_.EndDict();
    return out_.Finish();
  }

 private:
  template <typename Items, typename WriteOne>
  void List(const Items& items, const WriteOne& write_one) {
    out_.BeginList();
    size_t written = 0;
    for (const auto& item : items) {
      if (++written % kBatch == 0) out_.NextBatch();
      write_one(item);
    }
    out_.EndList();
  }

  void Key(const char* key, uint64_t number) {
    out_.Text(key);
    out_.Number(number);
  }
  void KnownKey(const char* key, uint64_t number) {
    if (number != kUnknown) Key(key, number);
  }
  void Key(const char* key, std::string_view text) {
    out_.Text(key);
    out_.Text(text);
  }

  void WriteTrace(const std::vector<EventRange>& trace) {
    out_.BeginList();
    size_t written = 0;
    ForEachEvent(snapshot_, trace, [&](const Event& event) {
      if (++written % kBatch == 0) out_.NextBatch();
      Write(event);
    });
    out_.EndList();
  }

  void Write(const Event& event) {
    const Origin& origin = snapshot_.origins[event.origin];
    out_.BeginDict();
    Key("action", kActions[static_cast<size_t>(event.action)]);
    Key(event.action == Action::kOom ? "device_free" : "addr", event.address);
    Key("size", event.bytes);
    Key("stream", origin.stream);
    KnownKey("time_us", event.time_us);
    if (origin.has_context) Key("compile_context", snapshot_.Text(origin.compile_context));
    if (origin.has_metadata) Key("user_metadata", snapshot_.Text(origin.user_metadata));
    if (origin.has_pool) WritePool("pool_id", origin.pool);
    WriteStack(event.stack);
    out_.EndDict();
  }

  void WritePool(const char* key, const PoolId& pool) {
    out_.Text(key);
    out_.Pair(pool.first, pool.second);
  }

  // Events with the same stack share one list.
  void WriteStack(StackId stack) {
    out_.Text("frames");
    if (stacks_[stack] != kNotYet) return out_.Again(stacks_[stack]);
    stacks_[stack] = out_.BeginList();
    size_t written = 0;
    for (const FrameId frame : snapshot_.stacks.stack(stack)) {
      if (++written % kBatch == 0) out_.NextBatch();
      WriteFrame(frame);
    }
    out_.EndList();
  }

  void WriteFrame(FrameId id) {
    if (frames_[id] != kNotYet) return out_.Again(frames_[id]);
    const Frame& frame = snapshot_.stacks.frame(id);
    out_.BeginDict();
    Key("name", snapshot_.Text(frame.function));
    Key("filename", snapshot_.Text(frame.file));
    out_.Text("line");
    out_.Signed(frame.line);
    out_.EndDict();
    frames_[id] = out_.Remember();
  }

  void Write(const Segment& segment) {
    out_.BeginDict();
    out_.Text("device");
    out_.Signed(segment.device == kHostDevice ? -1 : static_cast<int64_t>(segment.device));
    Key("address", segment.address);
    Key("total_size", segment.bytes);
    Key("allocated_size", segment.allocated_bytes);
    Key("active_size", segment.active_bytes);
    KnownKey("requested_size", segment.requested_bytes);
    Key("stream", segment.stream);
    Key("segment_type", segment.large ? "large" : "small");
    if (segment.has_pool) WritePool("segment_pool_id", segment.pool);
    out_.Text("is_expandable");
    out_.Bool(segment.expandable);
    WriteStack(segment.stack);
    out_.Text("blocks");
    List(segment.blocks, [this](const Block& block) { Write(block); });
    out_.EndDict();
  }

  void Write(const Block& block) {
    out_.BeginDict();
    KnownKey("address", block.address);
    Key("size", block.bytes);
    KnownKey("requested_size", block.requested_bytes);
    Key("state", block.state == BlockState::kAllocated  ? "active_allocated"
                 : block.state == BlockState::kInactive ? "inactive"
                                                        : "active_pending_free");
    WriteStack(block.stack);
    out_.EndDict();
  }

  void Write(const Annotation& annotation) {
    out_.BeginDict();
    Key("stage", annotation.start ? "START" : "END");
    Key("name", snapshot_.Text(annotation.name));
    Key("device", annotation.device);
    KnownKey("time_us", annotation.time_us);
    out_.EndDict();
  }

  // Writes adjacent settings whose keys begin with `path`. The depth is limited as in reading: a key may have
  // any number of dots.
  void WriteSettings(const std::string& path, std::span<const Setting> settings, int depth) {
    out_.BeginDict();
    for (size_t i = 0; i < settings.size();) {
      const std::string key = settings[i].key.substr(path.size());
      const size_t dot = depth == kSettingsDepth ? std::string::npos : key.find('.');
      out_.Text(key.substr(0, dot));
      if (dot == std::string::npos) {
        WriteValue(settings[i++]);
        continue;
      }
      const std::string inner = path + key.substr(0, dot + 1);
      size_t end = i;
      while (end < settings.size() && settings[end].key.starts_with(inner)) ++end;
      WriteSettings(inner, settings.subspan(i, end - i), depth + 1);
      i = end;
    }
    out_.EndDict();
  }

  void WriteValue(const Setting& setting) {
    const std::string& text = setting.value;
    if (setting.is_text) return out_.Text(text);
    if (text == "True" || text == "False") return out_.Bool(text == "True");
    if (const auto number = text::ParseNumber<int64_t>(text)) return out_.Signed(*number);
    if (const auto number = text::ParseNumber<uint64_t>(text)) return out_.Number(*number);
    if (const auto number = text::ParseNumber<double>(text)) return out_.Double(*number);
    out_.None();
  }

  const Snapshot& snapshot_;
  PickleWriter out_;
  std::vector<PickleWriter::MemoId> frames_;
  std::vector<PickleWriter::MemoId> stacks_;
};

}  // namespace

Status WritePickle(const Snapshot& snapshot, trace::ByteSink* sink) { return Writing(snapshot, sink).Run(); }

}  // namespace vramscope::snapshot
