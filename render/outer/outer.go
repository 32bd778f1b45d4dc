// Package outer queries the terminal in which longterm runs and finds its answers among the typed keys: colours, light
// or dark scheme, keyboard protocol, pixels of a cell. Attach and the viewer send the result to sessions as a
// vterm.Outer.
//
// The caller writes queries, followed by Attributes, to the terminal and passes its input to Answers.Feed, which
// returns the typed keys and updates Answers.Outer. The answer to Attributes (DA1) comes last, so Fence counts these to
// detect that all answers have arrived. The package does no I/O.
package outer

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// Queries and settings. A terminal answers queries in order.
const (
	// Attributes is DA1, which all terminals answer.
	Attributes = "\x1b[c"
	// AskColors queries the colours of text and background.
	AskColors = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\"
	// AskColorsTmux queries the background of the terminal around tmux, where tmux allows that.
	AskColorsTmux = "\x1bPtmux;\x1b\x1b]11;?\x1b\x1b\\\x1b\\"
	// AskKeys queries the flags of the kitty keyboard protocol.
	AskKeys = "\x1b[?u"
	// AskCell queries the pixels of a cell.
	AskCell = "\x1b[16t"
	// EnableSchemeReports enables reports of changes of the colour scheme, Unfollow disables them.
	EnableSchemeReports, DisableSchemeReports = "\x1b[?2031h", "\x1b[?2031l"
	// StopReports disables all reports that a terminal sends by itself.
	StopReports = "\x1b[=1;1u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l" + DisableSchemeReports
)

// Answers finds a terminal's answers in its input, which may arrive in pieces of any size.
type Answers struct {
	Outer      vterm.Outer // from the answers so far
	Attributes int         // answers to DA1 so far
	// Waiting is set while answers are expected. Feed then holds back the start of any answer at the end of a piece.
	// Otherwise it holds back only the start of a report, which no key sends.
	Waiting bool

	held   []byte // the start of a sequence
	passed int    // bytes of held that Feed has already returned
}

// maxAnswer is longer than any answer, in bytes.
const maxAnswer = 64

const esc = 0x1b

// Feed removes the answers from p, the next piece of input, and appends the rest to dst. It calls onScheme, if not nil,
// with each reported colour scheme.
func (a *Answers) Feed(dst, p []byte, onScheme func(scheme string)) []byte {
	for len(p) > 0 {
		if len(a.held) == 0 {
			n := bytes.IndexByte(p, esc)
			if n < 0 {
				return append(dst, p...)
			}
			dst = append(dst, p[:n]...)
			a.held, p = append(a.held, esc), p[n+1:]
			continue
		}
		dst = a.step(dst, p[0], onScheme)
		p = p[1:]
	}
	if !bytes.HasPrefix(a.held, []byte("\x1b[?")) && (!a.Waiting || len(a.held) < 2) {
		dst = append(dst, a.held[a.passed:]...)
		a.passed = len(a.held)
	}
	return dst
}

// step processes the next byte while a sequence is held back.
func (a *Answers) step(dst []byte, b byte, onScheme func(string)) []byte {
	n := len(a.held)
	inString := n > 1 && a.held[1] == ']'
	if inString && a.held[n-1] == esc && b != '\\' { // the string was interrupted
		passed := a.passed == n
		a.held = a.held[:n-1]
		a.passed = min(a.passed, n-1)
		dst = a.flush(dst)
		a.held, inString = append(a.held, esc), false
		if passed {
			a.passed = 1
		}
	}
	if b == esc && !inString {
		dst = a.flush(dst)
		a.held = append(a.held, esc)
		return dst
	}
	a.held = append(a.held, b)
	switch n = len(a.held); {
	case n > maxAnswer, n == 2 && b != '[' && b != ']':
	case inString && b != '\a' && (b != '\\' || a.held[n-2] != esc), n == 2, !inString && b < 0x40:
		return dst
	default:
		if scheme, ok := a.take(string(a.held)); ok {
			a.held, a.passed = a.held[:0], 0
			if scheme != "" && onScheme != nil {
				onScheme(scheme)
			}
			return dst
		}
	}
	return a.flush(dst)
}

// flush appends the held sequence to dst, because it is not an answer.
func (a *Answers) flush(dst []byte) []byte {
	dst = append(dst, a.held[a.passed:]...)
	a.held, a.passed = a.held[:0], 0
	return dst
}

// take stores the answer in a whole sequence and returns its colour scheme, if any. ok is false if the sequence is not
// an answer.
func (a *Answers) take(text string) (scheme string, ok bool) {
	o := &a.Outer
	body, control := strings.CutPrefix(text, "\x1b[")
	private := control && strings.HasPrefix(body, "?")
	spec := strings.TrimRight(strings.TrimLeft(body, "\x1b]"), "\a\x1b\\")
	switch {
	case text == "\x1b[?997;1n":
		scheme = vterm.SchemeDark
	case text == "\x1b[?997;2n":
		scheme = vterm.SchemeLight
	case private && strings.HasSuffix(body, "u"):
		o.Keys = vterm.KeysAll
	case private && strings.HasSuffix(body, "c"):
		if a.Attributes++; o.Keys == "" { // the answer of the keyboard protocol would come first
			o.Keys = vterm.KeysNone
		}
	case control && strings.HasPrefix(body, "6;") && strings.HasSuffix(body, "t"):
		h, w, _ := strings.Cut(body[2:len(body)-1], ";")
		if height, width := cellPixels(h), cellPixels(w); height > 0 && width > 0 {
			o.CellWidth, o.CellHeight = width, height
		}
	case !control && strings.HasPrefix(spec, "10;rgb"):
		o.Foreground = spec[3:]
	case !control && strings.HasPrefix(spec, "11;rgb"):
		o.Background = spec[3:]
		scheme = Scheme(spec[3:])
	default:
		return "", false
	}
	if scheme != "" {
		o.Scheme = scheme
	}
	return scheme, true
}

// maxCell limits the pixels of a cell, in each direction.
const maxCell = 200

// cellPixels returns the number in text, or 0 if no cell can have that many pixels.
func cellPixels(text string) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= maxCell {
		return n
	}
	return 0
}

// SetWindow sets the pixels of a cell from the size of the terminal's window in pixels and cells. It ignores unknown sizes (0).
func (a *Answers) SetWindow(width, height, cols, rows int) {
	if cols < 1 || rows < 1 {
		return
	}
	if w, h := width/cols, height/rows; w > 0 && h > 0 && w <= maxCell && h <= maxCell {
		a.Outer.CellWidth, a.Outer.CellHeight = w, h
	}
}

// Scheme returns the colour scheme of a background as in an answer to OSC 11, rgb:ffff/ffff/dddd: light if the luminance (ITU-R
// BT.709) is nearer to white than to black. It returns "" for other texts.
func Scheme(background string) string {
	spec, ok := strings.CutPrefix(background, "rgb:")
	if !ok {
		if spec, ok = strings.CutPrefix(background, "rgba:"); !ok {
			return ""
		}
	}
	parts := strings.Split(spec, "/")
	if len(parts) < 3 {
		return ""
	}
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return ""
		}
		luminance += weight * float64(v) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	if luminance > 0.5 {
		return vterm.SchemeLight
	}
	return vterm.SchemeDark
}
