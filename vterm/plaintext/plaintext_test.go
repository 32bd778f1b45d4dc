package plaintext

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// collect writes in, cut into pieces of at most cut bytes, and returns all lines and the
// unfinished one.
func collect(p *Writer, in []byte, cut int) (lines []Line, rest string) {
	for len(in) > 0 {
		n := min(cut, len(in))
		_, _ = p.Write(in[:n])
		in = in[n:]
		p.Lines(func(l Line) {
			l.Text = append([]byte{}, l.Text...)
			lines = append(lines, l)
		})
	}
	text, _, _ := p.AppendUnfinished(nil)
	return lines, string(text)
}

// collectEach is collect by Each.
func collectEach(p *Writer, in []byte, cut int) (lines []Line, rest string) {
	for part := range slices.Chunk(in, cut) {
		p.Each(part, func(l Line) {
			l.Text = append([]byte{}, l.Text...)
			lines = append(lines, l)
		})
	}
	text, _, _ := p.AppendUnfinished(nil)
	return lines, string(text)
}

// FEATURES: R24, R25, R26
func TestLines(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"lines", "one\r\ntwo\nthree", "one|two|three"},
		{"empty lines", "\n\r\na\n", "||a|"},
		{"prompt without newline", "x\n$ ", "x|$ "},
		{"trailing spaces stay", "a  \nb", "a  |b"},
		{"progress", "10%\r50%\r100%\ndone", "100%|done"},
		{"shorter over longer", "abcdef\rxy\n", "xycdef|"},
		{"erase then shorter", "abcdef\r\x1b[Kxy\n", "xy|"},
		{"erase whole line", "abcdef\x1b[2K\rxy\n", "xy|"},
		{"erase to the cursor", "abcdef\x1b[3D\x1b[1Kx\n", "   xef|"},
		{"CR LF after progress", "50%\r\r\n", "50%|"},
		{"backspace", "abc\b\bX\n", "aXc|"},
		{"backspace at the start", "\b\bx\n", "x|"},
		{"spinner", "|\b/\b-\b\\\bdone\n", "done|"},
		// FAULT: B3
		{"tab", "a\tb\n\tc\n", "a\tb|\tc|"},
		{"tab at the end", "a\t\n\t\n", "a\t|\t|"},
		{"tab over text moves only", "abcdefghij\r\tX\tY\n", "abcdefghXj      Y|"},
		{"tab, then text before it", "\tfoo\rab\n", "ab      foo|"},
		{"tab, then text inside it", "a\tfoo\r\x1b[4CX\n", "a   X   foo|"},
		{"tab, then text up to it", "a\tfoo\rb\n", "b\tfoo|"},
		{"tab, then back", "a\t\b\bX\n", "a     X|"},
		{"tab after motion", "a\x1b[3Cb\tc\n", "a   b\tc|"},
		{"tab erased", "a\tb\r\x1b[3C\x1b[K\n", "a  |"},
		{"tab erased in part", "a\tb\r\x1b[3C\x1b[2X\n", "a       b|"},
		{"tab shifted", "a\tb\r\x1b[2@x\n", "x a       b|"},
		{"tab shifted back", "a\tb\r\x1b[2P\n", "      b|"},
		{"tab wide overwritten", "a\tb\r\x1b[6C你\n", "a     你b|"},
		{"combining after a tab", "a\t\u0301b\n", "a\tb|"},
		{"tab redrawn", "50%\tx\r60%\ty\n", "60%\ty|"},
		{"colours", "\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m\n", "red x|"},
		{"cursor motion", "abc\x1b[5Cd\x1b[1Ge\x1b[2`f\n", "efc     d|"},
		{"motion of 0 is 1", "abc\x1b[0DX\n", "abX|"},
		{"insert and delete", "abc\x1b[G\x1b[2@xy\x1b[P\n", "xybc|"},
		{"erase characters", "abcdef\x1b[3D\x1b[2X\n", "abc  f|"},
		{"erase characters at the end", "abcdef\x1b[3D\x1b[9X\n", "abc|"},
		{"save and restore are ignored", "ab\x1b[s\x1b[ucd\n", "abcd|"},
		{"private forms are ignored", "ab\x1b[?2K\x1b[>4C\x1b[2 Pcd\n", "abcd|"},
		{"vertical motion is swallowed", "a\x1b[3Ab\x1b[5;5Hc\x1b[2Jd\n", "abcd|"},
		{"OSC", "a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\n", "abc|"},
		{"DCS, APC, PM, SOS", "a\x1bPq\nx\x1b\\b\x1b_y\x1b\\c\x1b^z\x1b\\d\x1bXw\x07\x1b\\e\n", "abcde|"},
		{"a string ended by CAN", "a\x1bPq\x18b\n", "ab|"},
		{"a string ended by another sequence", "a\x1b]0;x\x1b[1mb\n", "ab|"},
		{"charset designation", "\x1b(Ba\x1b(0b\x1b)0c\n", "abc|"},
		{"controls inside a sequence", "ab\x1b[3\r1mX\n", "Xb|"},
		{"C1 as UTF-8", "a\u009b1mb\u0085c\n", "ab|c|"},
		{"NEL and IND", "a\x1bEb\x1bDc\n", "a|b|c|"},
		{"VT and FF", "a\vb\fc\n", "a|b|c|"},
		{"other controls", "a\x00\x01\x07\x7fb\n", "ab|"},
		{"invalid UTF-8", "a\xffb\xe2\x82c\xc0\x80\xed\xa0\x80d\n", "a\ufffdb\ufffdc\ufffd\ufffd\ufffd\ufffd\ufffdd|"},
		{"half a character at a newline", "a\xe4\xbd\nb", "a\ufffd|b"},
		{"wide", "你好\rab\n", "ab好|"},
		{"wide halved", "你好\rx\n", "x 好|"},
		{"wide halved from the right", "你好\x1b[2Gx\n", " x好|"},
		{"combining", "e\u0301\u0302x\n", "e\u0301\u0302x|"},
		{"combining overwritten", "e\u0301x\ry\n", "yx|"},
		{"combining at the start", "\u0301x\n", "x|"},
		{"emoji", "👩\u200d💻!\n", "👩\u200d💻!|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for cut := 1; cut <= len(tt.in); cut++ {
				lines, rest := collect(&Writer{}, []byte(tt.in), cut)
				got := ""
				for _, l := range lines {
					got += string(l.Text) + "|"
				}
				if got += rest; got != tt.want {
					t.Fatalf("%q in pieces of %d gives %q, want %q", tt.in, cut, got, tt.want)
				}
			}
		})
	}
}

// FEATURES: R37
func TestOffsets(t *testing.T) {
	p := &Writer{}
	in := "one\r\n\x1b[1mtwo\x1b[0m\nrest"
	lines, _ := collect(p, []byte(in), 4)
	want := []Line{{Text: []byte("one"), From: 0, To: 5}, {Text: []byte("two"), From: 5, To: 17}}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("lines %+v, want %+v", lines, want)
	}
	if text, from, to := p.AppendUnfinished(nil); string(text) != "rest" || from != 17 || to != uint64(len(in)) {
		t.Errorf("the rest is %q from %d to %d", text, from, to)
	}
}

// TestWhole checks that if text stops within a character or a sequence, the next reader starts before it.
//
// FEATURES: R21
func TestWhole(t *testing.T) {
	for in, want := range map[string]uint64{
		"": 0, "ab": 2, "ab\n": 3, "caf\xc3": 3, "caf\xc3\xa9": 5, "a\xe4\xbd": 1, "a\xe4\xbdx": 4, "\xff": 1,
		"a\x1b": 1, "a\x1b[3": 1, "a\x1b[31": 1, "a\x1b[31m": 6, "a\x1b[1m\x1b[3": 5, "a\x1b[3\x18": 5,
		"a\x1b]0;ab": 1, "a\x1b]0;ab\x1b": 1, "a\x1b]0;ab\a": 8, "a\x1b(": 1, "a\x1b(B": 4, "a\u009b3": 1, "a\u009b3m": 5,
	} {
		for cut := 0; cut <= len(in); cut++ {
			p := &Writer{}
			_, _ = p.Write([]byte(in[:cut]))
			_, _ = p.Write([]byte(in[cut:]))
			if got := p.CompleteTo(); got != want {
				t.Errorf("%q, cut at %d: %d, want %d", in, cut, got, want)
			}
		}
	}
}

func TestLongLineInPieces(t *testing.T) {
	const most = 10_000
	in := strings.Repeat("0123456789é", 9000) + "\nnext\n"
	lines, rest := collect(&Writer{MaxLine: most}, []byte(in), 777)
	var whole []byte
	at := uint64(0)
	for i, l := range lines {
		whole = append(whole, l.Text...)
		if !l.More {
			whole = append(whole, '\n')
		}
		if len(l.Text) > most || !utf8.Valid(l.Text) || l.From != at || l.To < l.From {
			t.Errorf("piece %d has %d bytes, from %d to %d", i, len(l.Text), l.From, l.To)
		}
		at = l.To
	}
	if string(whole) != in || rest != "" || at != uint64(len(in)) {
		t.Errorf("%d bytes became %d, to %d", len(in), len(whole), at)
	}
}

func TestEarlyPartIsFinal(t *testing.T) {
	long := strings.Repeat("x", 3*window)
	lines, _ := collect(&Writer{}, []byte(long+"\r\x1b[2KY\n"), 1000)
	if n := len(lines[0].Text); n < window || n > 3*window || !bytes.HasSuffix(lines[0].Text, []byte("Y")) {
		t.Errorf("%d bytes are left", n)
	}
}

// TestIsLinear checks that each of these inputs, which cause much work by few bytes, takes linear time.
// FEATURES: R24, R93
func TestIsLinear(t *testing.T) {
	for _, unit := range []string{
		"x", "x\u0301", "你", "\x1b[9999C", "\x1b[9999Cx", "\x1b[@", "\x1b[9999@", "\x1b[2Kx\x1b[9999C", "\x1b[1K", "\r\x1b[P", "\t", "\b", "\u0301", "\n", "\x1b[",
	} {
		p := &Writer{}
		_, _ = p.Write(bytes.Repeat([]byte("0123456789"), 2*window/10))
		_, _ = p.Write(bytes.Repeat([]byte(unit), 1<<18/len(unit)))
		n := 0
		p.Lines(func(Line) { n++ })
		if len(p.line.cells) > 2*window || len(p.line.clusters) > 4*window+1 || len(p.line.final) > maxLineBytes {
			t.Errorf("%q: %d cells, %d clusters, %d bytes", unit, len(p.line.cells), len(p.line.clusters), len(p.line.final))
		}
	}
}

func TestStringThatNeverEnds(t *testing.T) {
	p := &Writer{}
	_, _ = p.Write([]byte("a\x1bP"))
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range maxString >> 20 {
		_, _ = p.Write(chunk)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	if lines, _ := collect(p, []byte("b\n"), 1); len(lines) != 1 || string(lines[0].Text) != "ab" {
		t.Errorf("after the string was given up: %+v", lines)
	}
}

// TestEachAfterWrite checks that text that was written before is returned before the lines that Each completes.
func TestEachAfterWrite(t *testing.T) {
	p := &Writer{}
	_, _ = p.Write([]byte("one\ntwo\nthr"))
	if lines, _ := collectEach(p, []byte("ee\nfour\n"), 3); len(lines) != 4 || string(lines[0].Text) != "one" || string(lines[2].Text) != "three" || lines[3].To != 19 {
		t.Errorf("%+v", lines)
	}
}

// TestEachKeepsNothing checks that short lines take no memory with Each, however many arrive at once: a line by Write
// takes more than its bytes.
//
// FEATURES: R24
func TestEachKeepsNothing(t *testing.T) {
	in, p, lines := bytes.Repeat([]byte("y\r\n\x1b[1mz\x1b[m\n"), 1<<20/16), &Writer{}, 0
	count := func(Line) { lines++ }
	if n := testing.AllocsPerRun(3, func() { p.Each(in, count) }); n > 0 || lines != 4*2*(1<<20/16) {
		t.Errorf("%v allocations, %d lines", n, lines)
	}
	if n := cap(p.text) + cap(p.done) + cap(p.scratch); n > 1024 {
		t.Errorf("%d bytes and lines are kept", n)
	}
}

func TestAllocatesNothing(t *testing.T) {
	p := &Writer{}
	in := []byte("\x1b[32mok\x1b[0m  pkg/name\t0.12s\r\n10%\r20%\r\n你好\r\n")
	drop := func(Line) {}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = p.Write(in)
		p.Lines(drop)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\xe4\xbd\xa0\rc\x1b[5C\u0301\x1b]0;x\x07\n"), uint8(3), uint16(0))
	f.Add([]byte("\xf0\x80\x80\x1b[2;3@\x1b(0q\x1bPx\x1b\\\u009b1K\x1b[99999999999G你\b!"), uint8(1), uint16(16))
	f.Fuzz(func(t *testing.T, in []byte, cut uint8, most uint16) {
		whole, part := &Writer{MaxLine: int(most)}, &Writer{MaxLine: int(most)}
		a, restA := collect(whole, in, len(in)+1)
		b, restB := collect(part, in, 1+int(cut)%9)
		if !reflect.DeepEqual(a, b) || restA != restB {
			t.Fatalf("cut differently:\n%+v %q\n%+v %q", a, restA, b, restB)
		}
		for _, cut := range []int{len(in) + 1, 1 + int(cut)%9} {
			each := &Writer{MaxLine: int(most)}
			if c, restC := collectEach(each, in, cut); !reflect.DeepEqual(a, c) || restA != restC || len(each.done)+len(each.text) > 0 {
				t.Fatalf("by Each, cut by %d:\n%+v %q\n%+v %q", cut, a, restA, c, restC)
			}
		}
		at := uint64(0)
		for _, l := range a {
			if l.From != at || !utf8.Valid(l.Text) || bytes.ContainsAny(l.Text, "\n\r\x1b") || len(l.Text) > whole.maxLine() {
				t.Fatalf("line %+v after offset %d", l, at)
			}
			at = l.To
		}
		if _, from, to := whole.AppendUnfinished(nil); from != at || to != uint64(len(in)) {
			t.Fatalf("the rest is from %d to %d, after %d of %d", from, to, at, len(in))
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	for _, bb := range []struct{ name, unit string }{
		{"plain", "the quick brown fox jumps over the lazy dog, again and again\r\n"},
		{"coloured", "\x1b[32mok\x1b[0m   \x1b[1;34mpkg/name\x1b[0m \x1b[38;5;244m0.123s\x1b[0m\r\n"},
		{"short", "y\r\n"},
		{"wide", "你好，世界。終端機\r\n"},
		{"long", "0123456789"},
		{"progress", "\r\x1b[K[####......] 42%"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			in := bytes.Repeat([]byte(bb.unit), 32<<10/len(bb.unit))
			p := &Writer{}
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				p.Each(in, func(Line) {})
			}
		})
	}
}

func ExampleWriter() {
	var p Writer
	fmt.Fprint(&p, "downloading 10%\rdownloading 100%\r\n\x1b[32mok\x1b[0m\n$ ")
	p.Lines(func(l Line) { fmt.Printf("%s\n", l.Text) })
	rest, _, _ := p.AppendUnfinished(nil)
	fmt.Printf("%q\n", rest)
	// Output:
	// downloading 100%
	// ok
	// "$ "
}
