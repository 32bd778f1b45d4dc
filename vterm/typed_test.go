package vterm_test

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// TestWhatIsTyped checks that a program's output decides the bytes of a key, from end to end: the output, the key, and
// the bytes that the program gets.
//
// FEATURES: R30
func TestWhatIsTyped(t *testing.T) {
	for _, c := range []struct{ name, printed, key, sent string }{
		{"cursor keys at first", "", "Up", "\x1b[A"},
		{"in application mode", "\x1b[?1h", "Up", "\x1bOA"},
		{"with a modifier all the same", "\x1b[?1h", "C-Up", "\x1b[1;5A"},
		{"and back", "\x1b[?1h\x1b[?1l", "Up", "\x1b[A"},
		{"after a soft reset", "\x1b[?1h\x1b[!p", "Home", "\x1b[H"},
		{"saved and restored", "\x1b[?1s\x1b[?1h\x1b[?1r", "Up", "\x1b[A"},
		{"Return", "", "Enter", "\r"},
		{"with LNM", "\x1b[20h", "Enter", "\r\n"},
		{"Backspace", "", "BSpace", "\x7f"},
		{"with DECBKM", "\x1b[?67h", "BSpace", "\b"},
		{"and Control", "\x1b[?67h", "C-BSpace", "\x7f"},
		{"Control with a letter", "", "C-i", "\t"},
		{"modifyOtherKeys 1 leaves what has a form", "\x1b[>4;1m", "C-i", "\t"},
		{"modifyOtherKeys 2 does not", "\x1b[>4;2m", "C-i", "\x1b[27;5;105~"},
		{"in the form of CSI u", "\x1b[>4;2m\x1b[>4;1f", "C-i", "\x1b[105;5u"},
		{"until it is reset", "\x1b[>4;2m\x1b[>4n", "C-i", "\t"},
		{"kitty tells Tab and Control-i apart", "\x1b[>1u", "C-i", "\x1b[105;5u"},
		{"and leaves Tab", "\x1b[>1u", "Tab", "\t"},
		{"Escape is told", "\x1b[>1u", "Escape", "\x1b[27u"},
		{"all keys as sequences", "\x1b[>8u", "a", "\x1b[97u"},
		{"with their text", "\x1b[>24u", "a", "\x1b[97;;97u"},
		{"popped", "\x1b[>8u\x1b[<u", "a", "a"},
		{"another on the alternate screen", "\x1b[>8u\x1b[?1049h", "a", "a"},
		{"and back", "\x1b[>8u\x1b[?1049h\x1b[>1u\x1b[?1049l", "a", "\x1b[97u"},
		{"kitty before modifyOtherKeys", "\x1b[>4;2m\x1b[>1u", "C-a", "\x1b[97;5u"},
		{"RIS ends all", "\x1b[?1h\x1b[20h\x1b[>8u\x1b[>4;2m\x1bc", "Up", "\x1b[A"},
	} {
		term := (&example{}).terminal()
		write(term, c.printed)
		k, err := input.ParseKey(c.key)
		if err != nil {
			t.Fatal(err)
		}
		m := term.Modes()
		if got := string(input.AppendKey(nil, k, &m)); got != c.sent {
			t.Errorf("%s: after %q %s sends %q, want %q", c.name, c.printed, c.key, got, c.sent)
		}
	}
}

// TestWhatIsClicked: the same for the mouse, focus and paste.
//
// FEATURES: R30
func TestWhatIsClicked(t *testing.T) {
	click := input.Mouse{Button: input.ButtonLeft, Row: 1, Col: 2}
	drag := input.Mouse{Button: input.ButtonLeft, Action: input.MouseMotion, Row: 1, Col: 2}
	wheel := input.Mouse{Button: input.ButtonWheelUp}
	for _, c := range []struct {
		name, printed string
		event         input.Mouse
		sent          string
	}{
		{"nobody asked", "", click, ""},
		{"X10", "\x1b[?9h", click, "\x1b[M #\""},
		{"normal", "\x1b[?1000h", click, "\x1b[M #\""},
		{"a drag is not told", "\x1b[?1000h", drag, ""},
		{"but by mode 1002", "\x1b[?1002h", drag, "\x1b[M@#\""},
		{"in SGR", "\x1b[?1000;1006h", click, "\x1b[<0;3;2M"},
		{"the last encoding counts", "\x1b[?1000;1006;1015h", click, "\x1b[32;3;2M"},
		{"a reset of one resets all", "\x1b[?1000;1006;1015h\x1b[?1006l", click, "\x1b[M #\""},
		{"in pixels", "\x1b[?1000;1016h", click, "\x1b[<0;21;25M"},
		{"ended", "\x1b[?1003h\x1b[?1000l", click, ""},
		{"DECSTR leaves it", "\x1b[?1000;1006h\x1b[!p", click, "\x1b[<0;3;2M"},
		{"the wheel on the primary screen", "", wheel, ""},
		{"on the alternate one", "\x1b[?1049h", wheel, "\x1b[A\x1b[A\x1b[A"},
		{"with application cursor keys", "\x1b[?1049;1h", wheel, "\x1bOA\x1bOA\x1bOA"},
		{"unless that is off", "\x1b[?1049h\x1b[?1007l", wheel, ""},
		{"a mouse that is asked for comes first", "\x1b[?1049;1000h", wheel, "\x1b[M`!!"},
	} {
		term := (&example{}).terminal()
		write(term, c.printed)
		m := term.Modes()
		if got := string(input.AppendMouse(nil, c.event, &m)); got != c.sent {
			t.Errorf("%s: after %q it sends %q, want %q", c.name, c.printed, got, c.sent)
		}
	}
	for printed, want := range map[string][3]string{ // focus gained, lost, a paste
		"":                       {"", "", "text"},
		"\x1b[?1004h":            {"\x1b[I", "\x1b[O", "text"},
		"\x1b[?2004h":            {"", "", "\x1b[200~text\x1b[201~"},
		"\x1b[?1004;2004h\x1bc":  {"", "", "text"},
		"\x1b[?2004h\x1b[!p":     {"", "", "\x1b[200~text\x1b[201~"},
		"\x1b[?2004h\x1b[?1049h": {"", "", "\x1b[200~text\x1b[201~"},
	} {
		term := (&example{}).terminal()
		write(term, printed)
		m := term.Modes()
		got := [3]string{
			string(input.AppendFocus(nil, true, &m)), string(input.AppendFocus(nil, false, &m)), string(input.AppendPaste(nil, []byte("text"), &m)),
		}
		if got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}

// TestEchoedInput checks that a mouse report, and a reply, are shown completely when the program echoes them: no input
// makes the terminal reply, or change the screen outside of its edges.
func TestEchoedInput(t *testing.T) {
	m := vterm.Modes{Mouse: vterm.MouseAny, MouseEncoding: vterm.MouseEncodingSGR, Kitty: vterm.KittyFlagsAll, FocusEvents: true, BracketedPaste: true}
	for _, name := range []string{"Up", "F1", "F20", "C-M-S-Delete", "a", "C-a", "Enter", "Escape", "M-x", "S-Tab", "Insert", "Menu"} {
		k, err := input.ParseKey(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, modes := range []vterm.Modes{{}, {AppCursor: true, AppKeypad: true}, m, {ModifyOtherKeys: 2}} {
			term := (&example{}).terminal()
			typed := input.AppendKey(nil, k, &modes)
			write(term, string(typed)+"\x18")
			if got := term.Replies(nil); len(got) > 0 {
				t.Errorf("%s echoed as %q is answered %q", name, typed, got)
			}
			if what := unsound(term); what != "" {
				t.Errorf("%s echoed as %q: %s", name, typed, what)
			}
		}
	}
}
