package lineexec

import (
	"bytes"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// editor is what the shell's line editor may hold that no line of ours put there.
//
// A person's unfinished line is never run together with one of ours: it is cleared. It stays
// on the screen, and in the editor's kill buffer where there is one. A line that a person
// ended with Enter goes first.
type editor struct {
	left    left
	replied bool // replies to queries were typed since a command began
	leaked  bool // and the editor may have taken them for keys

	at     time.Time // when a line was ended
	prompt uint64    // where it will be read, if by the shell
	ahead  bool      // it was typed before that prompt was there
}

// left is what was typed and not ended with Enter.
type left uint8

const (
	leftNothing left = iota
	leftAhead        // text, before the prompt: perhaps a program read it
	leftText
	leftKeys // that may have moved the cursor or changed the editor's mode
)

// How long a shell gets to begin with a line that a person typed, before another one is
// typed: it would go to what that line starts. What was typed ahead of the prompt may have
// been read by what ran before.
const (
	EnterTime = 500 * time.Millisecond
	aheadTime = 100 * time.Millisecond
)

// Typed notes that something was typed.
func (m *Machine) Typed(data []byte) {
	v := m.host.View()
	m.editor.typed(data, &v)
}

// Replied notes that a reply to a query was typed.
func (m *Machine) Replied() { m.editor.replied = true }

func (e *editor) typed(data []byte, v *View) {
	if len(data) == 0 {
		return
	}
	atPrompt := v.Phase == shell.PhasePrompt
	if bytes.HasSuffix(data, []byte("\r")) {
		e.at, e.prompt, e.ahead = v.Now, v.Prompt, !atPrompt
		if e.ahead {
			e.prompt++
		}
	}
	rest := data[bytes.LastIndexAny(data, "\r\n\x03")+1:]
	if len(rest) < len(data) {
		e.left = leftNothing
	}
	if !atPrompt { // the end of what a program reads; a shell that gets it with no line ends
		rest = bytes.ReplaceAll(rest, []byte{'D' - '@'}, nil)
	}
	switch {
	case len(rest) == 0:
	case !isText(rest): // also before the prompt: what ran need not have read them
		e.left = leftKeys
	case !atPrompt:
		e.left = max(e.left, leftAhead)
	default:
		e.left = max(e.left, leftText)
	}
}

// isText says that typed bytes are characters, and corrections of them.
func isText(data []byte) bool {
	for _, mark := range [][]byte{[]byte("\x1b[200~"), []byte("\x1b[201~")} {
		data = bytes.ReplaceAll(data, mark, nil)
	}
	for _, c := range data {
		if c < ' ' && c != 'U'-'@' && c != 'W'-'@' && c != '\b' {
			return false
		}
	}
	return true
}

func (e *editor) entered() bool { return !e.at.IsZero() }

// entersFor is how much longer a line that was typed may take to begin.
func (e *editor) entersFor(v *View) time.Duration {
	switch {
	case e.at.IsZero() || v.Phase != shell.PhasePrompt || v.Prompt != e.prompt:
		return 0
	case e.ahead:
		return aheadTime - v.Now.Sub(v.Since)
	default:
		return EnterTime - v.Now.Sub(e.at)
	}
}

// commandEnded takes replies back that the command did not read, if no keys of a person are among
// them. Those that come too late the shell's editor has taken for keys.
func (e *editor) commandEnded(h Host) {
	if !e.replied {
		return
	}
	// Whether the editor has taken the terminal over can change between a look and the flush, and
	// the flush can leave it in the middle of a sequence: it is cleared in any case.
	e.replied, e.leaked = false, true
	p := h.Probe()
	if !p.Known || !p.Canonical || e.left == leftNothing {
		_ = h.Do(Action{Kind: ActFlush})
	}
}

type clearing uint8

const (
	clearNothing clearing = iota
	clearByKeys
	clearByInterrupt
)

const (
	killLine = 'U' - '@' // the line, up to the cursor
	abort    = 'G' - '@'
)

// clear is how the editor is cleared.
func (e *editor) clear(k shell.Kind) (clearing, []byte) {
	ended := !e.at.IsZero() // a line that did not begin: it may be there still
	switch {
	case e.left == leftKeys:
		return clearByInterrupt, nil
	case e.leaked && k.Spec().EscSearches:
		return clearByKeys, []byte{abort, killLine}
	case e.left == leftAhead && k.Spec().RingsWhenEmpty && !ended:
		return clearByKeys, []byte{' ', killLine}
	case e.leaked && !k.Spec().KillDraws: // the first one may end a sequence that was cut
		return clearByKeys, []byte{killLine, killLine}
	case e.left != leftNothing || e.leaked || ended:
		return clearByKeys, []byte{killLine}
	}
	return clearNothing, nil
}
