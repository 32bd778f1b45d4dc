package respond

import (
	"strings"
	"testing"
	"time"
)

// rows makes a screen. A row that ends in \ goes on in the next; | is the cursor.
func rows(top uint64, lines ...string) Screen {
	s := Screen{Top: top, Cols: 20, CursorRow: -1}
	for i, l := range lines {
		r := Row{Text: l}
		if strings.HasSuffix(l, `\`) {
			r = Row{Text: strings.TrimSuffix(l, `\`), Wrapped: true}
		}
		if at := strings.IndexByte(r.Text, '|'); at >= 0 {
			s.CursorRow, s.CursorCol = i, at
			r.Text = r.Text[:at] + r.Text[at+1:]
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

func (r *rig) show(s Screen) {
	r.now = r.now.Add(time.Second)
	r.did(r.e.Screen(r.now, s))
}

// FEATURES: R50, R51
func TestScreen(t *testing.T) {
	alt := func(s Screen) Screen { s.Alt = true; return s }
	for _, tt := range []struct {
		name string
		rule Rule
		see  []Screen
		want int
	}{
		{"appears", Rule{Text: "Go?"}, []Screen{rows(0, "x"), rows(0, "x", "Go? |")}, 1},
		{"stands", Rule{Text: "Go?"}, []Screen{rows(0, "Go? |"), rows(0, "Go? |"), rows(0, "Go? y|")}, 1},
		{"scrolls", Rule{Text: "Go?"}, []Screen{rows(0, "a", "Go?"), rows(1, "Go?", "b"), rows(2, "b", "c")}, 1},
		{"asked again below", Rule{Text: "Go?"}, []Screen{rows(0, "Go?|"), rows(0, "Go?", "Go?|")}, 2},
		{"asked again after it went away", Rule{Text: "Go?"}, []Screen{rows(0, "Go?|"), rows(0, "ok"), rows(0, "Go?|")}, 2},
		{"asked again after scrolling", Rule{Text: "Go?"}, []Screen{rows(0, "a", "Go?"), rows(1, "Go?", "Go?")}, 2},
		{"two on a screen", Rule{Text: "Go?"}, []Screen{rows(0, "Go? Go?"), rows(0, "Go?", "Go?")}, 2},
		{"wrapped", Rule{Text: "Continue?"}, []Screen{rows(0, `Cont\`, "inue? |")}, 1},
		{"anchors", Rule{Regexp: `^Go\?$`}, []Screen{rows(0, "Go? no", "Go?")}, 1},
		{"region", Rule{Text: "Go?", Region: &Region{Top: 1, Bottom: 2}}, []Screen{rows(0, "Go?", "x", "Go?"), rows(0, "Go?", "Go?", "x")}, 1},
		{"columns", Rule{Text: "Go?", Region: &Region{Left: 2, Right: 5}}, []Screen{rows(0, "Go?", "1 Go?", "12Go?x")}, 2},
		{"columns cut", Rule{Text: "Go?", Region: &Region{Left: 1}}, []Screen{rows(0, "Go?")}, 0},
		{"cursor's line", Rule{Text: "Go?", On: OnCursor}, []Screen{rows(0, "Go?", "x|"), rows(0, "Go?|", "x")}, 1},
		{"other screen", Rule{Text: "Go?"}, []Screen{rows(0, "Go?"), alt(rows(0, "x")), rows(0, "Go?"), alt(rows(0, "Go?"))}, 2},
		{"max", Rule{Text: "Go?", Max: 1}, []Screen{rows(0, "Go?", "Go?")}, 1},
		{"cool-down", Rule{Text: "Go?", CoolDown: time.Hour}, []Screen{rows(0, "Go?"), rows(0, "Go?", "Go?")}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.rule.On == "" {
				tt.rule.On = OnScreen
			}
			tt.rule.Reply = say("y")
			r := newRig(t, Set{Rules: []Rule{tt.rule}})
			for _, s := range tt.see {
				r.show(s)
			}
			if len(r.got) != tt.want {
				t.Errorf("fired %d times, want %d: %+v", len(r.got), tt.want, r.rec)
			}
		})
	}
}

// What rests is answered when it has rested, if it still stands.
// FEATURES: R51
func TestScreenAfterCoolDown(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "Go?", On: OnScreen, CoolDown: 10 * time.Second, Reply: say("y")}}})
	r.show(rows(0, "Go?"))
	r.show(rows(0, "Go?", "Go?"))
	r.pause(20 * time.Second)
	if len(r.got) != 2 {
		t.Errorf("fired %d times, want 2", len(r.got))
	}
}

// FEATURES: R44, R51
func TestScreenEcho(t *testing.T) {
	type step struct {
		typed string
		see   Screen
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  int
	}{
		{"typed", []step{{"", rows(0, "$ |")}, {"yes", rows(0, "$ yes|")}, {"\r", rows(0, "$ yes", "|")}}, 0},
		{"half of it", []step{{"", rows(0, "$ |")}, {"yes no", rows(0, "$ yes |")}}, 0},
		{"and printed", []step{{"", rows(0, "$ |")}, {"yes\r", rows(0, "$ yes", "yes", "|")}}, 1},
		{"scrolls", []step{{"", rows(0, "$ |")}, {"yes\r", rows(0, "$ yes", "|")}, {"", rows(1, "|")}, {"", rows(1, "yes", "|")}}, 1},
		{"wrapped", []step{{"", rows(0, "$ |")}, {"yes", rows(0, `$ y\`, "es|")}}, 0},
		{"twice", []step{{"", rows(0, "$ |")}, {"yes\r", rows(0, "$ yes", "$ |")}, {"yes\r", rows(0, "$ yes", "$ yes", "|")}}, 0},
		{"typed where it was printed before", []step{{"", rows(0, "yes", "$ |")}, {"yes\r", rows(0, "yes", "$ yes", "|")}}, 1},
		{"erased, then printed there", []step{{"", rows(0, "$ |")}, {"yes\r", rows(0, "$ yes", "|")}, {"", rows(0, "|")}, {"", rows(0, "$ yes")}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Set{Rules: []Rule{{Text: "yes", On: OnScreen, Reply: say("!")}}})
			for _, s := range tt.steps {
				if s.typed != "" {
					r.did(r.e.HandleInput(r.now, Input{Data: []byte(s.typed)}))
				}
				r.show(s.see)
			}
			if len(r.got) != tt.want {
				t.Errorf("fired %d times, want %d: %+v", len(r.got), tt.want, r.rec)
			}
		})
	}
}

// Columns are cells, not bytes.
func TestRowStart(t *testing.T) {
	r := Row{Text: "é界x", Starts: []int{0, 2, 2, 5}}
	for col, want := range []int{0, 2, 2, 5, 6, 6} {
		if got := r.start(col); got != want {
			t.Errorf("column %d is at %d, want %d", col, got, want)
		}
	}
}

// A piece of a line that is too long for one window still matches across its ends, and
// each place fires once.
// FEATURES: R51
func TestLongLine(t *testing.T) {
	for _, pause := range []int{0, 1, 7} {
		r := newRig(t, Set{Rules: []Rule{{Text: "needle", Reply: say("x")}, {Regexp: `^x.*start`, Reply: say("s")}}})
		r.print("x start")
		want := 1
		for n := 0; n < 1<<20; n += 1009 {
			r.print("needle" + strings.Repeat(".", 1003))
			if want++; pause > 0 && want%pause == 0 {
				r.pause(time.Second)
			}
		}
		r.print("\r\n")
		if len(r.got) != want {
			t.Errorf("pausing each %d: fired %d times, want %d", pause, len(r.got), want)
		}
	}
}
