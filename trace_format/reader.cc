// SPDX-License-Identifier: Apache-2.0
#include "trace_format/reader.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <utility>

#include "trace_format/block_index.h"
#include "trace_format/block_map.h"
#include "trace_format/checkpoint.h"
#include "trace_format/compression.h"
#include "trace_format/event_decoder.h"
#include "trace_format/mapped_file.h"
#include "trace_format/wire.h"

namespace vramscope::trace {
namespace {

bool IsDefinition(BlockType type) {
  return (type >= BlockType::kStrings && type <= BlockType::kMetadata) ||
         (type >= BlockType::kSourceFiles && type <= BlockType::kVariants);
}

bool IsKnownBlock(BlockType type) {
  return IsDefinition(type) || type == BlockType::kEvents || type == BlockType::kCheckpoint;
}

bool IsReadable(const BlockHeader& header) {
  return IsKnownBlock(header.type) && header.version <= kBlockVersion;
}

// A recording takes 1.6 to 2.6 bytes per event. Endless repetition (no times, one address) takes almost
// nothing, so the first 16 million events are exempt. A file with more events per byte than this was made to
// exhaust memory.
constexpr uint64_t kFreeEvents = uint64_t{16} << 20;
constexpr uint64_t kMaxEventsPerByte = 8;

std::string Version(uint16_t major, uint16_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// The state of a pass over blocks; created per call, so that callers in several threads do not conflict.
struct DecodeState {
  Decompressor decompressor;
  Bytes buffer;
  EventDecoder decoder;
};

}  // namespace

class TraceReader::Impl {
 public:
  Impl(MappedFile mapping, ByteView bytes, std::string name)
      : mapping_(std::move(mapping)), file_(bytes), name_(std::move(name)), definitions_(bytes.size()) {}

  Status Load();

  Status ForEachBatch(const Visit& visit) const { return VisitBlocks(event_blocks_, visit); }
  Status ForEachBatch(uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const;
  Result<std::vector<LiveBlock>> LiveAt(uint64_t time_ns) const;

  const Damage& damage() const {
    std::call_once(damage_once_, [this] { damage_ = FindDamage(); });
    return damage_;
  }
  const TraceClock& clock() const { return clock_; }
  const Definitions& definitions() const { return definitions_; }
  uint64_t event_count() const { return event_count_; }
  uint64_t first_time_ns() const { return event_blocks_.empty() ? 0 : earliest_from_.front(); }
  uint64_t last_time_ns() const { return event_blocks_.empty() ? 0 : latest_until_.back(); }
  uint64_t file_bytes() const { return file_.size(); }

 private:
  Status LoadFileHeader();
  void SortBlocks();
  void LoadDefinitions(const BlockEntry& block);
  Damage FindDamage() const;

  // Prepares the decoder for a block. False if the block is damaged. If its checksum is right all the same,
  // `*malformed` is incremented.
  bool OpenBlock(const BlockEntry& block, DecodeState* state, uint64_t* malformed) const;
  Status VisitBlocks(std::span<const BlockEntry> blocks, const Visit& visit) const;
  Status Malformed(uint64_t events) const;

  // For LiveAt: the live set before event block `target`, from the nearest checkpoint.
  LiveSet LiveBefore(size_t target, DecodeState* state) const;
  // Reads the nearest readable checkpoint before `target`; returns the first event block after it.
  size_t StartFromCheckpoint(size_t target, DecodeState* state, LiveSet* live) const;
  // Applies the first `limit` events of a block.
  void ApplyBlock(const BlockEntry& block, uint64_t limit, DecodeState* state, LiveSet* live) const;
  uint64_t CountUpTo(const BlockEntry& block, uint64_t time_ns, DecodeState* state) const;

  MappedFile mapping_;
  ByteView file_;
  std::string name_;
  TraceClock clock_;
  bool header_damaged_ = false;
  BlockMap map_;
  Definitions definitions_;
  std::deque<Bytes>
      definition_payloads_;  // strings, sources, programs, variants are views into them, or into the file
  std::vector<BlockEntry> event_blocks_;
  std::vector<BlockEntry> checkpoints_;
  // Times may decrease from one block to the next (a late thread). Per event block: the smallest time from it
  // to the end, and the largest time from the start to it. Both ascend, so both can be bisected.
  std::vector<uint64_t> earliest_from_;
  std::vector<uint64_t> latest_until_;
  uint64_t event_count_ = 0;
  mutable std::once_flag damage_once_;
  mutable Damage damage_;
};

Status TraceReader::Impl::Load() {
  VRAMSCOPE_TRY(LoadFileHeader());
  map_ = MapBlocks(file_);
  if (header_damaged_ && map_.blocks.empty()) {
    return Error{name_ +
                 ": neither a trace nor a snapshot of PyTorch, or a trace without an intact block. Give a "
                 "file that `vramscope record` or torch.cuda.memory._dump_snapshot wrote."};
  }
  SortBlocks();
  if (event_count_ > kFreeEvents + kMaxEventsPerByte * file_.size()) {
    return Error{name_ + ": names " + std::to_string(event_count_) + " events in " +
                 std::to_string(file_.size()) +
                 " bytes, which no recording does, so it is not read. Record again."};
  }
  return {};
}

Status TraceReader::Impl::LoadFileHeader() {
  const auto header = ParseFileHeader(file_);
  if (!header && !StartsWithFileMagic(file_) && file_.size() < kFileHeaderBytes + kBlockHeaderBytes) {
    const char* const what = file_.empty() ? ": empty" : ": neither a trace nor a snapshot of PyTorch";
    return Error{name_ + what +
                 ". Give a file that `vramscope record` or torch.cuda.memory._dump_snapshot wrote."};
  }
  if (header && header->major != kFormatMajor) {
    return Error{name_ + ": written in trace format " + Version(header->major, header->minor) +
                 "; this vramscope reads " + Version(kFormatMajor, kFormatMinor) +
                 ". Use the vramscope version that recorded it, or a newer one."};
  }
  header_damaged_ = !header;
  if (header) clock_ = {header->start_realtime_ns, header->start_monotonic_ns};
  return {};
}

void TraceReader::Impl::SortBlocks() {
  for (const BlockEntry& block : map_.blocks) {
    if (!IsReadable(block.header)) continue;
    if (IsDefinition(block.header.type)) LoadDefinitions(block);
    if (block.header.type == BlockType::kCheckpoint) checkpoints_.push_back(block);
    if (block.header.type == BlockType::kEvents) event_blocks_.push_back(block);
  }
  for (const BlockEntry& block : event_blocks_) {
    const uint64_t before = latest_until_.empty() ? 0 : latest_until_.back();
    latest_until_.push_back(std::max(before, block.header.last_time_ns));
    event_count_ += block.header.count;
  }
  earliest_from_.resize(event_blocks_.size());
  uint64_t earliest = std::numeric_limits<uint64_t>::max();
  for (size_t i = event_blocks_.size(); i-- > 0;) {
    earliest = std::min(earliest, event_blocks_[i].header.first_time_ns);
    earliest_from_[i] = earliest;
  }
}

void TraceReader::Impl::LoadDefinitions(const BlockEntry& block) {
  Decompressor decompressor;
  Bytes buffer;
  const auto payload = LoadPayload(file_, block, &decompressor, &buffer);
  if (!payload) return;
  if (!definitions_.Charge(buffer.size())) return;
  // A malformed tail is dropped; what it defined reads as unknown.
  (void)definitions_.Apply(block.header.type, block.header.count, *payload);
  definition_payloads_.push_back(std::move(buffer));
}

Damage TraceReader::Impl::FindDamage() const {
  using State = Stretch::State;
  DamageFacts facts{name_, file_.size(), header_damaged_, map_.has_index, map_.trailer, {}};
  for (const BlockEntry& block : map_.blocks) {
    const bool is_newer = IsKnownBlock(block.header.type) && block.header.version > kBlockVersion;
    const bool is_damaged = map_.from_index && !IsWhole(file_, block);
    const State state = is_damaged ? State::kDamaged : is_newer ? State::kNewer : State::kReadable;
    facts.stretches.push_back({block.offset, block.end() - block.offset, state, block.header});
  }
  for (const Gap& gap : map_.gaps) {
    facts.stretches.push_back({gap.begin, gap.end - gap.begin, State::kDamaged, gap.header});
  }
  std::ranges::sort(facts.stretches, {}, &Stretch::offset);
  return AssessDamage(facts);
}

bool TraceReader::Impl::OpenBlock(const BlockEntry& block, DecodeState* state, uint64_t* malformed) const {
  const auto payload = LoadPayload(file_, block, &state->decompressor, &state->buffer);
  if (payload && state->decoder.Open(*payload, block.header.count)) return true;
  if (payload || IsWhole(file_, block)) *malformed += block.header.count;
  return false;
}

Status TraceReader::Impl::Malformed(uint64_t events) const {
  if (events == 0) return {};
  return Error{
      name_ + ": " + std::to_string(events) +
      " events are in intact blocks that this vramscope cannot decode; the others were read. Record again."};
}

Status TraceReader::Impl::VisitBlocks(std::span<const BlockEntry> blocks, const Visit& visit) const {
  DecodeState state;
  uint64_t malformed = 0;
  for (const BlockEntry& block : blocks) {
    if (!OpenBlock(block, &state, &malformed)) continue;
    for (auto batch = state.decoder.Next(); !batch.empty(); batch = state.decoder.Next()) {
      if (!visit(batch)) return Malformed(malformed);
    }
  }
  return Malformed(malformed);
}

Status TraceReader::Impl::ForEachBatch(uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const {
  const auto first = std::ranges::lower_bound(latest_until_, begin_ns) - latest_until_.begin();
  const auto last = std::ranges::lower_bound(earliest_from_, end_ns) - earliest_from_.begin();
  std::vector<BlockEntry> blocks;
  for (auto i = first; i < last; ++i) {
    const BlockEntry& block = event_blocks_[static_cast<size_t>(i)];
    if (block.header.last_time_ns >= begin_ns && block.header.first_time_ns < end_ns) blocks.push_back(block);
  }
  return VisitBlocks(blocks, visit);
}

Result<std::vector<LiveBlock>> TraceReader::Impl::LiveAt(uint64_t time_ns) const {
  // The last block that holds an event this early.
  const auto after = std::ranges::upper_bound(earliest_from_, time_ns) - earliest_from_.begin();
  if (after == 0) return std::vector<LiveBlock>();
  const size_t target = static_cast<size_t>(after) - 1;
  DecodeState state;
  LiveSet live = LiveBefore(target, &state);
  const BlockEntry& block = event_blocks_[target];
  ApplyBlock(block, CountUpTo(block, time_ns, &state), &state, &live);
  return live.Sorted();
}

LiveSet TraceReader::Impl::LiveBefore(size_t target, DecodeState* state) const {
  LiveSet live;
  for (size_t i = StartFromCheckpoint(target, state, &live); i < target; ++i) {
    ApplyBlock(event_blocks_[i], event_blocks_[i].header.count, state, &live);
  }
  return live;
}

size_t TraceReader::Impl::StartFromCheckpoint(size_t target, DecodeState* state, LiveSet* live) const {
  const uint64_t before = event_blocks_[target].offset;
  auto checkpoint = std::ranges::lower_bound(checkpoints_, before, {}, &BlockEntry::offset);
  while (checkpoint != checkpoints_.begin()) {
    --checkpoint;
    const auto payload = LoadPayload(file_, *checkpoint, &state->decompressor, &state->buffer);
    const auto blocks = payload ? DecodeCheckpoint(*payload, checkpoint->header.count) : std::nullopt;
    if (!blocks) continue;
    for (const LiveBlock& block : *blocks) live->Insert(block);
    const auto next = std::ranges::lower_bound(event_blocks_, checkpoint->offset, {}, &BlockEntry::offset);
    return static_cast<size_t>(next - event_blocks_.begin());
  }
  return 0;
}

void TraceReader::Impl::ApplyBlock(const BlockEntry& block, uint64_t limit, DecodeState* state,
                                   LiveSet* live) const {
  uint64_t malformed = 0;
  if (!OpenBlock(block, state, &malformed)) return;
  EventDecoder& decoder = state->decoder;
  for (auto batch = decoder.Next(); !batch.empty() && limit > 0; batch = decoder.Next()) {
    uint64_t number = block.header.first_alloc + decoder.allocs_before_batch();
    const size_t count = std::min<uint64_t>(limit, batch.size());
    for (size_t i = 0; i < count; ++i) {
      if (batch[i].type == EventType::kAlloc) ++number;
      live->Apply(batch[i], decoder.processes()[i], number);
    }
    limit -= count;
  }
}

uint64_t TraceReader::Impl::CountUpTo(const BlockEntry& block, uint64_t time_ns, DecodeState* state) const {
  uint64_t malformed = 0;
  if (!OpenBlock(block, state, &malformed)) return 0;
  uint64_t count = 0;
  uint64_t seen = 0;
  for (auto batch = state->decoder.Next(); !batch.empty(); batch = state->decoder.Next()) {
    for (const Event& event : batch) {
      ++seen;
      if (event.time_ns <= time_ns) count = seen;
    }
  }
  return count;
}

TraceReader::TraceReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceReader::~TraceReader() = default;

Result<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path) {
  auto mapping = VRAMSCOPE_TRY(MappedFile::Open(path));
  const ByteView bytes = mapping.bytes();
  auto impl = std::make_unique<Impl>(std::move(mapping), bytes, path);
  VRAMSCOPE_TRY(impl->Load());
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(impl)));
}

Result<std::unique_ptr<TraceReader>> TraceReader::OpenBytes(std::span<const std::byte> bytes,
                                                            std::string name_for_messages) {
  auto impl = std::make_unique<Impl>(MappedFile(), bytes, std::move(name_for_messages));
  VRAMSCOPE_TRY(impl->Load());
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(impl)));
}

const TraceClock& TraceReader::clock() const { return impl_->clock(); }
const std::vector<ProcessInfo>& TraceReader::processes() const { return impl_->definitions().processes(); }
const std::vector<ThreadInfo>& TraceReader::threads() const { return impl_->definitions().threads(); }
const Metadata& TraceReader::metadata() const { return impl_->definitions().metadata(); }
const SourceFiles& TraceReader::source_files() const { return impl_->definitions().source_files(); }
const Programs& TraceReader::programs() const { return impl_->definitions().programs(); }
const Variants& TraceReader::variants() const { return impl_->definitions().variants(); }
const Damage& TraceReader::damage() const { return impl_->damage(); }
uint64_t TraceReader::event_count() const { return impl_->event_count(); }
uint64_t TraceReader::first_time_ns() const { return impl_->first_time_ns(); }
uint64_t TraceReader::last_time_ns() const { return impl_->last_time_ns(); }
uint64_t TraceReader::file_bytes() const { return impl_->file_bytes(); }
std::string_view TraceReader::String(StringId id) const { return impl_->definitions().String(id); }
std::vector<StringId> TraceReader::Stack(StackId id) const { return impl_->definitions().Stack(id); }
Status TraceReader::ForEachBatch(const Visit& visit) const { return impl_->ForEachBatch(visit); }
Status TraceReader::ForEachBatch(uint64_t begin_ns, uint64_t end_ns, const Visit& visit) const {
  return impl_->ForEachBatch(begin_ns, end_ns, visit);
}
Result<std::vector<LiveBlock>> TraceReader::LiveAt(uint64_t time_ns) const { return impl_->LiveAt(time_ns); }

}  // namespace vramscope::trace
