package expect

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Recorder writes a script of a session in which a user types. It is a machine: report the events in order, and take
// the Script at the end. The input up to an Enter becomes one step, after an expect of the current prompt. Input
// without echo becomes a reference to a secret; it is not even stored.
type Recorder struct {
	steps   []*yaml.Node
	plain   plaintext.Writer
	lines   int // complete lines of output
	echo    respond.EchoState
	secrets int

	prompt  string // where the line being typed began
	typed   []typedKey
	hidden  bool // the line being typed is a secret
	began   bool
	partial []byte // a sequence or character that is not complete
	mark    int    // lines when the last step ended
	first   bool   // no step was typed yet
}

// typedKey is a character, or a key by its name.
type typedKey struct {
	text string
	key  bool
}

// NewRecorder records a program that was started as argv.
func NewRecorder(argv []string) *Recorder {
	r := &Recorder{echo: respond.EchoOn, first: true}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, a := range argv {
		list.Content = append(list.Content, text(literal(a)))
	}
	r.add("spawn", list)
	return r
}

// Output takes what the program wrote.
func (r *Recorder) Output(p []byte) {
	had := r.lines
	r.plain.Each(p, func(plaintext.Line) { r.lines++ })
	if r.lines > had && r.echo == respond.EchoApp {
		r.flush(false) // a key that needed no Enter
	}
}

// Echo takes note of how what is typed from now on is echoed.
func (r *Recorder) Echo(s respond.EchoState) { r.echo = s }

// AddInput takes what was typed.
func (r *Recorder) AddInput(p []byte) {
	p = append(r.partial, p...)
	r.partial = nil
	for len(p) > 0 {
		k, n := readKey(p)
		if n == 0 {
			if len(p) < maxKeyBytes {
				r.partial = append([]byte(nil), p...)
				return
			}
			n = 1
		}
		p = p[n:]
		r.key(k)
	}
}

func (r *Recorder) key(k typedKey) {
	if !r.began {
		r.begin()
	}
	last := len(r.typed) - 1
	switch {
	case k.key && k.text == "Enter":
		r.flush(true)
	case r.hidden: // not kept
	case k.key && k.text == "BSpace" && last >= 0 && !r.typed[last].key:
		r.typed = r.typed[:last]
	default:
		r.typed = append(r.typed, k)
	}
}

// begin records the place at which a line is being typed.
func (r *Recorder) begin() {
	r.began, r.hidden, r.prompt = true, r.echo == respond.EchoOff, ""
	if r.first || r.lines > r.mark { // otherwise it is type-ahead, or the rest of a line
		rest, _, _ := r.plain.AppendUnfinished(nil)
		r.prompt = string(rest)
	}
}

// flush adds a step for the input.
func (r *Recorder) flush(enter bool) {
	if !r.began {
		return
	}
	if strings.TrimSpace(r.prompt) != "" {
		r.add("expect", generalise(r.prompt).node())
	}
	switch {
	case r.hidden:
		r.secrets++
		r.add("secret", text(fmt.Sprintf("env:SECRET_%d", r.secrets)))
		if enter {
			r.modify("enter", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
		}
	case r.hasKeys():
		r.add("keys", text(literal(r.keys(enter)))) // as a whole: "$" and "{" may be two keys
	case enter:
		r.add("line", text(literal(r.text())))
	case len(r.typed) > 0:
		r.add("send", text(literal(r.text())))
	}
	r.began, r.first, r.mark, r.typed = false, false, r.lines, nil
}

func (r *Recorder) hasKeys() bool {
	for _, k := range r.typed {
		if k.key {
			return true
		}
	}
	return false
}

func (r *Recorder) text() string {
	var b strings.Builder
	for _, k := range r.typed {
		b.WriteString(k.text)
	}
	return b.String()
}

func (r *Recorder) keys(enter bool) string {
	var b strings.Builder
	for _, k := range r.typed {
		if k.key {
			b.WriteString("<" + k.text + ">")
		} else {
			b.WriteString(strings.ReplaceAll(k.text, "<", "<lt>"))
		}
	}
	if enter {
		b.WriteString("<Enter>")
	}
	return b.String()
}

// Exit takes note of the program's end.
func (r *Recorder) Exit(code int) {
	r.flush(false)
	r.add("wait", text("exit"))
	r.add("assert", mapping("exit", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(code)}))
}

// Script returns the script of all events so far.
func (r *Recorder) Script() ([]byte, error) {
	r.flush(false)
	steps := &yaml.Node{Kind: yaml.SequenceNode, Content: r.steps}
	root := mapping("steps", steps)
	if r.secrets > 0 {
		root.HeadComment = "The secret is taken from the environment: SECRET_1."
		if r.secrets > 1 {
			root.HeadComment = fmt.Sprintf("Secrets are taken from the environment: SECRET_1 to SECRET_%d, in the order they were typed.", r.secrets)
		}
	}
	return yaml.Marshal(root)
}

func (r *Recorder) add(verb string, value *yaml.Node) {
	r.steps = append(r.steps, mapping(verb, value))
}

// modify adds a key to the last step.
func (r *Recorder) modify(key string, value *yaml.Node) {
	last := r.steps[len(r.steps)-1]
	last.Content = append(last.Content, text(key), value)
}

func mapping(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text(key), value}}
}

// text returns a scalar node, quoted if it would be parsed as another type.
func text(s string) *yaml.Node {
	var n yaml.Node
	n.SetString(s)
	return &n
}

// literal writes text so that it has no variables.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// maxKeyBytes is the most bytes of a key's sequence that are waited for.
const maxKeyBytes = 16

// readKey reads a key off the bytes that a terminal sends for it. n is 0 if they are
// not complete.
func readKey(p []byte) (k typedKey, n int) {
	if p[0] == 0x1b {
		return readSequence(p)
	}
	switch b := p[0]; {
	case b == '\r' || b == '\n':
		return typedKey{"Enter", true}, 1
	case b == 0x7f || b == '\b':
		return typedKey{"BSpace", true}, 1
	case b == '\t':
		return typedKey{"Tab", true}, 1
	case b == 0:
		return typedKey{"C-Space", true}, 1
	case b < 0x20:
		return typedKey{"C-" + strings.ToLower(string(rune(b+'@'))), true}, 1
	case !utf8.FullRune(p):
		return typedKey{}, 0
	}
	r, n := utf8.DecodeRune(p)
	return typedKey{text: string(r)}, n
}

// sequenceKeys are the keys whose sequences end the same, after ESC [ or ESC O and
// their parameters.
var sequenceKeys = map[byte]string{
	'A': "Up", 'B': "Down", 'C': "Right", 'D': "Left", 'H': "Home", 'F': "End",
	'P': "F1", 'Q': "F2", 'R': "F3", 'S': "F4", 'Z': "S-Tab",
}

// tildeKeys are those whose sequence is ESC [ number ~.
var tildeKeys = map[string]string{
	"1": "Home", "2": "Insert", "3": "Delete", "4": "End", "5": "PageUp", "6": "PageDown",
	"15": "F5", "17": "F6", "18": "F7", "19": "F8", "20": "F9", "21": "F10", "23": "F11", "24": "F12",
}

func readSequence(p []byte) (k typedKey, n int) {
	if len(p) == 1 {
		return typedKey{"Escape", true}, 1
	}
	if p[1] != '[' && p[1] != 'O' {
		inner, n := readKey(p[1:])
		if n == 0 || p[1] == 0x1b {
			return typedKey{"Escape", true}, 1
		}
		return typedKey{"M-" + inner.text, true}, n + 1
	}
	for i := 2; i < len(p); i++ {
		if p[i] < 0x40 || p[i] > 0x7e {
			continue
		}
		return typedKey{sequenceName(string(p[2:i]), p[i]), true}, i + 1
	}
	return typedKey{}, 0
}

// sequenceName returns the name of the key of a sequence. Unknown sequences, of a mouse for example, are Escape, as
// they have no name.
func sequenceName(params string, final byte) string {
	number, mod, _ := strings.Cut(params, ";")
	name := sequenceKeys[final]
	if final == '~' {
		name = tildeKeys[number]
	}
	if name == "" {
		return "Escape"
	}
	switch mod {
	case "2":
		return "S-" + name
	case "3":
		return "M-" + name
	case "5":
		return "C-" + name
	}
	return name
}
