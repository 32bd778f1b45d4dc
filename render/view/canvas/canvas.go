package canvas

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/layout"
)

// Canvas draws on the terminal and tracks whether anything was drawn.
type Canvas struct {
	screen   tcell.Screen
	noColor  bool
	touched  bool
	cursor   cursor
	override *tcell.Style // style for everything; nil: off
	ascii    bool
	covered  []layout.Rect // areas on top, which must not be drawn over

	pictures pictures
	damage   damageCache
}

// UseASCII sets whether the viewer's own signs and lines use ASCII characters. Session content stays as it is.
func (c *Canvas) UseASCII(on bool) { c.ascii = on }

// asciiSymbols maps the viewer's symbols to ASCII characters of the same width.
var asciiSymbols = strings.NewReplacer(
	"✓", "+", "✗", "x", "●", "*", "·", ".", "…", "~", "♪", "!", "›", ">", "▸", ">", "•", "*", "×", "x", "│", "|", "─", "-",
	"┌", "+", "┐", "+", "└", "+", "┘", "+", "▕", "[", "█", "#", "▉", "#", "▊", "#", "▋", "=", "▌", "=", "▍", "-", "▎", "-", "▏", "]",
	"↑", "^", "↓", "v", "←", "<", "→", ">",
)

// sign returns the viewer's text in the terminal's characters.
func (c *Canvas) sign(text string) string {
	if !c.ascii {
		return text
	}
	return asciiSymbols.Replace(text)
}

// Sign draws a one-column symbol of the viewer.
func (c *Canvas) Sign(x, y int, text string, st tcell.Style) { c.Put(x, y, 1, c.sign(text), st) }

// SetOverride draws everything in one style, until nil ends it.
func (c *Canvas) SetOverride(st *tcell.Style) { c.override = st }

// set draws text on the terminal.
func (c *Canvas) set(x, y int, text string, st tcell.Style) (rest string, width int) {
	if c.override != nil {
		st = *c.override
	}
	if len(c.covered) > 0 {
		if rest, width, covered := c.putUncovered(x, y, text, st); covered {
			return rest, width
		}
	}
	return c.put(x, y, text, st)
}

// New returns a canvas on a terminal. noColor limits it to attributes.
func New(screen tcell.Screen, noColor bool) Canvas {
	return Canvas{screen: screen, noColor: noColor}
}

// cursor is the terminal's cursor.
type cursor struct {
	x, y  int // negative: hidden
	style tcell.CursorStyle
}

// Put draws a character over w columns, its width in the session's emulator. If tcell measures another width, Put draws
// a similar character, so that the grid is kept.
func (c *Canvas) Put(x, y, w int, text string, st tcell.Style) {
	c.touched = true
	r, n := utf8.DecodeRuneInString(text)
	if Unprintable(r, n) {
		text = "?"
	}
	if len(text) > n { // a joiner at the end would join the next character
		text = strings.TrimRight(text, joiner)
	}
	if w > 1 && strings.ContainsRune(text, emojiSelector) && uniseg.StringWidth(string(r)) == 1 {
		text = string(r) // terminals do not agree on how wide these are
	}
	_, got := c.set(x, y, text, st)
	if got > w || got == 0 {
		_, got = c.set(x, y, fitText(text, w), st)
	}
	for ; got < w; got++ {
		c.set(x+got, y, " ", st)
	}
}

// emojiSelector is VS16, which selects the coloured form of the previous character.
const emojiSelector = '\uFE0F'

// joiner is ZWJ, which joins two characters.
const joiner = "\u200D"

// Unprintable reports whether r is a control character, or an invalid byte of UTF-8.
func Unprintable(r rune, size int) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size <= 1
}

// changesDirection reports whether r changes the text direction (a bidirectional control) or is a line or paragraph separator.
func changesDirection(r rune) bool {
	return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// replacements replaces one-column characters whose width tcell measures differently, as xterm draws them.
var replacements = map[rune]string{
	0x00ad: "-",              // SOFT HYPHEN
	0x2e3a: "—", 0x2e3b: "—", // dashes of two and three ems
	'ﾞ': "\"", 'ﾟ': "°", // voiced sounds in half the width
}

// fitText returns a replacement for a character whose width tcell measures differently.
func fitText(text string, columns int) string {
	r, n := utf8.DecodeRuneInString(text)
	if s, ok := replacements[r]; ok {
		return s
	}
	if s, ok := tcell.RuneFallbacks[r]; ok && len(s) == 1 {
		return s
	}
	if w := uniseg.StringWidth(text[:n]); w == 0 || w > columns {
		return "?"
	}
	fits := text[:n]
	for _, mark := range text[n:] { // vowels that have a width, as India's scripts have them
		if more := fits + string(mark); uniseg.StringWidth(more) <= columns {
			fits = more
		}
	}
	return fits
}

// Restyle changes the style of part of a row.
func (c *Canvas) Restyle(x, y, w int, st tcell.Style) {
	for end := x + w; x < end; {
		text, _, width := c.screen.Get(x, y)
		if x+width > end {
			return
		}
		c.Put(x, y, width, text, st)
		x += width
	}
}

// Dots fills part of a row with the symbol of an unused area.
func (c *Canvas) Dots(x, y, w int, st tcell.Style) {
	for i := range w {
		c.Sign(x+i, y, "·", st)
	}
}

// Fill blanks part of a row.
func (c *Canvas) Fill(x, y, w int, st tcell.Style) {
	for i := range w {
		c.Put(x+i, y, 1, " ", st)
	}
}

// Text draws text in a row, cut or filled up to w columns.
func (c *Canvas) Text(x, y, w int, text string, st tcell.Style) {
	end := x + w
	text = c.sign(text)
	for text != "" && x < end {
		r, n := utf8.DecodeRuneInString(text)
		if r == '\t' {
			text = " " + text[n:]
			continue
		}
		if Unprintable(r, n) || changesDirection(r) { // names and titles are chosen by programs
			c.Put(x, y, 1, "?", st)
			text, x = text[n:], x+1
			continue
		}
		c.touched = true
		rest, got := c.set(x, y, text, st)
		if x+got > end { // a wide character over the edge
			c.Put(x, y, 1, " ", st)
		}
		if got == 0 || len(rest) == len(text) {
			break
		}
		text, x = rest, x+got
	}
	c.Fill(x, y, end-x, st)
}

// TextWidth returns the number of columns of a text.
func TextWidth(s string) int { return uniseg.StringWidth(s) }

// OverflowBytes returns the number of bytes to remove from the start of a text so that the rest fits a number of columns.
func OverflowBytes(text string, columns int) (bytes int) {
	rest, width := text, TextWidth(text)
	for state := -1; width > columns && rest != ""; {
		var cluster string
		var n int
		cluster, rest, n, state = uniseg.FirstGraphemeClusterInString(rest, state)
		width -= n
		bytes += len(cluster)
	}
	return bytes
}

// Printable returns text with control characters and bidirectional controls replaced, one rune each. A tab becomes a
// blank.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if Unprintable(r, 2) || changesDirection(r) {
			return '?'
		}
		return r
	}, s)
}

func (c *Canvas) Clear() {
	c.pictures.forget(c.screen)
	c.unlockCells()
	c.screen.Clear()
	c.touched = true
}

// ShowCursor shows the cursor at a cell.
func (c *Canvas) ShowCursor(x, y int, style tcell.CursorStyle) {
	want := cursor{x, y, style}
	if want == c.cursor {
		return
	}
	c.cursor, c.touched = want, true
	c.screen.SetCursorStyle(style)
	c.screen.ShowCursor(x, y)
}

// HideCursor hides the cursor.
func (c *Canvas) HideCursor() {
	if hidden := (cursor{x: -1}); c.cursor != hidden {
		c.cursor, c.touched = hidden, true
		c.screen.HideCursor()
	}
}

// Size returns the columns and rows of the terminal.
func (c *Canvas) Size() (cols, rows int) { return c.screen.Size() }

// Show sends the drawing to the terminal if there is one.
func (c *Canvas) Show() {
	wanted := len(c.pictures.wanted) > 0
	if wanted {
		c.unlockCells()
	}
	c.redrawIfRequested()
	if c.pictures.uncover(c.screen) {
		c.touched = true
	}
	drawn := c.touched
	if drawn {
		c.touched = false
		c.screen.Show()
	}
	c.pictures.draw(c.screen)
	if drawn && !wanted {
		c.lockDrawn()
	}
}

// style returns a span's style on the user's terminal.
func (c *Canvas) style(s *render.Span, reverse bool) tcell.Style {
	st := Plain.Bold(s.Bold).Dim(s.Dim).Italic(s.Italic).Blink(s.Blink).
		Reverse(s.Inverse != reverse).StrikeThrough(s.Strike)
	if u, ok := underlines[s.Underline]; ok {
		st = st.Underline(u)
	}
	if s.Link != "" {
		st = st.Url(s.Link)
	}
	if c.noColor {
		return st
	}
	if s.ULColor != "" {
		st = st.Underline(color(s.ULColor, nil))
	}
	return st.Foreground(color(s.FG, s.FGIndex)).Background(color(s.BG, s.BGIndex))
}

var underlines = map[string]tcell.UnderlineStyle{
	"single": tcell.UnderlineStyleSolid, "double": tcell.UnderlineStyleDouble, "curly": tcell.UnderlineStyleCurly,
	"dotted": tcell.UnderlineStyleDotted, "dashed": tcell.UnderlineStyleDashed,
}

// color converts a colour and keeps its kind: palette colours are the user's own (R31).
func color(hex string, index *uint8) tcell.Color {
	if hex == "" {
		return tcell.ColorDefault
	}
	if index != nil {
		return tcell.PaletteColor(int(*index))
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	if err != nil {
		return tcell.ColorDefault
	}
	return tcell.NewHexColor(int32(n))
}
