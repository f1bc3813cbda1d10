# SPDX-License-Identifier: Apache-2.0
"""The dynamic-linking part of one 64-bit little-endian ELF file: what it needs, where it looks, what it defines and lacks.

Why our own: readelf is not on every machine, and its text is slow to parse for libraries with 100,000 symbols. Layout: the System V
ABI (gabi, chapter 5) and the GNU symbol-versioning extension (LSB core, "Symbol Versioning").

    program headers ── PT_DYNAMIC ── DT_STRTAB, DT_SYMTAB, DT_VERSYM, DT_VERNEED, DT_NEEDED, DT_RPATH ...
                    └─ PT_LOAD    ── maps the addresses above to file offsets (section headers are never read)
"""

import mmap
import struct
from typing import Dict, Iterator, List, NamedTuple, Tuple

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 4, 5, 6, 14, 15, 29
DT_GNU_HASH, DT_VERSYM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
STB_WEAK, STT_OBJECT, STT_TLS = 2, 1, 6
SYMBOL = struct.Struct("<IBBHQQ")


class NotElf(Exception):
    """The file is not a 64-bit little-endian ELF file with a dynamic section."""


class Symbol(NamedTuple):
    name: str
    defined: bool
    weak: bool
    is_data: bool
    library: str  # the soname of the library that the version belongs to; "" if there is no version
    version: str  # its version there; ""


class ElfFile:
    """Reads lazily through a mapping, so that a 1 GB library costs only the pages of its symbol table."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            try:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:  # an empty file cannot be mapped
                raise NotElf(path) from error
        if self._bytes[:6] != b"\x7fELF\x02\x01":
            raise NotElf(path)
        self.path = path
        self._loads: List[Tuple[int, int, int]] = []  # (address, file offset, bytes in the file)
        self._tags: Dict[int, List[int]] = {}
        dynamic = self._read_program_headers()
        if dynamic is None:
            raise NotElf(path)
        self._read_dynamic(*dynamic)

    @property
    def needed(self) -> List[str]:
        return [self._string(value) for value in self._tags.get(DT_NEEDED, [])]

    @property
    def soname(self) -> str:
        return next((self._string(value) for value in self._tags.get(DT_SONAME, [])), "")

    @property
    def search_path(self) -> List[str]:
        """DT_RPATH, else DT_RUNPATH, as written ($ORIGIN not expanded)."""
        values = self._tags.get(DT_RPATH) or self._tags.get(DT_RUNPATH) or []
        return [folder for value in values for folder in self._string(value).split(":") if folder]

    def symbols(self) -> Iterator[Symbol]:
        if DT_SYMTAB not in self._tags:
            return
        start = self._offset(self._tags[DT_SYMTAB][0])
        count = self._symbol_count()
        versions = self._needed_versions()
        version_indices = self._version_indices(count)
        table = memoryview(self._bytes)[start : start + count * SYMBOL.size]
        for index, (name, info, _other, section, _value, _size) in enumerate(SYMBOL.iter_unpack(table)):
            if name == 0:
                continue
            # Bit 15 marks a hidden definition; it is no part of the index.
            library, version = versions.get(version_indices[index] & 0x7FFF, ("", "")) if section == 0 else ("", "")
            yield Symbol(self._string(name), section != 0, info >> 4 == STB_WEAK, info & 15 in (STT_OBJECT, STT_TLS), library, version)

    # ---- how the tables are read

    def _read_program_headers(self):
        offset, = struct.unpack_from("<Q", self._bytes, 32)
        size, count = struct.unpack_from("<HH", self._bytes, 54)
        dynamic = None
        for index in range(count):
            kind, _flags, file_offset, address, _physical, file_bytes = struct.unpack_from("<IIQQQQ", self._bytes, offset + index * size)
            if kind == PT_LOAD:
                self._loads.append((address, file_offset, file_bytes))
            elif kind == PT_DYNAMIC:
                dynamic = (file_offset, file_bytes)
        return dynamic

    def _read_dynamic(self, offset: int, size: int) -> None:
        for position in range(offset, offset + size, 16):
            tag, value = struct.unpack_from("<QQ", self._bytes, position)
            if tag == 0:
                break
            self._tags.setdefault(tag, []).append(value)
        self._strings = self._offset(self._tags[DT_STRTAB][0]) if DT_STRTAB in self._tags else 0

    def _offset(self, address: int) -> int:
        for start, file_offset, size in self._loads:
            if start <= address < start + size:
                return address - start + file_offset
        raise NotElf(f"{self.path}: address {address:#x} lies in no loaded segment")

    def _string(self, index: int) -> str:
        start = self._strings + index
        return self._bytes[start : self._bytes.find(b"\0", start)].decode("utf-8", "replace")

    def _symbol_count(self) -> int:
        if DT_HASH in self._tags:
            return struct.unpack_from("<II", self._bytes, self._offset(self._tags[DT_HASH][0]))[1]
        # DT_GNU_HASH has no count: it is one past the end of the chain that starts at the highest bucket.
        base = self._offset(self._tags[DT_GNU_HASH][0])
        bucket_count, first_hashed, bloom_words, _shift = struct.unpack_from("<IIII", self._bytes, base)
        buckets = base + 16 + bloom_words * 8
        highest = max(struct.unpack_from(f"<{bucket_count}I", self._bytes, buckets), default=0)
        if highest < first_hashed:
            # It defines nothing. For such a program, GNU ld writes 1 as the first hashed symbol. It places the names after the symbols.
            return max(first_hashed, (self._tags[DT_STRTAB][0] - self._tags[DT_SYMTAB][0]) // SYMBOL.size)
        chains = buckets + bucket_count * 4
        while not struct.unpack_from("<I", self._bytes, chains + (highest - first_hashed) * 4)[0] & 1:
            highest += 1
        return highest + 1

    def _version_indices(self, count: int) -> Tuple[int, ...]:
        if DT_VERSYM not in self._tags:
            return (0,) * count
        return struct.unpack_from(f"<{count}H", self._bytes, self._offset(self._tags[DT_VERSYM][0]))

    def _needed_versions(self) -> Dict[int, Tuple[str, str]]:
        """Version index -> (soname, version): two nested chains, Verneed per library and Vernaux per version of it."""
        found: Dict[int, Tuple[str, str]] = {}
        if DT_VERNEED not in self._tags:
            return found
        need = self._offset(self._tags[DT_VERNEED][0])
        for _ in range(self._tags[DT_VERNEEDNUM][0]):
            _version, aux_count, file_name, aux_offset, next_offset = struct.unpack_from("<HHIII", self._bytes, need)
            aux = need + aux_offset
            for _ in range(aux_count):
                _hash, _flags, index, name, next_aux = struct.unpack_from("<IHHII", self._bytes, aux)
                found[index] = (self._string(file_name), self._string(name))
                aux += next_aux
            need += next_offset
        return found
