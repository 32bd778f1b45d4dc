package vt10x

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// samples are inputs that leave every kind of state behind, two of them half-read.
var samples = []string{
	"",
	"plain text\r\nand more",
	"\x1b[1;31mred\x1b[4:3;58;5;3m你好e\u0301\x1b]8;;http://x/\x1b\\link\x1b[?25l\x1b[3 q",
	"\x1b[2;3r\x1b[?6h\x1b[3g\x1b[2;5H\x1bH\x1b7\x1b[?7l\x1b(0\x1b[44mq\x1b[K",
	"primary\x1b[?1049h\x1b[>5ualt\x1b]2;title\x07\x1b]4;1;#123456\x07\x1b[?1000;1006;2004h",
	"0123456789abcdefghij", // wraps
	"half an OSC \x1b]2;tit",
	"half a CSI \x1b[31;4",
	"half a character \xe4\xbd",
	"half a string \x1bPabc\x1b",
}

func observe(e *Engine) any {
	var frames [3]vterm.Frame
	for i := range frames {
		e.Frame(&frames[i], vterm.Query{Screen: vterm.ScreenKind(i)})
	}
	return []any{frames, e.Modes(), e.Version()}
}

func TestSnapshot(t *testing.T) {
	for _, in := range samples {
		e := newTest(20, 4, in)
		v := e.Version()
		_, _ = e.Write([]byte("")) // rows of several versions
		got := New(vterm.Options{Cols: 5, Rows: 5})
		if err := got.Restore(e.AppendSnapshot(nil)); err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if !reflect.DeepEqual(observe(got), observe(e)) {
			t.Errorf("%q: restored as\n%+v, want\n%+v", in, observe(got), observe(e))
		}
		rest := "le\x07\x9c;1m\u00e4 x\x1b\\\x1b8y\tz\x1b[6n\x1b[?1049lq\r\n\n\n\nend"
		for _, x := range []*Engine{e, got} {
			_, _ = x.Write([]byte(rest))
		}
		_, delta := changedRows(got, vterm.Query{Since: v})
		_, want := changedRows(e, vterm.Query{Since: v})
		if !reflect.DeepEqual(delta, want) {
			t.Errorf("%q: continues as\n%+v, want\n%+v", in, delta, want)
		}
		if a, b := e.Replies(nil), got.Replies(nil); !bytes.HasSuffix(a, b) || len(b) == 0 {
			t.Errorf("%q: replies %q, want %q", in, b, a)
		}
	}
}

func TestSnapshotIsErrorWhenDamaged(t *testing.T) {
	good := newTest(20, 4, samples[2]).AppendSnapshot(nil)
	empty := observe(New(vterm.Options{}))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		for _, p := range [][]byte{bad, good[:i]} {
			e := newTest(80, 24, "x")
			e.opts = vterm.Options{}
			if err := e.Restore(p); err == nil {
				t.Fatalf("damage at %d is not seen", i)
			}
			if i%97 == 0 && !reflect.DeepEqual(observe(e), empty) {
				t.Errorf("damage at %d: the engine is not as new", i)
			}
		}
	}
}

// TestSnapshotBytes checks that the format is pinned: a change of these bytes needs a new snapshotFormat.
func TestSnapshotBytes(t *testing.T) {
	got := newTest(4, 1, "\x1b[1mab").AppendSnapshot(nil)
	want := "LTVX\x01" // magic, format
	if !strings.HasPrefix(string(got), want) || crc32.ChecksumIEEE(got) != snapshotSum {
		t.Errorf("snapshot %q has the sum %#x", got, crc32.ChecksumIEEE(got))
	}
}

const snapshotSum = 0xf43df88b

func FuzzRestore(f *testing.F) {
	for _, in := range samples {
		f.Add(newTest(20, 4, in).AppendSnapshot(nil))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) > 4 { // fix the checksum, or nothing after it is ever reached
			p = binary.LittleEndian.AppendUint32(bytes.Clone(p[:len(p)-4]), crc32.Checksum(p[:len(p)-4], castagnoli))
		}
		e := New(vterm.Options{})
		if e.Restore(p) != nil {
			return
		}
		_, _ = e.Write([]byte("x你\u0301\x1b[5;5H\x1b8\x1b[L\x1b[?1049h\x1b[?1049l\r\n\t\x1b[10b"))
		again := New(vterm.Options{})
		if err := again.Restore(e.AppendSnapshot(nil)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(observe(again), observe(e)) {
			t.Fatal("a second snapshot differs")
		}
	})
}

// FEATURES: R26, R93
func FuzzWrite(f *testing.F) {
	for _, in := range samples {
		f.Add([]byte(in), uint16(7), uint8(20), uint8(4))
	}
	f.Add([]byte("\x1b[9223372036854775807@\x1b[99999999999Iab\x1b[-1P\x1b[;;;m\x1b[0;0r\x1b[2;1r"), uint16(3), uint8(1), uint8(1))
	f.Add([]byte("a\u0301\u009b3m你\x1b[20b\x1b[?1049h\x1bc\x1b[?6h\x1b[2;4r\x1b[100T\x1b[100M"), uint16(3), uint8(2), uint8(9))
	f.Fuzz(func(t *testing.T, p []byte, cut uint16, cols, rows uint8) {
		o := vterm.Options{Cols: int(cols), Rows: int(rows)}
		whole, parts := New(o), New(o)
		lib := whole.grid.term
		_, _ = whole.Write(p)
		if whole.grid.term != lib {
			t.Fatal("the library panicked")
		}
		for rest := p; len(rest) > 0; {
			n := min(len(rest), 1+int(cut)%7)
			_, _ = parts.Write(rest[:n])
			rest, cut = rest[n:], cut>>1|cut<<15
		}
		if !reflect.DeepEqual(observe(whole), observe(parts)) {
			t.Fatalf("cut differently:\n%+v\n%+v", observe(whole), observe(parts))
		}
		if a, b := whole.Replies(nil), parts.Replies(nil); !bytes.Equal(a, b) {
			t.Fatalf("replies %q and %q", a, b)
		}
		if a, b := whole.Events(nil), parts.Events(nil); !reflect.DeepEqual(a, b) {
			t.Fatalf("events %v and %v", a, b)
		}
		checkFrame(t, whole)
	})
}

func checkFrame(t *testing.T, e *Engine) {
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	if len(f.Lines) != f.Rows || f.Cursor.Row >= f.Rows || f.Cursor.Col >= f.Cols {
		t.Fatalf("%d rows of %d, cursor %+v", len(f.Lines), f.Rows, f.Cursor)
	}
	for _, l := range f.Lines {
		for x, c := range l.Cells {
			wide := x > 0 && l.Cells[x-1].Width() == vterm.WidthWide
			if (c.Width() == vterm.WidthTail) != wide || int(c.Style()) >= len(f.Styles) {
				t.Fatalf("row %d column %d: cell %x", l.Row, x, uint64(c))
			}
		}
		if n := len(l.Cells); n > f.Cols || n > 0 && l.Cells[n-1].Width() == vterm.WidthWide {
			t.Fatalf("row %d has %d cells", l.Row, n)
		}
	}
}

// TestHostileNumbersAreCheap checks that the largest possible numbers do not make the library loop.
// FEATURES: R93
func TestHostileNumbersAreCheap(t *testing.T) {
	e := newTest(80, 24)
	for _, final := range "@ABCDEFGHIJKLMPSTXZ`abdefghlmnrstu" {
		_, _ = e.Write([]byte("x\x1b[" + strings.Repeat("99999999999999999999;", 40) + string(final)))
		_, _ = e.Write([]byte("x\x1b[2147483647" + string(final)))
	}
	_, _ = e.Write([]byte("\x1b]2;" + strings.Repeat("x", 4*maxStr)))
	if n := cap(e.seq); n > 2*maxStr {
		t.Errorf("a string that never ends takes %d bytes", n)
	}
}

// TestIdleMemory checks that hundreds of idle sessions hold one engine each.
func TestIdleMemory(t *testing.T) {
	const n, most = 64, 80 << 10
	keep := make([]*Engine, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range keep {
		keep[i] = newTest(80, 24, "\x1b[1;32muser@host\x1b[0m:\x1b[34m~\x1b[0m$ ")
		keep[i].Version()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("%d bytes an engine", per)
	if per > most {
		t.Errorf("an idle 80×24 engine takes %d bytes, more than %d", per, most)
	}
	runtime.KeepAlive(keep)
}
