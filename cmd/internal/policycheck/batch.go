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

// Query is a line to be judged, and under what. Without a preset the rules in effect count.
type Query struct {
	Cmd    string
	Preset string
	Allow  []string
	Deny   []string
	Shell  string
	Cwd    string
	Home   string
	Agent  string
	Policy string // as with --policy: only stricter than what counts without it
}

// Judge answers queries. It keeps the engines that it made.
type Judge struct {
	Book      *rulebook.Book
	Missing   error  // why there is no Book
	Cwd, Home string // of queries that give none
	Elsewhere bool   // queries that bring their own rules may be of another machine: Cwd says nothing of them
	engines   map[string]*policy.Engine
}

// maxEngines bounds the engines that are kept: beyond it they are made anew.
const maxEngines = 512

// Answer judges a line. The error says what is wrong with the query.
func (g *Judge) Answer(q Query) (Answer, error) {
	preset, alone := policy.Preset(q.Preset), q.Preset != "" || len(q.Allow) > 0 || len(q.Deny) > 0
	if q.Cwd == "" && !(alone && g.Elsewhere) {
		q.Cwd = g.Cwd
	}
	if q.Home == "" {
		q.Home = g.Home
	}
	l := policy.Line{Text: q.Cmd, Shell: q.Shell, Cwd: q.Cwd, Home: q.Home}
	if !g.Elsewhere {
		l.Real = rulebook.Links()
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
			if err := g.Book.Known(q.Policy); err != nil {
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
	e, err := g.engine(preset, q.Allow, q.Deny)
	if err != nil {
		return Answer{}, err
	}
	if preset == "" {
		preset = policy.Hard
	}
	return AnswerOf(e.Judge(l), preset), nil
}

func (g *Judge) engine(preset policy.Preset, allow, deny []string) (*policy.Engine, error) {
	key := string(preset) + "\x00" + strings.Join(allow, "\x01") + "\x00" + strings.Join(deny, "\x01")
	if e := g.engines[key]; e != nil {
		return e, nil
	}
	o := policy.Options{Preset: preset, Allow: allow, Deny: deny}
	if g.Book != nil && !g.Elsewhere {
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

// maxLine bounds a line of a batch, in bytes: what is longer is answered with an error and not kept.
const maxLine = 64 << 20

// batchAnswer is an answer with what it is to. What cannot be judged is never allowed.
type batchAnswer struct {
	ID json.RawMessage `json:"id"`
	Answer
	Error string `json:"error,omitempty"`
	N     int    `json:"n,omitempty"` // number of the line, of one with an error
}

// Batch judges a query a line and writes an answer a line. Lines that are wrong get an answer with an error;
// the error is about reading and writing alone.
func (g *Judge) Batch(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, tooLong, err := readLine(r)
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			if werr := enc.Encode(g.batchLine(line, n, tooLong)); werr != nil {
				return werr
			}
			if r.Buffered() == 0 { // whoever sends one and waits for its answer gets it
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

// readLine is a line without its end; of one that is too long only the beginning.
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

func (g *Judge) batchLine(line []byte, n int, tooLong bool) batchAnswer {
	wrong := func(id json.RawMessage, format string, args ...any) batchAnswer {
		if id == nil {
			id = json.RawMessage("null")
		}
		a := batchAnswer{ID: id, Error: fmt.Sprintf(format, args...), N: n}
		a.Verdict, a.Rule, a.Why, a.Commands = policy.Ask.String(), "unknown", "it could not be judged", []Command{}
		return a
	}
	if tooLong {
		return wrong(idOf(line), "the line has more than %d bytes; send shorter ones", maxLine)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return wrong(idOf(line), `this is no JSON object in one line, as {"id": 1, "cmd": "ls"}: %v`, err)
	}
	id := fields["id"]
	if fields == nil || fields["cmd"] == nil {
		return wrong(id, `there is no "cmd": give the line to be judged`)
	}
	if !utf8.Valid(line) {
		return wrong(id, "the line is no valid UTF-8: what runs may be another line than the one judged")
	}
	var q Query
	for name, to := range map[string]any{
		"cmd": &q.Cmd, "preset": &q.Preset, "allow": &q.Allow, "deny": &q.Deny, "shell": &q.Shell,
		"cwd": &q.Cwd, "home": &q.Home, "agent": &q.Agent,
	} {
		if raw := fields[name]; raw != nil {
			if err := json.Unmarshal(raw, to); err != nil {
				return wrong(id, "%q has to be %s", name, map[bool]string{true: "a list of texts", false: "a text"}[name == "allow" || name == "deny"])
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

// idOf finds the id in a line that is no JSON, as far as it can be read.
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
