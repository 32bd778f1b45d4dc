//go:build unix

package compareruns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// Bounds of the search for a good run.
const (
	maxSearched = 10_000 // records of good commands
	pageSize    = 500
	maxJobs     = 2000
	maxRecent   = 20
)

// Finder finds runs.
type Finder struct {
	Registry *registry.Registry
	Store    *store.Store
	// IsVisible reports whether the caller may see a session.
	IsVisible func(id string) bool
}

// run is a run of a command.
type run struct {
	store.Command // N 0: the session's program
	handle        *registry.Handle
	// text is the output of a run whose session was removed; handle is then nil.
	text string
}

// isGood reports whether the run ended with exit status 0.
func (r *run) isGood() bool {
	return r.State == store.CommandDone && r.ExitCode != nil && *r.ExitCode == 0 && r.Signal == ""
}

// before reports whether r began before other.
func (r *run) before(other *run) bool {
	if r.Session == other.Session && r.N > 0 && other.N > 0 {
		return r.N < other.N // clocks may be set back
	}
	return r.Started.Before(other.Started)
}

// resolve returns a run: command n of a session, the command or program of a job, or, with n 0, the newest failed run of a session.
func (f *Finder) resolve(ctx context.Context, ref string, n int) (*run, error) {
	e, err := f.Registry.Resolve(ref)
	if err != nil {
		return nil, err
	}
	if n == 0 && e.ID() != ref && e.Record().Name != ref {
		if jobs, err := f.Store.Jobs(ctx, store.JobQuery{Prefix: ref, Limit: 2}); err == nil && len(jobs) == 1 && jobs[0].Session == e.ID() {
			n = jobs[0].N
		}
	}
	if n > 0 {
		c, err := f.Store.Command(ctx, e.ID(), n)
		if errors.Is(err, store.ErrNoCommand) {
			err = api.Errorf(api.CodeNotFound, "session %s has no command %d", e.Record().Name, n).WithHint("`longterm commands %s` lists them", e.Record().Name)
		}
		return &run{Command: c, handle: e}, err
	}
	for _, q := range []store.CommandQuery{{Failed: true}, {}} {
		q.Session, q.Newest, q.Limit = e.ID(), true, 1
		found, err := f.Store.Commands(ctx, q)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &run{Command: found[0], handle: e}, nil
		}
	}
	return programRun(e), nil
}

// programRun returns the run of a session's own program.
func programRun(e *registry.Handle) *run {
	rec, st := e.Record(), e.Session.Status()
	c := store.Command{
		Session: rec.ID, Text: lineOf(rec.Argv), Cwd: rec.Cwd, State: store.CommandDone, Started: rec.Started, Ended: rec.Ended, ExitCode: rec.ExitCode, Signal: rec.Signal,
	}
	if c.Started.IsZero() {
		c.Started = rec.Created
	}
	switch st.State {
	case session.Running:
		c.State = store.CommandRunning
	case session.Exited:
	default:
		c.State = store.CommandLost
	}
	c.From, c.To = e.Session.OutputRange()
	c.From = max(c.From, rec.ProgramFrom)
	return &run{Command: c, handle: e}
}

// removedRun returns the run of a job whose session was removed, or nil unless its record has the output.
func removedRun(j *store.Job) *run {
	var res api.Result
	var req api.Run
	if json.Unmarshal(j.Result, &res) != nil || json.Unmarshal(j.Request, &req) != nil || res.State != "exited" || res.Output == "" {
		return nil
	}
	return &run{Command: store.Command{
		Session: j.Session, Text: j.Line, Cwd: cmp.Or(res.CwdBefore, req.Cwd), State: store.CommandDone, Started: j.Created, Ended: j.Ended, ExitCode: res.ExitCode,
	}, text: res.Output}
}

// lineOf returns a program with its arguments as a line; that of a shell with -c is its line.
func lineOf(argv []string) string {
	if len(argv) == 3 && argv[1] == "-c" && strings.HasSuffix(filepath.Base(argv[0]), "sh") {
		return argv[2]
	}
	return shellquote.Line(argv)
}

// match is how similar two runs are, from least to most.
type match int

const (
	// the commands differ
	none match = iota
	// same program and arguments, other options
	similar
	// same words, elsewhere in the project
	project
	// same words and directory
	same
)

var matchNames = map[match]string{similar: "similar", project: "project", same: "same"}

// words is a command line in two comparable forms.
type words struct {
	exact string // each word, with equal spaces and quotes
	loose string // the program and its arguments without options, variables and wrappers
	name  string
}

// wordsOf parses a command line.
func wordsOf(line string) words {
	w := words{exact: normalize(line)}
	c := diagnostics.ParseCommand(line)
	w.name = c.Name
	var b strings.Builder
	b.WriteString(c.Name)
	for _, a := range c.Args {
		if !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
			b.WriteString("\x00" + a)
		}
	}
	w.loose = b.String()
	return w
}

// maxParsed bounds the lines that are parsed.
const maxParsed = 16 << 10

// normalize prints a line in one form.
func normalize(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > maxParsed {
		return line
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return strings.Join(strings.Fields(line), " ")
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && len(w.Parts) == 1 {
			if text := plainQuoted(w.Parts[0]); text != "" {
				w.Parts[0] = &syntax.Lit{Value: text}
			}
		}
		return true
	})
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&b, file); err != nil {
		return line
	}
	return strings.TrimSpace(b.String())
}

// plainQuoted returns the text of quotes that are not needed, or "".
func plainQuoted(p syntax.WordPart) string {
	text := ""
	switch q := p.(type) {
	case *syntax.SglQuoted:
		text = q.Value
	case *syntax.DblQuoted:
		if len(q.Parts) != 1 {
			return ""
		}
		if lit, ok := q.Parts[0].(*syntax.Lit); ok {
			text = lit.Value
		}
	}
	if text == "" || strings.HasPrefix(text, "-") || strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:@%+-", r))
	}) {
		return ""
	}
	return text
}

// search is the search for a good run of a command.
type search struct {
	*Finder
	failed *run
	words  words
	root   string            // of the failed run's project
	forms  map[string]words  // cache of parsed lines
	roots  map[string]string // cache of projects, by directory

	best        *run
	match       match
	after       *run // the oldest good run after the failed one
	recent, bad int  // number of recent runs of the command, and of failed ones
}

// good returns the newest good run before r, or else the first one after it.
func (f *Finder) good(ctx context.Context, r *run) (*search, error) {
	s := f.newSearch(r)
	if s.words.exact == "" {
		return s, nil
	}
	s.root = s.rootOf(r.Cwd)
	s.eachProgram(s.consider)
	if err := s.eachRemoved(ctx, maxJobs, s.consider); err != nil {
		return nil, err
	}
	until := time.Time{}
	for range maxSearched / pageSize {
		page, err := f.Store.Commands(ctx, store.CommandQuery{Text: s.words.name, Done: true, Until: until, Newest: true, Limit: pageSize})
		if err != nil {
			return nil, err
		}
		s.eachCommand(page, s.consider)
		if len(page) < pageSize || s.match == same && s.recent >= maxRecent {
			break
		}
		until = page[len(page)-1].Started
	}
	if s.best == nil && s.after != nil {
		s.best, s.match = s.after, same
	}
	return s, nil
}

func (f *Finder) newSearch(r *run) *search {
	return &search{Finder: f, failed: r, words: wordsOf(r.Text), forms: map[string]words{}, roots: map[string]string{}}
}

// eachProgram calls f with the runs of other sessions' programs.
func (s *search) eachProgram(f func(*run)) {
	for _, e := range s.Registry.All() {
		if rec := e.Record(); e.IsReady() && !rec.Shell && rec.State == string(session.Exited) && rec.ID != s.failed.Session {
			f(programRun(e))
		}
	}
}

// eachRemoved calls f with the newest runs whose session was removed, if their job has the output.
func (s *search) eachRemoved(ctx context.Context, limit int, f func(*run)) error {
	jobs, err := s.Store.Jobs(ctx, store.JobQuery{Text: s.words.name, Kind: store.JobCommand, Limit: limit})
	for i := range jobs {
		if s.Registry.ByID(jobs[i].Session) == nil {
			if c := removedRun(&jobs[i]); c != nil {
				f(c)
			}
		}
	}
	return err
}

// eachCommand calls f with recorded commands whose session exists.
func (s *search) eachCommand(list []store.Command, f func(*run)) {
	for i := range list {
		c := &list[i]
		if c.Session == s.failed.Session && c.N == s.failed.N {
			continue
		}
		if e := s.Registry.ByID(c.Session); e != nil && e.IsReady() {
			f(&run{Command: *c, handle: e})
		}
	}
}

// consider compares a finished run with the best one so far.
func (s *search) consider(c *run) {
	if s.IsVisible != nil && !s.IsVisible(c.Session) {
		return
	}
	m := s.compare(c)
	if m == none {
		return
	}
	earlier := c.before(s.failed)
	if m == same && earlier && s.recent < maxRecent {
		s.recent++
		if !c.isGood() {
			s.bad++
		}
	}
	if !c.isGood() || !c.hasOutput() {
		return
	}
	switch {
	case !earlier && m == same && (s.after == nil || c.before(s.after)):
		s.after = c
	case earlier && (m > s.match || m == s.match && s.best.before(c)):
		s.best, s.match = c, m
	}
}

// hasOutput reports whether the journal has some of the output, or the run printed nothing.
func (r *run) hasOutput() bool {
	if r.handle == nil {
		return r.text != ""
	}
	start, _ := r.handle.Session.OutputRange()
	return r.To == r.From || r.To > start
}

// compare returns how alike a run's command is. Words are parsed only in the directory or project.
func (s *search) compare(c *run) match {
	here := c.Cwd == s.failed.Cwd
	if !here && (s.root == "" || s.rootOf(c.Cwd) != s.root) {
		return none
	}
	w, ok := s.forms[c.Text]
	if !ok {
		w = wordsOf(c.Text)
		s.forms[c.Text] = w
	}
	exact := w.exact == s.words.exact
	switch {
	case exact && here:
		return same
	case exact:
		return project
	case here && w.loose == s.words.loose:
		return similar
	}
	return none
}

// rootOf returns the project of a directory.
func (s *search) rootOf(dir string) string {
	root, ok := s.roots[dir]
	if !ok {
		root = projectOf(dir)
		s.roots[dir] = root
	}
	return root
}
