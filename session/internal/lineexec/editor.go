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
	unsubmitted   unsubmittedText
	repliesTyped  bool // since a command started
	repliesLeaked bool // the editor may have taken such replies for keys

	enteredAt     time.Time // when the user last ended a line
	enteredPrompt uint64    // number of the prompt at which the shell will read it
	enteredAhead  bool      // it was typed before that prompt was printed
}

// unsubmittedText is the kind of text that was typed without Enter. A greater value needs more work to clear.
type unsubmittedText uint8

const (
	unsubmittedNone  unsubmittedText = iota
	unsubmittedAhead                 // text typed before the prompt, which a program may have read
	unsubmittedPlain
	unsubmittedKeys // keys that may have moved the cursor or changed the editor's mode
)

// EnterTime is how long a shell may take to start a line that the user typed. A submitted line that is typed earlier
// would become input of the user's line. aheadTime is the shorter limit for type-ahead, which an earlier command may
// have read.
const (
	EnterTime = 500 * time.Millisecond
	aheadTime = 100 * time.Millisecond
)

// maxEnteredTime bounds how long a line that the user ended may take to start, on a slow machine.
const maxEnteredTime = 10 * time.Second

// NoteTyped records input.
func (m *Machine) NoteTyped(data []byte) {
	v := m.host.View()
	m.editor.noteTyped(data, &v)
	if m.hasUnmarkedLine(&v) && len(m.queue) == 0 && !m.hold.active {
		m.setTimer(EnterTime)
	}
}

// NoteReply records that a reply to a query was typed.
func (m *Machine) NoteReply() { m.editor.repliesTyped = true }

// noteTyped records input.
func (e *editor) noteTyped(data []byte, v *View) {
	if len(data) == 0 {
		return
	}
	atPrompt := v.Phase == shell.PhasePrompt
	if bytes.HasSuffix(data, []byte("\r")) {
		e.enteredAt, e.enteredPrompt, e.enteredAhead = v.Now, v.Prompt, !atPrompt
		if e.enteredAhead {
			e.enteredPrompt++
		}
	}
	rest := data[bytes.LastIndexAny(data, "\r\n\x03")+1:]
	if len(rest) < len(data) {
		e.unsubmitted = unsubmittedNone
	}
	if !atPrompt { // Ctrl-D ends a program's input; an empty editor of a shell exits
		rest = bytes.ReplaceAll(rest, []byte{'D' - '@'}, nil)
	}
	switch {
	case len(rest) == 0:
	case !isText(rest): // also before the prompt: the program may not have read them
		e.unsubmitted = unsubmittedKeys
	case !atPrompt:
		e.unsubmitted = max(e.unsubmitted, unsubmittedAhead)
	default:
		e.unsubmitted = max(e.unsubmitted, unsubmittedPlain)
	}
}

// isText reports whether data consists of characters, and keys that delete them.
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

// hasEnteredLine reports whether the user ended a line that has not started.
func (e *editor) hasEnteredLine() bool { return !e.enteredAt.IsZero() }

// enterTimeLeft returns how much longer a typed line may take to start.
func (e *editor) enterTimeLeft(v *View) time.Duration {
	switch {
	case e.enteredAt.IsZero() || v.Phase != shell.PhasePrompt || v.Prompt != e.enteredPrompt:
		return 0
	case e.enteredAhead:
		return aheadTime - v.Now.Sub(v.Since)
	default:
		return EnterTime - v.Now.Sub(e.enteredAt)
	}
}

// isReadingEntered reports whether the shell may still read a line that the user typed: by the kernel, the shell does not wait for
// input again. A line that was submitted now would be input of the command that the user's line starts.
func (m *Machine) isReadingEntered(v *View) bool {
	e := &m.editor
	if e.enteredAt.IsZero() || v.MaxQuality != shell.Full || v.Phase != shell.PhasePrompt || v.Prompt != e.enteredPrompt {
		return false
	}
	since := e.enteredAt
	if v.Since.After(since) {
		since = v.Since
	}
	if v.Now.Sub(since) >= maxEnteredTime {
		return false
	}
	p := m.host.Probe()
	return p.OutputPending || p.Known && (!p.ReaderIsShell || !p.Reads || p.Unread > 0)
}

// flushReplies discards replies that the command did not read, unless a user's keys are among them. Later replies were
// taken for keys by the shell's editor.
func (e *editor) flushReplies(h Host) {
	if !e.repliesTyped {
		return
	}
	// The editor may take over the terminal between a probe and the flush, and the flush may cut a sequence in the
	// middle: the editor is cleared in any case.
	e.repliesTyped, e.repliesLeaked = false, true
	p := h.Probe()
	if !p.Known || !p.Canonical || e.unsubmitted == unsubmittedNone {
		_ = h.Do(Action{Kind: ActFlush})
	}
}

// clearMethod is a way to clear the editor.
type clearMethod uint8

const (
	clearNothing clearMethod = iota
	clearByKeys
	clearByInterrupt
)

const (
	killLineKey = 'U' - '@' // deletes the line up to the cursor
	abortKey    = 'G' - '@' // leaves a search of the editor
)

// clear returns how to clear the editor, and the keys to type for it.
func (e *editor) clear(k shell.Kind) (clearMethod, []byte) {
	ended := !e.enteredAt.IsZero() // a line that did not start may still be in the editor
	switch {
	case e.unsubmitted == unsubmittedKeys:
		return clearByInterrupt, nil
	case e.repliesLeaked && k.Spec().EscSearches:
		return clearByKeys, []byte{abortKey, killLineKey}
	case e.unsubmitted == unsubmittedAhead && k.Spec().KillRingsBell && !ended:
		return clearByKeys, []byte{' ', killLineKey}
	case e.repliesLeaked && !k.Spec().KillRedrawsPrompt: // the first one may end a sequence that was cut
		return clearByKeys, []byte{killLineKey, killLineKey}
	case e.unsubmitted != unsubmittedNone || e.repliesLeaked || ended:
		return clearByKeys, []byte{killLineKey}
	}
	return clearNothing, nil
}
