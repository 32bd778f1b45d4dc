package redact

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// StreamRedactor masks lines of text that come one after the other, and screens. One goroutine uses it at a time.
type StreamRedactor struct {
	now func() *Set
	key int // bytes of a private key that were seen; 0: none is being printed
}

// NewStreamRedactor returns a redactor for a text from its start.
func NewStreamRedactor(s *Set) *StreamRedactor { return &StreamRedactor{now: func() *Set { return s }} }

// StreamRedactor returns a redactor for a text from its start, with the vault's current knowledge at each moment.
func (v *Vault) StreamRedactor() *StreamRedactor { return &StreamRedactor{now: v.Set} }

// Line returns a line as it may be shown. whole is set if the line has its end.
func (v *StreamRedactor) Line(line string, whole bool) string {
	set := v.now()
	if set.Empty() {
		return line
	}
	if v.key > 0 {
		if strings.Contains(line, pemEnd) || v.key > maxPEM {
			v.key = 0
		} else {
			if whole {
				v.key += len(line) + 1
			}
			return ""
		}
	}
	if whole && set.formats && strings.Contains(line, pemBegin) && strings.Contains(line, pemKey) {
		v.key = 1
	}
	return set.Text(line)
}

// Frame masks a screen below lines of history (Above).
func (v *StreamRedactor) Frame(f *vterm.Frame, above []vterm.Line) { v.now().Frame(f, above) }
