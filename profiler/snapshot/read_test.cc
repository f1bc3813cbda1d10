// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace vramscope::snapshot {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Loaded = Result<std::shared_ptr<const Snapshot>>;

Loaded FromText(const std::string& bytes) {
  return ReadBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.pickle");
}

std::string Sentence(const std::string& bytes) {
  const Loaded loaded = FromText(bytes);
  return loaded.ok() ? "" : loaded.error().sentence;
}

// The bytes of pickle.dumps for {"segments": [], "device_traces": [[EVENT]]}, with the frames as given in
// pickle form.
std::string OneEvent(const std::string& frames) {
  const auto text = [](const std::string& word) {
    return std::string("\x8c") + static_cast<char>(word.size()) + word + "\x94";
  };
  const std::string event = "}\x94(" + text("action") + text("alloc") + text("addr") +
                            std::string("M\x00\x02", 3) + text("size") + "K\x07" + text("stream") +
                            std::string("K\x00", 2) + text("frames") + frames + "u";
  return "\x80\x04}\x94(" + text("segments") + "]\x94" + text("device_traces") + "]\x94]\x94" + event +
         "aau.";
}

class RealSnapshots : public ::testing::Test {
 protected:
  static std::string Path(const std::string& name) {
    return std::string(VRAMSCOPE_SOURCE_DIR) + "/../shared/data/snapshots/" + name + ".pickle";
  }
  void SetUp() override {
    if (!std::filesystem::exists(Path("small_from_empty")))
      GTEST_SKIP() << "no real snapshots beside this checkout";
  }
  static std::string Bytes(const std::string& name) {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST(UnpicklerTest, ReadsAnEventWithItsStack) {
  const std::string frame =
      "}(\x8c\x08"
      "filename\x8c\x04"
      "a.py\x8c\x04"
      "lineK\x05\x8c\x04"
      "name\x8c\x01"
      "fu";
  const Loaded loaded = FromText(OneEvent("]\x94" + frame + "a"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
  const Snapshot& snapshot = **loaded;
  ASSERT_EQ(snapshot.event_count(0), 1u);
  const Event& event = snapshot.events[0];
  EXPECT_EQ(event.action, Action::kAlloc);
  EXPECT_EQ(event.address, 512u);
  EXPECT_EQ(event.bytes, 7u);
  EXPECT_EQ(event.time_us, kUnknown);
  ASSERT_EQ(snapshot.stacks.stack(event.stack).size(), 1u);
  const Frame& read = snapshot.stacks.frame(snapshot.stacks.stack(event.stack)[0]);
  EXPECT_EQ(snapshot.Text(read.file), "a.py");
  EXPECT_EQ(snapshot.Text(read.function), "f");
  EXPECT_EQ(read.line, 5);
}

TEST(UnpicklerTest, RefusesByNameWhatWouldRunAProgram) {
  EXPECT_THAT(Sentence("\x80\x02"
                       "cos\nsystem\nq\x01X\x04\x00\x00\x00"
                       "true\x85R."),
              HasSubstr("GLOBAL os.system"));
  EXPECT_THAT(Sentence(std::string("\x80\x04\x8c\x02os\x8c\x06system\x93)R.", 17)),
              HasSubstr("STACK_GLOBAL os.system"));
  EXPECT_THAT(Sentence("(dR."), HasSubstr("REDUCE"));
}

TEST(UnpicklerTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(Sentence(""), HasSubstr("cut off after 0 bytes"));
  EXPECT_THAT(Sentence("\x80\x04}"), HasSubstr("cut off"));
  EXPECT_THAT(Sentence(std::string("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", 11)),
              HasSubstr("string of"));
  EXPECT_THAT(Sentence("\x80\x09."), HasSubstr("protocol 9"));
  EXPECT_THAT(Sentence("\x80\x04h\x07."), HasSubstr("memo entry 7"));
  EXPECT_THAT(Sentence("\x80\x04}."), AllOf(HasSubstr("neither segments nor device_traces"),
                                            HasSubstr("; write it with torch.cuda.memory._dump_snapshot.")));
  EXPECT_THAT(Sentence("\x80\x04" + std::string(300, '(')), HasSubstr("nested more than"));
  EXPECT_THAT(Sentence("\x80\x04}q\x01]q\x01."), HasSubstr("two things into memo entry 1"));
}

TEST(UnpicklerTest, RefusesWhatAsksForMoreThanItPaysFor) {
  // A memo entry with a large index takes five bytes to name and gigabytes to store.
  EXPECT_THAT(Sentence(std::string("\x80\x04}r\xff\xff\xff\x7f.", 9)), HasSubstr("more memory"));
  EXPECT_THAT(Sentence("\x80\x04" + std::string(8 << 20, ']')), HasSubstr("more memory"));
}

TEST(UnpicklerTest, ReadsJson) {
  const Loaded loaded =
      FromText(R"({"segments": [], "device_traces": [[{"action": "alloc", "addr": 512, "size": 7, "stream": 3,
      "frames": [{"filename": "a.py", "line": 5, "name": "f"}, {"filename": "a.py", "line": 9, "name": "g"}]}]]})");
  ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
  ASSERT_EQ((*loaded)->event_count(0), 1u);
  EXPECT_EQ((*loaded)->events[0].address, 512u);
  EXPECT_EQ((*loaded)->origins[(*loaded)->events[0].origin].stream, 3u);
  EXPECT_EQ((*loaded)->stacks.stack((*loaded)->events[0].stack).size(), 2u);
}

// Each key is written out in each event, and each stack is a new one: both must fit into what the size allows.
TEST(JsonTest, ReadsTwoHundredThousandEventsOfOneDistinctFrameEach) {
  constexpr size_t kEvents = 200'000;
  std::string text = R"({"segments": [], "device_traces": [[)";
  for (size_t i = 0; i < kEvents; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(R"({"action": "alloc", "addr": )") +
            std::to_string((i + 1) * 512) +
            R"(, "size": 512, "stream": 0, "pool_id": [0, 7], "frames": [{"filename": "t.py", "name": "f)" +
            std::to_string(i) + R"(", "line": 1}]})";
  }
  const Loaded loaded = FromText(text + "]]}");
  ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
  const Snapshot& snapshot = **loaded;
  ASSERT_EQ(snapshot.event_count(0), kEvents);
  EXPECT_EQ(snapshot.stacks.stack_count(), kEvents + 1);  // and the empty one
  EXPECT_EQ(snapshot.origins[snapshot.events[0].origin].pool, (PoolId{0, 7}));
  const Event& last = snapshot.events[kEvents - 1];
  EXPECT_EQ(last.address, kEvents * 512);
  EXPECT_EQ(snapshot.Text(snapshot.stacks.frame(snapshot.stacks.stack(last.stack)[0]).function), "f199999");
}

TEST(JsonTest, MayBeginWithAByteOrderMark) {
  const Loaded loaded = FromText(
      "\xef\xbb\xbf"
      R"({"segments": []})");
  ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
  const std::string path = testing::TempDir() + "byte_order_mark.json";
  std::ofstream(path) << "\xef\xbb\xbf"
                         R"({"segments": []})";
  EXPECT_TRUE(LooksLikeSnapshot(path));
  EXPECT_TRUE(Read(path).ok());
  std::filesystem::remove(path);
}

TEST(JsonTest, RefusesWhatAsksForMoreThanItPaysFor) {
  std::string lists = "[[]";
  for (size_t i = 0; i < (2 << 20); ++i) lists += ",[]";
  EXPECT_THAT(Sentence(lists + "]"), HasSubstr("more memory"));
  EXPECT_THAT(Sentence(std::string(300, '[')), HasSubstr("nested more than"));
}

TEST_F(RealSnapshots, HaveWhatPythonCountsInThem) {
  struct Expected {
    const char* name;
    size_t events;
    size_t segments;
    size_t settings;
  };
  // Counted with Python's own pickle.load.
  for (const Expected& expected : {Expected{"medium_ctx128_training", 19136, 377, 24},
                                   {"small_from_empty", 97, 9, 23},
                                   {"oom_segments_only", 1, 176, 0},
                                   {"inconsistent", 1040, 5, 0}}) {
    const Loaded loaded = Read(Path(expected.name));
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_EQ((*loaded)->event_count(0), expected.events) << expected.name;
    EXPECT_EQ((*loaded)->segments.size(), expected.segments) << expected.name;
    EXPECT_EQ((*loaded)->settings.size(), expected.settings) << expected.name;
    EXPECT_EQ((*loaded)->odd_records, 0u) << expected.name;
    for (const Segment& segment : (*loaded)->segments) {
      uint64_t sum = 0;
      for (const Block& block : segment.blocks) sum += block.bytes;
      if (std::string(expected.name) != "inconsistent") {
        EXPECT_EQ(sum, segment.bytes) << expected.name;
      }
    }
  }
}

TEST_F(RealSnapshots, OfOldReleasesHaveStacksAndAddresses) {
  const auto snapshot = Read(Path("oom_segments_only")).value();
  const Block& block = snapshot->segments[0].blocks[0];
  EXPECT_EQ(block.address, snapshot->segments[0].address);
  EXPECT_EQ(snapshot->stacks.stack(block.stack).size(), 10u);
  EXPECT_EQ(snapshot->Text(snapshot->stacks.frame(snapshot->stacks.stack(block.stack)[0]).function),
            "allocate");
}

TEST_F(RealSnapshots, MayBePacked) {
  const std::string plain = Bytes("small_from_empty");
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  EXPECT_EQ(FromText(packed).value()->events.size(), 97u);
  EXPECT_THAT(Sentence(packed.substr(0, packed.size() / 2)), HasSubstr("cut off"));

  const std::string path = ::testing::TempDir() + "/read_test.pickle.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(file);
  EXPECT_TRUE(LooksLikeSnapshot(path));
  EXPECT_EQ(Read(path).value()->events.size(), 97u);
}

TEST_F(RealSnapshots, CutAnywhereGiveASentence) {
  const std::string plain = Bytes("small_from_empty");
  for (size_t length = 0; length < plain.size(); length += 509) {
    EXPECT_THAT(Sentence(plain.substr(0, length)), HasSubstr("x.pickle: ")) << length;
  }
}

TEST(UnpackedTest, RefusesWhatExpandsAThousandfold) {
  // The same text many times.
  std::string plain = "\x80\x04(";
  while (plain.size() < (40 << 20)) plain += "\x8c\xff" + std::string(255, 'a');
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  EXPECT_THAT(Sentence(packed), HasSubstr("thousand times its size"));
}

}  // namespace
}  // namespace vramscope::snapshot
