// SPDX-License-Identifier: Apache-2.0
// The protocol, with verbs that only repeat their words. tests/mcp talks to the command itself.
#include "profiler/cli/mcp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class McpServerTest : public ::testing::Test {
 protected:
  McpServerTest() {
    fs::create_directories(root_ / "runs/day");
    std::ofstream(root_ / "runs/a.vms") << "\x89VMS\r\n\x1a\n";
    std::ofstream(root_ / "runs/day/b.vms") << "\x89VMS\r\n\x1a\n";
    std::ofstream(root_ / "secret.vms") << "\x89VMS\r\n\x1a\n";
    std::ofstream(root_ / "runs/notes.txt") << "no trace";
    fs::create_symlink(root_ / "secret.vms", root_ / "runs/out.vms");
    fs::create_directory_symlink(root_, root_ / "runs/up");
    fs::create_symlink("a.vms", root_ / "runs/in.vms");
  }
  ~McpServerTest() override { fs::remove_all(root_); }

  // The answer to a call of a tool.
  Json Call(const std::string& tool, const Json& arguments) {
    const Json request = {{"jsonrpc", "2.0"},
                          {"id", 1},
                          {"method", "tools/call"},
                          {"params", {{"name", tool}, {"arguments", arguments}}}};
    return Json::parse(server_.Answer(request.dump()).value());
  }
  bool IsRefused(const std::string& file) {
    const Json result = Call("report", {{"file", file}})["result"];
    return result["isError"] == true && result["content"][0]["text"].get<std::string>().find(
                                            "is not a file in the served folder") != std::string::npos;
  }
  int ErrorOf(const std::string& line) { return Json::parse(server_.Answer(line).value())["error"]["code"]; }

  fs::path root_ = fs::canonical(::testing::TempDir()) / ("vramscope_mcp_test." + std::to_string(getpid()));
  std::vector<std::string> words_;
  McpServer server_{
      ServedFolder::Open((fs::create_directories(root_ / "runs"), root_ / "runs").string()).value(), "1.2.3",
      [this](const Tool&, const std::vector<std::string>& words) {
        words_ = words;
        return VerbAnswer{0, R"({"schema_version": 1})", ""};
      }};
};

TEST_F(McpServerTest, InitializesWithTheVersionThatTheClientKnows) {
  const auto answer = [&](const std::string& version) {
    const Json request = {{"jsonrpc", "2.0"},
                          {"id", "a"},
                          {"method", "initialize"},
                          {"params", {{"protocolVersion", version}}}};
    return Json::parse(server_.Answer(request.dump()).value());
  };
  EXPECT_EQ(answer("2024-11-05")["result"]["protocolVersion"], "2024-11-05");
  EXPECT_EQ(answer("2099-01-01")["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(answer("2024-11-05")["id"], "a");
  EXPECT_EQ(answer("2024-11-05")["result"]["serverInfo"]["version"], "1.2.3");
  EXPECT_FALSE(server_.Answer(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").has_value());
}

TEST_F(McpServerTest, EveryToolDescribesOptionsThatItsVerbHas) {
  const Json answer =
      Json::parse(server_.Answer(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})").value());
  EXPECT_EQ(answer["result"]["tools"].size(), Tools().size() + 1);
  for (const Tool& tool : Tools()) {
    EXPECT_EQ(InputSchema(tool)["properties"].size(), tool.options.size() + 1) << tool.name;
    for (const char* writes : {"html", "offsets", "verify", "run-recorded", "by", "gpu", "output"})
      EXPECT_FALSE(InputSchema(tool)["properties"].contains(writes)) << tool.name << " " << writes;
  }
}

TEST_F(McpServerTest, FilesBelowTheFolderAreServedAndNoOthers) {
  for (const char* served : {"a.vms", "day/b.vms", "day/../a.vms", "in.vms", "up/runs/a.vms"})
    EXPECT_FALSE(IsRefused(served)) << served;
  EXPECT_FALSE(IsRefused((root_ / "runs/a.vms").string()));
  for (const char* refused :
       {"../secret.vms", "out.vms", "up/secret.vms", "day", ".", "", "/etc/passwd", "missing.vms"})
    EXPECT_TRUE(IsRefused(refused)) << refused;
  EXPECT_TRUE(IsRefused((root_ / "secret.vms").string()));
  EXPECT_TRUE(IsRefused(std::string("a.vms\0x", 7)));
  EXPECT_TRUE(IsRefused((root_ / "runs").string() + "-other/a.vms"));
}

TEST_F(McpServerTest, ListsTracesAndNotWhatLinksLeadTo) {
  const Json listed =
      Json::parse(Call("list_runs", Json::object())["result"]["content"][0]["text"].get<std::string>());
  ASSERT_EQ(listed["runs"].size(), 2u) << listed;
  EXPECT_EQ(listed["runs"][0]["file"], "a.vms");
  EXPECT_EQ(listed["runs"][1]["file"], "day/b.vms");
}

TEST_F(McpServerTest, AValueCannotBecomeAnotherOption) {
  Call("plan", {{"file", "a.vms"}, {"fit", "--verify"}, {"largest-batch", true}});
  EXPECT_THAT(words_, Contains("--fit=--verify"));
  EXPECT_THAT(words_, Contains("--largest-batch"));
  EXPECT_THAT(words_, Not(Contains("--verify")));
  words_.clear();
  const Json refused = Call("plan", {{"file", "a.vms"}, {"verify", true}})["result"];
  EXPECT_EQ(refused["isError"], true);
  EXPECT_TRUE(words_.empty());
}

TEST_F(McpServerTest, WhatIfRunsNothing) {
  Call("whatif", {{"file", "a.vms"}, {"batch", 16}, {"compare", {"batch=2x", "optimizer=sgd"}}});
  EXPECT_THAT(words_, Contains("--batch=16"));
  EXPECT_THAT(words_, Contains("--compare=optimizer=sgd"));
  const auto by = std::find(words_.begin(), words_.end(), "--by");
  ASSERT_NE(by, words_.end());
  EXPECT_EQ(*(by + 1), "transform");
}

TEST_F(McpServerTest, HostileLinesGetErrorsOfJsonRpc) {
  EXPECT_EQ(ErrorOf("{"), -32700);
  EXPECT_EQ(ErrorOf("\xff\xfe"), -32700);
  EXPECT_EQ(ErrorOf("[]"), -32600);
  EXPECT_EQ(ErrorOf("null"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":{},"method":"ping"})"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":7})"), -32600);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"), -32601);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})"), -32602);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]})"), -32602);
  EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"record"}})"), -32602);
  for (const char* arguments :
       {"null", "[]", "7", R"({"file":7})", R"({"file":"a.vms","at":{}})", R"({"file":"a.vms","at":[[]]})",
        R"({"file":"a.vms","top":1.5})", R"({"file":"a.vms","steps":["1","2"]})"}) {
    const std::string line =
        std::string(
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","arguments":)") +
        arguments + "}}";
    const Json answer = Json::parse(server_.Answer(line).value());
    EXPECT_TRUE(answer.contains("result") && answer["result"]["isError"] == true)
        << arguments << " " << answer;
  }
  EXPECT_EQ(ErrorOf(std::string(200'000, '[')), -32700);
  EXPECT_EQ(ErrorOf(std::string(100'000, '[') + std::string(100'000, ']')), -32600);
}

}  // namespace
}  // namespace vramscope::cli
