package session

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
)

// answersFile holds a session's rules and what became of them, in its directory.
// firingsFile holds what they did, a JSON object a line.
const (
	answersFile = "respond.json"
	firingsFile = "respond.log"
)

// saveAfter bounds how long what somebody typed is not written down; firings are at once.
const saveAfter = time.Second

// maxFiringsBytes is where the older half of the firings is let go.
const maxFiringsBytes = 1 << 20

// answersState is the file's content.
type answersState struct {
	Rules   []ruleState     `json:"rules"`
	LastID  int             `json:"last_id"`
	Firings int             `json:"firings"`
	TypedAt uint64          `json:"typed_at"`
	Pending []pendingState  `json:"pending,omitempty"`
	Engine  json.RawMessage `json:"engine"`
}

type ruleState struct {
	respond.Rule
	ID     string    `json:"id"`
	Added  time.Time `json:"added"`
	Failed string    `json:"failed,omitempty"`
	Call   bool      `json:"call,omitempty"` // of a call, which a restart ends
}

type pendingState struct {
	respond.Action
	ID string `json:"id"` // of the rule
}

// unsaved notes that there is something to write down, before long.
func (s *Session) unsaved() {
	if a := s.answers; a.unsaved.IsZero() {
		a.unsaved = time.Now()
	}
}

// saveSoon notes that there is something to write down before anything else is done.
func (s *Session) saveSoon() { s.answers.unsaved = time.Unix(0, 0) }

// saveDirty writes down what saveSoon was told of.
func (s *Session) saveDirty() {
	if s.answers.unsaved.Equal(time.Unix(0, 0)) {
		s.saveAnswers()
	}
}

// saveAnswers writes rules and engine down, whole or not at all.
func (s *Session) saveAnswers() {
	a := s.answers
	if a == nil || s.quiet {
		return
	}
	a.unsaved = time.Time{}
	path := filepath.Join(s.cfg.Dir, answersFile)
	if len(a.rules) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Error("forget rules", "session", s.cfg.ID, "err", err)
		}
		return
	}
	b, err := a.encode()
	if err == nil {
		tmp := path + ".tmp"
		err = errors.Join(os.WriteFile(tmp, b, 0o600), os.Rename(tmp, path))
	}
	if err != nil {
		s.log.Error("write down what rules did; after a restart they may do it again", "session", s.cfg.ID, "err", err)
	}
}

func (a *answering) encode() ([]byte, error) {
	st := answersState{LastID: a.lastID, Firings: a.firings, TypedAt: a.typedAt}
	for _, r := range a.rules {
		st.Rules = append(st.Rules, ruleState{r.Rule, r.ID, r.Added, r.Failed, r.run != nil})
	}
	for _, p := range a.pending {
		st.Pending = append(st.Pending, pendingState{p.Action, p.rule.ID})
	}
	var err error
	if st.Engine, err = a.engine.DurableState(); err != nil {
		return nil, err
	}
	return json.Marshal(st)
}

// resumeAnswers goes on with the rules that were written down. The output that the
// journal has by now was looked at back then; of the line it ends in, what is unread is
// looked at again, unless somebody typed in it.
func (s *Session) resumeAnswers() {
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, answersFile))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var st answersState
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err == nil {
		err = s.restoreAnswers(&st)
	}
	if err != nil {
		s.log.Error("the session's rules are lost", "session", s.cfg.ID, "err", err)
		s.answers = nil
	}
}

func (s *Session) restoreAnswers(st *answersState) error {
	a := s.newAnswering()
	a.lastID, a.firings, a.typedAt = st.LastID, st.Firings, max(st.TypedAt, s.typedAt.off)
	set := respond.Set{Rules: make([]respond.Rule, len(st.Rules))}
	ended := &Run{} // stands for calls that are over
	for i, r := range st.Rules {
		set.Rules[i] = r.Rule
		a.rules = append(a.rules, &Rule{Rule: r.Rule, ID: r.ID, Added: r.Added, Failed: r.Failed})
		if r.Call {
			a.rules[i].run = ended
		}
	}
	e, resume, err := respond.Restore(set, st.Engine)
	if err != nil {
		return err
	}
	if e.Exited() && s.Status().State == Running { // another program runs here now
		if e, err = respond.New(set); err != nil {
			return err
		}
		resume, st.Pending = s.off, nil
	}
	a.engine, s.answers = e, a
	for _, p := range st.Pending {
		for _, r := range a.rules {
			if r.ID == p.ID {
				a.pending = append(a.pending, reply{p.Action, r})
			}
		}
	}
	if s.ring == nil { // nothing runs: they are only to be listed
		e.Exit(time.Now())
		a.pending = nil
		return nil
	}
	s.skipAnswered(resume)
	return s.dropCalls(ended)
}

// maxSkip is how much output is read to find where its last line begins.
const maxSkip = 1 << 20

// skipAnswered brings the engine to the end of the journal.
func (s *Session) skipAnswered(from uint64) {
	a, now := s.answers, time.Now()
	if from+maxSkip < s.off {
		from = s.off - maxSkip/16
	}
	buf := make([]byte, 64<<10)
	a.acting = true // what the engine wants meanwhile waits until it is there
	for from < s.off {
		c, err := s.Output(from, buf[:min(uint64(len(buf)), s.off-from)])
		if err != nil || c.Next == from {
			break
		}
		s.perform(a.engine.Skip(now, c.From, c.Data))
		from = c.Next
	}
	if a.typedAt > 0 && a.typedAt >= a.engine.LineStart() {
		a.engine.Answered(now)
	}
	a.acting = false
	s.screenStirred(now)
}

// dropCalls ends the rules of calls, and does what is pending.
func (s *Session) dropCalls(ended *Run) error {
	a := s.answers
	var own []*Rule
	for _, r := range a.rules {
		if r.run != ended {
			own = append(own, r)
		}
	}
	if err := s.changeRules(a, own); err != nil {
		return err
	}
	if s.answers != nil {
		s.reply()
	}
	return nil
}

// logFiring writes a firing down for those who ask later.
func (s *Session) logFiring(f *Firing) {
	b, err := json.Marshal(f)
	if err == nil {
		err = appendLine(filepath.Join(s.cfg.Dir, firingsFile), b)
	}
	if err != nil {
		s.log.Error("record what a rule did", "session", s.cfg.ID, "err", err)
	}
}

func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if st, err := f.Stat(); err != nil || st.Size() < maxFiringsBytes {
		return err
	}
	return dropOlderHalf(f, path)
}

// dropOlderHalf keeps the newer half of a file's lines.
func dropOlderHalf(f *os.File, path string) error {
	b := make([]byte, maxFiringsBytes/2)
	st, err := f.Stat()
	if err != nil {
		return err
	}
	n, err := f.ReadAt(b, st.Size()-int64(len(b)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, rest, _ := bytes.Cut(b[:n], []byte("\n"))
	tmp := path + ".tmp"
	return errors.Join(os.WriteFile(tmp, rest, 0o600), os.Rename(tmp, path))
}

// Firings are what the session's rules did, oldest first, as far as it is kept.
func (s *Session) Firings() ([]Firing, error) {
	f, err := os.Open(filepath.Join(s.cfg.Dir, firingsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []Firing
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list, nil // a line that is cut was being written when the daemon was killed
		}
		if err != nil {
			return list, err
		}
		var x Firing
		if err := json.Unmarshal(line, &x); err != nil {
			return list, fmt.Errorf("record of a firing: %w", err)
		}
		list = append(list, x)
	}
}
