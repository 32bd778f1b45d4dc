package outer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

// TestAnswers checks that replies are found among keys, in any pieces, and that typed keys stay.
//
// FEATURES: R76
// FAULT: H10
func TestAnswers(t *testing.T) {
	for text, want := range map[string]struct{ schemes, typed string }{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\":                       {"[light]", ""},
		"ab\x1b[A\x1b]11;rgb:1e1e/1e1e/2e2e\x07x":                {"[dark]", "ab\x1b[Ax"},
		"\x1b]11;rgba:ff/ff/dd/ff\x1b\\":                         {"[light]", ""},
		"\x1b[?997;1n\x1b[?997;2n":                               {"[dark light]", ""},
		"\x1b[?997;3n\x1b[?62;22c\x1bOA\x1b[1;5A":                {"[]", "\x1b[?997;3n\x1bOA\x1b[1;5A"},
		"\x1b]11;rgb:ffff/ffff\x07\x1b]11;rgb:x/y/z\x07":         {"[]", ""},
		"\x1b]11;\x1b\x1b]11;rgb:0/0/0\x07\x1b]10;rgb:f/f/f\x07": {"[dark]", "\x1b]11;\x1b"},
		"\x1b\x1b[?0u\x1b[97;5u\x1b[6;18;9tq\x1b[6~":             {"[]", "\x1b\x1b[97;5uq\x1b[6~"},
		"\x1b[200~paste\x1b[201~\x1b[M \x1b[<0;1;1M":             {"[]", "\x1b[200~paste\x1b[201~\x1b[M \x1b[<0;1;1M"},
	} {
		for size := 1; size <= len(text); size++ {
			var schemes []string
			var typed []byte
			a := Answers{Waiting: true}
			for at := 0; at < len(text); at += size {
				typed = a.Feed(typed, []byte(text[at:min(at+size, len(text))]), func(s string) { schemes = append(schemes, s) })
			}
			// An Escape at the end of a piece is typed at once.
			if got := string(typed); fmt.Sprint(schemes) != want.schemes || got != want.typed && size == len(text) || len(got) < len(want.typed) {
				t.Errorf("%q in pieces of %d: %v and %q; want %s and %q", text, size, schemes, got, want.schemes, want.typed)
			}
		}
	}
}

// TestOuterOfAnswers checks that replies and the size of the window describe the terminal.
//
// FAULT: H10
func TestOuterOfAnswers(t *testing.T) {
	var a Answers
	a.SetWindow(1000, 900, 100, 50)
	a.Feed(nil, []byte("\x1b]10;rgb:0/0/0\x07\x1b]11;rgb:ffff/ffff/dddd\x1b\\\x1b[6;900;9t\x1b[?62;4c"), nil)
	want := vterm.Outer{Foreground: "rgb:0/0/0", Background: "rgb:ffff/ffff/dddd", Scheme: vterm.SchemeLight, Keys: vterm.KeysNone, CellWidth: 10, CellHeight: 18}
	if a.Outer != want || a.Attributes != 1 {
		t.Errorf("%+v, want %+v", a.Outer, want)
	}
	a = Answers{}
	a.Feed(nil, []byte("\x1b[?0u\x1b[?62;4c\x1b[6;20;10t"), nil)
	if want := (vterm.Outer{Keys: vterm.KeysAll, CellWidth: 10, CellHeight: 20}); a.Outer != want {
		t.Errorf("%+v, want %+v", a.Outer, want)
	}
	// Keys that start like replies are not held back when no reply is expected.
	if got := string((&Answers{}).Feed(nil, []byte("\x1b["), nil)); got != "\x1b[" {
		t.Errorf("%q", got)
	}
}

// TestFence checks that wait returns once all queries are answered. A terminal that never answers is not pending after
// its timeout.
//
// FAULT: H15
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fence
		f.CountQueries([]byte(AskColors+Attributes), time.Now())
		if !f.Pending(time.Now()) {
			t.Error("no answer is expected")
		}
		time.AfterFunc(time.Second, func() { f.CountAnswers(1) })
		begin := time.Now()
		f.Wait(f.Timeout(begin), nil)
		if took := time.Since(begin); took != time.Second || f.Pending(time.Now()) {
			t.Errorf("it took %s", took)
		}
		var mute Fence
		mute.CountQueries([]byte(Attributes), time.Now())
		<-time.After(3 * time.Second)
		if mute.Pending(time.Now()) {
			t.Error("a mute terminal is waited for")
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte("\x1b]11;rgb:ffff/ffff/ffff\x1b\\"), 3, true)
	f.Add([]byte("\x1b[?997;1n\x1b]"), 1, false)
	f.Fuzz(func(t *testing.T, b []byte, size int, waiting bool) {
		size = max(1, min(size, len(b)+1))
		s, whole := Answers{Waiting: waiting}, Answers{Waiting: waiting}
		var a, c []string
		all := whole.Feed(nil, b, func(g string) { c = append(c, g) })
		for at := 0; at < len(b); at += size {
			_ = s.Feed(nil, b[at:min(at+size, len(b))], func(g string) { a = append(a, g) })
		}
		if fmt.Sprint(a) != fmt.Sprint(c) || s.Outer != whole.Outer || len(s.held) > maxAnswer || len(all) > len(b) {
			t.Fatalf("%v in pieces, %v at once, %d bytes held back", a, c, len(s.held))
		}
	})
}
