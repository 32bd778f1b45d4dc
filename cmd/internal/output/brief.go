package output

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// --json=brief, for machines that pay by the byte: no field that is null, empty, as usual,
// or that the caller knows. What is there has the names and meanings of --json.

// brief returns v in a shorter form for --json=brief.
func brief(v any) any {
	switch v := v.(type) {
	case api.Result:
		return briefResult(&v)
	case *api.Result:
		return briefResult(v)
	case api.Batched:
		out := map[string]any{"results": each(v.Results, briefResult)}
		if v.LeftOut > 0 {
			out["left_out"] = v.LeftOut
		}
		return out
	case api.Job:
		return briefJob(&v)
	case *api.Job:
		return briefJob(v)
	case []api.Job:
		return each(v, briefJob)
	case api.Session:
		return briefSession(&v)
	case []api.Session:
		return each(v, briefSession)
	case *api.Waited:
		return briefWaited(v)
	case []api.Command:
		return each(v, func(c *api.Command) any { return pruneJSON(c, "session", "activity", "quality") })
	}
	return pruneJSON(v)
}

func each[T any](list []T, f func(*T) any) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}

// defaultValues maps fields to the values that brief JSON omits.
var defaultValues = map[string]string{
	"state": "exited", "timed_out": "none", "mode": "pty", "quality": "full", "size_policy": "latest", "keeper": "main",
}

// pruneJSON returns v as JSON without the named fields, and without empty or usual values.
func pruneJSON(v any, without ...string) any {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var tree any
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	if dec.Decode(&tree) != nil {
		return v
	}
	if m, ok := tree.(map[string]any); ok {
		for _, name := range without {
			delete(m, name)
		}
	}
	if tree = prune(tree); tree == nil {
		return map[string]any{}
	}
	return tree
}

// prune removes empty values from a tree, and returns nil if nothing is left. An exit code of 0 is kept.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			text, _ := x.(string)
			if name == "exit_code" && x != nil || name == "env_changes" || name == "env" {
				continue // null in an environment: unset
			}
			if y := prune(x); y == nil || text != "" && defaultValues[name] == text {
				delete(v, name)
			} else {
				v[name] = y
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			if y := prune(v[i]); y != nil {
				v[i] = y
			}
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	case json.Number:
		if v == "0" {
			return nil
		}
	}
	return v
}

// briefResult keeps the outcome. Fields that locate the output remain only if the caller still needs them.
func briefResult(r *api.Result) any {
	out := *r
	without := []string{"pid", "pgid", "command", "quality", "cwd_before", "message"}
	open := IsUnfinished(r.State)
	if out.CwdAfter == out.CwdBefore || out.CwdBefore == "" || open {
		without = append(without, "cwd_after")
	}
	if !open {
		without = append(without, "job")
	}
	if !open && !r.Truncated {
		without = append(without, "session")
	}
	if !open { // the omitted range has its own offsets
		without = append(without, "output_range")
	}
	if r.Truncated {
		without = append(without, "truncated") // the field omitted has the amount
		if r.Omitted == nil {
			without = without[:len(without)-1]
		}
	}
	switch {
	case r.Stdout == nil:
	case r.Stderr != nil && *r.Stderr != "":
		out.Output = "" // each text once
	default:
		out.Stdout = nil
	}
	if r.Env == nil {
		without = append(without, "env_changes")
	}
	return pruneJSON(&out, without...)
}

// briefJob returns a job with its result as the outcome.
func briefJob(j *api.Job) any {
	m, ok := pruneJSON(j, "result", "started", "ended").(map[string]any)
	if !ok {
		return j
	}
	if j.State == "done" {
		delete(m, "state")
	}
	if j.Result != nil {
		r, _ := briefResult(j.Result).(map[string]any)
		for _, name := range []string{"job", "session", "duration_ms"} { // the job has them
			delete(r, name)
		}
		if len(r) > 0 {
			m["result"] = r
		}
	}
	return m
}

func briefSession(s *api.Session) any {
	without := []string{"argv", "engine", "version", "usage", "output", "clients", "created", "ended", "last_output", "activity"}
	if s.State == "running" {
		without = append(without, "state", "exit_code", "duration_ms")
	} else {
		without = append(without, "pid", "cols", "rows")
	}
	out := *s
	if out.Shell != nil {
		sh := *out.Shell
		out.Shell = &sh
	}
	m, ok := pruneJSON(&out, without...).(map[string]any)
	if !ok {
		return s
	}
	if s.State == "exited" {
		m["state"] = "exited"
	}
	if sh, ok := m["shell"].(map[string]any); ok {
		delete(sh, "since")
	}
	if needs, ok := m["needs_input"].(map[string]any); ok {
		delete(needs, "since")
		delete(needs, "reason")
	}
	return m
}

func briefWaited(w *api.Waited) any {
	out := map[string]any{"outcome": w.Outcome, "cursor": w.Cursor}
	if len(w.Fired) > 0 {
		out["fired"] = each(w.Fired, func(f *api.Fired) any {
			m := map[string]any{"kind": f.Condition.Kind}
			if f.Match != "" {
				m["match"] = f.Match
			}
			return m
		})
	}
	if w.Session.State != "running" {
		out["state"] = w.Session.State
		if w.Session.ExitCode != nil {
			out["exit_code"] = *w.Session.ExitCode
		}
	}
	return out
}

// briefScreen returns a screen's rows as texts, without repeats and without blank rows at the end.
func briefScreen(b []byte) ([]byte, error) {
	var s struct {
		Version uint64 `json:"version"`
		Cursor  struct {
			X       int  `json:"x"`
			Y       int  `json:"y"`
			Visible bool `json:"visible"`
		} `json:"cursor"`
		Title      string `json:"title"`
		Alt        bool   `json:"alt"`
		Delta      bool   `json:"delta"`
		Lines      []row  `json:"lines"`
		Scrollback []row  `json:"scrollback"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	out := map[string]any{"version": s.Version, "alt": s.Alt, "title": s.Title, "scrollback": texts(s.Scrollback)}
	if s.Cursor.Visible {
		out["cursor"] = [2]int{s.Cursor.Y, s.Cursor.X}
	}
	if s.Delta {
		rows := map[int]string{}
		for _, r := range s.Lines {
			rows[r.Row] = r.Text
		}
		out["changed"] = rows
	} else {
		rows := texts(s.Lines)
		for len(rows) > 0 && rows[len(rows)-1] == "" {
			rows = rows[:len(rows)-1]
		}
		out["rows"] = rows
	}
	m, _ := prune(out).(map[string]any)
	for name, x := range m { // of Go values, which prune does not know
		switch x := x.(type) {
		case []string:
			if len(x) == 0 {
				delete(m, name)
			}
		}
	}
	var buf strings.Builder
	if err := encodeCompact(&buf, m); err != nil {
		return nil, err
	}
	return []byte(buf.String()), nil
}

// row is a row of a screen, as far as its text goes.
type row struct {
	Row  int    `json:"row"`
	Text string `json:"text"`
}

func texts(rows []row) []string {
	out := slices.Collect(func(yield func(string) bool) {
		for _, r := range rows {
			if !yield(r.Text) {
				return
			}
		}
	})
	return out
}

// IsUnfinished reports whether a result in this state may still change.
func IsUnfinished(state string) bool {
	return state == "running" || state == "waiting" || state == "needs_input" || state == "needs_approval"
}
