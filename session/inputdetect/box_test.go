package inputdetect

import (
	"testing"

	"github.com/longterm-dev/longterm/session/sys"
)

// FAULT: G20
func TestPasswordBox(t *testing.T) {
	box := func(above []string, line, after string) Facts {
		return Facts{Probe: resultPolling("whiptail", -1), Modes: raw, AltScreen: true, Above: above, Line: line, After: after}
	}
	whiptail := []string{"      ┌──────────────────┐", "      │ Password for db  │", "      │                  │"}
	editor := box([]string{"# settings"}, "Password: ", "")
	pasting := box(whiptail, "      │ ", "________________ │")
	pasting.BracketedPaste = true
	echoing := box(whiptail, "      │ ", "________________ │")
	echoing.Modes = &sys.Modes{Echo: true}
	for _, c := range []struct {
		name string
		f    Facts
		want bool
		kind Kind
	}{
		{"whiptail", box(whiptail, "      │ ", "________________ │"), true, Password},
		{"half typed", box(whiptail, "      │ ***", "_____________ │"), true, Password},
		{"the title asks", box([]string{"┌───┤ Passphrase ├───┐", "│ Unlock the card    │"}, "│ ", "_________________ │"), true, Password},
		{"pinentry", box([]string{"┌─────────────┐", "│ Unlock the key │"}, "│ Passphrase: ", "__________ │"), true, Password},
		{"in ASCII", box([]string{"+-------------+", "| Enter the PIN |"}, "| ", "             |"), true, Password},
		{"another question", box([]string{"┌─────────────┐", "│ Shipping address │"}, "│ ", "__________ │"), false, Screen},
		{"text in the field", box(whiptail, "      │ bob", "_____________ │"), false, Screen},
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
