// Package compare finds what a failed run printed that a good run of the same command did not.
//
//	lines of the good run ───→ Good ─────────┐
//	lines of the failed run ─→ Comparison ───┴─→ Result: new and missing lines, changed versions
//
//	lines of failed runs, then of good ones ─→ Failures ─→ Has: did only failed runs print this line?
//
// Lines are compared by their templates (template.go): numbers, times, durations, sizes, ids, hashes, directories, colours and
// the width of bars count as equal. The order of lines does not matter, because parallel parts finish in any order.
//
// Both runs are read once, line by line, and in that order. Memory is bounded: of the good run the hashes of its templates
// and some MB of text, of the failed run the lines that are reported. Everything is pure.
package compare
