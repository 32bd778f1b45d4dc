package listing

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/session/api"
)

// Column is a column of a table that has to fit a terminal.
type Column struct {
	Head  string // if all columns have none, the table has no header
	Least int    // width in cells to which it may shrink; 0: it does not shrink
	Wide  int    // minimum width in cells, for tables that are written row by row
	Tail  bool   // long texts lose their beginning instead of their end
	Right bool   // aligns texts at its right end
	Drops bool   // removed if the table is too wide although other columns shrank
	width int
}

// Fit writes sessions as a table of rows of at most width cells, with ~ for the directory home. Long names, directories,
// and commands are cut; the process ids go first if that is not enough.
func Fit(w io.Writer, list []api.Session, width int, home string) error {
	if len(list) == 0 || width <= 0 {
		return Table(w, list)
	}
	rows := make([][]string, len(list))
	for i := range list {
		s := &list[i]
		rows[i] = cells(s)
		if s.Host == "" {
			rows[i][5] = Printable(FromHome(s.Cwd, home))
		}
	}
	return Write(w, []Column{
		{Head: "ID"}, {Head: "NAME", Least: 8}, {Head: "STATE"}, {Head: "TIME"}, {Head: "PID", Drops: true}, {Head: "CWD", Least: 6, Tail: true},
		{Head: "DOING", Least: 6}, {Head: "COMMAND", Least: 7},
	}, rows, width)
}

// Write writes rows below a header, cut to width cells; 0: they are not cut. It writes nothing without rows.
func Write(w io.Writer, columns []Column, rows [][]string, width int) error {
	if len(rows) == 0 {
		return nil
	}
	columns = slices.Clone(columns)
	heads := make([]string, len(columns))
	for k := range columns {
		c := &columns[k]
		heads[k] = c.Head
		c.width = max(len(c.Head), c.Wide)
		for _, r := range rows {
			c.width = max(c.width, uniseg.StringWidth(r[k]))
		}
	}
	if width <= 0 {
		width = math.MaxInt
	}
	if whole := slices.Clone(columns); shrink(columns, width) > width {
		columns = whole
		for k := range columns {
			if columns[k].Drops {
				columns[k].width = -2 // with its gap
			}
		}
		shrink(columns, width)
	}
	b := bufio.NewWriter(w)
	if strings.Join(heads, "") != "" {
		b.WriteString(fitRow(columns, heads, width))
	}
	for _, r := range rows {
		b.WriteString(fitRow(columns, r, width))
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

// shrink takes cells from the widest columns until a row fits width. It returns the width of a row.
func shrink(columns []Column, width int) int {
	total := 2 * (len(columns) - 1)
	for k := range columns {
		total += columns[k].width
	}
	for total > width {
		widest := -1
		for k := range columns {
			if c := &columns[k]; c.Least > 0 && c.width > c.Least && (widest < 0 || c.width > columns[widest].width) {
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

// fitRow returns a line of at most width cells.
func fitRow(columns []Column, row []string, width int) string {
	var b strings.Builder
	for k := range columns {
		c := &columns[k]
		if c.width < 0 {
			continue
		}
		text := cut(row[k], c.width, c.Tail)
		pad := strings.Repeat(" ", c.width-uniseg.StringWidth(text))
		if c.Right {
			text, pad = pad+text, ""
		}
		b.WriteString(text + pad + "  ")
	}
	return cut(strings.TrimRight(b.String(), " "), width, false) + "\n"
}

// cut shortens a text to width cells, at its beginning if tail is set, else at its end.
func cut(text string, width int, tail bool) string {
	over := uniseg.StringWidth(text) - width
	if over <= 0 {
		return text
	}
	over++ // for the ellipsis
	var clusters []string
	for g := uniseg.NewGraphemes(text); g.Next(); {
		clusters = append(clusters, g.Str())
	}
	for over > 0 && len(clusters) > 0 {
		at := len(clusters) - 1
		if tail {
			at = 0
		}
		over -= uniseg.StringWidth(clusters[at])
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

// FromHome returns a directory with ~ for the home directory.
func FromHome(dir, home string) string {
	rest, within := strings.CutPrefix(dir, strings.TrimSuffix(home, "/"))
	if len(home) < 2 || !within || rest != "" && rest[0] != '/' {
		return dir
	}
	return "~" + rest
}
