package redact

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// StreamRedactor masks consecutive lines of text, and screens. One goroutine uses it at a time.
type StreamRedactor struct {
	currentSet func() *Set
	keyBytes   int // bytes of the current private key so far; 0: none is being printed
}

// NewStreamRedactor returns a redactor for a text from its start.
func NewStreamRedactor(s *Set) *StreamRedactor {
	return &StreamRedactor{currentSet: func() *Set { return s }}
}

// StreamRedactor returns a redactor for a text from its start. It uses the vault's current values for each line.
func (v *Vault) StreamRedactor() *StreamRedactor { return &StreamRedactor{currentSet: v.Set} }

// RedactLine returns a masked line, or "" within a private key. whole is set if the line has its end.
func (v *StreamRedactor) RedactLine(line string, whole bool) string {
	set := v.currentSet()
	if set.Empty() {
		return line
	}
	if v.keyBytes > 0 {
		if strings.Contains(line, pemEnd) || v.keyBytes > maxPEM {
			v.keyBytes = 0
		} else {
			if whole {
				v.keyBytes += len(line) + 1
			}
			return ""
		}
	}
	if whole && set.masksTokens && strings.Contains(line, pemBegin) && strings.Contains(line, pemKey) {
		v.keyBytes = 1
	}
	return set.RedactText(line)
}

// RedactFrame masks a screen below lines of history (LinesAbove).
func (v *StreamRedactor) RedactFrame(f *vterm.Frame, above []vterm.Line) {
	v.currentSet().RedactFrame(f, above)
}
