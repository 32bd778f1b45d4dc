package vterm

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/internal/graphics"
)

// rowsOf lists the rows of a frame.
func rowsOf(f *Frame) []int {
	var rows []int
	for _, l := range f.Lines {
		rows = append(rows, l.Row)
	}
	return rows
}

// TestFrameSince requests only changed rows.
//
// FEATURES: R35
func TestFrameSince(t *testing.T) {
	for _, c := range []struct {
		name, input string
		rows        int // rows in the delta
	}{
		{"nothing", "", 0},
		{"cursor only", "\x1b[2;2H", 0},
		{"one row", "\x1b[2;2Hx", 1},
		{"two rows", "\x1b[2;2Hx\x1b[4;1Hy", 2},
		{"erase in one", "\x1b[1;1H\x1b[K", 1},
		{"region scroll", "\x1b[2;3r\x1b[3;1H\n", 2},
		{"scroll", "\x1b[4;1H\n", 4},
		{"insert line", "\x1b[3;1H\x1b[L", 2},
		{"alternate", "\x1b[?1049h", 4},
		{"reverse video", "\x1b[?5h", 4},
		{"rectangle", "\x1b[65;2;1;3;2$x", 2},
		{"combining", "\x1b[2;2H\u0301", 1},
		{"columns", "\x1b[?69h\x1b[2;4s\x1b[3;3H\x1b[M", 2},
	} {
		term := newTest(t, 10, 4, full)
		var f Frame
		term.Frame(&f, Query{})
		if !f.Full || len(f.Lines) != 4 {
			t.Fatalf("%s: first frame is not full: %v", c.name, rowsOf(&f))
		}
		feed(term, c.input)
		term.Frame(&f, Query{Since: f.Version})
		if len(f.Lines) != c.rows {
			t.Errorf("%s: rows %v, want %d of them", c.name, rowsOf(&f), c.rows)
		}
		term.Frame(&f, Query{Since: f.Version})
		if len(f.Lines) != 0 {
			t.Errorf("%s: rows %v without a change", c.name, rowsOf(&f))
		}
	}
}

// TestFrame_IsSnapshot checks that a frame does not change while the terminal continues.
func TestFrame_IsSnapshot(t *testing.T) {
	term := newTest(t, 10, 4, "\x1b[31mred e\u0301\x1b]8;;http://x\x07link")
	var f Frame
	term.Frame(&f, Query{})
	before, style := frameText(&f), f.Style(f.Lines[0].Cells[0])
	for range 50 {
		feed(term, "\x1b]4;1;#fff\x07\x1b[32mother \u4f60e\u0302\x1b]8;;http://y\x07\r\n\x1bc")
	}
	term.Resize(5, 2)
	if got := frameText(&f); got != before || f.Style(f.Lines[0].Cells[0]) != style || f.Palette.Colors[1] != 0xcd0000 {
		t.Errorf("the frame became %q", got)
	}
}

// TestScreens reads the primary screen under a full-screen program.
//
// FEATURES: R34
func TestScreens(t *testing.T) {
	term := newTest(t, 10, 4, "primary\x1b[?1049h\x1b[Halternate")
	var f Frame
	for which, want := range map[ScreenKind]string{ScreenActive: "alternate", ScreenPrimary: "primary", ScreenAlternate: "alternate"} {
		term.Frame(&f, Query{Screen: which})
		if got := frameText(&f); got != want || !f.Alt {
			t.Errorf("screen %d is %q (alt %v), want %q", which, got, f.Alt, want)
		}
	}
}

// TestImages places images and bounds them.
func TestImages(t *testing.T) {
	term := newTest(t, 10, 4, "\x1b_Ga=T,f=24,s=1,v=1,i=7,c=3,r=2;AAAA\x1b\\x")
	var f Frame
	term.Frame(&f, Query{})
	c := f.Lines[0].Cells[0]
	if c&CellImage == 0 {
		t.Fatalf("no image cell: %x", c)
	}
	p := f.Images[c.Content()]
	if p.Image == nil || p.Image.ID != 7 || p.Cols != 3 || p.Rows != 2 || len(p.Image.Data) != 3 {
		t.Errorf("placement is %+v", p)
	}
	if got, want := seen(term), "/   x @1,4 ^_Gi=7;OK^\\"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	feed(term, "\x1b_Ga=d,d=I,i=7;\x1b\\\x1b_Ga=p,i=7;\x1b\\")
	if got, want := replies(term), "\x1b_Gi=7;ENOENT:no such image\x1b\\"; got != want {
		t.Errorf("after deletion %q, want %q", got, want)
	}
	for _, bad := range []string{"f=24,s=2,v=1,i=1;AAAA", "t=f,i=1;L2V0Yy9wYXNzd2Q=", "f=24,s=1,v=1,i=1;!!!!", "f=9,i=1;AAAA"} {
		feed(term, "\x1b_Ga=t,"+bad+"\x1b\\")
		if got := replies(term); !strings.HasPrefix(got, "\x1b_Gi=1;EINVAL") {
			t.Errorf("%s: %q, want EINVAL", bad, got)
		}
	}
	big := strings.Repeat("AAAA", 1<<20)
	for range 30 {
		feed(term, "\x1b_Ga=t,f=24,s=1024,v=1024,i=9,q=2;"+big+"\x1b\\")
	}
	if n := term.images.Bytes; n > graphics.BytesMax {
		t.Errorf("images take %d bytes", n)
	}
}

func TestSurroundings(t *testing.T) {
	term := newTest(t, 10, 4, "\x1b[?2031h\x1b[?2048h")
	_ = term.Replies(nil)
	term.SetLightScheme(true)
	term.SetCellSize(10, 20)
	term.Resize(20, 5)
	if got, want := replies(term), "\x1b[?997;2n\x1b[48;4;10;80;100t\x1b[48;5;20;100;200t"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEvents counts where things happened.
func TestEvents(t *testing.T) {
	term := newTest(t, 10, 2)
	feed(term, "a\r\nb\r\nc")
	feed(term, "d\x07\x1b]133;A\x1b\\")
	events := term.Events(nil)
	if len(events) != 2 || events[0].Kind != EventBell || events[0].At != 9 || events[0].Line != 2 || events[0].Col != 2 || events[1].At != 18 {
		t.Errorf("events are %+v", events)
	}
	for range 2 * EventQueueMax {
		feed(term, "\x07")
	}
	events = term.Events(nil)
	if n := len(events); n != EventQueueMax+1 || events[n-1].Kind != EventDropped || events[n-1].Num != EventQueueMax {
		t.Errorf("%d events, the last is %+v", n, events[n-1])
	}
}
