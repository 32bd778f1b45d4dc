package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// ours matches the sequences that render itself writes.
var ours = regexp.MustCompile(`\x1b\[[?>=]?[0-9;:]*( q|[A-Za-z])|\x1b\]8;[^\x00-\x1f]*\x1b\\|\x1b\]2;[^\x00-\x1f]*\x1b\\|\x1b\(B|\x1b#[346]|\x1b[=>]|\x0f|\n`)

// checkHarmless fails if any sequence besides render's own can affect a terminal.
func checkHarmless(t *testing.T, out []byte) {
	t.Helper()
	if rest := ours.ReplaceAllString(string(out), ""); strings.ContainsFunc(rest, isControl) || !utf8.ValidString(rest) {
		t.Fatalf("%q leaves %q", out, rest)
	}
}

// FEATURES: R36
func TestSGR(t *testing.T) {
	red := vterm.Style{FG: vterm.Index(1)}
	loud := vterm.Style{
		FG: vterm.RGB(1, 2, 3), BG: vterm.Index(200), ULColor: vterm.RGB(9, 8, 7), Underline: vterm.UnderlineCurly,
		Attrs: vterm.Bold | vterm.Faint | vterm.Blink | vterm.RapidBlink | vterm.Overline,
	}
	cases := []struct {
		from, to vterm.Style
		want     string
	}{
		{red, red, ""},
		{vterm.Style{}, red, "\x1b[31m"},
		{red, vterm.Style{}, "\x1b[m"},
		{red, vterm.Style{FG: vterm.Index(9)}, "\x1b[91m"},
		{vterm.Style{FG: vterm.Index(9), BG: vterm.Index(12)}, vterm.Style{BG: vterm.Index(12)}, "\x1b[39m"},
		{vterm.Style{}, loud, "\x1b[1;2;5;6;53;4:3;38;2;1;2;3;48;5;200;58:2::9:8:7m"},
		{vterm.Style{Attrs: vterm.Bold | vterm.Faint, FG: vterm.RGB(9, 9, 9)}, vterm.Style{Attrs: vterm.Faint, FG: vterm.RGB(9, 9, 9)}, "\x1b[22;2m"},
		{loud, red, "\x1b[0;31m"},
		{vterm.Style{Underline: vterm.UnderlineSingle, Attrs: vterm.Bold}, vterm.Style{Attrs: vterm.Bold}, "\x1b[24m"},
		{vterm.Style{Link: 3}, vterm.Style{}, ""},
	}
	for _, c := range cases {
		if got := string(AppendSGR([]byte("x"), c.from, c.to)); got != "x"+c.want {
			t.Errorf("%+v → %+v: %q; want %q", c.from, c.to, got, c.want)
		}
	}
}

// FEATURES: R36
func TestDump(t *testing.T) {
	cases := []struct{ name, output, want string }{
		{"empty", "", ""},
		{"rows", "one\r\n\r\ntwo", "one\n\ntwo\n"},
		{"colours end with the row", "\x1b[31mred\r\nstill", "\x1b[31mred\x1b[m\n\x1b[31mstill\x1b[m\n"},
		{"coloured padding", "\x1b[44m\x1b[K", "\x1b[44m          \x1b[m\n"},
		{"link", "\x1b]8;id=7;http://a/\x1b\\x\x1b]8;;\x1b\\y", "\x1b]8;id=7;http://a/\x1b\\x\x1b]8;;\x1b\\y\n"},
		{"wide", "你好A", "你好A\n"},
	}
	for _, c := range cases {
		if got := string(AppendANSI(nil, frameOf(native(10, 4), c.output), ANSIOptions{})); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
	f := frameOf(native(10, 1), "\x1b[1;31mx")
	if got := string(AppendANSI(nil, f, ANSIOptions{NoColor: true})); got != "\x1b[1mx\x1b[m\n" {
		t.Errorf("without colours: %q", got)
	}
}

// TestDumpRoundTrip checks that a printed dump gives the same screen, on both emulators, as far as vt10x supports it.
// FEATURES: R36
func TestDumpRoundTrip(t *testing.T) {
	for _, output := range []string{"plain\r\n\r\ntext", busy(), goldens["prompt"], "\x1b[1;31;44mred\x1b[7;4mon\x1b[m blue \x1b[38;5;99mx\x1b[48;2;1;2;3my"} {
		for _, e := range engines {
			want := frameOf(e.make(80, 24), output)
			dump := string(AppendANSI(nil, want, ANSIOptions{}))
			got := frameOf(e.make(80, 24), strings.TrimSuffix(strings.ReplaceAll(dump, "\n", "\r\n"), "\r\n"))
			got.Cursor = want.Cursor
			if picture(got) != picture(want) {
				t.Errorf("%s: %q:\n%s\nwant\n%s", e.name, dump, picture(got), picture(want))
			}
		}
	}
}

// FEATURES: R93
func TestHostileText(t *testing.T) {
	f := garbage(nil)
	f.Title = "x\x07\x1b]0;y"
	cell := func(i rune, flags vterm.Cell) vterm.Cell { return vterm.NewCell(i, 0, 2, flags) }
	f.Lines = []vterm.Line{{Cells: []vterm.Cell{
		cell(0x1b, 0), cell('[', 0), cell(0x9b, 0), cell(0x7f, 0), cell(2, vterm.CellCluster), cell(3, vterm.CellCluster),
		cell(4, vterm.CellCluster), cell(99, vterm.CellCluster), cell(0x1fffff, 0), cell(0xd800, 0),
	}}}
	for _, o := range []ANSIOptions{{}, {Repaint: true}, {Repaint: true, Exact: true}} {
		checkHarmless(t, AppendANSI(nil, f, o))
	}
	var s Screen
	FromFrame(&s, f)
	checkScreen(t, &s)
	if strings.ContainsFunc(s.Lines[0].Spans[0].Link, isControl) {
		t.Errorf("link %q", s.Lines[0].Spans[0].Link)
	}
}

// picture returns all content of a frame, cell by cell, in words. Cells that were never written and written spaces look
// the same; format characters are invisible.
func picture(f *vterm.Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cursor %d,%d visible %v\n", f.Cursor.Row, f.Cursor.Col, f.Cursor.Visible)
	for _, l := range f.Lines {
		fmt.Fprintf(&b, "%d size %d:", l.Row, l.Size)
		blank := 0
		for i, c := range l.Cells {
			st := f.Style(c)
			text := strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Cf, r) {
					return -1
				}
				return r
			}, string(appendCell(nil, f, l.Cells, i)))
			if text == " " && st == (vterm.Style{}) {
				blank++
				continue
			}
			link := linkOf(f, st.Link)
			st.Link = 0
			fmt.Fprintf(&b, "%*s[%s %v %s]", blank, "", text, st, link.URI)
			blank = 0
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// FEATURES: R75
func TestRepaint(t *testing.T) {
	outputs := []string{
		"", "plain", busy(), "\x1b[?25l\x1b[5 q\x1b[3;7Hx",
		"wrapped text that runs over the edge of the screen, and 你好 with wide characters in it as well",
		"\x1b[1;31mred\x1b[44m\x1b[K\r\n\x1b]8;;http://a/\x1b\\link\x1b]8;;\x1b\\",
		"\x1b#6double\r\n\x1b#3top\r\n\x1b#4bottom", "e\u0301 👩\u200d👩\u200d👧 🇦🇧 한글 नमस्ते",
		"\x1b[20G!", "\x1b[2;9H\x1b[7mlast\x1b[m\x1b[1;20Hx",
	}
	for _, out := range outputs {
		for _, exact := range []bool{false, true} {
			want := frameOf(native(20, 6), out)
			client := native(20, 6)
			_, _ = client.Write([]byte("\x1b[?6h\x1b[2;4r\x1b[31mold text\x1b[4h\x1b(0")) // a terminal in disorder
			got := frameOf(client, string(AppendANSI(nil, want, ANSIOptions{Repaint: true, Exact: exact})))
			if picture(got) != picture(want) {
				t.Errorf("%q, exact %v:\n%s\nwant\n%s", out, exact, picture(got), picture(want))
			}
			if exact && got.Cursor.Pending != want.Cursor.Pending {
				t.Errorf("%q: pending wrap is %v, want %v", out, got.Cursor.Pending, want.Cursor.Pending)
			}
		}
	}
}

// TestRepaintWraps checks that wrapped lines are wrapped by the target terminal, so that it can reflow them.
func TestRepaintWraps(t *testing.T) {
	for _, output := range []string{"0123456789abcde\r\nx", "012345678你x\r\nx", "01234567你x\r\nx"} {
		want := frameOf(native(10, 4), output)
		for _, exact := range []bool{false, true} {
			got := frameOf(native(10, 4), string(AppendANSI(nil, want, ANSIOptions{Repaint: true, Exact: exact})))
			if got.Lines[0].Wrapped != exact || got.Lines[1].Wrapped || picture(got) != picture(want) {
				t.Errorf("%q, exact %v: wrapped %v, %v\n%s", output, exact, got.Lines[0].Wrapped, got.Lines[1].Wrapped, picture(got))
			}
		}
	}
}

// FuzzRepaint checks that drawing the screen of any output on another terminal gives the same screen.
func FuzzRepaint(f *testing.F) {
	f.Add([]byte("abc\x1b[31mdef\r\n0123456789012345678901234567890"), true)
	f.Add([]byte("\x1b[2;3H你好\x1b[K🇦\x1b[D🇧e\u0301"), false)
	f.Add([]byte("x\xed\x9f\x80\xed\x9f\x80\u0301"), false)
	f.Fuzz(func(t *testing.T, output []byte, exact bool) {
		want := frameOf(native(11, 5), string(output))
		out := AppendANSI(nil, want, ANSIOptions{Repaint: true, Exact: exact})
		checkHarmless(t, out)
		if got := frameOf(native(want.Cols, want.Rows), string(out)); picture(got) != picture(want) {
			t.Errorf("%q:\n%s\nwant\n%s", out, picture(got), picture(want))
		}
	})
}

func BenchmarkRepaint(b *testing.B) {
	f := frameOf(native(80, 24), busy())
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = AppendANSI(out[:0], f, ANSIOptions{Repaint: true, Exact: true})
	}
	b.ReportMetric(float64(len(out)), "bytes/screen")
}
