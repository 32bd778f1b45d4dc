package respond

import (
	"strings"
	"testing"
	"time"
)

// FEATURES: R44, R55
func TestExpecter_Find(t *testing.T) {
	type step struct {
		out, typed string
		find       string // patterns separated by |; a leading ~ marks a regexp
		want       string // index:text, or "" for no match
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"output before the call matches", []step{{out: "one\r\ntwo\r\n", find: "two", want: "0:two"}}},
		{"read output does not match", []step{{out: "one\r\ntwo\r\n", find: "two", want: "0:two"}, {find: "one"}, {find: "two"}}},
		{"the rest of a line", []step{{out: "ab\r\n", find: "a", want: "0:a"}, {find: "b", want: "0:b"}}},
		{"the rest of a prompt", []step{{out: "ab", find: "a", want: "0:a"}, {find: "b", want: "0:b"}, {find: "b"}}},
		{"a prompt that grows", []step{{out: "ab", find: "a", want: "0:a"}, {out: "ba\r\n", find: "a", want: "0:a"}}},
		{"first in the text", []step{{out: "xbxa", find: "a|b", want: "1:b"}, {find: "a|b", want: "0:a"}}},
		{"first in the list", []step{{out: "ab", find: "~a.|ab", want: "0:ab"}}},
		{"echo", []step{{out: "$ ", typed: "yes\r", find: "yes"}, {out: "yes\r\n", find: "yes", want: "0:yes"}}},
		{"end of the line", []step{{out: "$ x\r\n$ ", find: `~^\$ $`, want: "0:$ "}}},
		{"redraw", []step{{out: "\x1b[HGo?", find: "Go?", want: "0:Go?"}, {out: "\x1b[HGo?", find: "Go?"}, {out: "\r\nGo?", find: "Go?", want: "0:Go?"}}},
		{"groups", []step{{out: "uid=7(bob)", find: `~uid=(\d+)\((?P<name>\w+)\)`, want: "0:uid=7(bob) 7 bob name=bob"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := NewExpecter(0)
			now, off := epoch, uint64(0)
			feed := func(s string) {
				x.Output(now, off, []byte(s))
				off += uint64(len(s))
			}
			for i, s := range tt.steps {
				feed(s.out)
				if s.typed != "" {
					x.HandleInput(Input{Data: []byte(s.typed)})
					feed(terminalEcho(s.typed))
				}
				var list []Pattern
				for p := range strings.SplitSeq(s.find, "|") {
					if expr, ok := strings.CutPrefix(p, "~"); ok {
						list = append(list, Pattern{Regexp: expr})
					} else {
						list = append(list, Pattern{Text: p})
					}
				}
				ps, err := Compile(list...)
				if err != nil {
					t.Fatal(err)
				}
				now = now.Add(time.Second)
				if got := formatMatch(x.Find(now, ps, false)); got != s.want {
					t.Errorf("step %d: got %q, want %q", i, got, s.want)
				}
			}
		})
	}
}

// formatMatch returns a match as INDEX:TEXT GROUP... NAME=GROUP...
func formatMatch(f Match, ok bool) string {
	if !ok {
		return ""
	}
	s := string(rune('0'+f.Pattern)) + ":" + f.Text
	for _, g := range f.Groups[min(1, len(f.Groups)):] {
		s += " " + g
	}
	for k, v := range f.NamedGroups {
		s += " " + k + "=" + v
	}
	return s
}

// TestExpecter_BoundsUnreadOutput checks that unread output takes bounded memory.
func TestExpecter_BoundsUnreadOutput(t *testing.T) {
	x := NewExpecter(0)
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for i := range uint64(8 << 10) {
		x.Output(epoch, i*1024, line)
	}
	if x.unreadBytes > maxUnread || !x.TakeDropped() || x.TakeDropped() {
		t.Errorf("got %d unread bytes, want at most %d and TakeDropped once", x.unreadBytes, maxUnread)
	}
}

// TestExpecter_UnfinishedLine_MatchesAfterPause checks that an unfinished line matches only after a pause, or when no
// output will follow.
func TestExpecter_UnfinishedLine_MatchesAfterPause(t *testing.T) {
	x := NewExpecter(0)
	x.Output(epoch, 0, []byte("pass"))
	ps, err := Compile(Pattern{Text: "pass"})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := x.Find(epoch, ps, false); ok {
		t.Error("found before the pause")
	}
	if at, ok := x.Next(); !ok || at != epoch.Add(defaultSettle) {
		t.Errorf("got next time %v, %v", at, ok)
	}
	if _, ok := x.Find(epoch, ps, true); !ok {
		t.Error("not found at the end")
	}
}

// TestExpecter_LongLine_MatchesAcrossWindows checks that a line that is longer than a window matches across the ends of
// windows, once at each position, also if Find is called late.
func TestExpecter_LongLine_MatchesAcrossWindows(t *testing.T) {
	ps, err := Compile(Pattern{Text: "needle"})
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []int{1, 7, 1000} {
		x, off, want, got := NewExpecter(0), uint64(0), 0, 0
		find := func() {
			for {
				if _, ok := x.Find(epoch, ps, true); !ok {
					return
				}
				got++
			}
		}
		for ; off < 1<<20; off += 1009 {
			x.Output(epoch, off, []byte("needle"+strings.Repeat(".", 1003)))
			if want++; want%every == 0 {
				find()
			}
		}
		find()
		if got != want {
			t.Errorf("Find after each %d: got %d matches, want %d", every, got, want)
		}
	}
}

// TestExpecter_KeepsUnreadText_WithoutMatch checks that text without a match stays unread, for the next patterns.
// FEATURES: R51
func TestExpecter_KeepsUnreadText_WithoutMatch(t *testing.T) {
	x := NewExpecter(0)
	now := time.Unix(1, 0)
	x.Output(now, 0, []byte("hello\r\ntwo\r\nthree\r\nName: "))
	now = now.Add(time.Second)
	find := func(text string) bool {
		ps, err := Compile(Pattern{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		_, ok := x.Find(now, ps, false)
		return ok
	}
	for _, c := range []struct {
		text string
		want bool
	}{{"zzz", false}, {"two", true}, {"hello", false}, {"zzz", false}, {"Name: ", true}, {"three", false}, {"Name: ", false}} {
		if got := find(c.text); got != c.want {
			t.Errorf("%q: got match %v, want %v", c.text, got, c.want)
		}
	}
}
