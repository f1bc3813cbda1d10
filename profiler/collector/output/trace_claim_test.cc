// SPDX-License-Identifier: Apache-2.0
// Oracle: the file system. No recorder ever writes to a file that another one has, or had while it ran.
#include "profiler/collector/output/trace_claim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>

#include "trace_format/wire.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

class TraceClaimTest : public ::testing::Test {
 protected:
  TraceClaimTest() {
    std::string pattern = ::testing::TempDir() + "claim_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    NoteProcessStart();
  }
  ~TraceClaimTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string In(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] std::string Text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(In(name)).rdbuf();
    return text.str();
  }
  // A recorder's file, written `seconds` ago.
  void WriteOldTrace(const std::string& name, int seconds) const {
    std::ofstream file(In(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(trace::kFileMagic.data()), trace::kFileMagic.size());
    file << "the trace of " << name;
    file.close();
    fs::last_write_time(In(name), fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  std::string folder_;
};

TEST_F(TraceClaimTest, TwoAtOnceHaveTwoFiles) {
  auto first = TraceClaim::Take(In("one.vms"), OldTraces::kWriteOver);
  auto second = TraceClaim::Take(In("one.vms"), OldTraces::kWriteOver);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->path(), In("one.vms"));
  EXPECT_FALSE(first->evaded());
  EXPECT_EQ(second->path(), In("one-2.vms"));
  EXPECT_TRUE(second->evaded());
  second->Discard();
  EXPECT_FALSE(fs::exists(In("one-2.vms")));
}

TEST_F(TraceClaimTest, OnlyAnOldTraceIsWrittenOver) {
  WriteOldTrace("old.vms", 3600);
  EXPECT_EQ(TraceClaim::Take(In("old.vms"), OldTraces::kWriteOver)->path(), In("old.vms"));
  EXPECT_EQ(Text("old.vms"), "");

  WriteOldTrace("free.vms", 3600);
  EXPECT_EQ(TraceClaim::Take(In("free.vms"), OldTraces::kLeave)->path(), In("free-2.vms"));

  // Already closed by a recorder that ran at the same time.
  WriteOldTrace("beside.vms", -1);
  const std::string text = Text("beside.vms");
  EXPECT_EQ(TraceClaim::Take(In("beside.vms"), OldTraces::kWriteOver)->path(), In("beside-2.vms"));
  EXPECT_EQ(Text("beside.vms"), text);

  std::ofstream(In("train.py")) << "import torch";
  const auto refused = TraceClaim::Take(In("train.py"), OldTraces::kWriteOver);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().sentence.find("train.py: exists and is not a trace"), std::string::npos);
  EXPECT_EQ(Text("train.py"), "import torch");
  EXPECT_FALSE(CheckMayBeTrace(In("train.py")).ok());
  EXPECT_TRUE(CheckMayBeTrace(In("beside.vms")).ok());

  std::ofstream(In("empty")).close();
  EXPECT_EQ(TraceClaim::Take(In("empty"), OldTraces::kWriteOver)->path(), In("empty"));
  EXPECT_FALSE(TraceClaim::Take(In("no/folder.vms"), OldTraces::kWriteOver).ok());
}

TEST_F(TraceClaimTest, ACommandThatRunsSeveralTimesWritesOverItsOwnTrace) {
  for (int run = 0; run < 2; ++run) {
    Result<TraceClaim> claim = TraceClaim::Take(In("run.vms"), OldTraces::kWriteOver);
    ASSERT_TRUE(claim.ok());
    EXPECT_EQ(claim->path(), In("run.vms"));
    const auto sink = claim->TakeSink();
    ASSERT_TRUE(sink->Write(std::as_bytes(std::span(trace::kFileMagic))).ok());
  }
  std::ofstream(In("run.vms"), std::ios::app) << "another recorder";
  EXPECT_EQ(TraceClaim::Take(In("run.vms"), OldTraces::kWriteOver)->path(), In("run-2.vms"));
}

TEST_F(TraceClaimTest, AStreamStaysWhatItIs) {
  ASSERT_EQ(mkfifo(In("fifo").c_str(), 0600), 0);
  const int reader = open(In("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  auto claim = TraceClaim::Take(In("fifo"), OldTraces::kWriteOver);
  ASSERT_TRUE(claim.ok()) << claim.error().sentence;
  const std::string text = "bytes";
  EXPECT_TRUE(claim->TakeSink()->Write(std::as_bytes(std::span(text))).ok());
  claim->Discard();
  std::string got(16, '\0');
  got.resize(static_cast<size_t>(read(reader, got.data(), got.size())));
  close(reader);
  EXPECT_EQ(got, text);
  EXPECT_TRUE(fs::is_fifo(In("fifo")));
  EXPECT_EQ(TraceClaim::Take("/dev/null", OldTraces::kWriteOver)->path(), "/dev/null");
}

// Each child takes the name, writes its number, and ends at any time.
void TakeAndWrite(const std::string& path, int child) {
  auto claim = TraceClaim::Take(path, OldTraces::kWriteOver);
  if (!claim.ok()) _exit(1);
  std::string text(trace::kFileMagic.begin(), trace::kFileMagic.end());
  text += std::to_string(child);
  const bool written = claim->TakeSink()->Write(std::as_bytes(std::span(text))).ok();
  _exit(written ? 0 : 2);
}

TEST_F(TraceClaimTest, AThousandPairsOfRecordersLoseNothing) {
  constexpr int kPairs = 1000;
  for (int pair = 0; pair < kPairs; ++pair) {
    const std::string name = "pair" + std::to_string(pair);
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    pid_t children[2];
    for (int child = 0; child < 2; ++child) {
      children[child] = fork();
      if (children[child] != 0) continue;
      char byte = 0;
      NoteProcessStart();
      close(go[1]);
      if (read(go[0], &byte, 1) < 0) _exit(3);  // both wait for the end of the pipe
      TakeAndWrite(In(name + ".vms"), child);
    }
    close(go[0]);
    close(go[1]);
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_EQ(status, 0) << name;
    }
    const std::set<char> writers = {Text(name + ".vms").back(), Text(name + "-2.vms").back()};
    ASSERT_EQ(writers, (std::set<char>{'0', '1'})) << name;
  }
}

}  // namespace
}  // namespace vramscope::collector
