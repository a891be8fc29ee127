# What pandoc's manual pages have too much of for mandoc -T lint: a paragraph begun right after a heading, and a font
# that no formatter has by that name.
file(READ ${MANUAL} text)
string(REGEX REPLACE "(\n\\.S[HS] [^\n]*)\n\\.PP" "\\1" text "${text}")
string(REPLACE "\\f[C]" "\\f[CR]" text "${text}")
file(WRITE ${MANUAL} "${text}")
