package vterm

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/replyform"
)

// sequencesPage is docs/sequences.md.
func sequencesPage() string {
	var b strings.Builder
	b.WriteString("# Control functions and modes\n\nGenerated from the tables in `vterm` by `go generate ./vterm`; do not edit.\n" +
		"What is not listed is swallowed and never printed. C1 controls are understood as ESC and a letter,\n" +
		"and as U+0080–U+009F; a byte 0x80–0x9f alone is not UTF-8 and becomes U+FFFD.\n")
	b.WriteString("\n## C0 controls\n\n| code | function | source |\n|---|---|---|\n")
	for _, c := range controlTable {
		fmt.Fprintf(&b, "| 0x%02x | %s | %s |\n", c.code, c.name, c.source)
	}
	writeFunctions(&b, "Escape sequences", escFunctions)
	b.WriteString("\nG0–G3 are designated by `ESC ( ) * +` (94 characters) and `ESC - . /` (96), followed by the final of a set:\n\n")
	for _, s := range charsetTables {
		need := ""
		if s.national {
			need = " (with mode ?42)"
		}
		if s.size96 {
			need += " (96 characters)"
		}
		fmt.Fprintf(&b, "- `%s`%s\n", strings.Join(s.names, "`, `"), need)
	}
	writeFunctions(&b, "Control sequences", csiFunctions)
	b.WriteString("\n## Operating system commands\n\n| number | function | source |\n|---|---|---|\n")
	for _, c := range oscTable {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", numbers(c.numbers), c.name, c.source)
	}
	b.WriteString("\n## Device control strings\n\n| syntax | function | source |\n|---|---|---|\n")
	for _, d := range deviceStrings {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cell(d.syntax), d.name, d.source)
	}
	b.WriteString("\nAPC G is the kitty graphics protocol. PM and SOS are swallowed.\n")
	writeModes(&b, "ANSI modes (SM, RM)", true)
	writeModes(&b, "Private modes (DECSET, DECRST)", false)
	writeReplies(&b)
	return b.String()
}

func writeFunctions(b *strings.Builder, title string, rows []function) {
	fmt.Fprintf(b, "\n## %s\n\n| syntax | function | source |\n|---|---|---|\n", title)
	for _, f := range rows {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell(f.syntax), f.name, f.source)
	}
}

func writeModes(b *strings.Builder, title string, ansi bool) {
	fmt.Fprintf(b, "\n## %s\n\n| number | mode | at start | source |\n|---|---|---|---|\n", title)
	for _, m := range modeTable {
		if m.ansi != ansi {
			continue
		}
		start := "off"
		switch {
		case m.fixed == fixedSet:
			start = "always on"
		case m.fixed == fixedReset:
			start = "always off"
		case modeDefaults&m.bit != 0:
			start = "on"
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s |\n", m.number, m.name, start, m.source)
	}
}

func writeReplies(b *strings.Builder) {
	b.WriteString("\n## Answers\n\nAll that is ever answered to output, so that no output can have a command typed: fixed texts, numbers of\n" +
		"bounded length, colours in one form. As regular expressions, where `<N>` is a number of up to 5 digits, `<L>` one of\n" +
		"up to 10, `<RGB>` is `rgb:hhhh/hhhh/hhhh`, `<COLOR>` a known name or index and its colour, `<SGR>` the parameters of\n" +
		"a style, `<ST>` is ESC `\\` or, to a command that ended so, BEL. Titles and the clipboard are never told to a program.\n" +
		"\n| answer | form |\n|---|---|\n")
	for _, k := range replyform.Kinds {
		fmt.Fprintf(b, "| %s | `%s` |\n", k.Name, cell(k.Pattern))
	}
}

func numbers(n []int) string {
	if len(n) > 3 {
		return fmt.Sprintf("%d–%d", n[0], n[len(n)-1])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ", "), "[]")
}

// cell makes text safe inside a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
