//go:build unix

package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
)

// Where executions are not judged, what an agent types is judged when it ends a line: as a line, at a shell's prompt; in
// any other program nobody knows what it means, and a person is asked, short answers excepted. People's keys are theirs, but
// what they leave in the line is part of what an agent ends.

// drafts are lines that are being typed, by session. Each one's lock is held while something is typed, so that what is
// judged is what is typed, and not while somebody is asked.
type drafts struct {
	mu  sync.Mutex
	all map[string]*draft
}

type draft struct {
	of *registry.Handle
	sync.Mutex
	is    gateway.Draft
	run   uint64 // lines of exec that came before it
	under int    // how many people's typing is under way
}

func (d *drafts) of(ctx context.Context, e *registry.Handle) *draft {
	find := func() *draft {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.all[e.ID()]
	}
	known := find()
	if known == nil || known.of != e { // another process has the session's name
		// What was typed under another daemon may stand there still, unless the shell has shown nothing behind its prompt.
		known = &draft{of: e, run: e.Session.LinesRun(), is: gateway.Draft{Opaque: e.Inherited() && !e.Session.Untouched(ctx)}}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.all == nil {
			d.all = map[string]*draft{}
		}
		if now := d.all[e.ID()]; now != nil && now.of == e {
			return now
		}
		d.all[e.ID()] = known
	}
	return known
}

// Forget drops what is kept of a session that is not there any more, all of its memory with it.
func (s *Server) Forget(session string) {
	s.drafts.mu.Lock()
	defer s.drafts.mu.Unlock()
	delete(s.drafts.all, session)
}

// now is what stands in the line; the lock is held.
func (d *draft) now() gateway.Draft {
	if n := d.of.Session.LinesRun(); n != d.run {
		d.run, d.is = n, gateway.Draft{}
	}
	return gateway.Draft{Text: d.is.Text, Opaque: d.is.Opaque || d.under > 0}
}

// people types what people type, and notes it: an agent may be about to end that line.
func (d *draft) people(b []byte, typeIn func() (session.Typed, error)) (session.Typed, error) {
	d.Lock()
	d.under++
	d.Unlock()
	r, err := typeIn()
	d.Lock()
	defer d.Unlock()
	d.under--
	next, _, _ := d.now().Type(b)
	d.typed(next, &r, err)
	return r, err
}

// typed notes what stands in the line once something was typed; the lock is held.
func (d *draft) typed(next gateway.Draft, r *session.Typed, err error) {
	switch {
	case err != nil:
		d.is.Opaque = true // a part of it may have been typed
	case !r.Again:
		d.is = next
	}
}

// Why a line may be another one than what was typed.
const (
	opaqueEdited  = "it was typed with keys that edit, complete or recall a line: what line it is cannot be known"
	opaqueProgram = "it is typed into a program, and what it means is known to that program only"
	opaqueShown   = "a secret is typed where it is shown, and is not judged"
	opaqueReply   = "a rule types what the program's output decides"
)

// typeAs types t for whoever asks, once it may be typed.
func (s *Server) typeAs(ctx context.Context, e *registry.Handle, t session.Typing, onApproval string) (session.Typed, error) {
	return s.typeAsked(ctx, e, t, onApproval, func() {})
}

// typeAsked is typeAs; asked is told when a person has to allow it first, and is waited for.
func (s *Server) typeAsked(ctx context.Context, e *registry.Handle, t session.Typing, onApproval string, asked func()) (session.Typed, error) {
	a := actor.Of(ctx)
	s.reg.WorkedIn(e, a.Agent)
	t.By = registry.Typist(a, t.By != "")
	if s.reg.Judged(e) || t.Secret && !t.Force { // which is typed while nothing is shown only
		return e.Session.TypeIn(ctx, t)
	}
	b := slices.Clone(t.Bytes)
	if t.Encode != nil {
		b = append(t.Encode(nil, session.View{}), b...)
	}
	d := s.drafts.of(ctx, e)
	if !a.IsAgent() && a.Policy == "" {
		return d.people(b, func() (session.Typed, error) { return e.Session.TypeIn(ctx, t) })
	}
	d.Lock()
	defer d.Unlock()
	before := d.now()
	next, line, ended := before.Type(b)
	if ended {
		if t.Secret {
			line = gateway.Draft{Opaque: true}
		}
		d.Unlock()
		err := s.admitTyped(ctx, e, line, &t, onApproval, asked)
		d.Lock()
		if err != nil {
			return session.Typed{}, err
		}
		if d.now() != before {
			return session.Typed{}, api.Errorf(api.CodeStale, "something else was typed while this was judged").WithHint("look at the screen again")
		}
	}
	r, err := e.Session.TypeIn(ctx, t)
	d.typed(next, &r, err)
	return r, err
}

// admitTyped asks whether a line may be ended.
func (s *Server) admitTyped(ctx context.Context, e *registry.Handle, line gateway.Draft, t *session.Typing, onApproval string, asked func()) error {
	st := e.Session.Status()
	ask := jobs.AskLine(uuid.NewString(), actor.Of(ctx), e, line.Text)
	if t.ID != "" { // the same input again, and nothing else that has its id
		ask.ID = fmt.Sprintf(gateway.TypedAsking+"%x", sha256.Sum256([]byte(e.ID()+"\x00"+t.ID+"\x00"+line.Text)))
	}
	switch {
	case t.Secret:
		ask.Opaque = opaqueShown
	case line.Opaque, ask.Shell != "fish" && line.Recalls():
		ask.Opaque = opaqueEdited
	case strings.TrimSpace(line.Text) == "", st.Shell.Phase != shell.PhasePrompt && plainAnswer(line.Text):
		return nil
	case st.Shell.Phase != shell.PhasePrompt, st.Shell.Program != "":
		ask.Opaque, ask.Elsewhere = opaqueProgram, st.Shell.Program != "" // without, it may be meant for the shell when that is back
	}
	_, err := s.admitTelling(ctx, ask, onApproval, asked)
	return err
}

// plainAnswer says that a text answers a question and is no command anywhere.
func plainAnswer(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return slices.Contains([]string{"", "y", "n", "yes", "no", "q"}, text) ||
		len(text) <= 6 && strings.Trim(text, "0123456789") == ""
}

// admitRules asks about rules that an agent attaches: what they run is run by the daemon, and what they type into a
// session whose executions are not judged is typed for the agent.
func (s *Server) admitRules(ctx context.Context, e *registry.Handle, in *api.RespondRules) error {
	a := actor.Of(ctx)
	if in == nil || !a.IsAgent() && a.Policy == "" {
		return nil
	}
	s.reg.WorkedIn(e, a.Agent)
	judged := s.reg.Judged(e)
	for _, rule := range in.Rules {
		for _, r := range rule.Reply {
			ask := jobs.AskLine(uuid.NewString(), a, e, r.Value)
			ask.Elsewhere = true
			switch command, is := strings.CutPrefix(r.Value, "cmd:"); {
			case r.Kind == string(respond.ReplyHook):
				ask.Shell, ask.Readers = "sh", nil
			case r.Kind == string(respond.ReplySecret) && is:
				ask.Line, ask.Shell, ask.Readers = command, "sh", nil
			case judged, r.Kind != string(respond.ReplyText) && r.Kind != string(respond.ReplyKeys):
				continue
			case plainAnswer(strings.TrimSuffix(r.Value, "<Enter>")):
				continue
			default:
				ask.Opaque = opaqueReply
			}
			if _, err := s.admit(ctx, ask, ""); err != nil {
				return err
			}
		}
	}
	return nil
}
