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
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// Rehearsal is the result of testing a rule file on history: each past command is checked against the rules in effect,
// and against the same rules with the file in place of the current one.
type Rehearsal struct {
	File     string `json:"file"`
	Commands int    `json:"commands"` // commands checked
	// Executions and Refused count audit records: programs that sessions executed, and rejected lines, which no history
	// contains.
	Executions int `json:"executions"`
	Refused    int `json:"refused"`
	Changed    int `json:"changed"` // commands whose verdict changes
	// Covered counts executions that need no approval only because an answer to their line, or to the execution that
	// started them, covers them.
	Covered int      `json:"covered"`
	Groups  []*Group `json:"groups"` // commands whose verdict changes, by group: stricter verdicts first, then by count
	Unused  []Unused `json:"unused"` // rules of the file that decided nothing
}

// Group is a set of commands whose verdict changes in the same way.
type Group struct {
	Was string `json:"was"`
	Now string `json:"now"`
	// the deciding rule now; for commands that are allowed now, the one that decided before
	Rule     string    `json:"rule"`
	Why      string    `json:"why"`
	Count    int       `json:"count"`
	Examples []Example `json:"examples"` // the newest commands of the group
}

// Example is a command in a group.
type Example struct {
	Session string `json:"session"`
	Name    string `json:"name"`
	N       int    `json:"n"` // number of the command in its session; 0: the program that the session was started with
	Line    string `json:"line"`
	Cwd     string `json:"cwd"`
	// kind of an audit record: "execution", or "refused" for a line; empty: from the history
	Kind string `json:"kind,omitempty"`
}

// Unused is a rule that decided nothing.
type Unused struct {
	Rule string `json:"rule"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// Limits of a rehearsal: examples per group, cached decisions, and the interval of progress reports.
const (
	maxShown      = 5
	maxKept       = 100_000
	progressEvery = 2 * time.Second
)

// Rehearser holds the parameters and the state of a rehearsal.
type Rehearser struct {
	Now, Tested *rulebook.Book // rules in effect, and rules with the tested file
	File        *rulebook.File // file whose rules are listed if they decide nothing
	Home        string
	Agent       string                       // agent to assume as the caller of all commands; empty means the actual caller
	Trail       []audit.Record               // audit records, if available
	OnProgress  func(done int)               // called from time to time with the number of checked commands; nil: not called
	ruleSets    map[string]*ruleSets         // rules by caller and directory
	decisions   map[decisionKey]*[2]decision // cache of decisions
	groups      map[groupKey]*Group
	usedRules   map[[2]int]bool              // line and column of rules that decided something
	jobSessions map[string]string            // session of each job
	pending     map[string][]*pendingRequest // by session: requests that have not ended
}

// pendingRequest is a line, a command or an execution from the audit trail, with what an answer to it covers under each
// of the two sets of rules.
type pendingRequest struct {
	job string
	// for an execution: its own words and those of the programs it has started; nil for a line or command
	descendants map[string]bool
	covered     bool // commands is set
	line        *store.HistoryCommand
	covers      [2]authorize.ApprovedCommands // what an answer covers; nil means no approval needed
}

// ruleSets holds both sets of rules for a caller and directory, current rules first.
type ruleSets struct {
	engines [2]*policy.Engine
	sources [2]*rulebook.Sources
}

// decisionKey holds everything that a verdict depends on.
type decisionKey struct {
	engines          [2]*policy.Engine
	cwd, shell, text string
}

// decision is the verdict on a command under one set of rules.
type decision struct {
	verdict  policy.Verdict
	rule     string
	why      string
	commands []policy.Command // commands that need approval
}

type groupKey struct {
	was, now policy.Verdict
	rule     string
}

// Rehearse checks the commands of a history and of the audit trail. It returns the error that ended the history.
func (s *Rehearser) Rehearse(ctx context.Context, history iter.Seq2[store.HistoryCommand, error]) (*Rehearsal, error) {
	s.ruleSets, s.decisions = map[string]*ruleSets{}, map[decisionKey]*[2]decision{}
	s.groups, s.usedRules, s.pending, s.jobSessions = map[groupKey]*Group{}, map[[2]int]bool{}, map[string][]*pendingRequest{}, map[string]string{}
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
	for i := range s.Trail { // the question about a command precedes its session
		if rec := &s.Trail[i]; rec.Kind == audit.End && rec.Job != "" {
			s.jobSessions[rec.Job] = rec.Session
		}
	}
	for i := range s.Trail {
		s.checkRecord(&s.Trail[i], r)
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
			if rule.Decision != policy.Allow && !s.usedRules[[2]int{rule.At.Line, rule.At.Column}] { // what is allowed names no rule
				r.Unused = append(r.Unused, Unused{rule.Name, s.File.Path, rule.At.Line})
			}
		}
	}
	return r, nil
}

// stopped is called with the number of checked commands. From time to time it reports progress and checks whether to
// continue.
func (s *Rehearser) stopped(ctx context.Context, done int, told *time.Time) error {
	if done%1000 != 0 {
		return nil
	}
	if now := time.Now(); s.OnProgress != nil && now.Sub(*told) > progressEvery {
		*told = now
		s.OnProgress(done)
	}
	return ctx.Err()
}

// The kinds of audit records.
const (
	kindExecution = "execution"
	kindRefused   = "refused"
)

// checkRecord checks an audit record that is not in the history: an execution, or a rejected line. A line that needed
// approval has another record, that of its answer.
func (s *Rehearser) checkRecord(rec *audit.Record, r *Rehearsal) {
	p := store.HistoryCommand{Session: rec.Session, Name: rec.Name, Agent: rec.Actor.Agent, Cwd: rec.Cwd}
	switch {
	case rec.Kind == audit.Execution && rec.Verdict != policy.Ask.String() && rec.Path != "" && len(rec.Argv) > 0:
		r.Executions++
		p.Argv = append([]string{rec.Path}, rec.Argv[1:]...)
		if s.checkExecution(rec, &p, r) {
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
		s.addPending(cmp.Or(rec.Session, s.jobSessions[rec.Job]), &pendingRequest{job: rec.Job, line: &p})
	case rec.Kind == audit.End:
		s.endPending(rec.Session, rec.Job)
	}
}

// maxPending limits the remembered requests of a session.
const maxPending = 64

// addPending records a request in a session. Later executions belong to it, or to an earlier request that has not ended.
func (s *Rehearser) addPending(session string, a *pendingRequest) {
	list := s.pending[session]
	if a.descendants == nil { // executions are of the line
		list = slices.DeleteFunc(list, func(o *pendingRequest) bool { return o.descendants != nil || o.job == "" || o.job == a.job })
	}
	list = append(list, a)
	s.pending[session] = list[max(0, len(list)-maxPending):]
}

// endPending records the end of a line. The last request is kept: programs that it left running still belong to it.
func (s *Rehearser) endPending(session, job string) {
	list := s.pending[session]
	if n := len(list) - 1; n >= 0 && job != "" {
		last := list[n]
		s.pending[session] = slices.DeleteFunc(list, func(o *pendingRequest) bool { return o != last && o.job == job })
	}
}

// checkExecution checks an execution. No approval is needed if an answer about its line, or about a parent execution, covers
// it.
func (s *Rehearser) checkExecution(rec *audit.Record, p *store.HistoryCommand, r *Rehearsal) bool {
	both := *s.judge(p)
	words, parent := strings.Join(rec.Argv, "\x00"), strings.Join(rec.Parent, "\x00")
	covered := false
	for _, a := range s.pending[rec.Session] {
		if a.descendants != nil && !a.descendants[parent] {
			continue
		}
		if a.descendants != nil {
			a.descendants[words] = true
		}
		s.setCovers(a)
		for i := range both {
			if both[i].verdict == policy.Ask && a.covers[i].Covers(both[i].commands, s.Home) {
				both[i].verdict, covered = policy.Allow, true
			}
		}
	}
	if covered {
		r.Covered++
	}
	own := &pendingRequest{descendants: map[string]bool{words: true}, covered: true}
	for i := range both {
		own.covers[i] = coverOf(p.Cwd, &both[i])
	}
	if own.covers[0] != nil || own.covers[1] != nil {
		s.addPending(rec.Session, own)
	}
	return s.tally(p, kindExecution, both)
}

// setCovers sets what an answer to the request covers.
func (s *Rehearser) setCovers(a *pendingRequest) {
	if a.covered {
		return
	}
	a.covered = true
	if a.line.N == 0 && len(a.line.Argv) == 0 {
		return
	}
	both := s.judge(a.line)
	for i := range both {
		a.covers[i] = coverOf(a.line.Cwd, &both[i])
	}
}

// coverOf returns what the answer to an approval request covers, or nil if none is needed.
func coverOf(cwd string, d *decision) authorize.ApprovedCommands {
	if d.verdict != policy.Ask {
		return nil
	}
	return authorize.TransitiveAllowOf(cwd, &policy.Judgement{Verdict: d.verdict, Commands: d.commands})
}

// order returns the sort order of a group: denials first, then approvals, then laxer verdicts.
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

// commandText returns the text of a command: its line, or the arguments of an execution.
func commandText(p *store.HistoryCommand) string {
	if p.N == 0 {
		return strings.Join(p.Argv, " ")
	}
	return p.Text
}

// judge checks a command under both sets of rules.
func (s *Rehearser) judge(p *store.HistoryCommand) *[2]decision {
	at := s.rulesFor(p)
	name := string(shell.Detect(p.Argv))
	key := decisionKey{at.engines, p.Cwd, name, p.Text}
	if p.N == 0 {
		key.text = "\x00" + strings.Join(p.Argv, "\x00")
	}
	both := s.decisions[key]
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
				s.markUsed(at.sources[1], j)
			}
			j = at.sources[i].WaivePresetApprovals(j)
			if both[i] = (decision{j.Verdict, j.Rule, j.Why, nil}); j.Verdict == policy.Ask {
				both[i].commands = j.Commands
			}
		}
		if len(s.decisions) >= maxKept {
			clear(s.decisions)
		}
		s.decisions[key] = both
	}
	return both
}

// tally counts a command whose verdict changes, and reports whether it does.
func (s *Rehearser) tally(p *store.HistoryCommand, kind string, both [2]decision) bool {
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
	e := Example{p.Session, p.Name, p.N, output.Shorten(commandText(p), 500), p.Cwd, kind}
	if i := slices.IndexFunc(g.Examples, func(o Example) bool { return o.Line == e.Line }); i >= 0 {
		g.Examples = slices.Delete(g.Examples, i, i+1)
	}
	if g.Examples = append(g.Examples, e); len(g.Examples) > maxShown {
		g.Examples = g.Examples[1:]
	}
	return true
}

// markUsed records which rules of the file decided something.
func (s *Rehearser) markUsed(src *rulebook.Sources, j policy.Judgement) {
	for i := range j.Commands {
		if e, ok := src.FindRule(j.Commands[i].Rule); ok && e.File == s.File.Path {
			s.usedRules[[2]int{e.Line, e.Column}] = true
		}
	}
}

// rulesFor returns the rules for a command's caller and directory.
func (s *Rehearser) rulesFor(p *store.HistoryCommand) *ruleSets {
	agent := p.Agent
	if s.Agent != "" {
		agent = s.Agent
	}
	key := p.Session + "\x00" + agent + "\x00" + p.Cwd
	if found := s.ruleSets[key]; found != nil {
		return found
	}
	if len(s.ruleSets) >= maxKept {
		clear(s.ruleSets)
		clear(s.decisions)
	}
	made := &ruleSets{}
	for i, b := range []*rulebook.Book{s.Now, s.Tested} {
		made.engines[i], made.sources[i] = b.For(rulebook.Subject{Agent: agent, Session: p.Name, Labels: p.Labels, Cwd: p.Cwd, Home: s.Home})
	}
	s.ruleSets[key] = made
	return made
}

// Write prints a rehearsal for a user.
func (r *Rehearsal) Write(w io.Writer) {
	for _, g := range r.Groups {
		fmt.Fprintf(w, "%s, was %s: %s  %s", g.Now, g.Was, output.CountNoun(g.Count, "command", "commands"), output.Printable(g.Rule))
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
			fmt.Fprintf(w, "  (showing the last %d of %d)\n", n, g.Count)
		}
	}
	for _, u := range r.Unused {
		fmt.Fprintf(w, "%s:%d: %s: decides none of them\n", output.Printable(u.File), u.Line, output.Printable(u.Rule))
	}
	trail := ""
	if r.Executions+r.Refused > 0 {
		trail = fmt.Sprintf(", %s and %s of the audit log", output.CountNoun(r.Executions, "execution", "executions"),
			output.CountNoun(r.Refused, "rejected line", "rejected lines"))
	}
	if r.Covered > 0 {
		fmt.Fprintf(w, "%s not counted as asked: covered by the answer to their line or parent execution\n",
			output.CountNoun(r.Covered, "execution is", "executions are"))
	}
	fmt.Fprintf(w, "%s of the history%s; the verdict changes for %d\n", output.CountNoun(r.Commands, "command", "commands"), trail, r.Changed)
}
