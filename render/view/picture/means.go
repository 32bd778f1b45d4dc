package picture

import (
	"bytes"
	"image"
	"slices"
	"strconv"
	"strings"
)

// Kind is a way to draw images.
type Kind uint8

// Kinds. A later one is drawn better, as a rule, and taken where a terminal knows several.
const (
	None  Kind = iota
	Sixel      // DEC's, VT340
	ITerm      // files of iTerm2 (OSC 1337)
	Kitty      // the kitty graphics protocol
)

// Kinds by the names that a configuration has.
var kinds = map[string]Kind{"blocks": None, "sixel": Sixel, "iterm2": ITerm, "kitty": Kitty}

// ByName is a kind by its name; false: none is called so.
func ByName(name string) (Kind, bool) {
	k, ok := kinds[name]
	return k, ok
}

// Means is what a terminal has to draw images.
type Means struct {
	Kind   Kind
	Colors int         // registers of sixels; 0: it did not say
	Cell   image.Point // pixels of a cell; 0: it did not say
}

// Ask asks a terminal for its means.
const Ask = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\" + AskOthers // kitty graphics, query

// AskOthers asks for all but kitty graphics. The last question is one that all terminals answer.
const AskOthers = "\x1b[>q" + // XTVERSION
	"\x1b[16t" + // pixels of a cell
	"\x1b[?1;1;0S" + // XTSMGRAPHICS: colour registers
	"\x1b[c" // DA1

// maxAnswer is longer than any answer that is understood, in bytes.
const maxAnswer = 256

// Answers finds what a terminal answers among all that is typed, which comes in pieces. The zero value has heard nothing.
type Answers struct {
	held  []byte
	means Means
	waits bool // the last query is not answered
}

// Asked says that a terminal is asked, before it can answer.
func (a *Answers) Asked() { a.waits = true }

// Feed takes what came from the terminal, and reports whether it told something new. What looks like keys in answers to
// those who read on is changed in p: F4 is CSI S, Shift-Right CSI c, and the beginning of a terminal's name Alt-P, behind
// which the name would be typed; as APC nobody minds it.
func (a *Answers) Feed(p []byte) (news bool) {
	for i, b := range p {
		switch {
		case b == 0x1b && !a.string(): // a string's end begins with it
			a.held = append(a.held[:0], b)
			continue
		case len(a.held) == 0:
			continue
		case len(a.held) == 1 && b != '[' && b != '_' && b != 'P', len(a.held) >= maxAnswer:
			a.held = a.held[:0]
			continue
		}
		a.held = append(a.held, b)
		if len(a.held) == 2 {
			if b == 'P' && a.waits {
				p[i] = '_'
			}
			continue
		}
		if a.held[1] != '[' {
			if b == '\\' && a.held[len(a.held)-2] == 0x1b {
				news = a.text(a.held[1], a.held[2:len(a.held)-2]) || news
				a.held = a.held[:0]
			}
			continue
		}
		if b < 0x40 {
			continue
		}
		if a.held[2] == '?' && (b == 'S' || b == 'c') {
			p[i] = 'n'
			a.waits = a.waits && b != 'c'
		}
		news = a.control(a.held[2:len(a.held)-1], b) || news
		a.held = a.held[:0]
	}
	return news
}

// string reports that a string of bytes is under way, which an escape may end.
func (a *Answers) string() bool {
	return len(a.held) > 1 && a.held[1] != '[' && a.held[len(a.held)-1] != 0x1b
}

// Means is what is known by now.
func (a *Answers) Means() Means { return a.means }

// text takes a string: APC is kitty's, DCS the name of the terminal.
func (a *Answers) text(kind byte, body []byte) bool {
	switch {
	case kind == '_' && bytes.HasPrefix(body, []byte("Gi=31;OK")):
		return a.can(Kitty)
	case kind == 'P' && (bytes.HasPrefix(body, []byte(">|iTerm2")) || bytes.HasPrefix(body, []byte(">|WezTerm"))):
		return a.can(ITerm)
	}
	return false
}

// control takes a control sequence.
func (a *Answers) control(params []byte, final byte) bool {
	text, private := strings.CutPrefix(string(params), "?")
	parts := strings.Split(text, ";")
	switch {
	case private && final == 'c' && slices.Contains(parts[1:], "4"): // the first is the level
		return a.can(Sixel)
	case private && final == 'S' && len(parts) == 3 && parts[0] == "1" && parts[1] == "0":
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 2 {
			return false
		}
		a.means.Colors = min(n, 1<<16)
		return true
	case !private && final == 't' && len(parts) == 3 && parts[0] == "6":
		h, errH := strconv.Atoi(parts[1])
		w, errW := strconv.Atoi(parts[2])
		if errH != nil || errW != nil || !validCell(w, h) {
			return false
		}
		a.means.Cell = image.Pt(w, h)
		return true
	}
	return false
}

func (a *Answers) can(k Kind) bool {
	if k <= a.means.Kind {
		return false
	}
	a.means.Kind = k
	return true
}

// maxCell bounds the sides of a cell, in pixels.
const maxCell = 200

func validCell(w, h int) bool { return w > 0 && h > 0 && w <= maxCell && h <= maxCell }

// CellOf is the pixels of a cell of a terminal of so many pixels and cells; zero: that is not known.
func CellOf(width, height, cols, rows int) image.Point {
	if cols < 1 || rows < 1 || !validCell(width/cols, height/rows) {
		return image.Point{}
	}
	return image.Pt(width/cols, height/rows)
}
