// SPDX-License-Identifier: Apache-2.0
// Any bytes as a trace: nothing crashes, hangs, or allocates out of proportion to the input.
//
// Checksums keep a fuzzer from reaching the code that runs after them. So each input is read twice: as it is,
// and with corrected checksums of its headers and payloads. Seeds: two of trace_format/testdata (v1_tiny has
// blocks too small to be compressed, so that bit flips reach columns).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "trace_format/crc32.h"
#include "trace_format/reader.h"
#include "trace_format/wire.h"

namespace vramscope::trace {
namespace {

void Use(ByteView file) {
  const auto reader = TraceReader::OpenBytes(file, "fuzz.vms");
  if (!reader.ok()) {
    if (reader.error().sentence.empty()) std::abort();
    return;
  }
  uint64_t last_time = 0;
  (void)(*reader)->ForEachBatch([&](std::span<const Event> batch) {
    for (const Event& event : batch) {
      if (kEventSchema[static_cast<size_t>(event.type)].name == nullptr) std::abort();
      last_time = event.time_ns;
      (void)(*reader)->String(static_cast<StringId>(event.field[0]));
      (void)(*reader)->Stack(static_cast<StackId>(event.field[4]));
    }
    return true;
  });
  for (const auto& source : (*reader)->source_files()) {
    if (source.second.empty()) continue;
    [[maybe_unused]] const volatile char last = source.second.back();  // must be readable memory
  }
  for (const auto& entry : (*reader)->programs()) {
    if (entry.second.text.size() > kMaxProgramBytes) std::abort();
    if (entry.second.text.empty()) continue;
    [[maybe_unused]] const volatile char last = entry.second.text.back();
  }
  for (const auto& entry : (*reader)->variants()) {
    if (MaskedTrace(entry.second).size() > kMaxVariantBytes) std::abort();
  }
  (void)(*reader)->LiveAt(last_time);
  (void)(*reader)->ForEachBatch(last_time / 2, last_time, [](std::span<const Event>) { return true; });
  const Damage& damage = (*reader)->damage();
  if (damage.bytes_unreadable > file.size()) std::abort();
}

void SetChecksum(std::span<std::byte> sealed) {
  const size_t covered = sealed.size() - sizeof(uint32_t);
  StoreLe(sealed.data() + covered, Crc32(sealed.first(covered)));
}

// The file with right checksums, as far as blocks follow each other.
Bytes Sealed(ByteView file) {
  Bytes sealed(file.begin(), file.end());
  const std::span<std::byte> bytes(sealed);
  if (bytes.size() < kFileHeaderBytes) return sealed;
  SetChecksum(bytes.first(kFileHeaderBytes));
  size_t at = kFileHeaderBytes;
  while (at + kBlockHeaderBytes <= bytes.size() &&
         std::memcmp(&bytes[at], kBlockMagic.data(), kBlockMagic.size()) == 0) {
    const std::span<std::byte> header = bytes.subspan(at, kBlockHeaderBytes);
    at += kBlockHeaderBytes;
    const size_t stored = std::min<size_t>(LoadLe<uint32_t>(&header[8]), bytes.size() - at);
    StoreLe(&header[8], static_cast<uint32_t>(stored));
    if (header[16] == std::byte{0}) StoreLe(&header[12], static_cast<uint32_t>(stored));
    StoreLe(&header[56], Crc32(bytes.subspan(at, stored)));
    SetChecksum(header);
    at += stored;
  }
  if (bytes.size() - at >= kTrailerBytes) SetChecksum(bytes.subspan(at, kTrailerBytes));
  return sealed;
}

}  // namespace
}  // namespace vramscope::trace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramscope::trace;
  const ByteView file = std::as_bytes(std::span(data, size));
  Use(file);
  Use(Sealed(file));
  return 0;
}
