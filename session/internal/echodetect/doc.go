// Package echodetect separates typed input from a program's output: input appears in the output if the terminal or a
// line editor echoes it.
//
// Three questions have a type each:
//
//   - Which output belongs to a line editor? (waits, rules) A shell with marked prompts shows it:
//     the output between the end of a prompt and the mark for a command's start (EditorRegion).
//   - Is this line, or this row, an echo of typed input, and what remains without it? (waits) The
//     input (TypedText, TypedTexts) is expected next, at the cursor, until a different line comes. Stripper
//     removes it from lines of output, StripRow from rows of the screen.
//   - Where in a line is typed text, however it was drawn? (rules) Finder searches the line in
//     which it was typed and later ones, in parts between editing keys, in pieces of long lines,
//     and after a restart. It masks the text in place, as its surroundings must keep their offsets.
//
// All of them treat the echo of control characters, and the effect of editing keys, the same way.
//
// Everything here is pure: bytes, offsets and rows in, text out. Offsets count all bytes that the program has printed;
// rows have the ids of the emulator's history.
package echodetect
