package expect

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Recorder writes a script of a session in which a user types. The caller reports the events in order, and takes the
// Script at the end. The input up to an Enter becomes one step, after an expect of the current prompt. Input without
// echo becomes a reference to a secret and is not stored.
type Recorder struct {
	steps   []*yaml.Node
	decoder plaintext.Writer
	lines   int // complete lines of output
	echo    respond.EchoState
	secrets int // number of secrets so far

	prompt       string     // text before the input
	typed        []typedKey // input of the step
	isSecret     bool       // the input is a secret
	hasInput     bool       // the user has typed since the last step
	incomplete   []byte     // start of a key sequence or character
	lastStepLine int        // lines at the end of the last step
	isFirst      bool       // no input step was added yet
}

// typedKey is a typed character or named key.
type typedKey struct {
	text    string
	isNamed bool // text is the name of a key
}

// NewRecorder returns a recorder of a program that was started as argv.
func NewRecorder(argv []string) *Recorder {
	r := &Recorder{echo: respond.EchoOn, isFirst: true}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, a := range argv {
		list.Content = append(list.Content, scalarNode(escapeVariables(a)))
	}
	r.addStep("spawn", list)
	return r
}

// Output processes output of the program.
func (r *Recorder) Output(p []byte) {
	had := r.lines
	r.decoder.Each(p, func(plaintext.Line) { r.lines++ })
	if r.lines > had && r.echo == respond.EchoApp {
		r.addInputStep(false) // the program reacted to a key without Enter
	}
}

// SetEcho sets how input is echoed from now on.
func (r *Recorder) SetEcho(s respond.EchoState) { r.echo = s }

// AddInput processes input of the user.
func (r *Recorder) AddInput(p []byte) {
	p = append(r.incomplete, p...)
	r.incomplete = nil
	for len(p) > 0 {
		k, n := readKey(p)
		if n == 0 {
			if len(p) < maxKeyBytes {
				r.incomplete = append([]byte(nil), p...)
				return
			}
			n = 1
		}
		p = p[n:]
		r.handleKey(k)
	}
}

// handleKey processes a key.
func (r *Recorder) handleKey(k typedKey) {
	if !r.hasInput {
		r.startInput()
	}
	last := len(r.typed) - 1
	switch {
	case k.isNamed && k.text == "Enter":
		r.addInputStep(true)
	case r.isSecret: // not stored
	case k.isNamed && k.text == "BSpace" && last >= 0 && !r.typed[last].isNamed:
		r.typed = r.typed[:last]
	default:
		r.typed = append(r.typed, k)
	}
}

// startInput records the prompt at which the user starts to type.
func (r *Recorder) startInput() {
	r.hasInput, r.isSecret, r.prompt = true, r.echo == respond.EchoOff, ""
	if r.isFirst || r.lines > r.lastStepLine { // otherwise it is type-ahead, or the rest of a line
		rest, _, _ := r.decoder.AppendUnfinished(nil)
		r.prompt = string(rest)
	}
}

// addInputStep adds a step for the input, and an expect of its prompt. enter is set if it ended with Enter.
func (r *Recorder) addInputStep(enter bool) {
	if !r.hasInput {
		return
	}
	if strings.TrimSpace(r.prompt) != "" {
		r.addStep("expect", generalisePrompt(r.prompt).node())
	}
	switch {
	case r.isSecret:
		r.secrets++
		r.addStep("secret", scalarNode(fmt.Sprintf("env:SECRET_%d", r.secrets)))
		if enter {
			r.setInLastStep("enter", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
		}
	case r.hasKeys():
		r.addStep("keys", scalarNode(escapeVariables(r.keyNotation(enter)))) // as a whole: "$" and "{" may be two keys
	case enter:
		r.addStep("line", scalarNode(escapeVariables(r.typedText())))
	case len(r.typed) > 0:
		r.addStep("send", scalarNode(escapeVariables(r.typedText())))
	}
	r.hasInput, r.isFirst, r.lastStepLine, r.typed = false, false, r.lines, nil
}

// hasKeys reports whether the input has named keys.
func (r *Recorder) hasKeys() bool {
	for _, k := range r.typed {
		if k.isNamed {
			return true
		}
	}
	return false
}

// typedText returns the input as text.
func (r *Recorder) typedText() string {
	var b strings.Builder
	for _, k := range r.typed {
		b.WriteString(k.text)
	}
	return b.String()
}

// keyNotation returns the input in key notation.
func (r *Recorder) keyNotation(enter bool) string {
	var b strings.Builder
	for _, k := range r.typed {
		if k.isNamed {
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

// Exit adds the steps for the program's end.
func (r *Recorder) Exit(code int) {
	r.addInputStep(false)
	r.addStep("wait", scalarNode("exit"))
	r.addStep("assert", mappingNode("exit", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(code)}))
}

// Script returns the script of all events so far.
func (r *Recorder) Script() ([]byte, error) {
	r.addInputStep(false)
	steps := &yaml.Node{Kind: yaml.SequenceNode, Content: r.steps}
	root := mappingNode("steps", steps)
	if r.secrets > 0 {
		root.HeadComment = "The secret is taken from the environment: SECRET_1."
		if r.secrets > 1 {
			root.HeadComment = fmt.Sprintf("Secrets are taken from the environment: SECRET_1 to SECRET_%d, in the order they were typed.", r.secrets)
		}
	}
	return yaml.Marshal(root)
}

// addStep adds a step.
func (r *Recorder) addStep(verb string, value *yaml.Node) {
	r.steps = append(r.steps, mappingNode(verb, value))
}

// setInLastStep adds a key to the last step.
func (r *Recorder) setInLastStep(key string, value *yaml.Node) {
	last := r.steps[len(r.steps)-1]
	last.Content = append(last.Content, scalarNode(key), value)
}

// mappingNode returns a mapping with one key.
func mappingNode(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode(key), value}}
}

// scalarNode returns a scalar, quoted if YAML would parse it as another type.
func scalarNode(s string) *yaml.Node {
	var n yaml.Node
	n.SetString(s)
	return &n
}

// escapeVariables escapes ${ in text, so that it has no variables.
func escapeVariables(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// maxKeyBytes bounds the length of an incomplete key sequence.
const maxKeyBytes = 16

// readKey reads a key from terminal input. n is the length of its sequence, or 0 if that is incomplete.
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

// sequenceKeys are the keys by the final byte of their sequences, after ESC [ or ESC O and parameters.
var sequenceKeys = map[byte]string{
	'A': "Up", 'B': "Down", 'C': "Right", 'D': "Left", 'H': "Home", 'F': "End",
	'P': "F1", 'Q': "F2", 'R': "F3", 'S': "F4", 'Z': "S-Tab",
}

// tildeKeys are the keys with sequences ESC [ number ~, by the number.
var tildeKeys = map[string]string{
	"1": "Home", "2": "Insert", "3": "Delete", "4": "End", "5": "PageUp", "6": "PageDown",
	"15": "F5", "17": "F6", "18": "F7", "19": "F8", "20": "F9", "21": "F10", "23": "F11", "24": "F12",
}

// readSequence reads a key whose sequence starts with ESC.
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

// sequenceName returns the name of a sequence's key. Unknown sequences, such as those of a mouse, are Escape.
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
