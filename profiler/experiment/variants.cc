// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/variants.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "trace_format/append_variant.h"
#include "trace_format/writer.h"

namespace vramscope::experiment {
namespace {

constexpr char kOfKey[] = "variants.of";

// Identifies a recording: two recordings never begin in the same nanosecond of both clocks of one machine.
std::string IdentityOf(const model::Source& source) {
  return std::to_string(source.clock().start_realtime_ns) + "-" +
         std::to_string(source.clock().start_monotonic_ns);
}

std::unique_ptr<trace::TraceReader> OpenBeside(const model::Source& source, const std::string& path) {
  auto reader = trace::TraceReader::Open(FileBeside(path));
  if (!reader.ok()) return nullptr;
  const auto of = (*reader)->metadata().find(kOfKey);
  if (of == (*reader)->metadata().end() || of->second != IdentityOf(source)) return nullptr;
  return std::move(reader).value();
}

trace::Bytes In(const trace::Variants& variants, const std::string& key) {
  const auto found = variants.find(key);
  return found == variants.end() ? trace::Bytes() : trace::MaskedTrace(found->second);
}

void AddKeys(const trace::Variants& variants, std::set<std::string>& keys) {
  for (const auto& [key, bytes] : variants) keys.emplace(key);
}

// Creates a closed trace without events. It is written under another name and renamed, and replaces a file
// that belongs to another recording.
Status MakeBeside(const model::Source& source, const std::string& path) {
  const std::string made = FileBeside(path) + "." + std::to_string(getpid());
  const int file = open(made.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return Error{made + ": cannot be created: " + std::strerror(errno) + "."};
  auto writer = trace::TraceWriter::Create(trace::FileSinkOf(file, made), source.clock());
  Status written = writer.ok() ? Status() : Status(writer.error());
  if (written.ok()) {
    (*writer)->SetMetadata(kOfKey, IdentityOf(source));
    written = (*writer)->Close();
  }
  if (written.ok() && rename(made.c_str(), FileBeside(path).c_str()) != 0)
    written = Error{FileBeside(path) + ": cannot be written: " + std::strerror(errno) + "."};
  if (!written.ok()) unlink(made.c_str());
  return written;
}

bool IsOurs(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & S_IWUSR) != 0;
}

}  // namespace

std::string FileBeside(const std::string& path) { return path + ".variants"; }

trace::Bytes FindVariant(const model::Source& source, const std::string& path, const std::string& key) {
  trace::Bytes found = In(source.variants(), key);
  if (!found.empty()) return found;
  const auto beside = OpenBeside(source, path);
  return beside ? In(beside->variants(), key) : trace::Bytes();
}

std::vector<KeptVariant> KeptVariants(const model::Source& source, const std::string& path) {
  std::set<std::string> keys;
  AddKeys(source.variants(), keys);
  if (const auto beside = OpenBeside(source, path)) AddKeys(beside->variants(), keys);
  const Place recorded = RecordedPlace(source.metadata());
  std::vector<KeptVariant> kept;
  for (const std::string& key : keys) {
    std::optional<KeyParts> parts = ReadVariantKey(key);
    if (!parts || parts->place != Place{parts->place.gpu, recorded.alloc_conf, recorded.world}) continue;
    if (!SplitQuestion(parts->changes).transformed.empty()) continue;
    kept.push_back({key, std::move(parts->changes), std::move(parts->place.gpu)});
  }
  std::ranges::stable_sort(kept, {}, [&](const KeptVariant& one) {
    return std::tuple(one.gpu != recorded.gpu, one.gpu, one.key);
  });
  return kept;
}

Result<std::string> KeepVariant(const model::Source& source, const std::string& path, const std::string& key,
                                trace::ByteView variant) {
  if (IsOurs(path) && trace::AppendVariant(path, key, variant).ok()) return path;
  if (!OpenBeside(source, path)) {
    VRAMSCOPE_TRY(MakeBeside(source, path));
  }
  VRAMSCOPE_TRY(trace::AppendVariant(FileBeside(path), key, variant));
  return FileBeside(path);
}

}  // namespace vramscope::experiment
