package attach

import (
	"bytes"
	"slices"
)

// Screens tracks which screen of a terminal shows its output, for callers that must return to the primary one. They
// must do so only if needed, and as the program would: on the primary screen CSI ? 1049 l still moves the cursor, to
// its last saved position (xterm; tmux: where the alternate screen was last entered).
//
// It is a pure state machine: any split of the same bytes gives the same result. The zero value is on the primary screen.
type Screens struct {
	mode    string // mode that switched to the alternate screen; empty: primary
	partial []byte // incomplete sequence
}

// maxModes bounds the parsed sequences, in bytes; a program that sets more modes at once is not tracked.
const maxModes = 64

// Write processes output.
func (s *Screens) Write(p []byte) {
	for len(p) > 0 {
		p = p[s.ReadToSwitch(p):]
	}
}

// ReadToSwitch processes output up to and including the byte that switches the screen, or all of it, and returns the length.
func (s *Screens) ReadToSwitch(p []byte) int {
	was := s.IsAlternate()
	for n := 0; n < len(p); {
		if len(s.partial) == 0 {
			i := bytes.IndexByte(p[n:], esc)
			if i < 0 {
				break
			}
			s.partial = append(s.partial, esc)
			n += i + 1
			continue
		}
		s.step(p[n])
		if n++; s.IsAlternate() != was {
			return n
		}
	}
	return len(p)
}

// IsAlternate reports whether the alternate screen is shown.
func (s *Screens) IsAlternate() bool { return s.mode != "" }

// SetAlternate sets the shown screen if the start of the output is unknown.
func (s *Screens) SetAlternate(alternate bool) {
	*s = Screens{}
	if alternate {
		s.mode = "1049"
	}
}

// step processes one byte of a sequence.
func (s *Screens) step(c byte) {
	n := len(s.partial)
	s.partial = append(s.partial, c)
	switch {
	case c == esc:
		s.partial = append(s.partial[:0], esc)
	case n == 1 && c == 'c': // RIS
		s.mode, s.partial = "", s.partial[:0]
	case n == 1 && c == '[', n == 2 && c == '?', n > 2 && n < maxModes && (c >= '0' && c <= '9' || c == ';'):
	case n > 2 && (c == 'h' || c == 'l'):
		s.applyModes(s.partial[3:n], c == 'h')
		s.partial = s.partial[:0]
	default:
		s.partial = s.partial[:0]
	}
}

// applyModes applies set or reset modes.
func (s *Screens) applyModes(params []byte, set bool) {
	for p := range bytes.SplitSeq(params, []byte(";")) {
		mode := string(bytes.TrimLeft(p, "0"))
		switch {
		case !slices.Contains(alternateModes, mode):
		case !set:
			s.mode = ""
		case s.mode == "":
			s.mode = mode
		}
	}
}

// alternateModes are the modes that switch to the alternate screen.
var alternateModes = []string{"47", "1047", "1049"}

// LeaveSequence returns the sequence that returns to the primary screen, or "" if it is shown. restoresCursor reports whether
// the cursor then returns to its position before the switch; otherwise it stays.
func (s *Screens) LeaveSequence() (sequence string, restoresCursor bool) {
	if s.mode == "" {
		return "", true
	}
	return "\x1b[?" + s.mode + "l", s.mode == "1049"
}
