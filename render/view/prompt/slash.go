package prompt

import (
	"fmt"
	"strings"
)

// SlashCommand is a command of the viewer that is typed as a line.
type SlashCommand struct {
	Name, Args, Help string
	Complete         Subject // what its arguments are; empty: nothing that can be completed
}

// Slashes are the commands there are. The prompt does help itself; the others are its
// owner's.
var Slashes = []SlashCommand{
	{"help", "", "what can be typed", ""},
	{"version", "", "which longterm this is", ""},
	{"sessions", "[NAME]", "list the sessions, or go to one", Sessions},
	{"mcp", "", "how agents reach longterm", ""},
	{"reload", "", "read the configuration again", ""},
	{"theme", "[NAME]", "choose colours", Themes},
	{"layout", "[NAME]", "choose how panes are arranged", Layouts},
}

// slash does a line that begins with a slash. A command may be shortened as long as it is
// the only one.
func (p *Prompt) slash(text string) []Action {
	name, args, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
	var found []*SlashCommand
	for i := range p.o.Slashes {
		c := &p.o.Slashes[i]
		if c.Name == name {
			found = []*SlashCommand{c}
			break
		}
		if name != "" && strings.HasPrefix(c.Name, name) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		p.message = fmt.Sprintf("no command /%s; /help lists them", name)
		p.line.set(text)
		return nil
	}
	if found[0].Name == "help" {
		p.out.add(&block{lines: p.help()})
		return nil
	}
	return []Action{{Kind: Slash, Slash: found[0].Name, Text: strings.TrimSpace(args)}}
}

// Show shows a text above the line, as the answer to a slash command.
func (p *Prompt) Show(text string) {
	p.out.add(&block{lines: strings.Split(strings.TrimRight(clean(text), "\n"), "\n")})
}

// help ends with what is wanted most: the end of a long text is what is seen first.
func (p *Prompt) help() []string {
	var lines []string
	for _, e := range edits {
		lines = append(lines, fmt.Sprintf("%-19s %s", e.keys, e.help))
	}
	lines = append(lines, "")
	for _, c := range p.o.Slashes {
		lines = append(lines, fmt.Sprintf("/%-18s %s", strings.TrimSpace(c.Name+" "+c.Args), c.Help))
	}
	return append(lines, "",
		"Enter sends; Alt-Enter, or \\ at the end, begins a new row.",
		"! begins a shell command. Esc clears, then leaves.",
		"Tab completes, Ctrl-R searches, Up and Down walk through the history.",
		"PageUp and the wheel scroll, Ctrl-L clears this.")
}
