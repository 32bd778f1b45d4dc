package picture

import (
	"bytes"
	"image"
	"slices"
	"strconv"
	"strings"
)

// Kind is a protocol for drawing images.
type Kind uint8

// Kinds, in increasing quality: the last one that a terminal supports is used.
const (
	None  Kind = iota
	Sixel      // DEC's, VT340
	ITerm      // files of iTerm2 (OSC 1337)
	Kitty      // the kitty graphics protocol
)

// kinds maps the names in configurations to kinds.
var kinds = map[string]Kind{"blocks": None, "sixel": Sixel, "iterm2": ITerm, "kitty": Kitty}

// ByName returns a kind by its name. It returns false for unknown names.
func ByName(name string) (Kind, bool) {
	k, ok := kinds[name]
	return k, ok
}

// Support describes how a terminal can draw images.
type Support struct {
	Kind   Kind
	Colors int         // sixel colour registers; 0: not reported
	Cell   image.Point // pixels of a cell; 0: not reported
}

// Query queries what a terminal supports.
const Query = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\" + QueryOthers // kitty graphics, query

// QueryOthers queries everything except kitty graphics. All terminals answer the last query.
const QueryOthers = "\x1b[>q" + // XTVERSION
	"\x1b[16t" + // pixels of a cell
	"\x1b[?1;1;0S" + // XTSMGRAPHICS: colour registers
	"\x1b[c" // DA1

// maxAnswer exceeds the length of any known answer, in bytes.
const maxAnswer = 256

// Answers finds a terminal's answers in its input, which arrives in pieces. The zero value has no answers.
type Answers struct {
	held    []byte
	support Support
	waits   bool // the last query is not answered yet
}

// ExpectReply records that a query was sent. Call it before the terminal can answer.
func (a *Answers) ExpectReply() { a.waits = true }

// Feed processes input and reports whether it changed the result. In p it overwrites parts of answers that later
// readers would take for keys: CSI S is also F4, CSI c Shift-Right, and the start of a terminal's name Alt-P, after
// which the name would count as typed. As APC they are ignored.
func (a *Answers) Feed(p []byte) (news bool) {
	for i, b := range p {
		switch {
		case b == 0x1b && !a.inString(): // it also starts a string's end
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

// inString reports whether a control string is in progress, which an escape may end.
func (a *Answers) inString() bool {
	return len(a.held) > 1 && a.held[1] != '[' && a.held[len(a.held)-1] != 0x1b
}

// Support returns the result so far.
func (a *Answers) Support() Support { return a.support }

// text handles a control string: APC is kitty's, DCS the terminal's name.
func (a *Answers) text(kind byte, body []byte) bool {
	switch {
	case kind == '_' && bytes.HasPrefix(body, []byte("Gi=31;OK")):
		return a.can(Kitty)
	case kind == 'P' && (bytes.HasPrefix(body, []byte(">|iTerm2")) || bytes.HasPrefix(body, []byte(">|WezTerm"))):
		return a.can(ITerm)
	}
	return false
}

// control handles a control sequence.
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
		a.support.Colors = min(n, 1<<16)
		return true
	case !private && final == 't' && len(parts) == 3 && parts[0] == "6":
		h, errH := strconv.Atoi(parts[1])
		w, errW := strconv.Atoi(parts[2])
		if errH != nil || errW != nil || !validCell(w, h) {
			return false
		}
		a.support.Cell = image.Pt(w, h)
		return true
	}
	return false
}

func (a *Answers) can(k Kind) bool {
	if k <= a.support.Kind {
		return false
	}
	a.support.Kind = k
	return true
}

// maxCell limits the sides of a cell, in pixels.
const maxCell = 200

func validCell(w, h int) bool { return w > 0 && h > 0 && w <= maxCell && h <= maxCell }

// CellOf returns the pixels of a cell from the terminal's size in pixels and cells, or zero if it is unknown.
func CellOf(width, height, cols, rows int) image.Point {
	if cols < 1 || rows < 1 || !validCell(width/cols, height/rows) {
		return image.Point{}
	}
	return image.Pt(width/cols, height/rows)
}
