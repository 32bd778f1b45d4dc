package respond

import (
	"strings"
	"testing"
	"time"
)

// newScreen returns a screen of 20 columns. A row that ends in \ continues in the next row; | is the cursor.
func newScreen(top uint64, lines ...string) Screen {
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

// showScreen passes a screen to the engine, one second after the last event.
func (r *testEngine) showScreen(s Screen) {
	r.now = r.now.Add(time.Second)
	r.collect(r.engine.Screen(r.now, s))
}

// FEATURES: R50, R51
func TestScreenRule_MatchesEachPromptOnce(t *testing.T) {
	alt := func(s Screen) Screen { s.Alt = true; return s }
	for _, tt := range []struct {
		name string
		rule Rule
		see  []Screen
		want int
	}{
		{"appears", Rule{Text: "Go?"}, []Screen{newScreen(0, "x"), newScreen(0, "x", "Go? |")}, 1},
		{"stays on the screen", Rule{Text: "Go?"}, []Screen{newScreen(0, "Go? |"), newScreen(0, "Go? |"), newScreen(0, "Go? y|")}, 1},
		{"scrolls", Rule{Text: "Go?"}, []Screen{newScreen(0, "a", "Go?"), newScreen(1, "Go?", "b"), newScreen(2, "b", "c")}, 1},
		{"prompted again below", Rule{Text: "Go?"}, []Screen{newScreen(0, "Go?|"), newScreen(0, "Go?", "Go?|")}, 2},
		{"prompted again after it disappeared", Rule{Text: "Go?"}, []Screen{newScreen(0, "Go?|"), newScreen(0, "ok"), newScreen(0, "Go?|")}, 2},
		{"prompted again after scrolling", Rule{Text: "Go?"}, []Screen{newScreen(0, "a", "Go?"), newScreen(1, "Go?", "Go?")}, 2},
		{"two on a screen", Rule{Text: "Go?"}, []Screen{newScreen(0, "Go? Go?"), newScreen(0, "Go?", "Go?")}, 2},
		{"wrapped", Rule{Text: "Continue?"}, []Screen{newScreen(0, `Cont\`, "inue? |")}, 1},
		{"anchors", Rule{Regexp: `^Go\?$`}, []Screen{newScreen(0, "Go? no", "Go?")}, 1},
		{"region", Rule{Text: "Go?", Region: &Region{Top: 1, Bottom: 2}}, []Screen{newScreen(0, "Go?", "x", "Go?"), newScreen(0, "Go?", "Go?", "x")}, 1},
		{"columns", Rule{Text: "Go?", Region: &Region{Left: 2, Right: 5}}, []Screen{newScreen(0, "Go?", "1 Go?", "12Go?x")}, 2},
		{"columns cut", Rule{Text: "Go?", Region: &Region{Left: 1}}, []Screen{newScreen(0, "Go?")}, 0},
		{"cursor's line", Rule{Text: "Go?", On: OnCursor}, []Screen{newScreen(0, "Go?", "x|"), newScreen(0, "Go?|", "x")}, 1},
		{"other screen", Rule{Text: "Go?"}, []Screen{newScreen(0, "Go?"), alt(newScreen(0, "x")), newScreen(0, "Go?"), alt(newScreen(0, "Go?"))}, 2},
		{"max", Rule{Text: "Go?", Max: 1}, []Screen{newScreen(0, "Go?", "Go?")}, 1},
		{"cool-down", Rule{Text: "Go?", CoolDown: time.Hour}, []Screen{newScreen(0, "Go?"), newScreen(0, "Go?", "Go?")}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.rule.On == "" {
				tt.rule.On = OnScreen
			}
			tt.rule.Reply = textReply("y")
			r := newTestEngine(t, Set{Rules: []Rule{tt.rule}})
			for _, s := range tt.see {
				r.showScreen(s)
			}
			if len(r.actions) != tt.want {
				t.Errorf("got %d replies, want %d: %+v", len(r.actions), tt.want, r.records)
			}
		})
	}
}

// TestScreenRule_MatchesAgain_AfterCoolDown checks that a prompt that is still on the screen after the cooldown is
// answered then.
// FEATURES: R51
func TestScreenRule_MatchesAgain_AfterCoolDown(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "Go?", On: OnScreen, CoolDown: 10 * time.Second, Reply: textReply("y")}}})
	r.showScreen(newScreen(0, "Go?"))
	r.showScreen(newScreen(0, "Go?", "Go?"))
	r.pause(20 * time.Second)
	if len(r.actions) != 2 {
		t.Errorf("got %d replies, want 2", len(r.actions))
	}
}

// FEATURES: R44, R51
func TestScreenRule_IgnoresEcho(t *testing.T) {
	type step struct {
		typed string
		see   Screen
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  int
	}{
		{"typed", []step{{"", newScreen(0, "$ |")}, {"yes", newScreen(0, "$ yes|")}, {"\r", newScreen(0, "$ yes", "|")}}, 0},
		{"half of the echo", []step{{"", newScreen(0, "$ |")}, {"yes no", newScreen(0, "$ yes |")}}, 0},
		{"typed and printed", []step{{"", newScreen(0, "$ |")}, {"yes\r", newScreen(0, "$ yes", "yes", "|")}}, 1},
		{"scrolls", []step{{"", newScreen(0, "$ |")}, {"yes\r", newScreen(0, "$ yes", "|")}, {"", newScreen(1, "|")}, {"", newScreen(1, "yes", "|")}}, 1},
		{"wrapped", []step{{"", newScreen(0, "$ |")}, {"yes", newScreen(0, `$ y\`, "es|")}}, 0},
		{"twice", []step{{"", newScreen(0, "$ |")}, {"yes\r", newScreen(0, "$ yes", "$ |")}, {"yes\r", newScreen(0, "$ yes", "$ yes", "|")}}, 0},
		{"typed where it was printed before", []step{{"", newScreen(0, "yes", "$ |")}, {"yes\r", newScreen(0, "yes", "$ yes", "|")}}, 1},
		{"erased, then printed there", []step{{"", newScreen(0, "$ |")}, {"yes\r", newScreen(0, "$ yes", "|")}, {"", newScreen(0, "|")}, {"", newScreen(0, "$ yes")}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestEngine(t, Set{Rules: []Rule{{Text: "yes", On: OnScreen, Reply: textReply("!")}}})
			for _, s := range tt.steps {
				if s.typed != "" {
					r.collect(r.engine.HandleInput(r.now, Input{Data: []byte(s.typed)}))
				}
				r.showScreen(s.see)
			}
			if len(r.actions) != tt.want {
				t.Errorf("got %d replies, want %d: %+v", len(r.actions), tt.want, r.records)
			}
		})
	}
}

// TestRow_ByteOffset_CountsCells checks that columns are cells, not bytes.
func TestRow_ByteOffset_CountsCells(t *testing.T) {
	r := Row{Text: "é界x", Starts: []int{0, 2, 2, 5}}
	for col, want := range []int{0, 2, 2, 5, 6, 6} {
		if got := r.byteOffset(col); got != want {
			t.Errorf("column %d: got offset %d, want %d", col, got, want)
		}
	}
}

// TestEngine_LongLine_MatchesAcrossWindows checks that a line that is longer than a window matches across the ends of
// windows, once at each position.
// FEATURES: R51
func TestEngine_LongLine_MatchesAcrossWindows(t *testing.T) {
	for _, pause := range []int{0, 1, 7} {
		r := newTestEngine(t, Set{Rules: []Rule{{Text: "needle", Reply: textReply("x")}, {Regexp: `^x.*start`, Reply: textReply("s")}}})
		r.writeOutput("x start")
		want := 1
		for n := 0; n < 1<<20; n += 1009 {
			r.writeOutput("needle" + strings.Repeat(".", 1003))
			if want++; pause > 0 && want%pause == 0 {
				r.pause(time.Second)
			}
		}
		r.writeOutput("\r\n")
		if len(r.actions) != want {
			t.Errorf("pause after each %d: got %d replies, want %d", pause, len(r.actions), want)
		}
	}
}
