package parse

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// events reads b in pieces of size n and returns the events. Text is skipped, as the terminal prints it.
func events(p *Parser, b []byte, n int) string {
	var out []string
	for len(b) > 0 {
		piece := b[:min(n, len(b))]
		b = b[len(piece):]
		for len(piece) > 0 {
			if p.State == Ground && piece[0] >= 0x20 {
				piece = piece[1:]
				continue
			}
			k, e := p.Next(piece)
			piece = piece[k:]
			if s := describe(p, e); s != "" {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, " ")
}

func describe(p *Parser, e Event) string {
	s := &p.Seq
	switch e {
	case Execute:
		return fmt.Sprintf("%02x", p.Byte)
	case Esc, Csi:
		return fmt.Sprintf("%d:%s%s%s%c%v/%d", e, pr(s.Prefix), pr(s.Inter[0]), pr(s.Inter[1]), s.Final, s.Params[:s.N], s.Subs)
	case OscEnd, ApcEnd:
		return fmt.Sprintf("%d:%q/%v", e, p.Str, p.Bell)
	case DcsEnd:
		return fmt.Sprintf("%d:%s%c%v%q", e, pr(s.Inter[0]), s.Final, s.Params[:s.N], p.Str)
	case Discarded:
		return "discarded"
	}
	return ""
}

func pr(b byte) string { return strings.Trim(string(rune(b)), "\x00") }

func TestNext(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\x1b[1;31m\x1b[m", "3:m[1 31]/0 3:m[]/0"},
		{"\x1b[;5H\x1b[4:3m", "3:H[-1 5]/0 3:m[4 3]/2"},
		{"\x1b[?25h\x1b[>c\x1b[!p\x1b[ q", "3:?h[25]/0 3:>c[]/0 3:!p[]/0 3: q[]/0"},
		{"\x1b[99999999A", "3:A[65535]/0"},
		{"\x1b[1\x08A\x1b[3\x18m\x1b[1?m\x1bD", "08 3:A[1]/0 18 2:D[]/0"},
		{"\x1b(0\x1b#8\x1b%/@", "2:(0[]/0 2:#8[]/0 2:%/@[]/0"},
		{"\x1b]0;t\x07\x1b]2;u\x1b\\", `4:"0;t"/true 4:"2;u"/false`},
		{"\x1bP$qm\x1b\\\x1b_Gx\x1b\\\x1bXsos\x1b\\", `5:$q[]"m" 6:"Gx"/false`},
		{"\x1b]0;t\x1b[1m", "3:m[1]/0"},
		{"\x1b!!!m\x1b[!!!m\x07", "07"},
	} {
		for _, n := range []int{1, 2, 3, 100} {
			var p Parser
			if got := events(&p, []byte(c.in), n); got != c.want {
				t.Errorf("%q by %d: %s, want %s", c.in, n, got, c.want)
			}
		}
	}
}

// TestFastCsi agrees with the table wherever it takes a sequence.
func TestFastCsi(t *testing.T) {
	for _, in := range []string{"\x1b[m", "\x1b[0m", "\x1b[;m", "\x1b[1;;3H", "\x1b[12;345r", "\x1b[1;2;3;4;5;6t", "\x1b[;5H", "\x1b[1;m", "\x1b[65535;00012A"} {
		var quick, slow Parser
		if n := quick.FastCsi([]byte(in)); n != len(in) {
			t.Errorf("%q: %d bytes consumed", in, n)
		}
		_, e := slow.Next([]byte(in))
		if a, b := describe(&quick, Csi), describe(&slow, e); a != b {
			t.Errorf("%q: %s, want %s", in, a, b)
		}
	}
	for _, in := range []string{"\x1b[", "\x1b[1", "\x1b[?1h", "\x1b[1:2m", "\x1b[1 q", "\x1b[99999A", "\x1b[000001m", "\x1b[12345678901;1m", "\x1b[1\x18m", "\x1bD  "} {
		var p Parser
		if n := p.FastCsi([]byte(in)); n != 0 {
			t.Errorf("%q: %d bytes consumed", in, n)
		}
	}
}

// TestFastPrivate agrees with the table wherever it takes a sequence.
func TestFastPrivate(t *testing.T) {
	for _, in := range []string{"\x1b[?h", "\x1b[?2026h", "\x1b[?25;1049;l", "\x1b[?;J", "\x1b[?12345n"} {
		var quick, slow Parser
		if n := quick.FastPrivate([]byte(in)); n != len(in) {
			t.Errorf("%q: %d bytes consumed", in, n)
		}
		_, e := slow.Next([]byte(in))
		if a, b := describe(&quick, Csi), describe(&slow, e); a != b {
			t.Errorf("%q: %s, want %s", in, a, b)
		}
	}
	for _, in := range []string{"\x1b[?", "\x1b[?1", "\x1b[1h", "\x1b[>1u", "\x1b[??1h", "\x1b[1?h", "\x1b[?1$p", "\x1b[?1:2h", "\x1b[?123456h", "\x1b[?1\x18h"} {
		var p Parser
		if n := p.FastPrivate([]byte(in)); n != 0 {
			t.Errorf("%q: %d bytes consumed", in, n)
		}
	}
}

func TestTooLong(t *testing.T) {
	var p Parser
	in := append([]byte("\x1b]0;"), bytes.Repeat([]byte("x"), 2*MaxOsc)...)
	in = append(in, "\x07\x1b]0;ok\x07"...)
	if got, want := events(&p, in, 4096), `discarded 4:"0;ok"/true`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestTableIsCurrent runs the generator and compares.
func TestTableIsCurrent(t *testing.T) {
	want, err := os.ReadFile("table_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	gen, err := filepath.Abs("gen.go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", gen)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("go run: %v: %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(cmd.Dir, "table_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table_gen.go is not current: go generate ./vterm/internal/parse")
	}
}

func FuzzSnapshot(f *testing.F) {
	f.Add([]byte("\x1b[1;2:3"), []byte("\x1bP$q"))
	f.Fuzz(func(t *testing.T, in, raw []byte) {
		var p, again Parser
		events(&p, in, 7)
		rest, ok := again.Restore(append(p.AppendSnapshot(nil), "rest"...))
		if !ok || string(rest) != "rest" {
			t.Fatalf("%q is not restored", in)
		}
		tail := []byte(";4m\x07\x1b\\\x1b[5A")
		if a, b := events(&p, tail, 3), events(&again, tail, 3); a != b {
			t.Fatalf("%q continues as %s, want %s", in, b, a)
		}
		if _, ok := again.Restore(raw); ok {
			events(&again, tail, 3)
		}
	})
}
