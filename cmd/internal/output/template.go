//go:build unix

package output

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// Template formats values by a user's template: Go's text/template over the fields of the --json output. A field
// without a value is empty. NewTemplate rejects names that no value of the type has. Control characters in values are
// made visible, so that a line stays one line.
type Template struct{ t *template.Template }

// maxTemplate limits the text of a template, in bytes.
const maxTemplate = 64 << 10

var templateFuncs = template.FuncMap{
	"json": func(v any) (string, error) {
		b, err := json.Marshal(v)
		return string(b), err
	},
	"shorten": func(n int, v any) string { return Shorten(fmt.Sprint(v), max(1, n)) },
	"elapsed": func(ms int64) string { return Elapsed(ms) },
	"join":    func(sep string, list []any) string { return strings.Join(words(list), sep) },
	"quote":   func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
	"upper":   func(v any) string { return strings.ToUpper(fmt.Sprint(v)) },
	"short":   func(id string) string { return id[:min(8, len(id))] },
	present:   func(v any) any { return presence(v) },
}

func words(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprint(v)
	}
	return out
}

var templateEscapes = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\\`, `\`)

// NewTemplate parses a template for values of like's type. flag names its flag in errors.
func NewTemplate(ctx context.Context, flag, text string, like any) (*Template, error) {
	if len(text) > maxTemplate {
		return nil, exit.Usagef("%s: a template has %d bytes at most", flag, maxTemplate)
	}
	if strings.Contains(text, "#{") {
		return nil, exit.Usagef("%s: #{…} is tmux's way; write {{.name}} and the like, or ask `longterm tmux-compat list-sessions -F`", flag)
	}
	t, err := template.New(flag).Funcs(templateFuncs).Option("missingkey=error").Parse(templateEscapes.Replace(text))
	if err != nil {
		return nil, exit.Usagef("%s: %s; fields are written {{.name}}", flag, strings.TrimPrefix(err.Error(), "template: "+flag+":"))
	}
	f := &Template{t}
	for _, part := range t.Templates() {
		if part.Tree != nil {
			markConditions(part.Root)
		}
	}
	every := fields(reflect.ValueOf(like), true).(map[string]any)
	if _, err := f.execute(ctx, every); exit.IsInterrupted(err) {
		return nil, err
	} else if err != nil {
		return nil, templateError(flag, err, every)
	}
	return f, nil
}

// present is the name of the template function that markConditions puts around the fields in conditions.
const present = "present"

// presence returns the value that a condition sees: nil for an absent group. The group itself has all its fields,
// empty, so that {{.needs_input.kind}} is valid without a request for input.
func presence(v any) any {
	if _, is := v.(absent); is {
		return nil
	}
	return v
}

// markConditions puts present around all fields that {{if}} and {{with}} look at.
func markConditions(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, inner := range n.Nodes {
				markConditions(inner)
			}
		}
	case *parse.IfNode:
		markPipe(n.Pipe)
		markConditions(n.List)
		markConditions(n.ElseList)
	case *parse.WithNode:
		markPipe(n.Pipe)
		markConditions(n.List)
		markConditions(n.ElseList)
	case *parse.RangeNode:
		markConditions(n.List)
		markConditions(n.ElseList)
	}
}

func markPipe(p *parse.PipeNode) {
	for _, c := range p.Cmds {
		for i, arg := range c.Args {
			switch arg := arg.(type) {
			case *parse.PipeNode:
				markPipe(arg)
			case *parse.FieldNode, *parse.VariableNode:
				call := []parse.Node{parse.NewIdentifier(present).SetPos(arg.Position()), arg}
				if len(c.Args) == 1 {
					c.Args = call
					break
				}
				inner := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: arg.Position(), Args: call}
				c.Args[i] = &parse.PipeNode{NodeType: parse.NodePipe, Pos: arg.Position(), Line: p.Line, Cmds: []*parse.CommandNode{inner}}
			}
		}
	}
}

// templateError returns a template error in the user's terms, with the field that was probably meant.
func templateError(flag string, err error, known map[string]any) error {
	msg := err.Error()
	if _, name, ok := strings.Cut(msg, `map has no entry for key "`); ok {
		name = strings.TrimSuffix(name, `"`)
		names := fieldNames(known)
		if near := suggestname.Nearest(name, names); near != "" {
			return exit.Usagef("%s: no field %q; did you mean %q?", flag, name, near)
		}
		return exit.Usagef("%s: no field %q; fields: %s", flag, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return exit.Usagef("%s: %s", flag, strings.TrimPrefix(msg, "template: "))
}

// fieldNames returns the names of all fields, including nested ones.
func fieldNames(known map[string]any) []string {
	var names []string
	for name, v := range known {
		names = append(names, name)
		if m, ok := v.(map[string]any); ok {
			names = append(names, fieldNames(m)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Write writes a value and a newline.
func (f *Template) Write(ctx context.Context, w io.Writer, v any) error {
	text, err := f.execute(ctx, fields(reflect.ValueOf(v), false))
	switch {
	case exit.IsInterrupted(err):
		return err
	case err != nil:
		return exit.Usagef("%s", strings.TrimPrefix(err.Error(), "template: "))
	}
	_, err = io.WriteString(w, text+"\n")
	return err
}

// execute runs the template in a goroutine, because it may never end and cannot be interrupted. An abandoned goroutine
// ends with its next write, or with the program.
func (f *Template) execute(ctx context.Context, v any) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		w := untilDone{ctx: ctx}
		err := f.t.Execute(&w, v)
		done <- result{w.String(), err}
	}()
	select {
	case r := <-done:
		if ctx.Err() != nil { // both are ready, in no fixed order
			return "", ctx.Err()
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// untilDone is a writer that fails after its context has ended.
type untilDone struct {
	strings.Builder
	ctx context.Context
}

func (w *untilDone) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Builder.Write(b)
}

// WriteAll writes sessions, one per line.
func (f *Template) WriteAll(ctx context.Context, w io.Writer, list []api.Session) error {
	var b strings.Builder
	for i := range list {
		if err := f.Write(ctx, &b, list[i]); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var timeType = reflect.TypeFor[time.Time]()

// fields converts a value for templates: structs become maps by JSON names with every field present, absent ones as
// zero values, and texts have no control characters. Unless all is set, an absent group is an absent value. API types
// do not contain themselves.
func fields(v reflect.Value, all bool) any {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return fields(v.Elem(), all)
		}
		if v.Type().Elem().Kind() != reflect.Struct || v.Type().Elem() == timeType {
			return ""
		}
		zero := fields(reflect.Zero(v.Type().Elem()), all)
		if group, is := zero.(map[string]any); is && !all {
			return absent(group)
		}
		return zero
	case reflect.Struct:
		if v.Type() == timeType {
			if t := v.Interface().(time.Time); !t.IsZero() {
				return t.Format(time.RFC3339)
			}
			return ""
		}
		out := map[string]any{}
		for i := range v.NumField() {
			if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
				out[name] = fields(v.Field(i), all)
			}
		}
		return out
	case reflect.Map:
		out := labels{}
		for k, x := range v.Seq2() {
			out[k.String()] = Printable(fmt.Sprint(fields(x, all)))
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = fields(v.Index(i), all)
		}
		return out
	case reflect.String:
		return Printable(v.String())
	}
	return v.Interface()
}

// absent is a group of fields that a value does not have: all its fields are empty, and it prints as nothing.
type absent map[string]any

func (absent) String() string { return "" }

// labels maps user-chosen names to values. index returns an empty value for an unset name.
type labels map[string]string
