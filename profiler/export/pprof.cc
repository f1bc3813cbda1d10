// SPDX-License-Identifier: Apache-2.0
// Export as gzipped profile.proto, the format of `go tool pprof`. Field numbers:
// https://github.com/google/pprof/blob/main/proto/profile.proto
#include <zlib.h>

#include <map>
#include <utility>

#include "profiler/export/export.h"
#include "profiler/export/live_stacks.h"
#include "profiler/export/output.h"
#include "profiler/export/protobuf.h"
#include "profiler/text/source_place.h"

namespace vramscope::exporting {
namespace {

class Profile {
 public:
  Profile() { Text(""); }  // text 0 must be empty

  std::string Build(const std::vector<LiveStack>& stacks) {
    for (const auto& [type, unit] : {std::pair{"inuse_objects", "count"}, std::pair{"inuse_space", "bytes"}})
      profile_.Sub(1, Message().Number(1, Text(type)).Number(2, Text(unit)));
    for (const LiveStack& stack : stacks) {
      Message locations;  // innermost first
      for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
        locations.Varint(Location(*frame));
      const Message values = Message().Varint(stack.blocks).Varint(stack.bytes);
      profile_.Sub(2, Message().Bytes(1, locations.bytes()).Bytes(2, values.bytes()));
    }
    const uint64_t shown_first = Text("inuse_space");
    for (const std::string& text : texts_) profile_.Bytes(6, text);
    return profile_.Number(14, shown_first).bytes();
  }

 private:
  uint64_t Text(const std::string& text) {
    const auto [found, added] = text_numbers_.emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return found->second;
  }

  // The location of a frame. "forward (/src/model.py:32)" is line 32 of the function forward in that file. A
  // frame without a file and line becomes a function with the frame's text as its name.
  uint64_t Location(const std::string& frame) {
    const auto [found, added] = locations_.emplace(frame, locations_.size() + 1);
    if (added) {
      const auto place = text::SourcePlaceOf(frame);
      Message line;
      line.Number(1, place ? Function(place->function.empty() ? frame : place->function, place->path)
                           : Function(frame, ""));
      if (place) line.Number(2, place->line);
      profile_.Sub(4, Message().Number(1, found->second).Sub(4, line));
    }
    return found->second;
  }

  uint64_t Function(const std::string& name, const std::string& file) {
    const auto [found, added] = functions_.emplace(std::pair(name, file), functions_.size() + 1);
    if (added) {
      const uint64_t text = Text(name);
      profile_.Sub(5,
                   Message().Number(1, found->second).Number(2, text).Number(3, text).Number(4, Text(file)));
    }
    return found->second;
  }

  Message profile_;
  std::vector<std::string> texts_;
  std::map<std::string, uint64_t> text_numbers_;
  std::map<std::string, uint64_t> locations_;
  std::map<std::pair<std::string, std::string>, uint64_t> functions_;
};

std::string Gzip(const std::string& bytes) {
  constexpr int kGzip = 15 + 16;  // zlib: 15 = the largest window, + 16 = with a gzip header
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

Status WritePprof(const Content& content, const Options&, const std::string& path) {
  Output out = VRAMSCOPE_TRY(Output::Create(path));
  out.Text(Gzip(Profile().Build(FindLiveStacks(content))));
  return out.Finish();
}

}  // namespace vramscope::exporting
