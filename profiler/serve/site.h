// SPDX-License-Identifier: Apache-2.0
// The answers of `vramscope serve`: the pages of the web viewer, and the files that it may show. No sockets,
// so that tests and the fuzz target need none.
//
//   /TOKEN/                   the viewer (share/vramscope/web)
//   /TOKEN/viewer.wasm ...    its parts
//   /TOKEN/files.json         {"open": [names], "files": [{"name", "bytes"}]}
//   /TOKEN/files/NAME         a trace or snapshot; byte ranges
//
// The path contains the token, so a link is all that a person needs. Any request without the token gets 403.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::serve {

struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view range;  // the Range header; "" = none
};

struct Answer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;  // if `file` is empty
  std::string file;  // path of a file; the body is its bytes [offset, offset + bytes)
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::optional<uint64_t> whole;  // size of the file, if the answer is a part of it
};

// The bytes that a Range header requests from a file of `whole` bytes. nullopt: send the whole file (several
// ranges, another unit). Fails if there are no such bytes.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};
[[nodiscard]] Result<std::optional<ByteRange>> ParseRange(std::string_view header, uint64_t whole);

// "%20" and the like; nothing if it is malformed or has a zero byte.
[[nodiscard]] std::optional<std::string> DecodePath(std::string_view text);

class Site {
 public:
  // `web_folder`: the viewer's folder. `paths`: files, which the viewer opens at once, and folders, whose
  // traces and snapshots are offered. Folders are listed again for each request.
  Site(std::string token, std::string web_folder, std::vector<std::string> paths);

  [[nodiscard]] Answer AnswerTo(const Request& request) const;
  [[nodiscard]] const std::string& token() const { return token_; }

  struct Offered {
    std::string path;
    bool opened = false;  // true: the user named the file; false: only its folder
  };
  // The offered files, by their names in links.
  [[nodiscard]] std::map<std::string, Offered> Files() const;

 private:
  [[nodiscard]] Answer OfViewer(std::string_view name) const;
  [[nodiscard]] Answer OfFile(const std::string& name, std::string_view range) const;
  [[nodiscard]] std::string FilesJson() const;

  std::string token_;
  std::string web_folder_;
  std::vector<std::string> paths_;
};

// 128 random bits in hex.
[[nodiscard]] std::string NewToken();

}  // namespace vramscope::serve
