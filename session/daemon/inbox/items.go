//go:build unix

package inbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

const (
	// maxText bounds the text of an entry, in characters.
	maxText = 240
	// maxPart bounds a command line or an effect in it.
	maxPart = 120
	// interrupted is the exit status of a shell's command that Ctrl-C ended.
	interrupted = 130
)

// facts is what the list follows from.
type facts struct {
	now       time.Time
	approvals []api.Approval
	sessions  []sessionFacts
	ended     []store.EndedRun // newest first
	entries   []store.InboxEntry
	// minRuntime is how long a successful command of a shell must have run.
	minRuntime time.Duration
}

// sessionFacts is what the list needs of a session.
type sessionFacts struct {
	id, name, cwd, agent string
	labels               map[string]string
	seen                 time.Time // when a user's client last showed it; zero: never
	hook                 bool      // a hook runs in it
	prompt               *prompt   // nil if no program asks
	state                *api.AgentState
	output               time.Time // of the newest output
	ports                []api.Port
	running              int // number of the shell's running command; 0: the session's program; noCommand
}

// noCommand is sessionFacts.running of a shell at its prompt, and of an ended session.
const noCommand = -1

// prompt is a question of a program.
type prompt struct {
	kind    string // password, confirm, menu, text, agent
	since   time.Time
	offset  uint64 // identifies it
	text    string
	version uint64 // of the screen
}

// Item is an entry with what the daemon needs to mark and answer it.
type Item struct {
	api.InboxItem
	key             string
	version         uint64 // of a question: of the screen that shows it
	outlivesSession bool   // its entry outlives the session
}

// list returns all entries, also those that are done, in order: what blocks a program, then failures, then the rest,
// oldest first. Entries without a number have no ID yet.
func (f *facts) list() []Item {
	var items []Item
	byID := make(map[string]*sessionFacts, len(f.sessions))
	for i := range f.sessions {
		byID[f.sessions[i].id] = &f.sessions[i]
	}
	for i := range f.approvals {
		items = append(items, approvalItem(&f.approvals[i]))
	}
	for i := range f.sessions {
		items = append(items, f.sessionItems(&f.sessions[i])...)
	}
	items = append(items, f.runs(byID)...)
	known := make(map[string]*store.InboxEntry, len(f.entries))
	for i := range f.entries {
		e := &f.entries[i]
		known[e.Key] = e
		s := byID[e.Session]
		if s == nil || s.hook || !e.At.After(s.seen) {
			continue
		}
		if isPort(e) {
			items = append(items, portItems(e, s)...)
		} else if strings.HasPrefix(e.Key, anomalyKind) {
			items = append(items, anomalyItems(e, s)...)
		} else if e.Count > 0 || e.Text != "" {
			items = append(items, messageItem(e, s))
		}
	}
	for i := range items {
		it := &items[i]
		if s := byID[it.Session]; s != nil {
			it.Name, it.Labels, it.Agent = s.name, s.labels, cmp.Or(it.Agent, s.agent)
			it.Cwd = cmp.Or(it.Cwd, s.cwd)
		}
		it.mark(known[it.key], f.now)
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Rank(), b.Rank()), a.Since.Compare(b.Since), cmp.Compare(a.key, b.key))
	})
	return items
}

// mark sets an entry's number and state by its record, which may be nil.
func (it *Item) mark(e *store.InboxEntry, now time.Time) {
	it.State = "open"
	if e == nil {
		return
	}
	if it.Kind != api.InboxApproval {
		it.setNumber(e.N)
	}
	switch {
	case !e.Done.IsZero():
		it.State = "done"
	case e.Until.After(now):
		it.State, it.Until = "snoozed", &e.Until
	}
}

// setNumber sets the id and completes the commands that contain it.
func (it *Item) setNumber(n int64) {
	it.ID = "I" + strconv.FormatInt(n, 10)
	for i := range it.Do {
		it.Do[i] = strings.ReplaceAll(it.Do[i], idPlaceholder, it.ID)
	}
}

// idPlaceholder is replaced by the id in commands of entries that have no number yet.
const idPlaceholder = "\x00id"

// commandLine returns a command of longterm with its words quoted for a shell.
func commandLine(words ...string) string { return "longterm " + shellquote.Line(words) }

// line returns text in one line of at most most characters. Line breaks stay visible: each may start a command.
func line(text string, most int) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", " ↵ ")
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	return listing.Shorten(listing.Printable(strings.Join(strings.Fields(text), " ")), most)
}

func approvalItem(a *api.Approval) Item {
	what := a.Line
	switch {
	case what != "":
	case len(a.Argv) > 0:
		what = shellquote.Line(a.Argv)
	default:
		what = a.Path
	}
	who := cmp.Or(a.Actor.Agent, "a program")
	text := fmt.Sprintf("%s requests approval (%s risk): %s", line(who, 40), a.Risk, line(what, maxPart))
	if effects := a.Judgement.Explain(); len(effects) > 0 {
		text += " → " + line(effects[0], maxPart)
	}
	it := Item{key: "approval " + a.ID, outlivesSession: true}
	it.InboxItem = api.InboxItem{
		ID: a.ID, Kind: api.InboxApproval, Session: a.Session, Name: a.Name, Cwd: a.Cwd, Text: text, Since: a.Asked, Risk: a.Risk,
		Agent: a.Actor.Agent, Answerable: true,
	}
	for _, answer := range a.Answers() {
		if answer == "reject" {
			answer = "deny"
		}
		it.Answers = append(it.Answers, answer)
		if answer != "always" {
			it.Do = append(it.Do, commandLine("inbox", "answer", a.ID, answer))
		}
	}
	it.Do = append(it.Do, commandLine("approvals", "show", a.ID))
	return it
}

// sessionItems returns the question of a session's program, or the state of its coding agent.
func (f *facts) sessionItems(s *sessionFacts) []Item {
	if p := s.prompt; p != nil {
		it := Item{key: fmt.Sprintf("question %s %s %d", s.id, p.kind, p.offset), version: p.version}
		it.InboxItem = api.InboxItem{Kind: api.InboxQuestion, Session: s.id, Text: questionText(p), Since: p.since, Input: p.kind, Do: []string{commandLine("attach", s.name)}}
		answer := "longterm inbox answer " + idPlaceholder + " "
		switch p.kind {
		case "confirm":
			it.Answerable, it.Answers = true, []string{"y", "n"}
			it.Do = []string{answer + "y", answer + "n", it.Do[0]}
		case "text":
			it.Answerable, it.Do = true, []string{answer + "TEXT", it.Do[0]}
		}
		return []Item{it}
	}
	a := s.state
	if a == nil || a.State != "needs_input" && a.State != "needs_approval" && (a.State != "done" || !a.Since.After(s.seen)) {
		return nil
	}
	name := line(a.Agent, 40)
	it := Item{key: fmt.Sprintf("agent %s %s %d", s.id, a.State, a.Since.Unix())}
	it.InboxItem = api.InboxItem{Kind: api.InboxQuestion, Session: s.id, Since: a.Since, Input: "agent", Do: []string{commandLine("attach", s.name)}}
	switch a.State {
	case "done":
		it.Kind, it.Input, it.Text = api.InboxFinished, "", name+" has finished its task"
	default:
		it.Text = name + " waits for you: " + line(a.Reason, maxPart)
	}
	if a.State == "done" {
		it.key = fmt.Sprintf("agent %s done %d", s.id, s.output.Unix()) // a later daemon sees the state later
	}
	return []Item{it}
}

func questionText(p *prompt) string {
	text := line(p.text, maxPart)
	what := map[string]string{"password": "waits for a secret", "menu": "waits for a choice", "confirm": "asks", "text": "asks"}[p.kind]
	if text == "" {
		return cmp.Or(what, "waits for input")
	}
	return cmp.Or(what, "asks") + ": " + text
}

// runs returns the ended runs that are news: failures, and successes that took long. Of several runs of one command in
// a session only the newest counts.
func (f *facts) runs(byID map[string]*sessionFacts) []Item {
	var items []Item
	newest := map[[2]string]bool{}
	for i := range f.ended {
		e := &f.ended[i]
		s := byID[e.Session]
		if s != nil && (s.hook || !e.At.After(s.seen)) {
			continue
		}
		text := e.Text
		if e.Kind == store.CompletionSession {
			text = argvText(e.Text)
		}
		if e.Kind == store.CompletionCommand {
			run := [2]string{e.Session, text}
			if text == "" || newest[run] {
				continue
			}
			newest[run] = true
		}
		took := e.At.Sub(e.Started)
		failed := e.State == "lost" || e.Signal != "" || e.ExitCode == nil || *e.ExitCode != 0
		if e.Kind == store.CompletionCommand {
			unknown := e.ExitCode == nil && e.Signal == ""
			stopped := e.Signal == "SIGINT" || e.ExitCode != nil && *e.ExitCode == interrupted
			if unknown || stopped || !failed && took < f.minRuntime {
				continue
			}
		}
		if e.State == "denied" { // by the user, or at once
			continue
		}
		items = append(items, runItem(e, s, line(text, maxPart), failed, took))
	}
	return items
}

// jobKey returns the key of the end of a job.
func jobKey(id string) string { return "job " + id }

// argvText returns a recorded command line as text.
func argvText(recorded string) string {
	var argv []string
	if json.Unmarshal([]byte(recorded), &argv) != nil {
		return recorded
	}
	return shellquote.Line(argv)
}

func runItem(e *store.EndedRun, s *sessionFacts, text string, failed bool, took time.Duration) Item {
	it := Item{key: e.Kind + " " + e.Session + " " + e.Ref, outlivesSession: e.Kind == store.CompletionJob}
	it.InboxItem = api.InboxItem{
		Kind: api.InboxFinished, Session: e.Session, Name: e.Name, Cwd: e.Cwd, Since: e.At, ExitCode: e.ExitCode, Signal: e.Signal,
	}
	ref, name := "", e.Name
	if s != nil {
		name = s.name
	}
	switch e.Kind {
	case store.CompletionCommand:
		it.Command, _ = strconv.Atoi(e.Ref) // a number, by the store
		ref = name + ":" + e.Ref
	case store.CompletionJob:
		it.Job, it.key = e.Ref, jobKey(e.Ref)
		ref = api.ShortID(e.Ref)
	default:
		ref = name
	}
	if s == nil {
		it.Session = ""
	}
	how := "finished"
	if failed {
		it.Kind = api.InboxFailed
		switch {
		case e.State == "lost":
			how = "was lost: its exit status is unknown"
		case e.Signal != "":
			how = "was ended by " + e.Signal
		case e.ExitCode != nil:
			how = fmt.Sprintf("failed with status %d", *e.ExitCode)
		default:
			how = "did not finish (" + line(e.State, 40) + ")"
		}
	}
	it.Text = text + " " + how
	if took >= time.Second && !e.Started.IsZero() {
		it.Text += " after " + listing.Elapsed(took.Milliseconds())
	}
	switch {
	case e.Kind == store.CompletionJob && failed:
		it.Do = []string{commandLine("why", ref), commandLine("jobs", "read", ref, "--tail", "20")}
	case e.Kind == store.CompletionJob:
		it.Do = []string{commandLine("jobs", "read", ref, "--tail", "20")}
	case failed:
		it.Do = []string{commandLine("why", ref), commandLine("output", name, "--from", "line:-20")}
	default:
		it.Do = []string{commandLine("output", name, "--from", "line:-20")}
	}
	it.Do = append(it.Do, "longterm inbox done "+idPlaceholder)
	return it
}

func messageItem(e *store.InboxEntry, s *sessionFacts) Item {
	it := Item{key: e.Key}
	it.InboxItem = api.InboxItem{
		Kind: api.InboxMessage, Session: s.id, Text: listing.Shorten(e.Text, maxText), Since: e.At, Count: e.Count,
		Do: []string{commandLine("attach", s.name), "longterm inbox done " + idPlaceholder},
	}
	switch {
	case e.Count == 1:
		it.Text = "rang the bell"
	case e.Count > 1:
		it.Text = fmt.Sprintf("rang the bell %d times", e.Count)
	}
	return it
}

// anomalyKind starts the keys of anomalies.
const anomalyKind = "anomaly "

// anomalyEntry returns the record of an anomaly.
func anomalyEntry(session string, a *api.Anomaly, now time.Time, mask func(string) string) store.InboxEntry {
	return store.InboxEntry{
		Key: fmt.Sprintf("%s%s %d %d", anomalyKind, session, a.Command, a.Offset), Session: session, At: now,
		Text: line(mask(a.Text), maxPart) + " printed a line of its earlier failures: " + line(mask(a.Line), maxPart),
	}
}

// anomalyItems returns the entry of a recorded anomaly, or none if its command has ended: its result is then listed.
func anomalyItems(e *store.InboxEntry, s *sessionFacts) []Item {
	var command int
	if _, err := fmt.Sscanf(e.Key, anomalyKind+s.id+" %d", &command); err != nil || command != s.running {
		return nil
	}
	ref := s.name
	if command > 0 {
		ref += ":" + strconv.Itoa(command)
	}
	it := Item{key: e.Key}
	it.InboxItem = api.InboxItem{
		Kind: api.InboxAnomaly, Session: s.id, Text: listing.Shorten(e.Text, maxText), Since: e.At, Command: command,
		Do: []string{commandLine("why", ref), commandLine("attach", s.name), "longterm inbox done " + idPlaceholder},
	}
	return []Item{it}
}

// portKind starts the keys of ports.
const portKind = "port "

// portEntry returns the record of a port that a session's program opened. A port of a session is one entry, also if a
// server restarts there.
func portEntry(session string, p *api.Port, now time.Time) store.InboxEntry {
	return store.InboxEntry{Key: fmt.Sprintf("%s%s %d", portKind, session, p.Port), Session: session, Text: strconv.Itoa(p.Port), At: now}
}

func isPort(e *store.InboxEntry) bool { return strings.HasPrefix(e.Key, portKind) }

// portItems returns the entry of a recorded port, or none if no program of the session listens at it.
func portItems(e *store.InboxEntry, s *sessionFacts) []Item {
	i := slices.IndexFunc(s.ports, func(p api.Port) bool { return strconv.Itoa(p.Port) == e.Text && !p.Inside })
	if i < 0 {
		return nil
	}
	p := &s.ports[i]
	it := Item{key: e.Key}
	it.InboxItem = api.InboxItem{
		Kind: api.InboxPort, Session: s.id, Text: fmt.Sprintf("%s listens on port %d", cmp.Or(line(p.Program, 40), "a program"), p.Port), Since: e.At, Port: p.Port,
		Do: []string{commandLine("open", s.name, e.Text), "longterm inbox done " + idPlaceholder},
	}
	return []Item{it}
}
