# SPDX-License-Identifier: GPL-3.0-or-later
# What pandoc's manual pages have too much of for mandoc -T lint: a paragraph begun right after a heading, and a font
# that no formatter has by that name. Columns that with what parts them are wider than a terminal of 80 become narrower.
file(READ ${MANUAL} text)
string(REGEX REPLACE "(\n\\.S[HS] [^\n]*)\n\\.PP" "\\1" text "${text}")
string(REPLACE "\\f[C]" "\\f[CR]" text "${text}")
string(REPLACE "lw(35.0n)" "lw(33.0n)" text "${text}")
string(REPLACE "lw(23.3n)" "lw(21.0n)" text "${text}")
file(WRITE ${MANUAL} "${text}")
