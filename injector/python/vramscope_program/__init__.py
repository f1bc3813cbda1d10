# SPDX-License-Identifier: Apache-2.0
"""The program of one training step: recorded while it runs (noting), and run again with a change (`python vramscope_program FILE`).

    noting      in the recorded process: one step after the deep ones becomes a JSON text
    __main__    reads such a text, builds its modules, and runs its calls through PyTorch

docs/program.md describes the text and its limits. The rules for noting are those of vramscope_shim."""
