package attach

import (
	"bytes"
	"slices"
)

// Screens follows which screen of a terminal its output is shown on, for callers who
// have to go back to the primary one.
// That must only be asked for where it is needed, and as the program would have: on the primary screen CSI ? 1049 l
// still moves the cursor, to where it was saved last (xterm; tmux: to where the alternate screen was last entered).
//
// It is a pure machine: any split of the same bytes gives the same answer. The zero value is on the primary screen.
type Screens struct {
	by    string // the mode that showed the alternate screen; empty: the primary one is shown
	begun []byte // of a sequence
}

// maxModes bounds the sequences that are looked at; a program that sets more modes at once is not known.
const maxModes = 64

// Write takes what the terminal gets.
func (s *Screens) Write(p []byte) {
	for len(p) > 0 {
		p = p[s.Next(p):]
	}
}

// Next takes what the terminal gets up to the byte that shows another screen, or all of it, and says how much that was.
func (s *Screens) Next(p []byte) int {
	was := s.Alternate()
	for n := 0; n < len(p); {
		if len(s.begun) == 0 {
			i := bytes.IndexByte(p[n:], esc)
			if i < 0 {
				break
			}
			s.begun = append(s.begun, esc)
			n += i + 1
			continue
		}
		s.step(p[n])
		if n++; s.Alternate() != was {
			return n
		}
	}
	return len(p)
}

// Alternate reports that the alternate screen is shown.
func (s *Screens) Alternate() bool { return s.by != "" }

// Assume says which screen is shown where the beginning of the output is not known.
func (s *Screens) Assume(alternate bool) {
	*s = Screens{}
	if alternate {
		s.by = "1049"
	}
}

func (s *Screens) step(c byte) {
	n := len(s.begun)
	s.begun = append(s.begun, c)
	switch {
	case c == esc:
		s.begun = append(s.begun[:0], esc)
	case n == 1 && c == 'c': // RIS
		s.by, s.begun = "", s.begun[:0]
	case n == 1 && c == '[', n == 2 && c == '?', n > 2 && n < maxModes && (c >= '0' && c <= '9' || c == ';'):
	case n > 2 && (c == 'h' || c == 'l'):
		s.modes(s.begun[3:n], c == 'h')
		s.begun = s.begun[:0]
	default:
		s.begun = s.begun[:0]
	}
}

func (s *Screens) modes(params []byte, set bool) {
	for p := range bytes.SplitSeq(params, []byte(";")) {
		mode := string(bytes.TrimLeft(p, "0"))
		switch {
		case !slices.Contains(alternates, mode):
		case !set:
			s.by = ""
		case s.by == "":
			s.by = mode
		}
	}
}

// alternates are the modes that show the alternate screen.
var alternates = []string{"47", "1047", "1049"}

// Leave is the sequence that goes back to the primary screen; empty if it is shown. back: the cursor is then where it
// was when the program left that screen, else where it is now.
func (s *Screens) Leave() (sequence string, back bool) {
	if s.by == "" {
		return "", true
	}
	return "\x1b[?" + s.by + "l", s.by == "1049"
}
