// Package expand makes prompts from templates. !{command} is replaced by the output of a command, {{args}} by the
// arguments: as they are outside of commands, and quoted for a shell inside. The package is pure: it parses and
// substitutes; callers judge and run the commands.
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

// Template is a parsed template.
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

// closing returns the index of the } that ends a command, or -1.
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

var errPlace = errors.New("{{args}} is quoted already and must be a separate word of a command: " +
	"not in quotes, behind \\, in a comment or in a here-document")

// checkPlaces rejects {{args}} where a shell would not treat its quotes as quotes: there an argument could become a
// command.
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

// Commands returns the commands with their arguments.
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

// Output is the output of a command, and how it ended.
type Output struct {
	Command string `json:"command"`
	Text    string `json:"output"`
	Exit    *int   `json:"exit_code"`
	Signal  string `json:"signal,omitempty"`
	Ended   string `json:"ended,omitempty"` // how else
}

// Text returns the template with each command replaced by its output. Outputs are not expanded again.
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

// text returns an output, with a note if the command failed.
func (o *Output) text() string {
	text := strings.TrimRight(o.Text, "\n")
	note := ""
	switch {
	case o.Ended != "": // for a process that longterm ended, the signal adds nothing
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
