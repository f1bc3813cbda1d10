// SPDX-License-Identifier: Apache-2.0
// Answers the HTTP requests of `vramscope serve`: the pages of the web viewer, and the files that the viewer
// may show. This class uses no sockets, so that tests and the fuzz target need none.
//
//   /TOKEN/                   the viewer (share/vramscope/web)
//   /TOKEN/viewer.wasm ...    files of the viewer
//   /TOKEN/files.json         {"open": [names], "files": [{"name", "bytes"}]}
//   /TOKEN/files/NAME         a trace or snapshot; supports byte ranges
//
// The path contains the token, so that a link is enough to open the viewer. A request without the token gets
// status 403.
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
  std::string body;  // body, if `file` is empty
  std::string file;  // if not empty, the body is bytes [offset, offset + bytes) of this file
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::optional<uint64_t> whole;  // size of the file, if the body is a part of the file
};

// ParseRange returns the bytes that a Range header requests from a file of `whole` bytes. Returns nullopt if
// the server must send the whole file, for example for several ranges or another unit. Fails if the file does
// not have the bytes.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};
[[nodiscard]] Result<std::optional<ByteRange>> ParseRange(std::string_view header, uint64_t whole);

// Decodes escapes such as "%20". Returns nothing if `text` is malformed or has a zero byte.
[[nodiscard]] std::optional<std::string> DecodePath(std::string_view text);

class Site {
 public:
  // `web_folder` is the folder of the viewer. `paths` are files and folders. The viewer opens the files at
  // once. It offers the traces and snapshots of the folders, which are listed again for each request.
  Site(std::string token, std::string web_folder, std::vector<std::string> paths);

  [[nodiscard]] Answer AnswerTo(const Request& request) const;
  [[nodiscard]] const std::string& token() const { return token_; }

  struct Offered {
    std::string path;
    bool opened = false;  // true: `paths` contains the file; false: only its folder
  };
  // Returns the offered files. The key is the file's name in links.
  [[nodiscard]] std::map<std::string, Offered> Files() const;

 private:
  [[nodiscard]] Answer OfViewer(std::string_view name) const;
  [[nodiscard]] Answer OfFile(const std::string& name, std::string_view range) const;
  [[nodiscard]] std::string FilesJson() const;

  std::string token_;
  std::string web_folder_;
  std::vector<std::string> paths_;
};

// Returns 128 random bits in hex.
[[nodiscard]] std::string NewToken();

}  // namespace vramscope::serve
