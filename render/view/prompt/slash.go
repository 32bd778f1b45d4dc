package prompt

import (
	"fmt"
	"strings"
)

// SlashCommand is a viewer command that is typed as a line.
type SlashCommand struct {
	Name, Args, Help string
	Complete         Subject // subject of its arguments; "": no completion
}

// Slashes lists the available commands. The prompt implements help; its owner implements the others.
var Slashes = []SlashCommand{
	{"help", "", "list the commands", ""},
	{"version", "", "show longterm's version", ""},
	{"sessions", "[NAME]", "list the sessions or go to one", Sessions},
	{"mcp", "", "show how agents connect", ""},
	{"reload", "", "reload the configuration", ""},
	{"theme", "[NAME]", "choose a theme", Themes},
	{"layout", "[NAME]", "choose a layout", Layouts},
}

// slash runs a slash command, whose name may be an unambiguous prefix.
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
		p.message = fmt.Sprintf("unknown command /%s; /help lists them", name)
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

// help returns the help text, with the most important part at the end, which is visible first.
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
		"Enter sends; Alt-Enter, or \\ at the end, adds a row.",
		"! starts a shell command. Esc clears, then leaves.",
		"Tab completes, Ctrl-R searches, Up and Down browse the history.",
		"PageUp and the wheel scroll, Ctrl-L clears this.")
}
