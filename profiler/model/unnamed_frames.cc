// SPDX-License-Identifier: Apache-2.0
// Finds names for frames that were recorded without one. The symbol files are read in symbol_files.cc.
#include <charconv>

#include "profiler/model/symbol_files.h"

namespace vramscope::model {
namespace {

constexpr size_t kMostKeptBytes = 32 << 20;  // for all files together

}  // namespace

std::optional<UnnamedFrame> ParseUnnamedFrame(std::string_view text) {
  const size_t open = text.rfind(" [");
  if (!text.starts_with('/') || open == std::string_view::npos || text.back() != ']') return std::nullopt;
  const size_t plus = text.substr(0, open).rfind("+0x");
  if (plus == std::string_view::npos) return std::nullopt;
  UnnamedFrame frame;
  frame.path = text.substr(0, plus);
  frame.library = frame.path.substr(frame.path.rfind('/') + 1);
  frame.place = text.substr(plus, open - plus);
  frame.build = text.substr(open + 2, text.size() - open - 3);
  const std::string_view digits = frame.place.substr(3);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), frame.offset, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || frame.build.empty())
    return std::nullopt;
  return frame;
}

const SymbolFile* SymbolFiles::Find(const UnnamedFrame& frame) {
  const auto known = files_.find(frame.path);
  if (known != files_.end()) return known->second ? &*known->second : nullptr;
  std::optional<SymbolFile>& file = files_[std::string(frame.path)];
  if (kept_bytes_ >= kMostKeptBytes) return nullptr;
  file = SymbolFile::Open(std::string(frame.path), frame.build);
  if (!file) return nullptr;
  kept_bytes_ += file->bytes();
  return &*file;
}

std::string SymbolFiles::Shown(const UnnamedFrame& frame) {
  const std::string place = std::string(frame.library) + std::string(frame.place);
  const SymbolFile* const file = frame.offset == 0 ? nullptr : Find(frame);
  const std::string_view name = file == nullptr ? std::string_view() : file->NameAt(frame.offset - 1);
  return name.empty() ? place : std::string(name) + " (" + place + ")";
}

}  // namespace vramscope::model
