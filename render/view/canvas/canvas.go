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

// Canvas draws on the terminal and knows whether anything was drawn.
type Canvas struct {
	screen  tcell.Screen
	noColor bool
	touched bool
	cursor  cursor
	veil    *tcell.Style // instead of all looks; nil: none
	ascii   bool
	under   []layout.Rect // what lies over what is drawn

	pictures pictures
	settled  settled
}

// UseASCII has the viewer's own signs and lines drawn with ASCII's characters. What sessions show stays as it is.
func (c *Canvas) UseASCII(on bool) { c.ascii = on }

// plain are ASCII's characters for the viewer's own signs, each as wide.
var plain = strings.NewReplacer(
	"✓", "+", "✗", "x", "●", "*", "·", ".", "…", "~", "♪", "!", "›", ">", "▸", ">", "•", "*", "×", "x", "│", "|", "─", "-",
	"┌", "+", "┐", "+", "└", "+", "┘", "+", "▕", "[", "█", "#", "▉", "#", "▊", "#", "▋", "=", "▌", "=", "▍", "-", "▎", "-", "▏", "]",
	"↑", "^", "↓", "v", "←", "<", "→", ">",
)

// sign is the viewer's own text as the terminal shall have it.
func (c *Canvas) sign(text string) string {
	if !c.ascii {
		return text
	}
	return plain.Replace(text)
}

// Sign draws one of the viewer's own signs, of one column.
func (c *Canvas) Sign(x, y int, text string, st tcell.Style) { c.Put(x, y, 1, c.sign(text), st) }

// Veil has everything drawn in one look, until it is lifted with nil.
func (c *Canvas) Veil(st *tcell.Style) { c.veil = st }

// set puts text on the terminal.
func (c *Canvas) set(x, y int, text string, st tcell.Style) (rest string, width int) {
	if c.veil != nil {
		st = *c.veil
	}
	if len(c.under) > 0 {
		if rest, width, covered := c.uncovered(x, y, text, st); covered {
			return rest, width
		}
	}
	return c.put(x, y, text, st)
}

// New draws on a terminal; without colours with attributes only.
func New(screen tcell.Screen, noColor bool) Canvas {
	return Canvas{screen: screen, noColor: noColor}
}

// cursor is the terminal's cursor.
type cursor struct {
	x, y  int // negative: hidden
	style tcell.CursorStyle
}

// Put draws a character over w columns. The session's emulator said how many those are:
// where tcell measures otherwise the grid is kept and something like the character shown.
func (c *Canvas) Put(x, y, w int, text string, st tcell.Style) {
	c.touched = true
	r, n := utf8.DecodeRuneInString(text)
	if Unprintable(r, n) {
		text = "?"
	}
	if len(text) > n { // a joiner at the end would join what comes next
		text = strings.TrimRight(text, joiner)
	}
	if w > 1 && strings.ContainsRune(text, emojiSelector) && uniseg.StringWidth(string(r)) == 1 {
		text = string(r) // terminals do not agree on how wide these are
	}
	_, got := c.set(x, y, text, st)
	if got > w || got == 0 {
		_, got = c.set(x, y, fitted(text, w), st)
	}
	for ; got < w; got++ {
		c.set(x+got, y, " ", st)
	}
}

// emojiSelector asks for the coloured form of a character before it (VS16).
const emojiSelector = '\uFE0F'

// joiner makes one character of two (ZWJ).
const joiner = "\u200D"

// Unprintable reports a control character or a byte that is no UTF-8.
func Unprintable(r rune, size int) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size <= 1
}

// turns reports a character that turns a row round (Unicode's bidirectional controls), or ends it.
func turns(r rune) bool { return unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) }

// standIns are drawn for characters that take one column and of which tcell thinks otherwise, as they look in xterm.
var standIns = map[rune]string{
	0x00ad: "-",              // SOFT HYPHEN
	0x2e3a: "—", 0x2e3b: "—", // dashes of two and three ems
	'ﾞ': "\"", 'ﾟ': "°", // voiced sounds in half the width
}

// fitted is what is drawn of a character, or in its place, where tcell thinks that it does not fit its columns.
func fitted(text string, columns int) string {
	r, n := utf8.DecodeRuneInString(text)
	if s, ok := standIns[r]; ok {
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

// Restyle gives what stands in part of a row another look.
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

// Dots fills part of a row with what stands for nothing at all.
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
		if Unprintable(r, n) || turns(r) { // names and titles are chosen by programs
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

// TextWidth is how many columns a text takes.
func TextWidth(s string) int { return uniseg.StringWidth(s) }

// Before is how many bytes at the beginning of a text are to be left out so that the rest takes at most a number of
// columns.
func Before(text string, columns int) (bytes int) {
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

// Printable returns text without control characters, nor such that turn a row round, of as many runes. A tab is a blank.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if Unprintable(r, 2) || turns(r) {
			return '?'
		}
		return r
	}, s)
}

func (c *Canvas) Clear() {
	c.pictures.forget(c.screen)
	c.unsettle()
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

// Size is how many columns and rows the terminal has.
func (c *Canvas) Size() (cols, rows int) { return c.screen.Size() }

// Show sends what was drawn, if anything was.
func (c *Canvas) Show() {
	wanted := len(c.pictures.want) > 0
	if wanted {
		c.unsettle()
	}
	c.answer()
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
		c.settle()
	}
}

// style is a span's look on the person's terminal.
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

// color keeps a colour's kind: palette colours are the person's own (R31).
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
