package inputdetect

import (
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

// TestClassify_RealPrograms runs programs on a terminal and checks their verdicts.
// FEATURES: R40, R42, R88
func TestClassify_RealPrograms(t *testing.T) {
	tier.Full(t)
	for _, c := range []struct {
		name string
		argv []string
		want Kind
	}{
		{"cat", []string{"cat"}, Text},
		{"read -p", []string{"bash", "-c", "read -rp 'Name: ' x"}, Text},
		{"read -s", []string{"bash", "-c", "read -rsp 'Password: ' x"}, Password},
		{"getpass", []string{"python3", "-c", "import getpass; getpass.getpass()"}, Password},
		{"rm -i", []string{"sh", "-c", ": >\"$HOME/a\"; rm -i \"$HOME/a\""}, Confirm},
		{"read -n1", []string{"bash", "-c", "read -rn1 -p 'Press any key to continue '"}, Confirm},
		{"select", []string{"bash", "-c", "select x in red green; do :; done"}, Menu},
		{"python", []string{"python3", "-q"}, Text},
		{"node", []string{"node"}, Text},
		{"bash", []string{"bash", "--norc", "-i"}, Prompt},
		{"zsh", []string{"zsh", "-f"}, Prompt},
	} {
		t.Run(c.name, func(t *testing.T) {
			term := startTerminal(t, true, c.argv...)
			var v Verdict
			term.waitFor("a "+string(c.want), func(r Result) bool {
				m, err := sys.ReadModes(int(term.master.Fd()))
				if err != nil {
					return false
				}
				v = Classify(term.facts(r, &m))
				return v.Kind == c.want
			})
			if v.NeedsInput != (c.want != Prompt) {
				t.Errorf("got verdict %+v", v)
			}
		})
	}
	t.Run("forged", func(t *testing.T) {
		term := startTerminal(t, true, "sh", "-c", "printf 'Password: '; stty -echo; exec sleep 1000")
		r := term.waitFor("asleep", func(r Result) bool { return r.State == Sleeping && r.Program == "sleep" })
		m, err := sys.ReadModes(int(term.master.Fd()))
		if v := Classify(term.facts(r, &m)); err != nil || v.NeedsInput {
			t.Errorf("got verdict %+v, error %v", v, err)
		}
	})
}

// facts returns the facts of the printed output, for programs that need no emulator: escape sequences are ignored.
func (term *testTerminal) facts(r Result, m *sys.Modes) Evidence {
	term.mu.Lock()
	defer term.mu.Unlock()
	text := term.output.String()
	f := Evidence{Probe: r, Modes: m, BracketedPaste: strings.LastIndex(text, "\x1b[?2004h") > strings.LastIndex(text, "\x1b[?2004l")}
	var b strings.Builder
	for len(text) > 0 {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			text = rest[end+1:]
			continue
		}
		if text[0] == '\n' || text[0] >= ' ' {
			b.WriteByte(text[0])
		}
		text = text[1:]
	}
	f.Silence = time.Second
	return screenFacts(b.String(), f)
}
