// Package expand makes prompts of templates: !{command} stands for what a command prints, {{args}} for the arguments,
// as they are outside of commands and quoted for a shell inside. It is pure: it reads and resolves, and others judge
// and run.
//
//	Parse → Template.Commands(args) → judged, run → Template.Text(args, outputs)
package expand

import (
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/shellquote"
)

const placeholder = "{{args}}"

// Template is a template that was read.
type Template struct{ parts []part }

// part is text, or a command.
type part struct {
	text    string
	command bool
}

// maxTemplate bounds a template, in bytes.
const maxTemplate = 1 << 20

// Parse reads a template. Braces within a command are balanced; a \ before one does not change that.
func Parse(src string) (*Template, error) {
	if len(src) > maxTemplate {
		return nil, fmt.Errorf("the template has %d bytes, more than %d", len(src), maxTemplate)
	}
	t := &Template{}
	for src0 := src; ; {
		i := strings.Index(src, "!{")
		if i < 0 {
			t.add(part{src, false})
			return t, nil
		}
		at := len(src0) - len(src) + i
		t.add(part{src[:i], false})
		rest := src[i+2:]
		end := closing(rest)
		line := strings.Count(src0[:at], "\n") + 1
		if end < 0 {
			return nil, fmt.Errorf("line %d: !{ has no } (braces in a command have to be balanced)", line)
		}
		command := strings.TrimSpace(rest[:end])
		if command == "" {
			return nil, fmt.Errorf("line %d: !{} has no command", line)
		}
		if err := checkPlaces(command); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		t.add(part{command, true})
		src = rest[end+1:]
	}
}

func (t *Template) add(p part) {
	if p.text != "" {
		t.parts = append(t.parts, p)
	}
}

// closing is the } that ends a command; -1: there is none.
func closing(s string) int {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var errPlace = errors.New("{{args}} is quoted already and has to stand as a word of its own in a command: " +
	"not in quotes, behind \\, in a comment or in a here-document")

// checkPlaces refuses {{args}} where its quotes would not be what the shell takes for quotes: there an argument could
// become a command.
func checkPlaces(command string) error {
	quote, comment, here := byte(0), false, false
	for i := 0; i < len(command); i++ {
		rest := command[i:]
		if strings.HasPrefix(rest, placeholder) {
			if quote != 0 || comment || here {
				return errPlace
			}
			i += len(placeholder) - 1
			continue
		}
		switch c := command[i]; {
		case comment:
			comment = c != '\n'
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			if strings.HasPrefix(command[i+1:], placeholder) {
				return errPlace
			}
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case strings.HasPrefix(rest, "<<"):
			here = true
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n;&|()", command[i-1]) >= 0):
			comment = true
		}
	}
	return nil
}

// Commands are the commands as they will be run.
func (t *Template) Commands(args []string) (commands []string) {
	var words []string
	for _, a := range args {
		words = append(words, shellquote.Word(a))
	}
	all := strings.Join(words, " ")
	if len(args) == 0 {
		all = "''"
	}
	for _, p := range t.parts {
		if p.command {
			commands = append(commands, strings.ReplaceAll(p.text, placeholder, all))
		}
	}
	return commands
}

// Output is what a command printed, and how it ended.
type Output struct {
	Command string `json:"command"`
	Text    string `json:"output"`
	Exit    *int   `json:"exit_code"`
	Signal  string `json:"signal,omitempty"`
	Ended   string `json:"ended,omitempty"` // how else
}

// Text is the template with outputs in the places of its commands. What was printed is not looked at again.
func (t *Template) Text(args []string, outputs []Output) string {
	var b strings.Builder
	raw := strings.Join(args, " ")
	n := 0
	for _, p := range t.parts {
		if !p.command {
			b.WriteString(strings.ReplaceAll(p.text, placeholder, raw))
			continue
		}
		if n < len(outputs) {
			b.WriteString(outputs[n].text())
		}
		n++
	}
	return b.String()
}

// text is an output, and a note where the command failed.
func (o *Output) text() string {
	text := strings.TrimRight(o.Text, "\n")
	note := ""
	switch {
	case o.Ended != "": // the signal of who ended it says less
		note = fmt.Sprintf("[Shell command '%s' %s]", o.Command, o.Ended)
	case o.Signal != "":
		note = fmt.Sprintf("[Shell command '%s' terminated by signal %s]", o.Command, o.Signal)
	case o.Exit == nil:
		note = fmt.Sprintf("[Shell command '%s' ended, and its exit status is not known]", o.Command)
	case *o.Exit != 0:
		note = fmt.Sprintf("[Shell command '%s' exited with code %d]", o.Command, *o.Exit)
	}
	if note != "" && text != "" {
		return text + "\n" + note
	}
	return text + note
}
