package prompt

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// Canvas is the drawing target of a prompt: a part of the viewer, or a screen (On). Positions are relative to its upper
// left corner.
type Canvas interface {
	// Text draws text without control characters from a column on, truncated or filled to w columns.
	Text(x, y, w int, text string, style tcell.Style)
}

// On returns a canvas on a screen, or on a part of it.
func On(s tcell.Screen, x, y int) Canvas { return onScreen{s, x, y} }

type onScreen struct {
	s    tcell.Screen
	x, y int
}

func (c onScreen) Text(x, y, w int, text string, style tcell.Style) {
	end := x + w
	for g := uniseg.NewGraphemes(text); g.Next() && x+g.Width() <= end; x += g.Width() {
		c.s.SetContent(c.x+x, c.y+y, g.Runes()[0], g.Runes()[1:], style)
	}
	for ; x < end; x++ {
		c.s.SetContent(c.x+x, c.y+y, ' ', nil, style)
	}
}

// appearance is the look of a mode.
type appearance struct {
	badge, prompt, hint string
	color               tcell.Color
}

var modes = [...]appearance{
	Normal: {"", "> ", "Enter: send  !: shell  /: commands  Esc: leave", tcell.ColorDefault},
	Shell:  {"SHELL", "[SHELL] $ ", "Enter: run  Tab: complete  Esc: leave", tcell.ColorOlive},
}

// span is a piece of text with one style.
type span struct {
	text  string
	style tcell.Style
}

// row is a row of the prompt's area.
type row []span

var (
	plain   = tcell.StyleDefault
	dim     = plain.Dim(true)
	bold    = plain.Bold(true)
	reverse = plain.Reverse(true)
)

// colors holds the colours of the modes, if colours are wanted.
type colors struct {
	none bool
	tint func(Mode) tcell.Color // a theme's colours; nil: the sixteen standard colours

	themed           bool // good, bad and paste were set by a theme
	good, bad, paste tcell.Color
}

// choose returns a theme's colour, or a standard one without a theme.
func (t *colors) choose(themes, standard tcell.Color) tcell.Color {
	if t.themed {
		return themes
	}
	return standard
}

// on returns a style with a colour, unless colours are off.
func (t *colors) on(st tcell.Style, c tcell.Color) tcell.Style {
	if t.none || c == tcell.ColorDefault {
		return st
	}
	return st.Foreground(c)
}

// accent returns the colour of a mode: the theme's, which is readable on the terminal's background.
func (t *colors) accent(m Mode) tcell.Color {
	if m != Normal && t.tint != nil {
		return t.tint(m)
	}
	return modes[m].color
}

// badge returns the style of the mode's name: on its colour, in black or white, whichever contrasts more. Reverse video
// would use the terminal's background for the text, which may be as light as the colour.
func (t *colors) badge(m Mode) tcell.Style {
	c := t.accent(m)
	if t.none || c == tcell.ColorDefault {
		return reverse.Bold(true)
	}
	r, g, b := c.RGB()
	ink := tcell.PaletteColor(16)  // a colour of the first 16 may be another, and is brighter when bold
	if luminance(r, g, b) < 0.18 { // where both contrasts are the same (WCAG 2.2, "relative luminance")
		ink = tcell.PaletteColor(231)
	}
	return plain.Bold(true).Foreground(ink).Background(c)
}

func luminance(r, g, b int32) float64 {
	sum := 0.0
	for i, v := range [...]int32{r, g, b} {
		sum += [...]float64{0.2126, 0.7152, 0.0722}[i] * math.Pow(float64(v)/255, 2.2)
	}
	return sum
}

// Height returns how many rows the prompt needs, at most most.
func (p *Prompt) Height(width, most int) int {
	in, _, _ := p.inputRows(width)
	n := 1 + len(in) + len(p.choice.rows(width)) + len(p.out.rows(width, &p.colors))
	return max(min(n, most), min(2, most))
}

// Draw fills an area: a bar, output of commands, candidates and the line. It returns the cursor's position; negative
// values hide it.
func (p *Prompt) Draw(c Canvas, w, h int) (cursorX, cursorY int) {
	if w < 1 || h < 1 {
		return -1, -1
	}
	in, cx, cy := p.inputRows(w)
	if over := len(in) - max(h-1, 1); over > 0 { // the rows around the cursor
		from := min(max(cy-len(in)+over+1, 0), over)
		in, cy = in[from:from+len(in)-over], cy-from
	}
	above := p.choice.rows(w)
	above = above[:max(min(len(above), h-1-len(in)), 0)]
	free := max(h-1-len(in)-len(above), 0)
	blocks := p.out.rows(w, &p.colors)
	p.out.scroll = min(p.out.scroll, max(len(blocks)-free, 0))
	end := len(blocks) - p.out.scroll
	blocks = blocks[max(end-free, 0):end]

	var rows []row
	if h > 1 {
		rows = append(rows, p.bar(w))
	}
	for range max(h-1-len(in)-len(above)-len(blocks), 0) {
		rows = append(rows, nil)
	}
	rows = append(append(append(rows, blocks...), above...), in...)
	for i, r := range rows {
		drawRow(c, i, w, r)
	}
	if cy < 0 || cx >= w {
		return -1, -1
	}
	return cx, len(rows) - len(in) + cy
}

// bar returns the first row: badge, message, keys.
func (p *Prompt) bar(w int) row {
	l := modes[p.Mode()]
	var r row
	if l.badge != "" {
		r = append(r, span{" " + l.badge + " ", p.colors.badge(p.Mode())})
	}
	text := " " + l.hint
	if to := p.targetText(p.target.To, p.target.In); to != "" {
		text = " " + to + "  " + l.hint
	}
	said := p.message != ""
	switch {
	case said:
		text = " " + p.message
	case p.search != nil:
		text = " Ctrl-R: older  Enter: use it  Esc: back"
	case p.out.running() != nil:
		text = " Ctrl-C: stop the command " + text
	}
	if p.out.scroll > 0 {
		text = fmt.Sprintf(" %d rows below ", p.out.scroll) + text
	}
	used := 0
	for _, s := range r {
		used += uniseg.StringWidth(s.text)
	}
	if text = wholeGroups(text, w-used); said {
		text = cut(" "+p.message, w-used)
	}
	return append(r, span{text + strings.Repeat(" ", max(w-used-uniseg.StringWidth(text), 0)), p.background})
}

// wholeGroups returns the leading groups of a text, separated by two blanks, that fit a number of cells; at least one.
func wholeGroups(text string, cells int) string {
	for uniseg.StringWidth(text) > cells {
		at := strings.LastIndex(text, "  ")
		if at < 1 {
			return cut(text, cells)
		}
		text = strings.TrimRight(text[:at], " ")
	}
	return text
}

// cut returns a text shortened to some cells, with a mark.
func cut(text string, cells int) string {
	if uniseg.StringWidth(text) <= cells {
		return text
	}
	if cells < 1 {
		return ""
	}
	text, _ = fitting(text, cells-1)
	return text + "…"
}

// wrap returns the rows of one of longterm's texts, wrapped between words if possible.
func wrap(text string, cells int) (rows []string) {
	const indent = "  "
	text, _ = fitting(text, math.MaxInt) // what is measured is what is drawn
	for uniseg.StringWidth(text) > cells {
		head, _ := fitting(text, cells+1)
		at := strings.LastIndex(head, " ")
		if strings.TrimSpace(text[:max(at, 0)]) == "" {
			break
		}
		rows = append(rows, strings.TrimRight(text[:at], " "))
		text = indent + strings.TrimLeft(text[at:], " ")
	}
	return append(rows, text)
}

// targetText returns shell in shell mode, else plain.
func (p *Prompt) targetText(plain, shell string) string {
	if p.shell {
		return shell
	}
	return plain
}

// inputRows returns the rows of the line and the cursor's position in them.
func (p *Prompt) inputRows(w int) (rows []row, cx, cy int) {
	l, prompt, st := &p.line, modes[p.Mode()].prompt, p.colors.on(bold, p.colors.accent(p.Mode()))
	switch {
	case p.search != nil && p.search.fails:
		prompt = "(no older match for '" + p.search.query + "') "
	case p.search != nil:
		prompt = "(search '" + p.search.query + "') "
	}
	b := builder{width: w, rows: []row{nil}}
	b.add(prompt, st)
	at := 0
	for at < len(l.text) {
		if at == l.cursor {
			cx, cy = b.col, len(b.rows)-1
		}
		next := l.next(at)
		switch cluster := l.text[at:next]; {
		case cluster == "\n":
			b.newRow()
			b.add("… ", dim)
		case l.pastes.endingAfter(l.text, at) > 0:
			b.add(cluster, p.colors.on(dim, p.colors.choose(p.colors.paste, tcell.ColorTeal)))
		default:
			b.add(cluster, plain)
		}
		at = next
	}
	if l.cursor >= len(l.text) {
		if b.col >= w {
			b.newRow()
		}
		cx, cy = b.col, len(b.rows)-1
	}
	if says := p.targetText(p.target.MessageHint, p.target.ShellHint); l.text == "" && p.search == nil {
		b.add(cut(says, w-b.col-1), dim)
	}
	return b.rows, cx, cy
}

// builder breaks text into rows.
type builder struct {
	width, col int
	rows       []row
}

func (b *builder) newRow() { b.rows, b.col = append(b.rows, nil), 0 }

func (b *builder) add(text string, st tcell.Style) {
	for g := uniseg.NewGraphemes(text); g.Next(); {
		s, w := visible(g.Str(), g.Width())
		if b.col+w > b.width && b.col > 0 {
			b.newRow()
		}
		last := &b.rows[len(b.rows)-1]
		if n := len(*last); n > 0 && (*last)[n-1].style == st {
			(*last)[n-1].text += s
		} else {
			*last = append(*last, span{s, st})
		}
		b.col += w
	}
}

// visible returns a cluster in drawable form, with its width: a tab is a blank.
func visible(s string, w int) (string, int) {
	if r, _ := utf8.DecodeRuneInString(s); w == 0 || unicode.IsControl(r) || r == utf8.RuneError {
		return " ", 1
	}
	return s, w
}

// maxChoiceRows limits the rows of candidates.
const maxChoiceRows = 4

// rows returns the candidates of a completion, in columns.
func (c *choice) rows(w int) []row {
	if c == nil {
		return nil
	}
	wide := 0
	for _, s := range c.candidates {
		wide = max(wide, uniseg.StringWidth(s)+2)
	}
	columns := max(w/max(wide, 1), 1)
	first := 0
	if c.at >= 0 {
		first = max(c.at/columns-maxChoiceRows+1, 0) * columns
	}
	var rows []row
	for i := first; i < len(c.candidates) && i < first+columns*maxChoiceRows; i++ {
		if (i-first)%columns == 0 {
			rows = append(rows, nil)
		}
		st := dim
		if i == c.at {
			st = reverse
		}
		s := c.candidates[i]
		last := len(rows) - 1
		rows[last] = append(rows[last], span{s, st}, span{strings.Repeat(" ", max(wide-uniseg.StringWidth(s), 0)), plain})
	}
	if left := len(c.candidates) - first - columns*maxChoiceRows; left > 0 {
		rows = append(rows, row{{fmt.Sprintf("and %d more", left), dim}})
	}
	return rows
}

func (t *transcript) rows(w int, c *colors) []row {
	var rows []row
	for _, b := range t.blocks {
		rows = append(rows, b.rows(w, c)...)
	}
	return rows
}

func (b *block) rows(w int, c *colors) []row {
	out := builder{width: w}
	if b.id > 0 {
		out.newRow()
		out.add("$ ", c.on(bold, c.accent(Shell)))
		for i, l := range strings.Split(b.command, "\n") {
			if i > 0 {
				out.newRow()
				out.add("… ", dim)
			}
			out.add(l, bold)
		}
	}
	if b.dropped > 0 {
		out.newRow()
		out.add(fmt.Sprintf("(%d lines before)", b.dropped), dim)
	}
	for _, l := range b.lines {
		rows := []string{l}
		if b.id == 0 { // it is no command's output, which is shown as it came
			rows = wrap(l, w)
		}
		for _, text := range rows {
			out.newRow()
			out.add(text, plain)
		}
	}
	if b.open != "" {
		out.newRow()
		out.add(b.open, plain)
	}
	if end := b.end(); end != "" {
		st := dim
		switch {
		case strings.HasPrefix(end, "✓"):
			st = c.on(plain, c.choose(c.good, tcell.ColorGreen))
		case strings.HasPrefix(end, "✗"):
			st = c.on(bold, c.choose(c.bad, tcell.ColorMaroon))
		}
		out.newRow()
		out.add(end, st)
	}
	return out.rows
}

// drawRow draws a row, cut or filled to its width.
func drawRow(c Canvas, y, w int, r row) {
	col := 0
	for _, s := range r {
		text, width := fitting(s.text, w-col)
		if width > 0 {
			c.Text(col, y, width, text, s.style)
		}
		if col += width; len(text) < len(s.text) {
			break
		}
	}
	if col < w {
		c.Text(col, y, w-col, "", plain)
	}
}

// fitting returns the start of a text that fits into some cells, and its width. Control characters are replaced.
func fitting(text string, cells int) (string, int) {
	var b strings.Builder
	width := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		s, n := visible(g.Str(), g.Width())
		if width+n > cells {
			break
		}
		b.WriteString(s)
		width += n
	}
	return b.String(), width
}
