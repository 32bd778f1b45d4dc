package listing

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/session/api"
)

// Column is a column of a table that fits a terminal's width.
type Column struct {
	Head       string                  // if no column has one, the table has no header
	ShrinkTo   int                     // width in cells down to which it may shrink; 0: it does not shrink
	MinWidth   int                     // minimum width in cells, for tables that are written row by row
	KeepsTail  bool                    // truncated at the start instead of the end
	AlignRight bool                    // aligned at its right end
	CanDrop    bool                    // removed if the table is too wide although other columns shrank
	Style      func(text string) Style // returns the style of a cell by its text; nil: Plain
	Marks      []string                // parts of cells that get the style Found
	width      int
}

// TableFormat is the format of a table.
type TableFormat struct {
	Width  int  // maximum width of a row in cells; 0: no limit
	Colour bool // cells have their styles
}

// WriteSessions writes sessions as a table. If the width is limited, sessions that need the user come first, ~ is the home
// directory, and progress has a bar. Long names, directories, and commands are truncated; process ids are removed if that is
// not enough.
func WriteSessions(w io.Writer, list []api.Session, look TableFormat, home string) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no sessions; `longterm new` starts one")
		return err
	}
	if look.Width > 0 {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b api.Session) int { return urgency(&a) - urgency(&b) })
	}
	rows := make([][]string, len(list))
	for i := range list {
		s := &list[i]
		rows[i] = cells(s)
		if look.Width > 0 {
			rows[i][6] = withDraft(s, doingOnTerminal(s))
		}
		if s.Host == "" && look.Width > 0 {
			rows[i][5] = Printable(AbbreviateHome(s.Cwd, home))
		}
	}
	return WriteTable(w, []Column{
		{Head: "ID", Style: AsFaint}, {Head: "NAME", ShrinkTo: 8, Style: AsBold}, {Head: "STATE", Style: StateStyle}, {Head: "TIME"},
		{Head: "PID", CanDrop: true, Style: AsFaint}, {Head: "CWD", ShrinkTo: 6, KeepsTail: true}, {Head: "DOING", ShrinkTo: 6, Style: doingStyle},
		{Head: "COMMAND", ShrinkTo: 7},
	}, rows, look)
}

// urgency returns 0 for a session that needs the user, 1 for the others.
func urgency(s *api.Session) int {
	if doingStyle(Doing(s)) == Waiting {
		return 0
	}
	return 1
}

// WriteTable writes rows below a header. It writes nothing without rows.
func WriteTable(w io.Writer, columns []Column, rows [][]string, look TableFormat) error {
	if len(rows) == 0 {
		return nil
	}
	columns = slices.Clone(columns)
	heads := make([]string, len(columns))
	for k := range columns {
		c := &columns[k]
		heads[k] = c.Head
		c.width = max(len(c.Head), c.MinWidth)
		for _, r := range rows {
			c.width = max(c.width, textWidth(r[k]))
		}
	}
	width := look.Width
	if width <= 0 {
		width = math.MaxInt
	}
	if whole := slices.Clone(columns); shrink(columns, width) > width {
		columns = whole
		for k := range columns {
			if columns[k].CanDrop {
				columns[k].width = -2 // including its gap
			}
		}
		shrink(columns, width)
	}
	b := bufio.NewWriter(w)
	if strings.Join(heads, "") != "" {
		b.WriteString(fitRow(columns, heads, width, func(_ *Column, _, text string) string { return StyleIf(look.Colour, Faint).Apply(text) }))
	}
	for _, r := range rows {
		b.WriteString(fitRow(columns, r, width, look.styleCell))
	}
	return b.Flush()
}

// WithoutHeads returns columns for rows without a header.
func WithoutHeads(columns []Column) []Column {
	columns = slices.Clone(columns)
	for k := range columns {
		columns[k].Head = ""
	}
	return columns
}

// shrink shrinks the widest columns until a row fits width. It returns the width of a row.
func shrink(columns []Column, width int) int {
	total := 2 * (len(columns) - 1)
	for k := range columns {
		total += columns[k].width
	}
	for total > width {
		widest := -1
		for k := range columns {
			if c := &columns[k]; c.ShrinkTo > 0 && c.width > c.ShrinkTo && (widest < 0 || c.width > columns[widest].width) {
				widest = k
			}
		}
		if widest < 0 {
			break
		}
		columns[widest].width--
		total--
	}
	return total
}

// styleCell returns text, the visible part of a cell, in the cell's style and with its marks.
func (l TableFormat) styleCell(c *Column, cell, text string) string {
	switch {
	case !l.Colour:
		return text
	case c.Style != nil:
		return c.Style(cell).Apply(text)
	}
	pairs := make([]string, 0, 2*len(c.Marks))
	for _, m := range c.Marks {
		pairs = append(pairs, m, Found.Apply(m))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// fitRow returns a line of at most width cells. paint returns a cell's visible text with its style.
func fitRow(columns []Column, row []string, width int, paint func(c *Column, cell, text string) string) string {
	var b strings.Builder
	gap := ""
	for k := range columns {
		c := &columns[k]
		if c.width < 0 {
			continue
		}
		if width -= len(gap); width <= 0 {
			break
		}
		text := truncateCell(row[k], min(c.width, width), c.KeepsTail)
		used := textWidth(text)
		pad := strings.Repeat(" ", min(c.width, width)-used)
		width -= used
		if c.AlignRight {
			gap, pad = gap+pad, ""
		}
		if text != "" {
			b.WriteString(gap + paint(c, row[k], text))
			gap = ""
		}
		gap += pad + "  "
	}
	return b.String() + "\n"
}

// truncateCell truncates a text to width cells, at its start if tail is set, else at its end.
func truncateCell(text string, width int, tail bool) string {
	excess := textWidth(text) - width
	if excess <= 0 {
		return text
	}
	if isASCII(text) {
		keep := max(0, width-1) // room for the ellipsis
		if tail {
			return "…" + text[len(text)-keep:]
		}
		return text[:keep] + "…"
	}
	excess++ // for the ellipsis
	var clusters []string
	for g := uniseg.NewGraphemes(text); g.Next(); {
		clusters = append(clusters, g.Str())
	}
	for excess > 0 && len(clusters) > 0 {
		at := len(clusters) - 1
		if tail {
			at = 0
		}
		excess -= textWidth(clusters[at])
		if tail {
			clusters = clusters[1:]
		} else {
			clusters = clusters[:at]
		}
	}
	if rest := strings.Join(clusters, ""); tail {
		return "…" + rest
	} else {
		return rest + "…"
	}
}

// textWidth returns the width of a text in cells. Most texts are ASCII, which needs no search for clusters.
func textWidth(text string) int {
	if isASCII(text) {
		return len(text)
	}
	return uniseg.StringWidth(text)
}

// isASCII reports whether a text has only printable ASCII characters, one per cell.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// AbbreviateHome returns a directory with ~ for the home directory.
func AbbreviateHome(dir, home string) string {
	rest, within := strings.CutPrefix(dir, strings.TrimSuffix(home, "/"))
	if len(home) < 2 || !within || rest != "" && rest[0] != '/' {
		return dir
	}
	return "~" + rest
}
