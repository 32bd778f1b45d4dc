// Package echo tells what was typed from what a program printed: what is typed comes back as
// output, because the terminal or a line editor echoes it.
//
// Three questions are asked of it, each by a type of its own:
//
//   - Which output is a line editor's? (waits, rules) A shell that marks its prompts tells: what
//     comes between the end of a prompt and the mark that a command begins (Region).
//   - Is this line, or this row, the echo of what was typed there, and what is left without it?
//     (waits) What was typed (Text, Texts) is expected next, at the cursor; once a line has come
//     that is something else it is no longer expected. Stripper takes it out of lines of output,
//     RowWithout out of rows of the screen.
//   - Where in a line does typed text stand, whatever way it came there? (rules) It is looked for
//     in the line it was typed in and in later ones, in parts between keys that edit, in pieces of
//     long lines, and again over a restart. Finder masks it in place: what stands beside it has to
//     keep its offset.
//
// How a control character is echoed, and what a key does to what was typed, is the same for all.
//
// Everything here is pure: bytes, offsets and rows go in, text comes out. Offsets count
// the bytes the program ever printed; rows are named by ids, as the history of the emulator counts them.
package echo
