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
	"github.com/longterm-dev/longterm/session/spelling"
)

// Template writes values by a person's template: Go's text/template over the fields that --json has. A field
// that a value lacks is empty; a name that no value of the type can have is a mistake, which is found before
// anything is written. Control characters in texts are made visible, so that a line stays one.
type Template struct{ t *template.Template }

// maxTemplate bounds what a person writes, in bytes.
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

// NewTemplate reads a template for values of the type of like; flag is where it was given.
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
		return nil, mistake(flag, err, every)
	}
	return f, nil
}

// present is the function that conditions have around what they look at.
const present = "present"

// presence is what a condition sees of a value: nothing of a group that is not there. The group itself has all its
// fields, empty ones, so that {{.needs_input.kind}} is no mistake where nothing is needed.
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

// mistake is an error of a template for people: with the field that was probably meant.
func mistake(flag string, err error, known map[string]any) error {
	msg := err.Error()
	if _, name, ok := strings.Cut(msg, `map has no entry for key "`); ok {
		name = strings.TrimSuffix(name, `"`)
		names := nested(known)
		if near := spelling.Nearest(name, names); near != "" {
			return exit.Usagef("%s: there is no field %q; %q is the nearest", flag, name, near)
		}
		return exit.Usagef("%s: there is no field %q; there are %s", flag, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return exit.Usagef("%s: %s", flag, strings.TrimPrefix(msg, "template: "))
}

// nested are the names of fields, and of the fields in them.
func nested(known map[string]any) []string {
	var names []string
	for name, v := range known {
		names = append(names, name)
		if m, ok := v.(map[string]any); ok {
			names = append(names, nested(m)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Write writes a value and ends the line.
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

// execute runs the template beside us: it may take for ever, and knows no interrupt. What is left behind then ends with
// the program, or where it writes.
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
		if ctx.Err() != nil { // both, of which neither comes first
			return "", ctx.Err()
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// untilDone is written to until nobody wants it any more.
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

// WriteAll writes sessions, each in its line.
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

// fields is a value as templates see it: structs as maps by their JSON names with every field there, absent ones
// as their type's zero, texts without control characters. A group of fields that is not there is marked as absent, unless
// all are to be there. Types of the API do not contain themselves.
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

// absent is a group of fields that a value does not have: with all of them, empty. It is written as nothing.
type absent map[string]any

func (absent) String() string { return "" }

// labels are names that people chose: any may be asked for with index, and is empty where it is not set.
type labels map[string]string
