package policycheck

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// Rehearsal is what a file of rules would have changed: every command of a history judged under the rules in
// effect, and under them with the file in its place.
type Rehearsal struct {
	File     string `json:"file"`
	Commands int    `json:"commands"` // that were judged
	// Executions and Refused are of the audit trail: programs that sessions have executed, and lines that were refused, which
	// are in no history.
	Executions int `json:"executions"`
	Refused    int `json:"refused"`
	Changed    int `json:"changed"`
	// Covered are executions that would be asked about but for the answer to the line, or to the execution, that they come from.
	Covered int      `json:"covered"`
	Groups  []*Group `json:"groups"` // of those that changed: what becomes stricter first, then by count
	Unused  []Unused `json:"unused"` // rules of the file that decide none of them
}

// Group is commands that are decided alike now.
type Group struct {
	Was      string    `json:"was"`
	Now      string    `json:"now"`
	Rule     string    `json:"rule"` // that decides now; of what is allowed now, that decided before
	Why      string    `json:"why"`
	Count    int       `json:"count"`
	Examples []Example `json:"examples"` // the last ones
}

// Example is a command of a group.
type Example struct {
	Session string `json:"session"`
	Name    string `json:"name"`
	N       int    `json:"n"` // in its session; 0: what the session was started with
	Line    string `json:"line"`
	Cwd     string `json:"cwd"`
	Kind    string `json:"kind,omitempty"` // of the audit trail: "execution", or "refused", a line; empty: of the history
}

// Unused is a rule that decides nothing.
type Unused struct {
	Rule string `json:"rule"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// Bounds of a rehearsal: examples of a group, and answers that are kept for commands that come again.
const (
	maxShown  = 5
	maxKept   = 100_000
	tellEvery = 2 * time.Second
)

// Stage is where a rehearsal is held.
type Stage struct {
	Now, Then *rulebook.Book
	File      *rulebook.File // whose rules are to be named when they decide nothing
	Home      string
	Agent     string                 // judge all as if this agent had asked; empty: who did
	Trail     []audit.Record         // of the audit trail, as far as there is one
	Tell      func(done int)         // is told now and then; nil: nobody
	seats     map[string]*seat       // by who asks and where
	kept      map[asked]*[2]decision // of lines seen before
	groups    map[groupKey]*Group
	used      map[[2]int]bool      // line and column of rules that decided
	homes     map[string]string    // session of a job
	lines     map[string][]*asking // by session: what was asked for there and is not over
}

// asking is a line, a command or an execution of the audit trail, and what an answer about it covers under either set of rules.
type asking struct {
	job      string
	below    map[string]bool // of an execution: the words of what it has started, and its own; nil: it is what was asked for
	is       bool            // it is judged: what it covers is known
	line     *store.Past
	commands [2]gateway.Cover // nil: it would not be asked about
}

// seat is both sets of rules for who asks and where.
type seat struct {
	engines [2]*policy.Engine
	sources [2]*rulebook.Sources
}

// asked is all that a verdict depends on.
type asked struct {
	engines          [2]*policy.Engine
	cwd, shell, text string
}

type decision struct {
	verdict  policy.Verdict
	rule     string
	why      string
	commands []policy.Command // of a question
}

type groupKey struct {
	was, now policy.Verdict
	rule     string
}

// Rehearse judges a history. An error is the history's.
func (s *Stage) Rehearse(ctx context.Context, history iter.Seq2[store.Past, error]) (*Rehearsal, error) {
	s.seats, s.kept = map[string]*seat{}, map[asked]*[2]decision{}
	s.groups, s.used, s.lines, s.homes = map[groupKey]*Group{}, map[[2]int]bool{}, map[string][]*asking{}, map[string]string{}
	r := &Rehearsal{File: s.File.Path, Groups: []*Group{}, Unused: []Unused{}}
	told := time.Now()
	for p, err := range history {
		if err != nil {
			return nil, err
		}
		if p.N == 0 && (p.Shell || len(p.Argv) == 0) {
			continue // a shell by itself runs nothing
		}
		r.Commands++
		if s.tally(&p, "", *s.judge(&p)) {
			r.Changed++
		}
		if err := s.stopped(ctx, r.Commands, &told); err != nil {
			return nil, err
		}
	}
	for i := range s.Trail { // a command is asked about before there is a session for it
		if rec := &s.Trail[i]; rec.Kind == audit.End && rec.Job != "" {
			s.homes[rec.Job] = rec.Session
		}
	}
	for i := range s.Trail {
		s.recorded(&s.Trail[i], r)
		if err := s.stopped(ctx, r.Commands+i+1, &told); err != nil {
			return nil, err
		}
	}
	for _, g := range s.groups {
		r.Groups = append(r.Groups, g)
	}
	slices.SortFunc(r.Groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Rule, b.Rule))
	})
	for i := range s.File.Sections {
		for _, rule := range s.File.Sections[i].Rules {
			if rule.Decision != policy.Allow && !s.used[[2]int{rule.At.Line, rule.At.Column}] { // what is allowed names no rule
				r.Unused = append(r.Unused, Unused{rule.Name, s.File.Path, rule.At.Line})
			}
		}
	}
	return r, nil
}

// stopped is told how many were judged: now and then it looks whether to go on, and tells of it.
func (s *Stage) stopped(ctx context.Context, done int, told *time.Time) error {
	if done%1000 != 0 {
		return nil
	}
	if now := time.Now(); s.Tell != nil && now.Sub(*told) > tellEvery {
		*told = now
		s.Tell(done)
	}
	return ctx.Err()
}

// The kinds of what is of the audit trail.
const (
	kindExecution = "execution"
	kindRefused   = "refused"
)

// recorded judges a record of the audit trail that is in no history: what was executed, and a line that was refused. What
// was asked about has another record, of its answer.
func (s *Stage) recorded(rec *audit.Record, r *Rehearsal) {
	p := store.Past{Session: rec.Session, Name: rec.Name, Agent: rec.Actor.Agent, Cwd: rec.Cwd}
	switch {
	case rec.Kind == audit.Execution && rec.Verdict != policy.Ask.String() && rec.Path != "" && len(rec.Argv) > 0:
		r.Executions++
		p.Argv = append([]string{rec.Path}, rec.Argv[1:]...)
		if s.executed(rec, &p, r) {
			r.Changed++
		}
	case rec.Kind == audit.Line && rec.Verdict == policy.Deny.String() && rec.Line != "":
		r.Refused++
		p.N, p.Text = 1, rec.Line
		if s.tally(&p, kindRefused, *s.judge(&p)) {
			r.Changed++
		}
	case rec.Kind == audit.Line || rec.Kind == audit.Command:
		if p.Argv, p.Text = rec.Argv, rec.Line; p.Text != "" {
			p.N = 1
		}
		s.begins(cmp.Or(rec.Session, s.homes[rec.Job]), &asking{job: rec.Job, line: &p})
	case rec.Kind == audit.End:
		s.ends(rec.Session, rec.Job)
	}
}

// maxAskings bounds what of a session is remembered.
const maxAskings = 64

// begins notes what was asked for in a session: what it executes from now on is of it, or of one before it that is not over.
func (s *Stage) begins(session string, a *asking) {
	list := s.lines[session]
	if a.below == nil { // executions are of the line
		list = slices.DeleteFunc(list, func(o *asking) bool { return o.below != nil || o.job == "" || o.job == a.job })
	}
	list = append(list, a)
	s.lines[session] = list[max(0, len(list)-maxAskings):]
}

// ends notes that a line is over. The last stays: what it left running is still its.
func (s *Stage) ends(session, job string) {
	list := s.lines[session]
	if n := len(list) - 1; n >= 0 && job != "" {
		last := list[n]
		s.lines[session] = slices.DeleteFunc(list, func(o *asking) bool { return o != last && o.job == job })
	}
}

// executed judges an execution: what an answer about its line covers, or about an execution that it comes from, nobody is asked.
func (s *Stage) executed(rec *audit.Record, p *store.Past, r *Rehearsal) bool {
	both := *s.judge(p)
	words, parent := strings.Join(rec.Argv, "\x00"), strings.Join(rec.Parent, "\x00")
	covered := false
	for _, a := range s.lines[rec.Session] {
		if a.below != nil && !a.below[parent] {
			continue
		}
		if a.below != nil {
			a.below[words] = true
		}
		s.cover(a)
		for i := range both {
			if both[i].verdict == policy.Ask && a.commands[i].Covers(both[i].commands, s.Home) {
				both[i].verdict, covered = policy.Allow, true
			}
		}
	}
	if covered {
		r.Covered++
	}
	own := &asking{below: map[string]bool{words: true}, is: true}
	for i := range both {
		own.commands[i] = coverOf(p.Cwd, &both[i])
	}
	if own.commands[0] != nil || own.commands[1] != nil {
		s.begins(rec.Session, own)
	}
	return s.tally(p, kindExecution, both)
}

// cover judges what an asking is about, once, for what an answer about it would cover.
func (s *Stage) cover(a *asking) {
	if a.is {
		return
	}
	a.is = true
	if a.line.N == 0 && len(a.line.Argv) == 0 {
		return
	}
	both := s.judge(a.line)
	for i := range both {
		a.commands[i] = coverOf(a.line.Cwd, &both[i])
	}
}

// coverOf is what an answer to a question covers; nil: it is none.
func coverOf(cwd string, d *decision) gateway.Cover {
	if d.verdict != policy.Ask {
		return nil
	}
	return gateway.CoverOf(cwd, &policy.Judgement{Verdict: d.verdict, Commands: d.commands})
}

// order puts denials first, then questions, then what becomes laxer.
func order(g *Group) int {
	switch {
	case g.Now == "deny":
		return 0
	case g.Now == "ask" && g.Was == "allow":
		return 1
	case g.Now == "ask":
		return 2
	}
	return 3
}

// words are a command as it is shown.
func words(p *store.Past) string {
	if p.N == 0 {
		return strings.Join(p.Argv, " ")
	}
	return p.Text
}

// judge judges a command under both sets of rules.
func (s *Stage) judge(p *store.Past) *[2]decision {
	at := s.seat(p)
	name := string(shell.Detect(p.Argv))
	key := asked{at.engines, p.Cwd, name, p.Text}
	if p.N == 0 {
		key.text = "\x00" + strings.Join(p.Argv, "\x00")
	}
	both := s.kept[key]
	if both == nil {
		both = new([2]decision)
		for i, e := range at.engines {
			l := policy.Line{Text: p.Text, Shell: name, Cwd: p.Cwd, Home: s.Home}
			var j policy.Judgement
			if p.N == 0 {
				l.Text = ""
				j = e.JudgeArgv(p.Argv[0], p.Argv, l)
			} else {
				j = e.Judge(l)
			}
			if i == 1 {
				s.note(at.sources[1], j)
			}
			j = at.sources[i].Soften(j)
			if both[i] = (decision{j.Verdict, j.Rule, j.Why, nil}); j.Verdict == policy.Ask {
				both[i].commands = j.Commands
			}
		}
		if len(s.kept) >= maxKept {
			clear(s.kept)
		}
		s.kept[key] = both
	}
	return both
}

// tally counts a command whose verdict is another, and says whether it is.
func (s *Stage) tally(p *store.Past, kind string, both [2]decision) bool {
	was, now := both[0], both[1]
	if was.verdict == now.verdict {
		return false
	}
	decides := now
	if now.verdict == policy.Allow {
		decides = was
	}
	k := groupKey{was.verdict, now.verdict, decides.rule}
	g := s.groups[k]
	if g == nil {
		g = &Group{Was: was.verdict.String(), Now: now.verdict.String(), Rule: decides.rule, Why: decides.why}
		s.groups[k] = g
	}
	g.Count++
	e := Example{p.Session, p.Name, p.N, output.Shorten(words(p), 500), p.Cwd, kind}
	if i := slices.IndexFunc(g.Examples, func(o Example) bool { return o.Line == e.Line }); i >= 0 {
		g.Examples = slices.Delete(g.Examples, i, i+1)
	}
	if g.Examples = append(g.Examples, e); len(g.Examples) > maxShown {
		g.Examples = g.Examples[1:]
	}
	return true
}

// note remembers which rules of the file decided something.
func (s *Stage) note(src *rulebook.Sources, j policy.Judgement) {
	for i := range j.Commands {
		if e, ok := src.Where(j.Commands[i].Rule); ok && e.File == s.File.Path {
			s.used[[2]int{e.Line, e.Column}] = true
		}
	}
}

// seat finds the rules for who asked, and where.
func (s *Stage) seat(p *store.Past) *seat {
	agent := p.Agent
	if s.Agent != "" {
		agent = s.Agent
	}
	key := p.Session + "\x00" + agent + "\x00" + p.Cwd
	if found := s.seats[key]; found != nil {
		return found
	}
	if len(s.seats) >= maxKept {
		clear(s.seats)
		clear(s.kept)
	}
	made := &seat{}
	for i, b := range []*rulebook.Book{s.Now, s.Then} {
		made.engines[i], made.sources[i] = b.For(rulebook.Subject{Agent: agent, Session: p.Name, Labels: p.Labels, Cwd: p.Cwd, Home: s.Home})
	}
	s.seats[key] = made
	return made
}

// Write prints a rehearsal for a person.
func (r *Rehearsal) Write(w io.Writer) {
	for _, g := range r.Groups {
		fmt.Fprintf(w, "%s, was %s: %s  %s", g.Now, g.Was, output.HowMany(g.Count, "command", "commands"), output.Printable(g.Rule))
		if g.Why != "" {
			fmt.Fprintf(w, ": %s", output.Printable(g.Why))
		}
		fmt.Fprintln(w)
		for _, e := range g.Examples {
			n := "started"
			switch {
			case e.Kind == kindExecution:
				n = "executed"
			case e.Kind != "":
				n = e.Kind
			case e.N > 0:
				n = fmt.Sprint(e.N)
			}
			fmt.Fprintf(w, "  %s %s  %s\n", output.Printable(e.Name), n, output.Printable(output.Shorten(e.Line, 100)))
		}
		if n := len(g.Examples); n < g.Count {
			fmt.Fprintf(w, "  (%d of %d are shown: the last that differ)\n", n, g.Count)
		}
	}
	for _, u := range r.Unused {
		fmt.Fprintf(w, "%s:%d: %s: it decides none of them\n", output.Printable(u.File), u.Line, output.Printable(u.Rule))
	}
	trail := ""
	if r.Executions+r.Refused > 0 {
		trail = fmt.Sprintf(", %s and %s of the audit trail", output.HowMany(r.Executions, "execution", "executions"),
			output.HowMany(r.Refused, "refused line", "refused lines"))
	}
	if r.Covered > 0 {
		fmt.Fprintf(w, "%s not counted as asked about: the answer to the line or the execution that it comes from covers it\n",
			output.HowMany(r.Covered, "execution is", "executions are"))
	}
	fmt.Fprintf(w, "%s of the history%s, %d of them judged otherwise than now\n", output.HowMany(r.Commands, "command", "commands"), trail, r.Changed)
}
