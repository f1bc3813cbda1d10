// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/redact.h"

#include <gtest/gtest.h>

namespace vramscope::text {
namespace {

TEST(RedactTest, WhatNamesSayIsSecretGoes) {
  EXPECT_EQ(Redacted("python t.py --hf-token abc --lr 1e-3"), "python t.py --hf-token [redacted] --lr 1e-3");
  EXPECT_EQ(Redacted("t --password=x --apiKey=y --db.passwd z"),
            "t --password=[redacted] --apiKey=[redacted] --db.passwd [redacted]");
  EXPECT_EQ(Redacted("env WANDB_API_KEY=abc AWS_SECRET_ACCESS_KEY='a b' t"),
            "env WANDB_API_KEY=[redacted] AWS_SECRET_ACCESS_KEY=[redacted] t");
  EXPECT_EQ(Redacted("t --secret 'two words' --next"), "t --secret [redacted] --next");
  EXPECT_EQ(Redacted("sh -c 'KEY=abc python t.py --token \"x y\"'"),
            "sh -c 'KEY=[redacted] python t.py --token [redacted]'");
  EXPECT_EQ(Redacted("curl -H 'Authorization: abc'"), "curl -H 'Authorization: [redacted]'");
}

TEST(RedactTest, KnownFormsGoWithoutAName) {
  EXPECT_EQ(Redacted("login hf_abcdefghijklm"), "login [redacted]");
  EXPECT_EQ(Redacted("t x=ghp_0123456789abcdef"), "t x=[redacted]");
  EXPECT_EQ(Redacted("wandb login 0123456789abcdef0123456789abcdef01234567"), "wandb login [redacted]");
  EXPECT_EQ(Redacted("git clone https://me:pw@host/a@b"), "git clone https://[redacted]@host/a@b");
}

TEST(RedactTest, EverythingElseStays) {
  for (const char* line :
       {"python train.py --max-tokens 512 --tokenizer gpt2 --keep 3 --monkey 4",
        "torchrun --nproc-per-node 2 t.py", "t --token --verbose", "t --url https://host/a@b?c=d", "",
        "'unclosed", "t  two  blanks ", "t --author me"})
    EXPECT_EQ(Redacted(line), line);
}

TEST(RedactTest, AProgramAloneHasNoArgumentsAndNoFolders) {
  const char* const kLeft = " [arguments redacted]";
  EXPECT_EQ(ProgramAlone("/data/me/venv/bin/python /data/me/t.py --data /srv/x"),
            std::string("python t.py") + kLeft);
  EXPECT_EQ(ProgramAlone("'/data/m e/python'  '/data/m e/t.py'"), "python t.py");
  EXPECT_EQ(ProgramAlone("torchrun --nproc_per_node 2 t.py"), std::string("torchrun") + kLeft);
  EXPECT_EQ(ProgramAlone("python -m secret.project"), std::string("python") + kLeft);
  EXPECT_EQ(ProgramAlone("sh -c 'cd /data/me && python t.py'"), std::string("sh") + kLeft);
  EXPECT_EQ(ProgramAlone(""), "");
  EXPECT_EQ(ProgramAlone("'/data/m e/t"), "t") << "an unclosed quote";
}

}  // namespace
}  // namespace vramscope::text
