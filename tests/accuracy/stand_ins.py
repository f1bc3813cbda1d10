# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for data sets and tokenizers that public programs download: with the same shapes and sizes, and meaningless content."""
import random
import struct
from pathlib import Path

FINEWEB_VALIDATION_TOKENS = 62_021_846  # as the recorded logs say; the last batch is a short one
GPT2_WORDS = 476_956  # 52 batches of 8 x 1024 tokens in 90 % of it, as the recorded steps say


def fineweb(folder: Path) -> None:
    """Shards of 16-bit tokens after a header of 256 integers, as parameter-golf reads them, and a SentencePiece tokenizer of 1024 words."""
    import sentencepiece

    shards, tokenizers = folder / "data/datasets/fineweb10B_sp1024", folder / "data/tokenizers"
    shards.mkdir(parents=True)
    tokenizers.mkdir(parents=True)
    for name, tokens in (("fineweb_train_000000", 100_000_000), ("fineweb_val_000000", FINEWEB_VALIDATION_TOKENS)):
        with (shards / f"{name}.bin").open("wb") as shard:
            shard.write(struct.pack("<256i", 20240520, 1, tokens, *[0] * 253))
            shard.truncate(1024 + 2 * tokens)
    draw = random.Random(0)
    words = ["".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(2, 9))) for _ in range(5000)]
    text = tokenizers / "text"
    text.write_text("\n".join(" ".join(draw.choice(words) for _ in range(12)) for _ in range(5000)), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(tokenizers / "fineweb_1024_bpe"), vocab_size=1024,
                                             model_type="bpe", byte_fallback=True, minloglevel=2)


def middlemarch(folder: Path) -> None:
    """A book, and a tiktoken for which every word is one token."""
    (folder / "middlemarch.txt").write_text(" ".join(f"w{number % 997}" for number in range(GPT2_WORDS)), encoding="utf-8")
    (folder / "tiktoken.py").write_text(
        "class Encoding:\n"
        "    def encode(self, text, allowed_special=()):\n"
        "        return [len(word) for word in text.split()]\n"
        "    def decode(self, tokens):\n"
        "        return ' '.join(map(str, tokens))\n"
        "def get_encoding(name):\n"
        "    return Encoding()\n", encoding="utf-8")
