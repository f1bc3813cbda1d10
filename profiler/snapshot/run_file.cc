// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/run_file.h"

#include "profiler/snapshot/source.h"

namespace vramscope::snapshot {

Result<std::shared_ptr<const Snapshot>> RunFile::ReadSnapshot() const {
  VRAMSCOPE_CHECK(is_snapshot_);
  if (!snapshot_) snapshot_ = Read(path_);
  return *snapshot_;
}

Result<std::unique_ptr<trace::TraceReader>> RunFile::OpenTrace() const {
  if (is_snapshot_)
    return Error{path_ +
                 ": this is a PyTorch snapshot, but the command needs a vramscope trace. Record one: "
                 "vramscope record -- python train.py"};
  return trace::TraceReader::Open(path_);
}

Result<std::shared_ptr<const model::Source>> RunFile::OpenSource() const {
  if (is_snapshot_) {
    auto snapshot = VRAMSCOPE_TRY(ReadSnapshot());
    return MakeSource(std::move(snapshot), path_);
  }
  auto reader = VRAMSCOPE_TRY(OpenTrace());
  return model::MakeSource(std::move(reader));
}

}  // namespace vramscope::snapshot
