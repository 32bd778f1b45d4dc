package session

import (
	"bytes"

	"github.com/longterm-dev/longterm/session/shell"
)

// echoed says that a command's output begins with some echo of its line: not where the shell's
// editor writes to nowhere.
func (h *lineHost) echoed(c *shell.Command) bool {
	s := h.s
	word := bytes.Fields([]byte(c.Text))
	if len(word) == 0 {
		return true
	}
	buf := make([]byte, min(c.End-c.Start, 4096))
	o, err := s.Output(c.Start, buf)
	first, _, _ := bytes.Cut(o.Data, []byte("\n"))
	return err != nil || bytes.Contains(first, word[0])
}
