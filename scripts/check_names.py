#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds names that two C++ files define: types and functions with the same fully qualified name.

    scripts/check_names.py [FOLDER]

Two definitions of one class in one program are undefined behavior that neither the compiler nor the linker reports, and which of them wins
can depend on the order of the object files. Two inline functions are the same; two others are a linker error only if both are linked. So a name
belongs to one file:

    a.h   namespace n { struct Row { int a; }; }
    b.cc  namespace n { struct Row { long b; }; }      b.cc:1: n::Row is also defined in a.h:1

Checked: classes, structs, unions, enums and functions, outside unnamed namespaces. A function is its name and the types of its parameters. Not
checked: members of classes defined elsewhere, templates of functions, and functions with C linkage, which several libraries define on purpose
(stand-ins, hooks). Of an #if with an #else only the first part is read, which keeps braces in balance.

Exit 0: all names differ; 1: each line printed is one clash.
"""

import os
import re
import sys
from typing import Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

CXX_FILE = re.compile(r"\.(h|cc|cpp)$")
# The files of each of these folders become programs of their own, or replace other files in such a program (the web viewer, the command for other
# systems). So a name may occur once in each folder.
ALONE = ("samples/", "tests/", "bench/", "viewer/platform/web/", "profiler/cli/portable/")

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
      | (?P<character>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')
      | (?P<directive>^[ \t]*\#(?:\\\n|//[^\n]*|/\*.*?\*/|[^\n/]|/)*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
      | (?P<sign>::|->|\[\[|\]\]|[^\s\w])
      | (?P<line>\n)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
C_LINKAGE_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+extern[ \t]+\"C\"", re.MULTILINE)
MACRO = re.compile(r"[A-Z][A-Z0-9_]+$")
TYPE_KINDS = ("class", "struct", "union", "enum")
OF_ITS_FILE = {"static", "template"}
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "&", "try", "volatile"}
BUILT_IN = {"int", "long", "short", "char", "bool", "float", "double", "unsigned", "signed", "void", "auto", "const"}


class Token(NamedTuple):
    text: str
    line: int


class Definition(NamedTuple):
    name: str
    path: str
    line: int


class Scope(NamedTuple):
    names: Optional[Tuple[str, ...]]  # of namespaces and classes, outermost first; None: nothing inside is checked
    c_linkage: bool = False


def tokens(text: str) -> List[Token]:
    """Words and signs with their lines; without comments, directives and the second part of an #if."""
    found: List[Token] = []
    line = 1
    skipped: List[bool] = []  # for each open #if: True after the first part, which is the only one that is read
    for match in TOKEN.finditer(text):
        kind, piece = match.lastgroup, match.group()
        if kind == "mark":  # the group inside of a raw string
            kind = "raw"
        if kind == "directive":
            word = re.match(r"\s*#\s*(\w*)", piece)
            name = word.group(1) if word else ""
            if name in ("if", "ifdef", "ifndef"):
                skipped.append(False)
            elif name in ("else", "elif") and skipped:
                skipped[-1] = True
            elif name == "endif" and skipped:
                skipped.pop()
        elif kind not in ("comment", "line") and not any(skipped):
            found.append(Token('""' if kind in ("text", "raw") else piece, line))
        line += piece.count("\n")
    return found


def without_macro_calls(begun: List[Token]) -> List[Token]:
    """`TABLE_OF(ROWS) struct Row` -> `struct Row`. A call that nothing follows, as in `TEST(a, b) {`, is kept."""
    words = [token.text for token in begun]
    if len(words) > 2 and words[1] == "(" and MACRO.match(words[0]):
        end = closing(words, 1) + 1
        if end < len(words) and re.match(r"[A-Za-z_]", words[end]) and words[end] not in AFTER_PARAMETERS:
            return without_macro_calls(begun[end:])
    return begun


def without_templates(words: List[str]) -> Tuple[List[str], bool]:
    """The words after `template <...>`, and whether there was one."""
    if not words or words[0] != "template":
        return words, False
    depth = 0
    for index, word in enumerate(words[1:], 1):
        depth += (word == "<") - (word == ">")
        if depth == 0:
            return without_templates(words[index + 1 :])[0], True
    return words, True


def without_attributes(words: List[str]) -> List[str]:
    kept: List[str] = []
    depth = 0
    index = 0
    while index < len(words):
        word = words[index]
        if word == "[[":
            depth += 1
        elif word == "]]":
            depth -= 1
        elif word in ("alignas", "__attribute__") and words[index + 1 : index + 2] == ["("]:
            index = closing(words, index + 1)
        elif depth == 0:
            kept.append(word)
        index += 1
    return kept


def closing(words: List[str], opening: int) -> int:
    """Where the bracket at `opening` is closed; the last word if nowhere."""
    depth = 0
    for index in range(opening, len(words)):
        depth += (words[index] in ("(", "[")) - (words[index] in (")", "]"))
        if depth == 0:
            return index
    return len(words) - 1


def type_name(words: List[str]) -> Optional[str]:
    """The name in `class Name final : public Base`, with the arguments of a specialization; "" if it has none, None if this is no type."""
    at = next((index for index, word in enumerate(words) if word in TYPE_KINDS), None)
    if at is None or "(" in words[:at] or "=" in words[:at]:
        return None
    rest = words[at + 1 :]
    if rest[:1] and rest[0] in ("class", "struct"):  # enum class
        rest = rest[1:]
    end = next((index for index, word in enumerate(rest) if word == ":"), len(rest))
    name = [word for word in rest[:end] if word != "final"]
    if "(" in name or "=" in name:
        return None
    return "".join(name)


def parameter_type(words: List[str]) -> str:
    """`const Row& row = {}` -> `const Row&`."""
    if "=" in words:
        words = words[: words.index("=")]
    depth = 0
    last = None  # the place of a word that may be the parameter's name
    for index, word in enumerate(words):
        depth += (word in ("<", "(")) - (word in (">", ")"))
        if depth == 0 and index > 0 and re.match(r"[A-Za-z_]\w*$", word) and words[index - 1] != "::" and word not in BUILT_IN:
            last = index
    if last is not None and any(word not in ("const", "struct", "class", "typename") for word in words[:last]):
        words = words[:last] + words[last + 1 :]
    return re.sub(r"(?<=\w) (?!\w)|(?<!\w) ", "", " ".join(words))


def parameters(words: List[str]) -> List[str]:
    parts: List[List[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in ("<", "(", "[", "{")) - (word in (">", ")", "]", "}"))
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [parameter_type(part) for part in parts if part and part != ["void"]]


def function_name(words: List[str]) -> Optional[str]:
    """`Name(types of parameters)`, or None if these words begin no definition of a function."""
    depth = 0
    opening = None
    for index, word in enumerate(words):
        if word == "<" and index and re.match(r"\w", words[index - 1]) and "operator" not in words[max(0, index - 1) : index]:
            depth += 1
        elif word == ">" and depth:
            depth -= 1
        elif word == "=" and depth == 0 and words[index - 1 : index] != ["operator"]:
            return None
        elif word == "(" and depth == 0:
            opening = index
            break
    if opening is None or opening == 0:
        return None
    if words[opening - 1] == "operator":  # operator()
        opening += 2
    end = closing(words, opening)
    after = words[end + 1 :]
    if after and after[0] not in AFTER_PARAMETERS and after[:1] != ["->"] and after[:1] != [":"] and after[:1] != ["requires"]:
        return None
    begin = opening - 1
    while begin > 0 and (words[begin - 1] in ("::", "operator", "~") or words[begin] == "::" or words[begin - 1 : begin + 1] == ["operator", "("]):
        begin -= 1
    name = words[begin:opening]
    if not re.match(r"[A-Za-z_~:]", name[0]):
        at = next((index for index, word in enumerate(words[:opening]) if word == "operator"), None)
        if at is None:
            return None
        name = words[at:opening]
    if "operator" not in name and name[-1] in ("if", "for", "while", "switch", "catch", "return"):
        return None
    return "".join(name) + "(" + ", ".join(parameters(words[opening + 1 : end])) + ")"


def opened_by(words: List[str], outer: Scope, c_linkage: FrozenSet[str]) -> Tuple[Scope, Optional[str]]:
    """The scope that a `{` after these words opens, and the name that it defines, if any. c_linkage: macros for extern "C"."""
    nothing = Scope(None)
    if outer.names is None:
        return nothing, None
    words = without_attributes(words)
    if "namespace" in words[:2]:
        name = "".join(words[words.index("namespace") + 1 :])
        return (Scope((*outer.names, *name.split("::")), outer.c_linkage), None) if name else (nothing, None)
    if words[:2] == ["extern", '""']:
        if len(words) == 2:
            return Scope(outer.names, True), None
        return nothing, None  # one function with C linkage
    if c_linkage & set(words):
        return nothing, None
    rest, is_template = without_templates(words)
    prefix = "::".join(outer.names)
    name_of_type = type_name(rest)
    if name_of_type is not None:
        if not name_of_type:
            return nothing, None
        return Scope((*outer.names, name_of_type), outer.c_linkage), f"{prefix}::{name_of_type}" if prefix else name_of_type
    function = function_name(rest)
    if function is None or is_template or outer.c_linkage or OF_ITS_FILE & set(rest) or "friend" in rest:
        return nothing, None
    if function.startswith("main("):
        return nothing, None
    return nothing, f"{prefix}::{function}" if prefix else function


def definitions(path: str, text: str, c_linkage: FrozenSet[str] = frozenset()) -> Iterator[Definition]:
    scopes = [Scope(())]
    in_class = [False]
    begun: List[Token] = []  # since the last ; { or }
    depth = 0  # of round brackets: a lambda among the arguments of a macro opens no scope of ours
    for token in tokens(text):
        if token.text == "{":
            begun = without_macro_calls(begun)
            words = [each.text for each in begun]
            scope, name = opened_by(words, scopes[-1] if depth == 0 else Scope(None), c_linkage)
            is_type = scope.names is not None and name is not None
            if name is not None and (is_type or not in_class[-1]):
                yield Definition(name, path, begun[0].line)
            scopes.append(scope)
            in_class.append(is_type)
            begun = []
        elif token.text == "}":
            if len(scopes) > 1:
                scopes.pop()
                in_class.pop()
            begun = []
        elif token.text == ";" and depth == 0:
            begun = []
        elif token.text == ":" and len(begun) == 1 and begun[0].text in ("public", "private", "protected"):
            begun = []
        else:
            depth = max(0, depth + (token.text == "(") - (token.text == ")")) if scopes[-1].names is not None else 0
            begun.append(token)


def files(root: str) -> Iterator[str]:
    for folder, children, names in os.walk(root):
        children[:] = sorted(name for name in children if not name.startswith((".", "build")) and name != "__pycache__")
        for name in sorted(names):
            if CXX_FILE.search(name):
                yield os.path.relpath(os.path.join(folder, name), root)


def check(root: str) -> List[str]:
    texts: Dict[str, str] = {}
    for path in files(root):
        if not path.startswith(ALONE):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                texts[path] = file.read()
    c_linkage = frozenset(name for text in texts.values() for name in C_LINKAGE_MACRO.findall(text))
    first: Dict[str, Definition] = {}
    clashes: List[str] = []
    for path, text in texts.items():
        for found in definitions(path, text, c_linkage):
            known = first.setdefault(found.name, found)
            if known.path != path:
                clashes.append(f"{path}:{found.line}: {found.name} is also defined in {known.path}:{known.line}")
    return clashes


def main(argv: List[str]) -> int:
    root = argv[0] if argv else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    clashes = check(root)
    for clash in clashes:
        print(clash)
    return 1 if clashes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
