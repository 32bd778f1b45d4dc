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

// table prints rows as columns if they fit the width. If not, it prints each row as its first cell with the others below it.
func (r *renderer) table(lines []string) {
	var rows [][]string
	var widths []int
	for i, l := range lines {
		if i == 1 && tableBar.MatchString(l) {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(l, "| "), `\|`, "\x00"), "|")
		for k, c := range cells {
			cells[k] = strings.ReplaceAll(r.inline(strings.TrimSpace(c)), "\x00", "|")
			if k == len(widths) {
				widths = append(widths, 0)
			}
			widths[k] = max(widths[k], uniseg.StringWidth(plain(cells[k])))
		}
		rows = append(rows, cells)
	}
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	for i, cells := range rows {
		switch {
		case sum <= r.width:
			line := ""
			for k, c := range cells {
				line += c + strings.Repeat(" ", widths[k]-uniseg.StringWidth(plain(c))+2)
			}
			r.out.WriteString(strings.TrimRight(line, " ") + "\n")
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
