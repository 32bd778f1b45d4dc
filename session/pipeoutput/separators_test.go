package pipeoutput

import (
	"bytes"
	"strings"
	"testing"
)

// TestNULs checks that fields that end in NULs are lines, text after NULs is text, and only NULs without text are
// counted. Data with other binary bytes stays binary.
//
// FAULT: G7
func TestNULs(t *testing.T) {
	env, names, wide := strings.Repeat("LANG=C.UTF-8\x00HOME=/root\x00A=\x00größe=3\x00", 30), strings.Repeat("./a\x00./b c\x00./d\n2\x00", 400), ""
	for _, c := range strings.Repeat("text in 16 bits ", 20) {
		wide += string(c) + "\x00"
	}
	elf := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60) + strings.Repeat("libc.so.6\x00printf\x00", 500)
	for _, tt := range []struct {
		name, in, want string
		held           uint64
	}{
		{"env -0", env, strings.ReplaceAll(env, "\x00", "\n"), 0},
		{"find -print0", names, strings.ReplaceAll(names, "\x00", "\n"), 0},
		{"few fields", "a\x00b\x00c\x00", "a\nb\nc\n", 0},
		{"an empty field", "a\x00\x00c", "a\nc", 1},
		{"zeros, then text", strings.Repeat("\x00", 300) + "3 tests failed\r\n", "3 tests failed\r\n", 300},
		{"zeros within", strings.Repeat("x", 50) + strings.Repeat("\x00", 5000) + "3 tests failed\n", strings.Repeat("x", 50) + "\n3 tests failed\n", 4999},
		{"a NUL at the end of a line", "one\x00\r\ntwo\x00\nthree\n", "one\ntwo\nthree\n", 0},
		{"padding behind an escape sequence", "a\x1b[?5h\x00\x00\x00\x1b[?5lb", "a\x1b[?5h\x1b[?5lb", 3},
		{"a title, then fields", "\x1b]0;t\a\x1b[1mx\x1b[m\r\n" + env, "\x1b]0;t\a\x1b[1mx\x1b[m\r\n" + strings.ReplaceAll(env, "\x00", "\n"), 0},
		{"16-bit text", wide, "", uint64(len(wide))},
		{"a program", elf, "", uint64(len(elf))},
		{"a program, then much text, then fields", elf + "\n" + strings.Repeat("all is well\n", 3000) + env, strings.ReplaceAll(env, "\x00", "\n"), uint64(len(elf))},
	} {
		for _, step := range []int{len(tt.in), 4096, 1000} {
			var pieces [][]byte
			masked, m := []byte{}, Mask{}
			for rest := []byte(tt.in); len(rest) > 0; {
				n := min(step, len(rest))
				pieces = append(pieces, bytes.Clone(rest[:n]))
				piece := bytes.Clone(rest[:n])
				m.Apply(piece)
				masked, rest = append(masked, piece...), rest[n:]
			}
			gated, held := gateText(pieces)
			shown := string(bytes.ReplaceAll(masked, []byte{0}, nil))
			if gated != shown || held != m.MaskedBytes() {
				t.Errorf("%s by %d: a pipe's text is %.300q, %d held back, a terminal's %.300q, %d", tt.name, step, gated, held, shown, m.MaskedBytes())
			}
			if step == len(tt.in) && (!strings.HasSuffix(shown, tt.want) || tt.held != held && !strings.HasPrefix(tt.name, "a program,") || tt.want == "" && shown != "") {
				t.Errorf("%s: %.300q, %d held back, want %.300q, %d", tt.name, shown, held, tt.want, tt.held)
			}
			if !bytes.Equal(bytes.Join(pieces, nil), []byte(tt.in)) {
				t.Errorf("%s: the written text is changed", tt.name)
			}
		}
	}
}
