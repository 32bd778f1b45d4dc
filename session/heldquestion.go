package session

import (
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// heldQuestion is what the program asked for when a person typed a key that does not end a line. It may have been the
// answer, so the status has it no more; mostly the same is asked for still when the key has been read, and whoever is told
// of changes would hear of two of them for each key, hold the second for a new question, and take the processor's time from
// the key's echo. So nothing is told before it is known which it was.
type heldQuestion struct {
	needs  Needs
	shell  ShellStatus
	prompt bool   // shell is a prompt that was guessed
	row    uint64 // of the cursor
}

// withinLine says that data are characters, or take one back: nothing that ends a line, completes it or moves about.
func withinLine(data []byte) bool {
	for _, c := range data {
		if c < ' ' {
			return false
		}
	}
	return len(data) > 0
}

// hold takes what is asked for out of the status without telling anybody.
func (h *inputWait) hold() {
	st := h.s.Status()
	prompt := !h.s.lines.followed() && st.Shell.Phase == shell.PhasePrompt
	if st.Needs.Kind == evidence.None && !prompt {
		return
	}
	h.held = &heldQuestion{needs: st.Needs, shell: st.Shell, prompt: prompt, row: h.cursorRow()}
	h.s.update(ChangeOutput, func(st *Status) {
		st.Needs = Needs{}
		if prompt {
			st.Shell = h.noPrompt()
		}
	})
}

// tellHeld tells that what was held is not asked for any more.
func (h *inputWait) tellHeld() {
	held := h.held
	if held == nil {
		return
	}
	h.held = nil
	if held.needs.Kind != evidence.None {
		h.s.update(ChangeInput, func(*Status) {})
	}
	if held.prompt {
		h.s.update(ChangeShell, func(*Status) {})
	}
}

// leaveRow tells it when the program prints elsewhere than where it asked: it goes on.
func (h *inputWait) leaveRow() {
	if h.held != nil && h.held.row != h.cursorRow() {
		h.tellHeld()
	}
}

// stillHeld says that a look changes nothing of what others know: it is not known yet whether the same is asked for still,
// or it is.
func (h *inputWait) stillHeld(f *inputwait.Finding) bool {
	held := h.held
	if held == nil || f.Doubt {
		return held != nil
	}
	asked := held.needs.Kind
	if held.prompt {
		asked = evidence.Prompt
	}
	if f.Verdict.Kind != asked {
		h.tellHeld()
		return false
	}
	h.held = nil
	if held.needs.Kind != evidence.None {
		held.needs = newNeeds(f.Verdict)
		h.s.history.noteAsks(held.needs)
	}
	h.s.update(ChangeInputAgain, func(st *Status) {
		st.Needs = held.needs
		if held.prompt {
			st.Shell = held.shell
		}
	})
	return true
}

// cursorRow is the id of the row that the cursor is in.
func (h *inputWait) cursorRow() uint64 {
	var f vterm.Frame
	h.s.engine.Frame(&f, vterm.Query{Since: h.s.engine.Version()}) // the cursor only
	return h.s.topRow() + uint64(f.Cursor.Row)
}
