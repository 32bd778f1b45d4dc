package inputdetect

import (
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// FAULT: G20
func TestPasswordBox(t *testing.T) {
	box := func(above []string, line, after string) Evidence {
		return Evidence{Probe: resultPolling("whiptail", -1), Modes: raw, AltScreen: true, Above: above, Line: line, After: after}
	}
	whiptail := []string{"      ┌──────────────────┐", "      │ Password for db  │", "      │                  │"}
	editor := box([]string{"# settings"}, "Password: ", "")
	pasting := box(whiptail, "      │ ", "________________ │")
	pasting.BracketedPaste = true
	echoing := box(whiptail, "      │ ", "________________ │")
	echoing.Modes = &sys.Modes{Echo: true}
	for _, c := range []struct {
		name string
		f    Evidence
		want bool
		kind Kind
	}{
		{"whiptail", box(whiptail, "      │ ", "________________ │"), true, Password},
		{"half typed", box(whiptail, "      │ ***", "_____________ │"), true, Password},
		{"the title asks", box([]string{"┌───┤ Passphrase ├───┐", "│ Unlock the card    │"}, "│ ", "_________________ │"), true, Password},
		{"pinentry", box([]string{"┌─────────────┐", "│ Unlock the key │"}, "│ Passphrase: ", "__________ │"), true, Password},
		{"in ASCII", box([]string{"+-------------+", "| Enter the PIN |"}, "| ", "             |"), true, Password},
		{"another question", box([]string{"┌─────────────┐", "│ Shipping address │"}, "│ ", "__________ │"), false, Text},
		{"text in the field", box(whiptail, "      │ bob", "_____________ │"), false, Menu},
		{"above the box", box([]string{"Password:", "", "┌─────────────┐"}, "│ ", "__________ │"), false, Screen},
		{"an editor's text", editor, false, Password},
		{"a line editor", pasting, false, Screen},
		{"keys are shown", echoing, false, Screen},
	} {
		v := Classify(c.f)
		if v.IsPasswordBox != c.want || v.Kind != c.kind || !v.NeedsInput {
			t.Errorf("%s: got verdict %+v", c.name, v)
		}
	}
}

// TestBox_QuotesTitleAndText checks that a box of whiptail or dialog is a question with the title and text of the box,
// also behind a relay.
// FEATURES: R42
func TestBox_QuotesTitleAndText(t *testing.T) {
	top := []string{"", "      ┌────────────┤ Disk setup ├────────────┐"}
	rows := func(above ...string) []string { return append(append([]string(nil), top...), above...) }
	for _, c := range []struct {
		name        string
		program     string
		above       []string
		line, after string
		kind        Kind
		text        string
	}{
		{"yes or no", "whiptail", rows("      │                                      │", "      │ Erase the whole disk?                │", "      │                                      │"),
			"      │        ", "<Yes>           <No>          │", Menu, "Disk setup: Erase the whole disk?"},
		{"several rows of text", "whiptail", rows("      │ All data is                          │", "      │ lost.                                │", "      │                                      │"),
			"      │        ", "<Ok>          │", Menu, "Disk setup: All data is lost."},
		{"a menu", "dialog", []string{"  ┌────────Pick────────┐", "  │ Which one?         │", "  │ ┌────────────────┐ │"}, "  │ │ ", "1 red          │ │", Menu, "Pick: Which one?"},
		{"an empty field", "whiptail", rows("      │ Name of this host:                   │", "      │                                      │"),
			"      │ ", "____________________________________ │", Text, "Disk setup: Name of this host:"},
		{"a filled field", "whiptail", rows("      │ Name of this host:                   │", "      │                                      │"),
			"      │ web1", "________________________________ │", Menu, "Disk setup: Name of this host:"},
		{"no title", "dialog", []string{"+--------------+", "| Go on?       |", "|--------------|"}, "|   < ", "Yes >  < No > |", Menu, "Go on?"},
		{"a secret", "whiptail", rows("      │ Password of root                     │", "      │                                      │"),
			"      │ ", "____________________________________ │", Password, "Disk setup: Password of root"},
		{"no box", "dialog", []string{"+", "text"}, "", "", Screen, ""},
		{"another program", "mc", rows("      │ Erase the whole disk?                │"), "      │        ", "<Yes>           <No>          │", Screen, ""},
	} {
		f := Evidence{Probe: resultPolling(c.program, -1), Modes: raw, AltScreen: true, Above: c.above, Line: c.line, After: c.after}
		relayed := f
		relayed.Probe = relayOf("script", f.Probe, raw)
		for _, f := range []Evidence{f, relayed} {
			if v := Classify(f); v.Kind != c.kind || !v.NeedsInput || PromptText(v.Reason) != c.text {
				t.Errorf("%s: got %+v", c.name, v)
			}
		}
	}
}
