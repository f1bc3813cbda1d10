#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what a command prints on a color terminal as a PNG, for the documentation. Needs Pillow and a monospaced TrueType font.

    scripts/terminal_picture.py docs/images/report.png -- vramscope report run.vms --color always
"""

import argparse
import os
import re
import subprocess
import unicodedata
from typing import List, NamedTuple, Tuple

from PIL import Image, ImageDraw, ImageFont

Color = Tuple[int, int, int]
BACKGROUND: Color = (17, 20, 26)
TEXT: Color = (214, 219, 228)
DIM: Color = (128, 137, 152)
BASIC: List[Color] = [(40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194), (220, 223, 228)]
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf"
SIZE = 17
MARGIN = 22
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


class Style(NamedTuple):
    color: Color = TEXT
    bold: bool = False


def cube(index: int) -> Color:
    """Color `index` of the 256 that terminals have."""
    if index < 16:
        return BASIC[index % 8]
    if index >= 232:
        level = 8 + 10 * (index - 232)
        return level, level, level
    steps = (0, 95, 135, 175, 215, 255)
    index -= 16
    return steps[index // 36], steps[index // 6 % 6], steps[index % 6]


def changed(style: Style, codes: List[int]) -> Style:
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = Style()
        elif code == 1:
            style = style._replace(bold=True)
        elif code == 2:
            style = style._replace(color=DIM)
        elif code == 22:
            style = style._replace(bold=False, color=TEXT)
        elif code == 39:
            style = style._replace(color=TEXT)
        elif code == 38 and codes and codes[0] == 5:
            style, codes = style._replace(color=cube(codes[1])), codes[2:]
        elif code == 38 and codes and codes[0] == 2:
            style, codes = style._replace(color=(codes[1], codes[2], codes[3])), codes[4:]
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = style._replace(color=BASIC[code % 10])
    return style


def cells(text: str) -> List[List[Tuple[str, Style]]]:
    """Lines of (character, style)."""
    lines: List[List[Tuple[str, Style]]] = [[]]
    style = Style()
    position = 0
    for match in [*ESCAPE.finditer(text), None]:
        for character in text[position : match.start() if match else len(text)]:
            if character == "\n":
                lines.append([])
            elif not unicodedata.combining(character):
                lines[-1].append((character, style))
        if match:
            style = changed(style, [int(code or 0) for code in match[1].split(";")])
            position = match.end()
    while lines and not lines[-1]:
        lines.pop()
    return lines


def draw(lines: List[List[Tuple[str, Style]]]) -> Image.Image:
    fonts = {bold: ImageFont.truetype(FONTS.format("-Bold" if bold else ""), SIZE) for bold in (False, True)}
    width = fonts[False].getlength("M")
    height = SIZE + 5
    columns = max((len(line) for line in lines), default=1)
    picture = Image.new("RGB", (int(columns * width) + 2 * MARGIN, len(lines) * height + 2 * MARGIN), BACKGROUND)
    pen = ImageDraw.Draw(picture)
    for row, line in enumerate(lines):
        for column, (character, style) in enumerate(line):
            left, top = MARGIN + column * width, MARGIN + row * height
            eighths = ord(character) - 0x2587 if "\u2588" <= character <= "\u258f" else 0
            if eighths:  # block characters as rectangles: fonts leave gaps between them
                pen.rectangle((left, top + 2, left + width * (9 - eighths) / 8 - (eighths > 1), top + height - 4), fill=style.color)
            else:
                pen.text((left, top), character, font=fonts[style.bold], fill=style.color)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", help="the PNG file to write")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--prompt", help="a line to show above the output, as if it had been typed")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    environment = {**os.environ, "COLUMNS": str(options.columns), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    text = subprocess.run(options.command, env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()
    prompt = f"\x1b[2m$\x1b[0m {options.prompt}\n" if options.prompt else ""
    draw(cells(prompt + text)).save(options.picture)


if __name__ == "__main__":
    main()
