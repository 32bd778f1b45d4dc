package listing

import (
	"bufio"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/session/api"
)

// column is a column of a table that has to fit a terminal.
type column struct {
	head  string
	least int // cells that it keeps while others shrink; 0: it does not shrink
	tail  bool
	width int
}

// Fit writes sessions as a table of rows of at most width cells, with ~ for the directory home. Long names, directories,
// and commands are cut; the process ids go first if that is not enough.
func Fit(w io.Writer, list []api.Session, width int, home string) error {
	if len(list) == 0 || width <= 0 {
		return Table(w, list)
	}
	columns := []column{
		{head: "ID"}, {head: "NAME", least: 8}, {head: "STATE"}, {head: "TIME"}, {head: "PID"}, {head: "CWD", least: 6, tail: true},
		{head: "DOING", least: 6}, {head: "COMMAND", least: 7},
	}
	rows := make([][]string, len(list))
	for i := range list {
		s := &list[i]
		rows[i] = cells(s)
		if s.Host == "" {
			rows[i][5] = Printable(fromHome(s.Cwd, home))
		}
	}
	for k := range columns {
		columns[k].width = len(columns[k].head)
		for _, r := range rows {
			columns[k].width = max(columns[k].width, uniseg.StringWidth(r[k]))
		}
	}
	if shrink(columns, width) > width {
		columns[4].width = -2 // with its gap
		shrink(columns, width)
	}
	b := bufio.NewWriter(w)
	heads := make([]string, len(columns))
	for k := range columns {
		heads[k] = columns[k].head
	}
	b.WriteString(fitRow(columns, heads, width))
	for _, r := range rows {
		b.WriteString(fitRow(columns, r, width))
	}
	return b.Flush()
}

// shrink takes cells from the widest columns until a row fits width. It returns the width of a row.
func shrink(columns []column, width int) int {
	total := 2 * (len(columns) - 1)
	for k := range columns {
		total += columns[k].width
	}
	for total > width {
		widest := -1
		for k := range columns {
			if c := &columns[k]; c.least > 0 && c.width > c.least && (widest < 0 || c.width > columns[widest].width) {
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
func fitRow(columns []column, row []string, width int) string {
	var b strings.Builder
	for k := range columns {
		c := &columns[k]
		if c.width < 0 {
			continue
		}
		text := cut(row[k], c.width, c.tail)
		b.WriteString(text)
		b.WriteString(strings.Repeat(" ", c.width-uniseg.StringWidth(text)+2))
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

// fromHome returns a directory with ~ for the home directory.
func fromHome(dir, home string) string {
	rest, within := strings.CutPrefix(dir, strings.TrimSuffix(home, "/"))
	if len(home) < 2 || !within || rest != "" && rest[0] != '/' {
		return dir
	}
	return "~" + rest
}
