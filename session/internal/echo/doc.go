// Package echo tells what was typed from what a program printed: what is typed comes back as
// output, because the terminal or a line editor echoes it.
//
// Two things tell echo from output:
//
//   - a shell that marks its prompts: what comes between the end of a prompt and the mark
//     that a command begins is the editor's (Region);
//   - elsewhere, the text itself: what was typed (Text, Texts) is expected next, at the cursor.
//     Stripper takes it out of lines of output, RowWithout out of rows of the screen.
//
// Everything here is pure: bytes, offsets and rows go in, text comes out. Offsets count
// the bytes the program ever printed; rows are named by ids, as the history of the emulator counts them.
package echo
