// SPDX-License-Identifier: Apache-2.0
#include "injector/core/session.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "injector/core/intern.h"
#include "injector/core/options.h"
#include "injector/core/test_session.h"

namespace vramscope::injector {
namespace {

TEST(SessionTest, TheFileIsPrivateAndDescribesTheProcess) {
  TestCollector& collector = FreshCollector();
  RecordCounter(1);
  collector.Drain();
  const trace::RingFileHeader* const header = collector.Header(getpid());
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->version, trace::kRingVersion);
  EXPECT_EQ(header->parent_pid, static_cast<uint32_t>(getppid()));
  EXPECT_EQ(header->ring_bytes, kTestRingBytes);
  EXPECT_EQ(header->forked_from, 0u);
  EXPECT_EQ(header->first_own_string, 1u);
  struct stat file;
  const std::string path = collector.folder() + "/" + std::to_string(getpid()) + ".0.ring";
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST(SessionTest, AForkedChildHasItsOwnFileAndItsParentsTexts) {
  TestCollector& collector = FreshCollector();
  const uint32_t ours = InternString("text of the parent");
  const pid_t child = StartChild([ours] {
    const bool same = InternString("text of the parent") == ours;
    const uint32_t theirs = InternString("text of the child");
    Record(trace::EventType::kMark, same ? 1 : 0, ours, theirs, 0);
  });
  EXPECT_EQ(WaitFor(child), 0);
  const uint32_t later = InternString("text of the parent after the fork");
  collector.Drain();

  const trace::RingFileHeader* const header = collector.Header(child);
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->forked_from, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(header->forked_from_image, 0u);
  EXPECT_EQ(header->first_own_string, ours + 1);
  const auto marks = collector.Of(trace::EventType::kMark);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].process, child);
  EXPECT_EQ(marks[0].field[trace::mark::kKind], 1u);
  EXPECT_EQ(collector.Text(marks[0], marks[0].field[trace::mark::kName]), "text of the parent");
  EXPECT_EQ(collector.Text(marks[0], marks[0].field[trace::mark::kValue]), "text of the child");
  EXPECT_EQ(later, marks[0].field[trace::mark::kValue]);  // the same number in another process
}

TEST(SessionTest, AGrandchildOfASilentChildStillKnowsWhoseTextsItHas) {
  TestCollector& collector = FreshCollector();
  InternString("grandparent");
  const pid_t child = StartChild([] {
    const pid_t grandchild = StartChild([] { RecordCounter(42); });
    WaitFor(grandchild);
  });
  WaitFor(child);
  collector.Drain();
  const auto marks = collector.Of(trace::EventType::kMark);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(collector.Header(marks[0].process)->forked_from, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(collector.Header(child), nullptr);
}

TEST(SessionTest, ABareCloneDoesNotWriteIntoItsParentsRing) {
  TestCollector& collector = FreshCollector();
  RecordCounter(1);
  const pid_t child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    RecordCounter(2);
    syscall(SYS_exit_group, 0);
  }
  EXPECT_EQ(WaitFor(child), 0);
  RecordCounter(3);
  collector.Drain();
  const auto marks = collector.Of(trace::EventType::kMark);
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[1].process, child);
  EXPECT_EQ(marks[1].field[trace::mark::kValue], 2u);
  EXPECT_EQ(collector.Header(child)->forked_from, static_cast<uint32_t>(getpid()));
}

TEST(SessionTest, ForksWhileOtherThreadsInternTextsLeaveWholeTables) {
  TestCollector& collector = FreshCollector();
  std::atomic<bool> stop = false;
  std::jthread busy([&] {
    for (int i = 0; !stop; ++i) InternString(("busy " + std::to_string(i % 50'000)).c_str());
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = StartChild([] { _exit(InternString("in the child") != 0 ? 0 : 1); });
    EXPECT_EQ(WaitFor(child), 0);
    collector.Drain();
  }
  stop = true;
  busy.join();
}

TEST(SessionTest, ANewImageOfAPidTakesTheNextFileNumber) {
  TestCollector& collector = FreshCollector();
  const pid_t child = StartChild([] {
    // The file that the image before an exec would have left.
    const std::string first = std::string(options.session) + "/" + std::to_string(getpid()) + ".0.ring";
    close(open(first.c_str(), O_CREAT | O_WRONLY, 0600));
    RecordCounter(7);
  });
  EXPECT_EQ(WaitFor(child), 0);
  collector.Drain();
  const auto marks = collector.Of(trace::EventType::kMark);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].image, 1u);
}

size_t Mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

TEST(SessionTest, SessionsOnDemandComeAndGoUnderThreadsThatRecordAndLeaveNothing) {
  constexpr size_t kCycles = 10;
  FreshCollector();
  TestCollector collector("");  // sees only these sessions
  const pid_t child = StartChild([&collector] {
    StopSession();
    std::atomic<bool> stop = false;
    std::vector<std::jthread> busy;
    for (int i = 0; i < 4; ++i) {
      busy.emplace_back([&stop] {
        while (!stop) RecordCounter(1);
      });
    }
    const uint32_t name = InternString("never recorded");
    size_t after_first = 0;
    for (size_t cycle = 0; cycle < kCycles; ++cycle) {
      // Large enough for every name of this program: a full ring drops records while the collector does not
      // run.
      if (!StartSessionIn(collector.folder().c_str(), "ring_bytes=4194304", 0)) _exit(2);
      if (StartSessionIn(collector.folder().c_str(), "", 0)) _exit(3);
      Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kUser),
             InternString("same name"), 1, 0);
      while (process_page.file.load()->ring_count.load() < 5) std::this_thread::yield();
      StopSession();
      if (RecordCounter(2)) _exit(4);
      if (cycle == 1) after_first = Mappings();
    }
    // The C library and the sanitizers also create mappings now and then, but fewer than one per cycle.
    const bool same = Mappings() < after_first + kCycles - 2;
    stop = true;
    busy.clear();
    _exit(name == 0 && same ? 0 : 5);
  });
  {
    DrainingThread draining(collector);
    EXPECT_EQ(WEXITSTATUS(WaitFor(child)), 0);
  }
  collector.Drain();
  size_t named = 0;
  for (const auto& mark : collector.Of(trace::EventType::kMark)) {
    if (mark.process == child && mark.field[trace::mark::kName] != 0)
      named += collector.Text(mark, mark.field[trace::mark::kName]) == "same name" ? 1 : 0;
  }
  EXPECT_EQ(named, kCycles) << "a name is defined again in each session";
}

// A hook that finds no session requests one. While a session is being stopped, this must not start another
// one without a folder.
TEST(SessionTest, NothingBeginsWhileASessionEnds) {
  constexpr size_t kCycles = 100;
  FreshCollector();
  TestCollector collector("");
  const pid_t child = StartChild([&collector] {
    StopSession();
    std::atomic<bool> stop = false;
    std::vector<std::jthread> hooks;
    for (int i = 0; i < 4; ++i) {
      hooks.emplace_back([&stop] {
        while (!stop) (void)StartSession();
      });
    }
    size_t begun = 0;
    for (size_t cycle = 0; cycle < kCycles && begun == 0; ++cycle) {
      if (!StartSessionIn(collector.folder().c_str(), "ring_bytes=4194304", 0)) _exit(2);
      process_page.file.load()->detached.store(1);  // as if the collector were gone
      StopSession();
      std::this_thread::yield();
      begun += process_page.file.load() != nullptr ? 1 : 0;
    }
    stop = true;
    hooks.clear();
    _exit(begun == 0 && !RecordingFile() ? 0 : 5);
  });
  DrainingThread draining(
      collector);  // each session defines the names of all tests before, and waits for room
  EXPECT_EQ(WEXITSTATUS(WaitFor(child)), 0);
}

bool MapsAFileOf(const TestCollector& collector) {
  std::ifstream maps("/proc/self/maps");
  const std::string text(std::istreambuf_iterator<char>(maps), {});
  return text.find(collector.folder()) != std::string::npos;
}

// As if the thread lost its processor for seconds in the middle of a record.
TEST(SessionTest, AThreadThatStaysInsideHoldsNoFileAndTheNextSessionIsWhole) {
  FreshCollector();
  TestCollector collector("");
  const pid_t child = StartChild([&collector] {
    StopSession();
    std::atomic<int> turn = 0;
    const auto next = [&turn](int number) {
      turn = number;
      turn.notify_all();
    };
    if (!StartSessionIn(collector.folder().c_str(), "ring_bytes=65536", 0)) _exit(2);
    std::jthread slow([&] {
      {
        RecordScope scope;
        trace::RawRecord* const record = scope.Place(1);
        if (record == nullptr) _exit(3);
        next(1);
        turn.wait(1);
        *record = {};
        scope.Publish(1);
      }
      if (!RecordCounter(7)) _exit(4);
    });
    turn.wait(0);
    StopSession();
    if (MapsAFileOf(collector)) _exit(5);
    if (!StartSessionIn(collector.folder().c_str(), "ring_bytes=131072", 0)) _exit(6);
    next(2);
    slow.join();
    StopSession();
    _exit(MapsAFileOf(collector) ? 7 : 0);
  });
  EXPECT_EQ(WEXITSTATUS(WaitFor(child)), 0);
  collector.Drain();
  const auto marks = collector.Of(trace::EventType::kMark);
  EXPECT_EQ(std::count_if(marks.begin(), marks.end(),
                          [](const auto& mark) { return mark.field[trace::mark::kValue] == 7; }),
            1);
}

// Sets the session's room to `bytes`.
void WriteRoom(const std::string& folder, int64_t bytes) {
  std::ofstream file(folder + "/" + trace::kRoomName, std::ios::binary);
  const uint64_t unrecorded = 0;
  file.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  file.write(reinterpret_cast<const char*>(&unrecorded), sizeof unrecorded);
}

struct Room {
  int64_t bytes_left = 0;
  uint64_t unrecorded = 0;
};

Room ReadRoom(const std::string& folder) {
  Room room;
  std::ifstream(folder + "/" + trace::kRoomName, std::ios::binary)
      .read(reinterpret_cast<char*>(&room), sizeof room);
  return room;
}

TEST(SessionTest, RingsTakeNoMoreThanTheSessionsRoomAndTheRestIsCounted) {
  FreshCollector();
  TestCollector collector("");
  constexpr uint64_t kRing = trace::kRingHeaderBytes + trace::kSmallestRingBytes;
  WriteRoom(collector.folder(), trace::kRingHeaderBytes + 2 * kRing + 100);
  const pid_t child = StartChild([&collector] {
    StopSession();
    if (!SetOptions(collector.folder().c_str(), "", 0)) _exit(2);
    for (uint64_t thread = 1; thread <= 3; ++thread) std::jthread([thread] { RecordCounter(thread); });
    _exit(0);
  });
  ASSERT_EQ(WaitFor(child), 0);
  collector.Drain();
  const trace::RingFileHeader* const header = collector.Header(child);
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->ring_bytes, trace::kSmallestRingBytes);
  EXPECT_EQ(header->ring_count.load(), 2U);
  EXPECT_EQ(header->lost_without_ring.load(), 1U);
  EXPECT_EQ(ReadRoom(collector.folder()).bytes_left, 100);
}

TEST(SessionTest, AProcessWithoutRoomGoesOnAndIsCounted) {
  FreshCollector();
  TestCollector collector("");
  WriteRoom(collector.folder(), 100);
  const pid_t child = StartChild([&collector] {
    StopSession();
    if (!SetOptions(collector.folder().c_str(), "", 0)) _exit(2);
    _exit(RecordCounter(1) ? 3 : 0);
  });
  ASSERT_EQ(WaitFor(child), 0);
  EXPECT_EQ(ReadRoom(collector.folder()).unrecorded, 1U);
}

TEST(SessionTest, DescriptorsThatAreGivenBackBeginTheRecordingAndWhatWasMissedIsCounted) {
  FreshCollector();
  TestCollector collector("");
  const pid_t child = StartChild([&collector] {
    StopSession();
    if (!SetOptions(collector.folder().c_str(), "", 0)) _exit(2);
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit none = {0, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    if (RecordCounter(1) || RecordCounter(2)) _exit(3);
    setrlimit(RLIMIT_NOFILE, &limit);
    while (!RecordCounter(3)) std::this_thread::yield();
    _exit(0);
  });
  ASSERT_EQ(WaitFor(child), 0);
  collector.Drain();
  ASSERT_NE(collector.Header(child), nullptr);
  EXPECT_GE(collector.Lost(), 2U);
}

TEST(SessionTest, TheLockOfItsFolderSaysThatACollectorLivesAndNotItsNumber) {
  FreshCollector();
  auto collector = std::make_unique<TestCollector>("");
  const std::string folder = collector->folder();
  int nobody = 1 << 22;
  ASSERT_TRUE(kill(nobody, 0) != 0 && errno == ESRCH);
  const auto gone = [&](int pid) {
    const pid_t child = StartChild([&] {
      StopSession();
      _exit(SetOptions(folder.c_str(), "", pid) && CollectorGone() ? 1 : 0);
    });
    return WEXITSTATUS(WaitFor(child)) == 1;
  };
  EXPECT_FALSE(gone(nobody)) << "a collector of another pid namespace";
  collector->Unlock();
  EXPECT_TRUE(gone(getpid())) << "another process has the collector's number";
}

TEST(SessionTest, AFolderThatIsGoneMeansNoRecordingAndNoTrouble) {
  FreshCollector();
  const pid_t child = StartChild([] {
    strcpy(options.session, "/nonexistent/folder");
    errno = 5;
    const bool recorded = RecordCounter(1) || RecordCounter(2);
    _exit(!recorded && InternString("x") == 0 && errno == 5 ? 0 : 1);
  });
  EXPECT_EQ(WaitFor(child), 0);
}

}  // namespace
}  // namespace vramscope::injector
