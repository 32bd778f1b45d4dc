package lineexec

import (
	"bytes"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// editor records what the shell's line editor may contain besides submitted lines.
//
// A user's unfinished line is never combined with a submitted one: it is cleared. It stays on the screen, and in the
// editor's kill buffer, if any. A line that the user ended with Enter goes first.
type editor struct {
	unsubmitted unsubmittedText
	replied     bool // replies to queries were typed since a command began
	leaked      bool // and the editor may have taken them for keys

	at     time.Time // when a line was ended
	prompt uint64    // where it will be read, if by the shell
	ahead  bool      // it was typed before that prompt was there
}

// unsubmittedText is the kind of text that was typed without Enter.
type unsubmittedText uint8

const (
	leftNothing unsubmittedText = iota
	leftAhead                   // text, before the prompt: perhaps a program read it
	leftText
	leftKeys // that may have moved the cursor or changed the editor's mode
)

// EnterTime is how long a shell may take to start a line that the user typed. A submitted line that is typed earlier
// would become input of the user's line. aheadTime is the shorter limit for type-ahead, which an earlier command may
// have read.
const (
	EnterTime = 500 * time.Millisecond
	aheadTime = 100 * time.Millisecond
)

// enteredLimit bounds how long a shell that reports starts may take to read a line that the user typed, on a slow machine.
const enteredLimit = 10 * time.Second

// NoteTyped records input.
func (m *Machine) NoteTyped(data []byte) {
	v := m.host.View()
	m.editor.noteTyped(data, &v)
}

// NoteReply records that a reply to a query was typed.
func (m *Machine) NoteReply() { m.editor.replied = true }

func (e *editor) noteTyped(data []byte, v *View) {
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
		e.unsubmitted = leftNothing
	}
	if !atPrompt { // Ctrl-D: end of a program's input; an empty editor of a shell exits
		rest = bytes.ReplaceAll(rest, []byte{'D' - '@'}, nil)
	}
	switch {
	case len(rest) == 0:
	case !isText(rest): // also before the prompt: what ran need not have read them
		e.unsubmitted = leftKeys
	case !atPrompt:
		e.unsubmitted = max(e.unsubmitted, leftAhead)
	default:
		e.unsubmitted = max(e.unsubmitted, leftText)
	}
}

// isText reports whether data consists of characters and corrections of them.
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

func (e *editor) hasEnteredLine() bool { return !e.at.IsZero() }

// enterTimeLeft returns how much longer a typed line may take to start.
func (e *editor) enterTimeLeft(v *View) time.Duration {
	switch {
	case e.at.IsZero() || v.Phase != shell.PhasePrompt || v.Prompt != e.prompt:
		return 0
	case e.ahead:
		return aheadTime - v.Now.Sub(v.Since)
	default:
		return EnterTime - v.Now.Sub(e.at)
	}
}

// isReadingEntered reports whether the shell may still read a line that the user typed: by the kernel, the shell does not wait for
// input again. A line that was submitted now would be input of the command that the user's line starts.
func (m *Machine) isReadingEntered(v *View) bool {
	e := &m.editor
	if e.at.IsZero() || v.MaxQuality != shell.Full || v.Phase != shell.PhasePrompt || v.Prompt != e.prompt {
		return false
	}
	since := e.at
	if v.Since.After(since) {
		since = v.Since
	}
	if v.Now.Sub(since) >= enteredLimit {
		return false
	}
	p := m.host.Probe()
	return p.Prints || p.Known && (!p.Shell || !p.Reads || p.Unread > 0)
}

// commandEnded removes replies that the command did not read, if no keys of a user are among them. Late replies were
// taken for keys by the shell's editor.
func (e *editor) commandEnded(h Host) {
	if !e.replied {
		return
	}
	// The editor may take over the terminal between a probe and the flush, and the flush may cut a sequence in the
	// middle: the editor is cleared in any case.
	e.replied, e.leaked = false, true
	p := h.Probe()
	if !p.Known || !p.Canonical || e.unsubmitted == leftNothing {
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

// clear returns how to clear the editor.
func (e *editor) clear(k shell.Kind) (clearing, []byte) {
	ended := !e.at.IsZero() // a line that did not start may still be in the editor
	switch {
	case e.unsubmitted == leftKeys:
		return clearByInterrupt, nil
	case e.leaked && k.Spec().EscSearches:
		return clearByKeys, []byte{abort, killLine}
	case e.unsubmitted == leftAhead && k.Spec().KillRingsBell && !ended:
		return clearByKeys, []byte{' ', killLine}
	case e.leaked && !k.Spec().KillRedrawsPrompt: // the first one may end a sequence that was cut
		return clearByKeys, []byte{killLine, killLine}
	case e.unsubmitted != leftNothing || e.leaked || ended:
		return clearByKeys, []byte{killLine}
	}
	return clearNothing, nil
}
