package session

import (
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// pendingPrompt is the prompt that was in the status when the user typed a key within a line. The key may have been the
// answer, so the prompt is removed from the status. Mostly the program still waits at the same prompt after it has read
// the key. Publishing both changes for each key would make listeners see a new prompt, and delay the key's echo. So the
// change is published only after a probe has decided.
type pendingPrompt struct {
	needs  InputNeed // removed from the status
	shell  ShellStatus
	prompt bool   // shell is a guessed prompt
	row    uint64 // row of the cursor
}

// withinLine reports whether data consists of characters and backspaces only, without keys that end or complete a line
// or move the cursor.
func withinLine(data []byte) bool {
	for _, c := range data {
		if c < ' ' {
			return false
		}
	}
	return len(data) > 0
}

// deferCleared removes the prompt from the status without an event.
func (h *inputWait) deferCleared() {
	st := h.s.Status()
	prompt := !h.s.lines.isFollowed() && st.Shell.Phase == shell.PhasePrompt
	if st.Needs.Kind == inputdetect.None && !prompt {
		return
	}
	h.pending = &pendingPrompt{needs: st.Needs, shell: st.Shell, prompt: prompt, row: h.cursorRow()}
	h.s.update(ChangeOutput, func(st *Status) {
		st.Needs = InputNeed{}
		if prompt {
			st.Shell = h.statusWithoutPrompt()
		}
	})
}

// publishCleared publishes that the pending prompt is no longer there.
func (h *inputWait) publishCleared() {
	held := h.pending
	if held == nil {
		return
	}
	h.pending = nil
	if held.needs.Kind != inputdetect.None {
		h.s.update(ChangeInput, func(*Status) {})
	}
	if held.prompt {
		h.s.update(ChangeShell, func(*Status) {})
	}
}

// publishIfRowLeft calls publishCleared if the cursor has left the prompt's row: the program continues.
func (h *inputWait) publishIfRowLeft() {
	if h.pending != nil && h.pending.row != h.cursorRow() {
		h.publishCleared()
	}
}

// promptUndecided reports whether a finding changes nothing for listeners: the prompt is still there, or the finding is
// doubtful.
func (h *inputWait) promptUndecided(f *inputwait.Finding) bool {
	held := h.pending
	if held == nil || f.Unconfirmed {
		return held != nil
	}
	asked := held.needs.Kind
	if held.prompt {
		asked = inputdetect.Prompt
	}
	if f.Verdict.Kind != asked {
		h.publishCleared()
		return false
	}
	h.pending = nil
	if held.needs.Kind != inputdetect.None {
		held.needs = newInputNeed(f.Verdict)
		h.s.history.recordInputNeed(held.needs)
	}
	h.s.update(ChangeInputKept, func(st *Status) {
		st.Needs = held.needs
		if held.prompt {
			st.Shell = held.shell
		}
	})
	return true
}

// cursorRow returns the id of the cursor's row.
func (h *inputWait) cursorRow() uint64 {
	var f vterm.Frame
	h.s.engine.Frame(&f, vterm.Query{Since: h.s.engine.Version()}) // only the cursor
	return h.s.topRow() + uint64(f.Cursor.Row)
}
