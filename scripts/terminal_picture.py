#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the output of a command as a picture of a terminal, for the documentation. Needs Pillow and the DejaVu Sans Mono fonts.

    vramscope report run.vms --color always | scripts/terminal_picture.py --prompt "vramscope report run.vms" report.png
"""

import argparse
import re
import sys
from typing import Iterator, List, NamedTuple, Tuple

from PIL import Image, ImageDraw, ImageFont

Color = Tuple[int, int, int]
BACKGROUND, FRAME, TEXT, DIM, PROMPT = (22, 24, 29), (38, 41, 48), (214, 217, 224), (128, 134, 146), (110, 168, 254)
BASIC = [(60, 64, 72), (224, 108, 117), (126, 190, 120), (229, 181, 103), (97, 160, 239), (198, 120, 221), (86, 182, 194), TEXT]
FONT_FOLDER = "/usr/share/fonts/truetype/dejavu/"
SCALE, SIZE, MARGIN, BAR = 2, 15, 20, 34  # drawn at twice the size: sharp on dense screens
SGR = re.compile(r"\x1b\[([0-9;]*)m")


class Style(NamedTuple):
    color: Color = TEXT
    bold: bool = False
    dim: bool = False


def xterm_color(index: int) -> Color:
    """The 256-colour palette of xterm: 16 basic ones, a 6x6x6 cube, 24 greys."""
    if index < 16:
        return BASIC[index % 8]
    if index >= 232:
        return (8 + (index - 232) * 10,) * 3
    levels = (0, 95, 135, 175, 215, 255)
    index -= 16
    return levels[index // 36], levels[index // 6 % 6], levels[index % 6]


def restyle(style: Style, codes: List[int]) -> Style:
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = Style()
        elif code in (1, 22):
            style = style._replace(bold=code == 1, dim=False)
        elif code == 2:
            style = style._replace(dim=True)
        elif code == 39:
            style = style._replace(color=TEXT)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = style._replace(color=BASIC[code % 10])
        elif code == 38 and codes[:1] == [5]:
            style, codes = style._replace(color=xterm_color(codes[1])), codes[2:]
        elif code == 38 and codes[:1] == [2]:
            style, codes = style._replace(color=(codes[1], codes[2], codes[3])), codes[4:]
    return style


def spans(line: str) -> Iterator[Tuple[str, Style]]:
    style = Style()
    for index, part in enumerate(SGR.split(line)):
        if index % 2:
            style = restyle(style, [int(code or 0) for code in part.split(";")])
        elif part:
            yield part, style


class Picture:
    def __init__(self, columns: int, rows: int) -> None:
        self.fonts = [ImageFont.truetype(FONT_FOLDER + name, SIZE * SCALE) for name in ("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf")]
        self.cell = (round(self.fonts[0].getlength("M")), round(SIZE * SCALE * 1.32))
        size = (columns * self.cell[0] + 2 * MARGIN * SCALE, rows * self.cell[1] + (2 * MARGIN + BAR) * SCALE)
        self.image = Image.new("RGBA", size, (0, 0, 0, 0))
        self.draw = ImageDraw.Draw(self.image)
        self.draw.rounded_rectangle((0, 0, size[0] - 1, size[1] - 1), 10 * SCALE, BACKGROUND, FRAME, SCALE)
        for index, color in enumerate(((236, 106, 94), (244, 191, 79), (97, 197, 84))):
            left = (MARGIN + index * 20) * SCALE
            self.draw.ellipse((left, 14 * SCALE, left + 12 * SCALE, 26 * SCALE), color)

    def text(self, row: int, column: int, text: str, style: Style) -> None:
        color = tuple((channel + base) // 2 for channel, base in zip(style.color, BACKGROUND)) if style.dim else style.color
        for character in text:
            left, top = MARGIN * SCALE + column * self.cell[0], (MARGIN + BAR) * SCALE + row * self.cell[1] - 4 * SCALE
            column += 1
            if 0x2588 <= ord(character) <= 0x258F:  # left blocks of 8/8 ... 1/8: drawn, so that neighbours touch
                width = self.cell[0] * (0x2590 - ord(character)) / 8
                self.draw.rectangle((left, top + 5 * SCALE, left + width - 1, top + self.cell[1] - 3 * SCALE), color)
            elif character != " ":
                self.draw.text((left, top), character, color, self.fonts[style.bold])


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--prompt", help="the command shown above its output")
    parser.add_argument("output", help="the PNG file")
    arguments = parser.parse_args(argv)
    lines = sys.stdin.read().rstrip("\n").split("\n")
    first = 2 if arguments.prompt else 0
    columns = max(len(SGR.sub("", line)) for line in [*lines, "$ " + (arguments.prompt or "")])
    picture = Picture(columns, len(lines) + first)
    if arguments.prompt:
        picture.text(0, 0, "$ ", Style(PROMPT))
        picture.text(0, 2, arguments.prompt, Style(bold=True))
    for row, line in enumerate(lines, first):
        column = 0
        for text, style in spans(line):
            picture.text(row, column, text, style)
            column += len(text)
    picture.image.save(arguments.output, optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
