package policycheck

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// Query is a line to check, with the rules to use. Without a preset, the rules in effect apply.
type Query struct {
	Cmd    string
	Preset string
	Allow  []string
	Deny   []string
	Shell  string
	Cwd    string
	Home   string
	Agent  string
	Policy string // additional policy, which can only make the verdict stricter
}

// Checker answers queries and caches the engines it creates.
type Checker struct {
	Book        *rulebook.Book
	Missing     error  // error of loading Book, if Book is nil
	Cwd, Home   string // defaults for queries without them
	MayBeRemote bool   // queries with their own rules may be for another machine, so Cwd does not apply to them
	engines     map[string]*policy.Engine
}

// maxEngines limits the cached engines. Beyond it the cache is cleared.
const maxEngines = 512

// Answer checks a line. An error describes a mistake in the query.
func (g *Checker) Answer(q Query) (Answer, error) {
	preset, alone := policy.Preset(q.Preset), q.Preset != "" || len(q.Allow) > 0 || len(q.Deny) > 0
	if q.Cwd == "" && !(alone && g.MayBeRemote) {
		q.Cwd = g.Cwd
	}
	if q.Home == "" {
		q.Home = g.Home
	}
	l := policy.Line{Text: q.Cmd, Shell: q.Shell, Cwd: q.Cwd, Home: q.Home}
	here := !g.MayBeRemote || q.Cwd != "" // the query concerns files of this machine
	if here {
		l.Disk = rulebook.NewDisk()
	}
	if len(q.Allow) > 0 && (preset == "" || preset == policy.Hard || preset == policy.Off) {
		preset = policy.Listed // what is listed is all that is allowed
	}
	if !alone && g.Missing != nil {
		return Answer{}, g.Missing
	}
	if !alone {
		e, src := g.Book.For(rulebook.Subject{Agent: q.Agent, Cwd: q.Cwd, Home: q.Home})
		j := e.Judge(l)
		if q.Policy != "" {
			if err := g.Book.CheckPolicyName(q.Policy); err != nil {
				return Answer{}, err
			}
			asked, from := g.Book.For(rulebook.Subject{Agent: q.Agent, Cwd: q.Cwd, Home: q.Home, Policy: q.Policy})
			if k := asked.Judge(l); k.Verdict > j.Verdict || k.Verdict == j.Verdict && from.Preset != src.Preset {
				j, src = k, from
			}
		}
		a := AnswerOf(j, src.Preset)
		a.Locate(j, src)
		return a, nil
	}
	e, err := g.engine(preset, q.Allow, q.Deny, here)
	if err != nil {
		return Answer{}, err
	}
	if preset == "" {
		preset = policy.Hard
	}
	return AnswerOf(e.Judge(l), preset), nil
}

// engine returns the engine of rules. If here, it knows longterm's own files.
func (g *Checker) engine(preset policy.Preset, allow, deny []string, here bool) (*policy.Engine, error) {
	key := fmt.Sprint(here) + "\x00" + string(preset) + "\x00" + strings.Join(allow, "\x01") + "\x00" + strings.Join(deny, "\x01")
	if e := g.engines[key]; e != nil {
		return e, nil
	}
	o := policy.Options{Preset: preset, Allow: allow, Deny: deny}
	if g.Book != nil && here {
		o.Own = g.Book.ListOwn()
	}
	e, err := policy.New(o)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "policy: "))
	}
	if g.engines == nil || len(g.engines) >= maxEngines {
		g.engines = map[string]*policy.Engine{}
	}
	g.engines[key] = e
	return e, nil
}

// maxLine limits a line of a batch, in bytes. A longer line is answered with an error.
const maxLine = 64 << 20

// batchAnswer is the answer to one query of a batch. A query that cannot be checked is never allowed.
type batchAnswer struct {
	ID json.RawMessage `json:"id"` // id of the query
	Answer
	Error string `json:"error,omitempty"`
	N     int    `json:"n,omitempty"` // line number, if there is an error
}

// Batch reads one query per line and writes one answer per line. An invalid query gets an answer with an error; Batch
// itself fails only if reading or writing does.
func (g *Checker) Batch(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, tooLong, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			if werr := enc.Encode(g.batchLine(line, n, tooLong)); werr != nil {
				return werr
			}
			if r.Buffered() == 0 { // a client that waits for each answer must receive it
				if werr := w.Flush(); werr != nil {
					return werr
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("read standard input: %w", err), w.Flush())
		}
	}
}

// readLine returns a line without its end, or only the start of a line that is too long.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			tooLong = true
			piece = piece[:max(0, min(len(piece), 4096-len(line)))]
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

func (g *Checker) batchLine(line []byte, n int, tooLong bool) batchAnswer {
	wrong := func(id json.RawMessage, format string, args ...any) batchAnswer {
		if id == nil {
			id = json.RawMessage("null")
		}
		a := batchAnswer{ID: id, Error: fmt.Sprintf(format, args...), N: n}
		a.Verdict, a.Rule, a.Why, a.Commands = policy.Ask.String(), "unknown", "it could not be judged", []Command{}
		return a
	}
	if tooLong {
		return wrong(idOf(line), "line longer than %d bytes; send shorter lines", maxLine)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return wrong(idOf(line), `not a JSON object in one line, such as {"id": 1, "cmd": "ls"}: %v`, err)
	}
	id := fields["id"]
	if fields == nil || fields["cmd"] == nil {
		return wrong(id, `"cmd" missing: the line to check`)
	}
	if !utf8.Valid(line) {
		return wrong(id, "line not valid UTF-8: the checked line could differ from the one that runs")
	}
	var q Query
	for name, to := range map[string]any{
		"cmd": &q.Cmd, "preset": &q.Preset, "allow": &q.Allow, "deny": &q.Deny, "shell": &q.Shell,
		"cwd": &q.Cwd, "home": &q.Home, "agent": &q.Agent,
	} {
		if raw := fields[name]; raw != nil {
			if err := json.Unmarshal(raw, to); err != nil {
				return wrong(id, "%q must be %s", name, map[bool]string{true: "a list of texts", false: "a text"}[name == "allow" || name == "deny"])
			}
		}
	}
	a, err := g.Answer(q)
	if err != nil {
		return wrong(id, "%v", err)
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return batchAnswer{ID: id, Answer: a}
}

// idOf returns the id in a line that is not valid JSON, if it can be found.
func idOf(line []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil
		}
		if key == "id" {
			return value
		}
	}
	return nil
}
