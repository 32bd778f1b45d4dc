package topics

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/session/pattern"
)

var (
	// Patterns of Markdown: links and pictures, strong text, list items, and the line between a table's head and body.
	link     = pattern.Lazy(`!?\[([^\]]*)\]\([^)\s]*\)`)
	strong   = pattern.Lazy(`\*\*([^*]+)\*\*`)
	listItem = pattern.Lazy(`^(\s*)([-*]|\d+\.) +`)
	tableBar = pattern.Lazy(`^\|[\s:|-]+\|$`)
)

// Render returns Markdown as text for a terminal of width cells. Headings and strong words are bold if bold is set.
func Render(src string, width int, bold bool) string {
	r := renderer{width: max(width, 20), bold: bold}
	lines := strings.Split(strings.TrimRight(src, "\n"), "\n")
	for len(lines) > 0 {
		lines = r.block(lines)
	}
	return r.out.String()
}

type renderer struct {
	out   strings.Builder
	width int // cells
	bold  bool
}

// block prints the block at the beginning of lines and returns the lines behind it.
func (r *renderer) block(lines []string) []string {
	first := lines[0]
	switch {
	case strings.HasPrefix(first, "```"):
		n := 1
		for ; n < len(lines) && !strings.HasPrefix(lines[n], "```"); n++ {
			r.out.WriteString(strings.TrimRight("    "+lines[n], " ") + "\n")
		}
		return lines[min(n+1, len(lines)):]
	case strings.TrimSpace(first) == "" || strings.HasPrefix(first, "    ") || strings.HasPrefix(first, "\t"):
		r.out.WriteString(strings.TrimRight(first, " ") + "\n")
		return lines[1:]
	case strings.HasPrefix(first, "#"):
		r.out.WriteString(r.strong(r.inline(strings.TrimLeft(first, "# "))) + "\n")
		return lines[1:]
	case strings.HasPrefix(first, "|"):
		n := countLeading(lines, func(l string) bool { return strings.HasPrefix(l, "|") })
		r.table(lines[:n])
		return lines[n:]
	}
	indent, mark := "", ""
	if m := listItem.FindStringSubmatch(first); m != nil {
		mark = m[1] + m[2] + " "
		indent = strings.Repeat(" ", len(mark))
		lines[0] = first[len(m[0]):]
	}
	n := 1 + countLeading(lines[1:], func(l string) bool {
		return strings.TrimSpace(l) != "" && !listItem.MatchString(l) && !strings.HasPrefix(l, "```") && !strings.HasPrefix(l, "|") && !strings.HasPrefix(l, "#")
	})
	r.wrap(mark, indent, r.inline(strings.Join(lines[:n], " ")))
	return lines[n:]
}

// table prints rows as columns, with wrapped cells. If the columns are too narrow for their words, it prints each row as its first
// cell with the others below it.
func (r *renderer) table(lines []string) {
	var rows [][]string
	var widths, words []int // of the widest cells and words
	for i, l := range lines {
		if i == 1 && tableBar.MatchString(l) {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(l, "| "), `\|`, "\x00"), "|")
		for k, c := range cells {
			cells[k] = strings.ReplaceAll(r.inline(strings.TrimSpace(c)), "\x00", "|")
			if k == len(widths) {
				widths, words = append(widths, 0), append(words, 0)
			}
			widths[k] = max(widths[k], uniseg.StringWidth(plain(cells[k])))
			for _, word := range strings.Fields(cells[k]) {
				words[k] = max(words[k], uniseg.StringWidth(plain(word)))
			}
		}
		rows = append(rows, cells)
	}
	widths, fits := columnWidths(widths, words, r.width)
	for i, cells := range rows {
		switch {
		case i == 0 && strings.Join(cells, "") == "": // a header without names
		case fits:
			r.tableRow(cells, widths)
		case i > 0: // the header names the cells
			r.wrap("", "  ", cells[0])
			for k, c := range cells[1:] {
				if c != "" && k+1 < len(rows[0]) && rows[0][k+1] != "" {
					c = rows[0][k+1] + ": " + c
				}
				r.wrap("    ", "    ", c)
			}
		}
	}
}

// columnGap is the number of cells between columns, minColumn the width below which text is hard to read.
const columnGap, minColumn = 2, 12

// columnWidths returns the widths of columns whose widest cells and words are given, so that a row fits a width. fits is false if
// that is impossible, or a column were too narrow.
func columnWidths(cells, words []int, width int) (widths []int, fits bool) {
	left := width - columnGap*(len(cells)-1)
	for k := range cells {
		widths = append(widths, min(cells[k], max(words[k], minColumn)))
		left -= widths[k]
	}
	for ; left > 0; left-- { // widen the column with the longest cell for its width
		most := -1
		for k := range cells {
			if widths[k] < cells[k] && (most < 0 || cells[k]*widths[most] > cells[most]*widths[k]) {
				most = k
			}
		}
		if most < 0 {
			break
		}
		widths[most]++
	}
	return widths, left >= 0
}

// tableRow prints a row of a table whose cells are wrapped within the widths of their columns.
func (r *renderer) tableRow(cells []string, widths []int) {
	columns := make([][]string, len(cells))
	height := 1
	for k, c := range cells {
		var b strings.Builder
		Wrap(&b, widths[k], "", "", c)
		columns[k] = strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		height = max(height, len(columns[k]))
	}
	for n := range height {
		line := ""
		for k := range columns {
			c := ""
			if n < len(columns[k]) {
				c = columns[k][n]
			}
			line += c + strings.Repeat(" ", max(0, widths[k]-uniseg.StringWidth(plain(c)))+columnGap)
		}
		r.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (r *renderer) wrap(mark, indent, text string) { Wrap(&r.out, r.width, mark, indent, text) }

// Wrap writes text in lines of width cells. The first starts with mark, the others with indent. A longer word has its own line.
func Wrap(w *strings.Builder, width int, mark, indent, text string) {
	line, used := mark, uniseg.StringWidth(mark)
	begins := true
	for _, word := range strings.Fields(text) {
		n := uniseg.StringWidth(plain(word))
		if !begins && used+1+n > width {
			w.WriteString(line + "\n")
			line, used, begins = indent, len(indent), true
		}
		if !begins {
			line, used = line+" ", used+1
		}
		line, used, begins = line+word, used+n, false
	}
	if !begins {
		w.WriteString(line + "\n")
	}
}

// inline replaces links by their text and formats strong words.
func (r *renderer) inline(s string) string {
	s = link.ReplaceAllString(s, "$1")
	return strong.ReplaceAllStringFunc(s, func(m string) string { return r.strong(m[2 : len(m)-2]) })
}

// strong makes each word of s bold by itself, so that lines can be wrapped between words.
func (r *renderer) strong(s string) string {
	if !r.bold {
		return s
	}
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = "\x1b[1m" + w + "\x1b[22m"
	}
	return strings.Join(words, " ")
}

// plain returns s without the sequences for bold.
func plain(s string) string {
	return strings.NewReplacer("\x1b[1m", "", "\x1b[22m", "").Replace(s)
}

// countLeading returns the number of leading lines for which ok returns true.
func countLeading(lines []string, ok func(string) bool) (n int) {
	for n < len(lines) && ok(lines[n]) {
		n++
	}
	return n
}
