# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs: the pages of docs/ as they are in the repository become a site of their own.

    links that leave docs/      a file becomes a page below `source/`; a folder becomes plain text
    lists                       CommonMark needs neither a blank line before a list nor four spaces below an item; Python-Markdown needs both
"""
import os
import posixpath
import re
from pathlib import Path
from typing import Any, Dict, List

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
ITEM = re.compile(r"\s*([-*]|\d+\.)\s")
LANGUAGES = {".py": "python", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".sh": "sh", ".def": "c", ".yml": "yaml"}


def place_on_site(path: str) -> str:
    """Where a file of the repository is: docs/ci.md -> ci.md, samples/gpt2.py -> source/samples/gpt2.py.md."""
    if path.startswith("docs/"):
        return path[len("docs/"):]
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"


def target_in_repository(page: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link.partition("#")[0]))


def is_relative(link: str) -> bool:
    return not link.startswith("#") and not re.match(r"[a-z][a-z0-9+.-]*:", link)


def prose_lines(text: str) -> List[bool]:
    """For each line, whether it is outside code blocks."""
    outside, result = True, []
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        result.append(outside and not fence)
        outside ^= fence
    return result


def for_python_markdown(text: str) -> str:
    lines: List[str] = []
    for line, prose in zip(text.split("\n"), prose_lines(text)):
        if prose and line.startswith("  "):
            indent = len(line) - len(line.lstrip())
            line = " " * indent + line
        elif prose and ITEM.match(line) and lines and lines[-1].strip() and not ITEM.match(lines[-1]) and not lines[-1].startswith(" "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def for_the_site(page: str, text: str) -> str:
    """The text of a page of the repository, with links that lead to places on the site."""
    folder = posixpath.dirname(place_on_site(page))

    def link(match: "re.Match[str]") -> str:
        mark, shown, target = match.groups()
        if not is_relative(target):
            return match.group(0)
        path = target_in_repository(page, target)
        if (ROOT / path).is_dir():
            return shown
        anchor = target.partition("#")[2] if path.endswith(".md") else ""
        place = path[len("docs/"):] if path.startswith("docs/") else place_on_site(path)
        return f"{mark}[{shown}]({posixpath.relpath(place, folder or '.')}{'#' + anchor if anchor else ''})"

    rewritten = [LINK.sub(link, line) if prose else line for line, prose in zip(text.split("\n"), prose_lines(text))]
    return for_python_markdown("\n".join(rewritten))


def links_that_leave(page: str, text: str) -> List[str]:
    found = []
    for line, prose in zip(text.split("\n"), prose_lines(text)):
        for _, _, target in LINK.findall(line) if prose else []:
            if is_relative(target):
                path = target_in_repository(page, target)
                if not path.startswith("docs/") and (ROOT / path).is_file():
                    found.append(path)
    return found


def as_page(path: str, text: str) -> str:
    if path.endswith(".md"):
        return for_the_site(path, text)
    language = LANGUAGES.get(os.path.splitext(path)[1], "text")
    return f"# {path}\n\n````{language}\n{text}\n````\n"


def on_files(files: Files, config: Any) -> Files:
    wanted = [(f"docs/{file.src_uri}", (ROOT / "docs" / file.src_uri).read_text(encoding="utf-8")) for file in files.documentation_pages()]
    pages: Dict[str, str] = {}
    while wanted:
        page, text = wanted.pop()
        for path in links_that_leave(page, text):
            if path not in pages:
                pages[path] = (ROOT / path).read_text(encoding="utf-8")
                if path.endswith(".md"):
                    wanted.append((path, pages[path]))
    files.append(File.generated(config, "site.css", content=(ROOT / "scripts/docs_site/site.css").read_text(encoding="utf-8")))
    for path, text in pages.items():
        files.append(File.generated(config, place_on_site(path), content=as_page(path, text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.src_uri.startswith("questions/"):
        page.meta["hide"] = ["toc"]  # they have no headings, and outputs need the room
    return markdown if page.file.src_uri.startswith("source/") else for_the_site(f"docs/{page.file.src_uri}", markdown)
