package expect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// Problem is an error or warning about a source.
type Problem struct {
	Pos
	Warning bool   `json:"warning,omitempty"` // the script can still run
	Message string `json:"message"`
}

// String returns the problem with its position.
func (p Problem) String() string {
	kind := "error"
	if p.Warning {
		kind = "warning"
	}
	return fmt.Sprintf("%v: %s: %s", p.Pos, kind, p.Message)
}

// decoder converts YAML nodes to steps. It continues after a problem, to report all of them.
type decoder struct {
	problems       []Problem
	file           string // included file being decoded; "": the main source
	opts           *LoadOptions
	script         *Script
	depth          int             // of nested steps or conditions
	includeStack   []string        // files being included, outermost first
	nodeCount      int             // nodes visited so far; aliases make more of them than a source has bytes
	variableUses   []variableUse   // variables used
	defined        map[string]bool // names of variables that are set in the script
	procedureCalls []reference
}

// reference is a use of a name that must be defined.
type reference struct {
	pos  Pos
	name string
}

// Bounds of a source.
const (
	maxSourceBytes = 4 << 20
	maxDepth       = 100
	maxNodes       = 200_000
)

// fields are the values of a mapping by key.
type fields map[string]*yaml.Node

// pos returns the position of a node.
func (d *decoder) pos(n *yaml.Node) Pos { return Pos{d.file, n.Line, n.Column} }

// errorf adds an error at a node.
func (d *decoder) errorf(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, Problem{Pos: d.pos(n), Message: fmt.Sprintf(format, args...)})
}

// warnf adds a warning.
func (d *decoder) warnf(pos Pos, format string, args ...any) {
	d.problems = append(d.problems, Problem{Pos: pos, Warning: true, Message: fmt.Sprintf(format, args...)})
}

// parse parses one document. It returns nil if the root is missing or invalid.
func (d *decoder) parse(src []byte) *yaml.Node {
	if len(src) > maxSourceBytes {
		d.errorf(&yaml.Node{Line: 1, Column: 1}, "the script has more than %d bytes", maxSourceBytes)
		return nil
	}
	var doc yaml.Node
	if err := unmarshalYAML(src, &doc); err != nil {
		line, msg := yamlError(err)
		d.errorf(&yaml.Node{Line: line, Column: 1}, "%s", msg)
		return nil
	}
	if len(doc.Content) == 0 {
		d.errorf(&yaml.Node{Line: 1, Column: 1}, "the script is empty")
		return nil
	}
	return doc.Content[0]
}

// unmarshalYAML parses src. It converts a panic to an error, because the source is untrusted.
func unmarshalYAML(src []byte, doc *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be read: %v", r)
		}
	}()
	return yaml.Unmarshal(src, doc)
}

// yamlErrorLine matches the line number in an error of package yaml.
var yamlErrorLine = pattern.Lazy(`^yaml: line (\d+): `)

// yamlError splits an error into its line and message. Package yaml has the line in the text only.
func yamlError(err error) (line int, msg string) {
	msg = err.Error()
	if m := yamlErrorLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		return line, msg[len(m[0]):]
	}
	return 1, strings.TrimPrefix(msg, "yaml: ")
}

// resolve returns the node that an alias refers to, and counts it.
func (d *decoder) resolve(n *yaml.Node) *yaml.Node {
	d.nodeCount++
	for range maxDepth {
		if n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return n
}

// scalar returns a scalar as written. Numbers and booleans count as text.
func (d *decoder) scalar(n *yaml.Node) string {
	n = d.resolve(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.errorf(n, "a text is needed here, not %s", kindName(n))
		return ""
	}
	return n.Value
}

// template returns a text with variables, whose use it notes.
func (d *decoder) template(n *yaml.Node) string {
	s := d.scalar(n)
	d.noteVariables(n, s)
	return s
}

// number decodes a number of at least 0.
func (d *decoder) number(n *yaml.Node) int {
	v, err := strconv.Atoi(d.scalar(n))
	if err != nil || v < 0 {
		d.errorf(n, "a number is needed here, not %q", n.Value)
	}
	return v
}

// boolean decodes true or false.
func (d *decoder) boolean(n *yaml.Node) bool {
	n = d.resolve(n)
	var v bool
	if n.Kind != yaml.ScalarNode || n.Decode(&v) != nil {
		d.errorf(n, "true or false is needed here, not %s", kindName(n))
	}
	return v
}

// duration decodes a positive duration.
func (d *decoder) duration(n *yaml.Node) time.Duration {
	v, err := time.ParseDuration(d.scalar(n))
	if err != nil || v <= 0 {
		d.errorf(n, "a time such as 500ms, 10s or 2m is needed here, not %q", n.Value)
		return 0
	}
	return v
}

// kindName describes a node for messages.
func kindName(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// list returns the items of a sequence.
func (d *decoder) list(n *yaml.Node) []*yaml.Node {
	n = d.resolve(n)
	if n.Kind != yaml.SequenceNode {
		d.errorf(n, "a list is needed here, not %s", kindName(n))
		return nil
	}
	return n.Content
}

// eachPair calls f for the keys and values of a mapping, in order. Duplicate keys are errors.
func (d *decoder) eachPair(n *yaml.Node, f func(key, value *yaml.Node)) {
	n = d.resolve(n)
	if n.Kind != yaml.MappingNode {
		d.errorf(n, "a mapping is needed here, not %s", kindName(n))
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			d.errorf(key, "a key must be a text")
			continue
		}
		if seen[key.Value] {
			d.errorf(key, "%q is given twice", key.Value)
			continue
		}
		seen[key.Value] = true
		f(key, n.Content[i+1])
	}
}

// fields returns the values of a mapping by key. Keys that are not in known are errors.
func (d *decoder) fields(n *yaml.Node, known ...string) fields {
	f := make(fields)
	d.eachPair(n, func(key, value *yaml.Node) {
		if !slices.Contains(known, key.Value) {
			d.unknownKey(key, known)
			return
		}
		f[key.Value] = value
	})
	return f
}

// unknownKey reports an unknown key, with a similar known one if there is one.
func (d *decoder) unknownKey(key *yaml.Node, known []string) {
	if near := nearestName(key.Value, known); near != "" {
		d.errorf(key, "unknown key %q; did you mean %q?", key.Value, near)
		return
	}
	d.errorf(key, "unknown key %q; there are %s", key.Value, strings.Join(known, ", "))
}

// nearestName returns the name that s is probably a misspelling of, or "".
func nearestName(s string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if dist := suggestname.Distance(s, n); dist < least && dist < len(n) {
			best, least = n, dist
		}
	}
	return best
}

// steps decodes a list of steps.
func (d *decoder) steps(n *yaml.Node) []Step {
	if d.depth++; d.depth > maxDepth {
		d.errorf(n, "steps are nested more than %d deep", maxDepth)
		d.depth--
		return nil
	}
	defer func() { d.depth-- }()
	var steps []Step
	for _, item := range d.list(n) {
		if d.nodeCount > maxNodes {
			d.errorf(item, "the script has more than %d parts", maxNodes)
			return steps
		}
		if s, ok := d.step(d.resolve(item)); ok {
			steps = append(steps, s)
		}
	}
	return steps
}

// step decodes a step: a verb, its modifiers, and the keys of any step. ok is false if it is invalid.
func (d *decoder) step(n *yaml.Node) (s Step, ok bool) {
	s.Pos = d.pos(n)
	if n.Kind == yaml.ScalarNode && (n.Value == "break" || n.Value == "continue") {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column, Content: []*yaml.Node{n, {Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column}}}
	}
	v, value, all := d.verbOf(n)
	if v == nil {
		return s, false
	}
	known := append(append([]string{v.name}, v.modifiers...), stepKeys...)
	f := make(fields)
	for _, p := range all {
		if !slices.Contains(known, p.Value) && verbNamed(p.Value) == nil {
			d.unknownKey(p, known)
		}
	}
	d.eachEntry(n, func(key string, value *yaml.Node) { f[key] = value })
	s.Verb = v.name
	if x := f["name"]; x != nil {
		s.Name = d.scalar(x)
	}
	if x := f["label"]; x != nil {
		s.Label = d.scalar(x)
	}
	if x := f["timeout"]; x != nil {
		s.Timeout = d.duration(x)
	}
	s.action = v.decode(d, value, f)
	return s, s.action != nil
}

// verbOf returns the verb of a step, the verb's value, and all keys. v is nil if the step has no verb.
func (d *decoder) verbOf(n *yaml.Node) (v *verb, value *yaml.Node, keys []*yaml.Node) {
	d.eachPair(n, func(key, val *yaml.Node) {
		keys = append(keys, key)
		switch k := verbNamed(key.Value); {
		case k == nil:
		case v != nil:
			d.errorf(key, "a step has one verb: this one has %q and %q", v.name, k.name)
		default:
			v, value = k, val
		}
	})
	if v == nil && len(keys) > 0 {
		names := make([]string, len(verbs))
		for i := range verbs {
			names[i] = verbs[i].name
		}
		d.unknownKey(keys[0], names)
	}
	return v, value, keys
}

// eachEntry is eachPair without error reports.
func (d *decoder) eachEntry(n *yaml.Node, f func(key string, value *yaml.Node)) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i].Value, n.Content[i+1])
	}
}

// Err joins the problems that are errors. It returns nil if all are warnings.
func Err(problems []Problem) error {
	var errs []error
	for _, p := range problems {
		if !p.Warning {
			errs = append(errs, errors.New(p.String()))
		}
	}
	return errors.Join(errs...)
}

// sortProblems sorts problems by position.
func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
