package session

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/vterm"
)

// A replay from a checkpoint does not restore what the program reported before. The emulator keeps a part of it; a file
// in the session's directory has the other part.

// reportedFile, in the session's directory, holds the reported state. It is written before the checkpoint.
const reportedFile = "said.json"

// reportedState is the content of reportedFile.
type reportedState struct {
	Cwd      string `json:"cwd,omitempty"`
	Progress string `json:"progress,omitempty"`
	Percent  int    `json:"percent,omitempty"`
}

// changedReportedState returns the reported state to write with a checkpoint, or nil if unchanged.
func (h *historyHost) changedReportedState() ([]byte, error) {
	st := h.s.Status()
	now := reportedState{st.Cwd, st.Progress, st.Percent}
	if h.lastReported != nil && now == *h.lastReported {
		return nil, nil
	}
	h.lastReported = &now
	return json.Marshal(now)
}

// restoreReported reads reportedFile, if present.
func (h *historyHost) restoreReported() {
	s := h.s
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, reportedFile))
	var was reportedState
	if err != nil || json.Unmarshal(b, &was) != nil {
		return
	}
	h.lastReported = &was
	s.update(ChangeOutput, func(st *Status) {
		if st.Cwd == "" {
			st.Cwd = was.Cwd
		}
		st.Progress, st.Percent = was.Progress, was.Percent
	})
}

// restoreStatusFromScreen copies the state of a restored emulator to the status.
func (s *Session) restoreStatusFromScreen() {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // no rows
	s.update(ChangeOutput, func(st *Status) {
		st.Alt = s.engine.Modes().AltScreen
		if f.Title != "" {
			st.Title = f.Title
		}
	})
}
