# SPDX-License-Identifier: Apache-2.0
"""What every Python package of ours needs inside the recorded process, for any framework.

    guard         no failure of ours reaches the program
    native        the injector's C functions
    patches       hooks and wrapped methods, and their removal
    import_hook   calls us back after an import
    pace          when to examine tensors again
    living        the living instances of a class

Users: vramscope_shim (PyTorch), vramscope_shim_tensorflow, vramscope_shim_jax, vramscope_try, vramscope_program and the simulated device's
vramscope_dryrun. The rules are those of vramscope_shim. The package that starts first imports this one while sys.path has its folder; the others find
it in sys.modules."""
