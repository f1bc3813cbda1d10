// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/read.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/json_reader.h"
#include "profiler/snapshot/objects.h"
#include "profiler/snapshot/unpickler.h"
#include "trace_format/wire.h"

namespace vramscope::snapshot {
namespace {

// JSON may begin with whitespace, or with the mark that some editors of Windows put before UTF-8; the parser
// skips it. No pickle opcode has one of these values.
bool BeginsJson(std::span<const uint8_t> bytes) {
  constexpr std::array<uint8_t, 3> kByteOrderMark = {0xef, 0xbb, 0xbf};
  if (bytes.size() >= kByteOrderMark.size() && std::ranges::equal(bytes.first(3), kByteOrderMark))
    return true;
  return !bytes.empty() &&
         std::string_view("{[ \t\r\n").find(static_cast<char>(bytes[0])) != std::string_view::npos;
}

bool BeginsTrace(const ByteStream& stream) {
  const auto& magic = trace::kFileMagic;
  return stream.end() - stream.begin() >= static_cast<ptrdiff_t>(magic.size()) &&
         std::equal(magic.begin(), magic.end(), stream.begin());
}

// Builds the snapshot from the values that were read: identifies each list.
class Interpreter {
 public:
  Interpreter(const Objects& objects, Snapshot* out)
      : values_(objects.values()),
        records_(objects.records()),
        bytes_read_(objects.bytes_read()),
        out_(*out) {}

  Status Run(Value root) {
    if (root.Is(Kind::kDict)) {
      TakeKeys(root);
    } else {  // releases up to 1.13: only the segments
      TakeSegments(root, &out_.segments);
      found_ = out_.has_segments = !out_.segments.empty();
    }
    if (!found_)
      return Error{
          "it has no memory snapshot: neither segments nor device_traces; write it with "
          "torch.cuda.memory._dump_snapshot"};
    for (std::vector<Segment>* segments : {&out_.segments, &out_.host_segments}) {
      std::stable_sort(segments->begin(), segments->end(),
                       [](const Segment& a, const Segment& b) { return a.address < b.address; });
    }
    return {};
  }

 private:
  void TakeKeys(Value root) {
    Value key;
    bool is_key = false;
    values_.ForEach(root, [&](Value value) {
      is_key = !is_key;
      if (is_key) {
        key = value;
      } else {
        TakeKey(key.Is(Kind::kString) ? out_.texts.word(key.index()) : Word::kOther, value);
      }
    });
  }

  void TakeKey(Word key, Value value) {
    const uint64_t bit = uint64_t{1} << static_cast<unsigned>(key);
    if ((keys_ & bit) != 0) return;
    keys_ |= bit;
    switch (key) {
      case Word::kSegments:
        found_ = out_.has_segments = true;
        return TakeSegments(value, &out_.segments);
      case Word::kDeviceTraces:
        found_ = true;
        return TakeTraces(value);
      case Word::kAllocatorSettings:
        out_.has_settings = value.Is(Kind::kDict);
        return TakeSettings("", value, 0);
      case Word::kExternalAnnotations:
        values_.ForEach(value, [this](Value annotation) {
          if (Expect(annotation, Kind::kAnnotation))
            out_.annotations.push_back(records_.annotation(annotation));
        });
        return;
      case Word::kHostSegments:
        return TakeSegments(value, &out_.host_segments);
      case Word::kHostTraces:  // of events, or like those of devices, a list of such lists
        values_.ForEach(value, [this](Value item) {
          if (item.Is(Kind::kEvent)) return AddEvent(item, &out_.host_trace);
          if (MayVisit(item))
            values_.ForEach(item, [this](Value event) { AddEvent(event, &out_.host_trace); });
        });
        return;
      default:
        return;
    }
  }

  // A file may refer to one list many times. The elements visited are limited by the bytes of the file.
  bool MayVisit(Value list) {
    visited_ += values_.LengthOf(list) + 1;
    return visited_ <= bytes_read_;
  }

  bool Expect(Value value, Kind kind) {
    if (!value.Is(kind)) ++out_.odd_records;
    return value.Is(kind);
  }

  void TakeSegments(Value list, std::vector<Segment>* into) {
    values_.ForEach(list, [this, into](Value value) {
      if (!Expect(value, Kind::kSegment)) return;
      const Records::SegmentRecord& record = records_.segment(value);
      Segment segment = record.segment;
      uint64_t address = segment.address;
      if (!MayVisit(record.blocks)) return;
      size_t blocks = 0;
      values_.ForEach(record.blocks, [&](Value item) { blocks += item.Is(Kind::kBlock) ? 1 : 0; });
      segment.blocks.reserve(blocks);
      values_.ForEach(record.blocks, [&](Value item) {
        if (!Expect(item, Kind::kBlock)) return;
        Block block = records_.block(item);
        if (block.address == kUnknown) block.address = address;
        address = block.address + block.bytes;
        segment.blocks.push_back(block);
      });
      if (into == &out_.host_segments) segment.device = kHostDevice;
      into->push_back(std::move(segment));
    });
  }

  void TakeTraces(Value list) {
    values_.ForEach(list, [this](Value trace) {
      if (out_.device_traces.size() == kMaxDevices || !MayVisit(trace)) return;
      auto& ranges = out_.device_traces.emplace_back();
      values_.ForEach(trace, [&](Value value) { AddEvent(value, &ranges); });
    });
  }

  void AddEvent(Value value, std::vector<EventRange>* ranges) {
    if (!Expect(value, Kind::kEvent)) return;
    if (!ranges->empty() && ranges->back().first + ranges->back().count == value.index()) {
      ++ranges->back().count;
    } else {
      ranges->push_back({value.index(), 1});
    }
  }

  // A dict inside the dict becomes "outer.inner". A file may refer to one dict many times, so depth and
  // number are limited.
  void TakeSettings(const std::string& path, Value dict, int depth) {
    constexpr size_t kMaxSettings = 1000;
    if (depth == kSettingsDepth || settings_seen_ > 10 * kMaxSettings) return;
    Value key;
    bool is_key = false;
    values_.ForEach(dict, [&](Value value) {
      is_key = !is_key;
      if (is_key) {
        key = value;
        return;
      }
      if (out_.settings.size() >= kMaxSettings || ++settings_seen_ > 10 * kMaxSettings) return;
      const std::string name = path + (path.empty() ? "" : ".") + std::string(values_.Text(key));
      if (value.Is(Kind::kDict)) return TakeSettings(name, value, depth + 1);
      out_.settings.push_back({name, TextOf(value), value.Is(Kind::kString)});
    });
  }

  [[nodiscard]] std::string TextOf(Value value) const {
    switch (value.kind()) {
      case Kind::kString:
        return std::string(values_.Text(value));
      case Kind::kInt:
        return std::to_string(value.AsInt());
      case Kind::kBigInt:
        return std::to_string(values_.Number(value));
      case Kind::kBool:
        return value.index() != 0 ? "True" : "False";
      case Kind::kFloat:
        return std::to_string(values_.Float(value));
      default:
        return "None";
    }
  }

  const Values& values_;
  const Records& records_;
  const uint64_t bytes_read_;
  Snapshot& out_;
  bool found_ = false;
  uint64_t keys_ = 0;  // found keys, as bits of Word
  uint64_t visited_ = 0;
  size_t settings_seen_ = 0;
};

Result<std::shared_ptr<const Snapshot>> ReadSource(std::unique_ptr<ByteSource> source,
                                                   const std::string& name) {
  auto unpacked = VRAMSCOPE_TRY(Unpacked(std::move(source)));
  ByteStream stream(std::move(unpacked));
  auto snapshot = std::make_shared<Snapshot>();
  Objects objects(snapshot.get());
  Value root;

  Status status = stream.Fill(stream.begin(), trace::kFileMagic.size());
  if (status.ok() && BeginsTrace(stream))
    return Error{name + ": it is a packed vramscope trace; unpack it first (gunzip or zstd -d)."};
  if (status.ok()) {
    const bool json = BeginsJson({stream.begin(), stream.end()});
    status = json ? ReadJson(&stream, &objects) : Unpickle(&stream, &objects);
  }
  if (status.ok() && !objects.Finish(&root)) status = Error{objects.problem()};
  if (status.ok()) status = Interpreter(objects, snapshot.get()).Run(root);
  if (!status.ok()) return Error{name + ": " + status.error().sentence + "."};
  snapshot->bytes_read = objects.budget().bytes_read();
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

}  // namespace

Result<std::shared_ptr<const Snapshot>> Read(const std::string& path) {
  auto source = VRAMSCOPE_TRY(OpenFile(path));
  return ReadSource(std::move(source), path);
}

Result<std::shared_ptr<const Snapshot>> ReadBytes(std::span<const uint8_t> bytes, const std::string& name) {
  return ReadSource(MemorySource(bytes), name);
}

bool LooksLikeSnapshot(const std::string& path) {
  if (!IsRegularFile(path)) return false;  // a pipe would lose its beginning
  auto source = OpenFile(path);
  if (!source.ok()) return false;
  uint8_t head[4] = {};
  const Result<size_t> got = (*source)->Read(head);
  if (!got.ok() || *got < sizeof(head)) return false;
  constexpr uint8_t kGzip[] = {0x1f, 0x8b};
  constexpr uint8_t kZstd[] = {0x28, 0xb5, 0x2f, 0xfd};
  if (std::memcmp(head, kGzip, sizeof(kGzip)) == 0 || std::memcmp(head, kZstd, sizeof(kZstd)) == 0)
    return true;
  const bool binary_pickle = head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
  const bool text_pickle = head[0] == '(' || head[0] == '}' || head[0] == ']';
  return binary_pickle || text_pickle || BeginsJson(head);
}

}  // namespace vramscope::snapshot
