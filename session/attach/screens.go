package attach

import (
	"bytes"
	"slices"
)

// Screens tracks which screen of a terminal shows its output, for callers that must return to the primary one. They
// must do so only if needed, and as the program would: on the primary screen CSI ? 1049 l still moves the cursor, to
// its last saved place (xterm; tmux: where the alternate screen was last entered).
//
// It is a pure machine: any split of the same bytes gives the same answer. The zero value is on the primary screen.
type Screens struct {
	by    string // the mode that showed the alternate screen; empty: primary
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

// Next reads output up to and including the byte that switches the screen, or all of it, and returns the length.
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

// Assume sets the shown screen if the start of the output is unknown.
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

// Leave returns the sequence that returns to the primary screen, or "" if it is shown. back reports whether the cursor
// then returns to its place from before the switch; otherwise it stays.
func (s *Screens) Leave() (sequence string, back bool) {
	if s.by == "" {
		return "", true
	}
	return "\x1b[?" + s.by + "l", s.by == "1049"
}
