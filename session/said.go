package session

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/vterm"
)

// What a program said of itself before a checkpoint is in no replay after it. What the
// emulator keeps is asked of it; the rest is in a file beside the checkpoint.

// saidFile is written before the checkpoint.
const saidFile = "said.json"

// said is the file's content.
type said struct {
	Cwd      string `json:"cwd,omitempty"`
	Progress string `json:"progress,omitempty"`
	Percent  int    `json:"percent,omitempty"`
}

// saidState is what a checkpoint takes along of what the program said; nil: nothing new.
func (h *historyHost) saidState() ([]byte, error) {
	st := h.s.Status()
	now := said{st.Cwd, st.Progress, st.Percent}
	if h.said != nil && now == *h.said {
		return nil, nil
	}
	h.said = &now
	return json.Marshal(now)
}

// resumeSaid reads what was written. Without it less is known.
func (h *historyHost) resumeSaid() {
	s := h.s
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, saidFile))
	var was said
	if err != nil || json.Unmarshal(b, &was) != nil {
		return
	}
	h.said = &was
	s.update(ChangeOutput, func(st *Status) {
		if st.Cwd == "" {
			st.Cwd = was.Cwd
		}
		st.Progress, st.Percent = was.Progress, was.Percent
	})
}

// statusOfScreen takes over what a restored emulator knows.
func (s *Session) statusOfScreen() {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // no rows
	s.update(ChangeOutput, func(st *Status) {
		st.Alt = s.engine.Modes().AltScreen
		if f.Title != "" {
			st.Title = f.Title
		}
	})
}
