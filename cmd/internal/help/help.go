// Package help prints the help of verbs within a terminal's width.
//
// A help page has the verb's long text, its usage, its subcommands, and its flags in the groups of flags.go. Paragraphs are wrapped;
// indented lines are examples, which stay as they are, or rows of a name and its meaning, whose meaning is wrapped.
package help

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/topics"
)

// maxWidth is the most cells of a line: longer ones are hard to read.
const maxWidth = 110

// Install makes root and its subcommands print their help by Page. order lists verbs that precede the others of their group.
func Install(root *cobra.Command, order []string) {
	addExamples(root, "")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		w := c.OutOrStdout()
		width := termio.Width(w)
		bold := width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		_, _ = io.WriteString(w, Page(c, min(cmp.Or(width, 80), maxWidth), bold, order)) // a closed pipe needs no help
	})
}

// page is a help page being written.
type page struct {
	out   strings.Builder
	width int // cells
	bold  bool
}

// Page returns the help of c in lines of width cells.
func Page(c *cobra.Command, width int, bold bool, order []string) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	p := page{width: max(width, 20), bold: bold}
	p.text(strings.TrimSpace(cmp.Or(c.Long, c.Short)))
	if c.Example != "" {
		p.heading("Examples")
		p.out.WriteString("  " + strings.ReplaceAll(c.Example, "\n", "\n  ") + "\n")
	}
	p.heading("Usage")
	if c.Runnable() {
		p.wrap("  ", "    ", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		p.wrap("  ", "    ", c.CommandPath()+" [command]")
	}
	if len(c.Aliases) > 0 {
		p.wrap("  ", "    ", "also: "+strings.Join(c.Aliases, ", "))
	}
	p.commands(c, order)
	for _, g := range groupFlags(c) {
		p.heading(g.title)
		p.flags(g.flags)
	}
	if c.HasAvailableSubCommands() {
		p.out.WriteString("\n")
		p.wrap("", "", "Use `"+c.CommandPath()+" [command] --help` for a command.")
	}
	if !c.HasParent() {
		names := make([]string, len(topics.All))
		for i, t := range topics.All {
			names[i] = t.Name
		}
		p.wrap("", "", "Use `longterm help TOPIC` for a topic: "+strings.Join(names, ", ")+".")
	}
	return p.out.String()
}

// heading starts a section.
func (p *page) heading(title string) {
	title = strings.TrimSuffix(title, ":") + ":"
	if p.bold {
		title = "\x1b[1m" + title + "\x1b[22m"
	}
	p.out.WriteString("\n" + title + "\n")
}

func (p *page) wrap(mark, indent, text string) { topics.Wrap(&p.out, p.width, mark, indent, text) }

// text prints a long text: paragraphs, and indented lines.
func (p *page) text(long string) {
	lines := strings.Split(long, "\n")
	for i := 0; i < len(lines); {
		n := 1
		switch line := lines[i]; {
		case line == "":
			p.out.WriteString("\n")
		case line[0] == ' ':
			mark, meaning, at := splitRow(line)
			for meaning != "" && i+n < len(lines) && indentOf(lines[i+n]) == at {
				meaning += " " + strings.TrimSpace(lines[i+n])
				n++
			}
			if meaning == "" {
				p.out.WriteString(line + "\n")
			} else {
				p.row(mark, at, meaning)
			}
		default:
			for i+n < len(lines) && lines[i+n] != "" && lines[i+n][0] != ' ' {
				n++
			}
			p.wrap("", "", strings.Join(lines[i:i+n], " "))
		}
		i += n
	}
}

// splitRow splits an indented line into a name and its meaning, and returns the column of the meaning. A line without a
// meaning is an example.
func splitRow(line string) (mark, meaning string, at int) {
	body := strings.TrimLeft(line, " ")
	name, rest, ok := strings.Cut(body, "  ")
	rest = strings.TrimLeft(rest, " ")
	if !ok || strings.HasPrefix(rest, "#") || strings.HasPrefix(name, "longterm ") {
		return line, "", 0
	}
	at = len(line) - len(rest)
	return line[:at], rest, at
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// row prints a name, and its meaning from column at on, or below the name if the terminal is narrow.
func (p *page) row(mark string, at int, meaning string) {
	if p.width-at < 24 {
		p.out.WriteString(strings.TrimRight(mark, " ") + "\n")
		mark, at = "", min(indentOf(mark)+4, p.width/2)
		mark = strings.Repeat(" ", at)
	}
	p.wrap(mark, strings.Repeat(" ", at), meaning)
}

// commands prints the subcommands of c, by group.
func (p *page) commands(c *cobra.Command, order []string) {
	for _, g := range append(c.Groups(), &cobra.Group{Title: "Commands"}) {
		var list []*cobra.Command
		wide := 0
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				list = append(list, sub)
				wide = max(wide, len(sub.Name()))
			}
		}
		if len(list) == 0 {
			continue
		}
		place := func(c *cobra.Command) int {
			if i := slices.Index(order, c.Name()); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortStableFunc(list, func(a, b *cobra.Command) int { return place(a) - place(b) })
		p.heading(g.Title)
		for _, sub := range list {
			p.row("  "+sub.Name()+strings.Repeat(" ", wide-len(sub.Name())+3), wide+5, sub.Short)
		}
	}
}

// flags prints flags in two columns.
func (p *page) flags(flags []*pflag.Flag) {
	type line struct{ name, usage string }
	lines := make([]line, len(flags))
	wide := 0
	for i, f := range flags {
		one := pflag.NewFlagSet("", pflag.ContinueOnError)
		one.AddFlag(f)
		_, usage, _ := strings.Cut(strings.TrimSuffix(one.FlagUsages(), "\n")[6:], "   ") // behind "  -n, --name NAME"
		lines[i] = line{flagHead(f), usage}
		if w := uniseg.StringWidth(lines[i].name); w <= maxFlag {
			wide = max(wide, w)
		}
	}
	for _, l := range lines {
		if w := uniseg.StringWidth(l.name); w > wide {
			p.out.WriteString(l.name + "\n")
			l.name = ""
			p.row(strings.Repeat(" ", wide+3), wide+3, l.usage)
		} else {
			p.row(l.name+strings.Repeat(" ", wide-w+3), wide+3, l.usage)
		}
	}
}

// placeholders are the values of flags without a named one, by type.
var placeholders = map[string]string{
	"duration": "DURATION", "int": "NUMBER", "ints": "NUMBERS", "uint": "NUMBER", "float": "NUMBER", "string": "TEXT", "strings": "LIST", "stringArray": "TEXT",
}

// ValueName returns the placeholder for a flag's value, or "" if it takes none.
func ValueName(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	return cmp.Or(placeholders[name], name)
}

// flagHead returns a flag with its letter and a placeholder for its value, as in "  -n, --name NAME" and "      --draft[=DIR]".
func flagHead(f *pflag.Flag) string {
	head := "      --" + f.Name
	if f.Shorthand != "" {
		head = "  -" + f.Shorthand + ", --" + f.Name
	}
	value := ValueName(f)
	switch {
	case value == "":
		return head
	case f.NoOptDefVal != "":
		return head + "[=" + value + "]"
	}
	return head + " " + value
}

// maxFlag is the width of the widest flag whose meaning is printed on the same line.
const maxFlag = 30
