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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
)

// Without execution checks, an agent's input is judged when it completes a line: as a command at a shell's prompt; in
// other programs its meaning is unknown, so the user decides, except for short answers. Users type freely, but their
// unfinished text becomes part of the line that an agent completes.

// typedLineBuffers holds the lines being typed, by session. Each lock is held while input is typed, so that the judged
// line is the typed one, but not during an approval.
type typedLineBuffers struct {
	mu  sync.Mutex
	all map[string]*lineBuffer
}

// lineBuffer is the line being typed in one session.
type lineBuffer struct {
	session *registry.Handle
	sync.Mutex
	line       authorize.TypedLine
	run        uint64 // number of lines submitted by exec before it
	userInputs int    // number of users' inputs in progress
}

func (d *typedLineBuffers) of(ctx context.Context, e *registry.Handle) *lineBuffer {
	find := func() *lineBuffer {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.all[e.ID()]
	}
	known := find()
	if known == nil || known.session != e { // another process has the session's name
		// Text typed under another daemon may still be in the line, unless the shell shows nothing after its prompt.
		known = &lineBuffer{session: e, run: e.Session.LinesRun(), line: authorize.TypedLine{Opaque: e.IsInherited() && !e.Session.IsPromptUntouched(ctx)}}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.all == nil {
			d.all = map[string]*lineBuffer{}
		}
		if now := d.all[e.ID()]; now != nil && now.session == e {
			return now
		}
		d.all[e.ID()] = known
	}
	return known
}

// Forget drops the state of a removed session.
func (s *Server) Forget(session string) {
	s.typedLines.mu.Lock()
	defer s.typedLines.mu.Unlock()
	delete(s.typedLines.all, session)
}

// now returns the text of the line. The caller holds the lock.
func (d *lineBuffer) now() authorize.TypedLine {
	if n := d.session.Session.LinesRun(); n != d.run {
		d.run, d.line = n, authorize.TypedLine{}
	}
	return authorize.TypedLine{Text: d.line.Text, Opaque: d.line.Opaque || d.userInputs > 0}
}

// typeForUser types a user's input and records it, because an agent may complete the line.
func (d *lineBuffer) typeForUser(b []byte, typeIn func() (session.TypeResult, error)) (session.TypeResult, error) {
	d.Lock()
	d.userInputs++
	d.Unlock()
	r, err := typeIn()
	d.Lock()
	defer d.Unlock()
	d.userInputs--
	next, _, _ := d.now().Type(b)
	d.update(next, &r, err)
	return r, err
}

// update records the text of the line after input was typed. The caller holds the lock.
func (d *lineBuffer) update(next authorize.TypedLine, r *session.TypeResult, err error) {
	switch {
	case err != nil:
		d.line.Opaque = true // a part of it may have been typed
	case !r.Duplicate:
		d.line = next
	}
}

// Reasons why a line may differ from the typed text.
const (
	opaqueEdited  = "line unknown (typed with editing, completion or history keys)"
	opaqueProgram = "input for a program (its meaning is known to that program only)"
	opaqueShown   = "a visible secret is typed and cannot be judged"
	opaqueReply   = "a rule types what the program's output decides"
)

// typeAs types t for the caller once it is allowed.
func (s *Server) typeAs(ctx context.Context, e *registry.Handle, t session.TypeRequest, onApproval string) (session.TypeResult, error) {
	return s.typeNotify(ctx, e, t, onApproval, func() {})
}

// typeNotify works like typeAs, and calls onWait before it waits for approval.
func (s *Server) typeNotify(ctx context.Context, e *registry.Handle, t session.TypeRequest, onApproval string, onWait func()) (session.TypeResult, error) {
	a := identity.Of(ctx)
	s.reg.RecordAgentWork(e, a.Agent)
	t.By = registry.InputAuthorName(a, t.By != "")
	if s.reg.IsChecked(e) || t.Secret && !t.Force { // which is typed while nothing is shown only
		return e.Session.TypeIn(ctx, t)
	}
	b := slices.Clone(t.Bytes)
	if t.Encode != nil {
		b = append(t.Encode(nil, session.View{}), b...)
	}
	d := s.typedLines.of(ctx, e)
	if !a.IsAgent() && a.Policy == "" {
		return d.typeForUser(b, func() (session.TypeResult, error) { return e.Session.TypeIn(ctx, t) })
	}
	d.Lock()
	defer d.Unlock()
	before := d.now()
	next, line, ended := before.Type(b)
	if ended {
		if t.Secret {
			line = authorize.TypedLine{Opaque: true}
		}
		d.Unlock()
		err := s.admitTyped(ctx, e, line, &t, onApproval, onWait)
		d.Lock()
		if err != nil {
			return session.TypeResult{}, err
		}
		if d.now() != before {
			return session.TypeResult{}, api.Errorf(api.CodeStale, "something else was typed while this was judged").WithHint("look at the screen again")
		}
	}
	r, err := e.Session.TypeIn(ctx, t)
	d.update(next, &r, err)
	return r, err
}

// admitTyped requests permission to submit the line that a caller's input completes.
func (s *Server) admitTyped(ctx context.Context, e *registry.Handle, line authorize.TypedLine, t *session.TypeRequest, onApproval string, onWait func()) error {
	st := e.Session.Status()
	ask := jobs.TypedLineRequest(uuid.NewString(), identity.Of(ctx), e, line.Text)
	if t.ID != "" { // the same input again, and nothing else that has its id
		ask.ID = fmt.Sprintf(authorize.TypedRequestPrefix+"%x", sha256.Sum256([]byte(e.ID()+"\x00"+t.ID+"\x00"+line.Text)))
	}
	switch {
	case t.Secret:
		ask.Opaque = opaqueShown
	case line.Opaque, ask.Shell != "fish" && line.Recalls():
		ask.Opaque = opaqueEdited
	case strings.TrimSpace(line.Text) == "", st.Shell.Phase != shell.PhasePrompt && isPlainAnswer(line.Text):
		return nil
	case st.Shell.Phase != shell.PhasePrompt, st.Shell.Program != "":
		ask.Opaque, ask.Elsewhere = opaqueProgram, st.Shell.Program != "" // without, it may be meant for the shell when that is back
	}
	_, err := s.admitNotify(ctx, ask, onApproval, onWait)
	return err
}

// isPlainAnswer reports whether a text answers a prompt and is no command.
func isPlainAnswer(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return slices.Contains([]string{"", "y", "n", "yes", "no", "q"}, text) ||
		len(text) <= 6 && strings.Trim(text, "0123456789") == ""
}

// admitRules judges rules that an agent attaches: the daemon runs their commands, and they type for the agent into
// sessions without execution checks.
func (s *Server) admitRules(ctx context.Context, e *registry.Handle, in *api.RespondRules) error {
	a := identity.Of(ctx)
	if in == nil || !a.IsAgent() && a.Policy == "" {
		return nil
	}
	s.reg.RecordAgentWork(e, a.Agent)
	judged := s.reg.IsChecked(e)
	for _, rule := range in.Rules {
		for _, r := range rule.Reply {
			ask := jobs.TypedLineRequest(uuid.NewString(), a, e, r.Value)
			ask.Elsewhere = true
			switch command, is := strings.CutPrefix(r.Value, "cmd:"); {
			case r.Kind == string(respond.ReplyHook):
				ask.Shell, ask.Readers = "sh", nil
			case r.Kind == string(respond.ReplySecret) && is:
				ask.Line, ask.Shell, ask.Readers = command, "sh", nil
			case judged, r.Kind != string(respond.ReplyText) && r.Kind != string(respond.ReplyKeys):
				continue
			case isPlainAnswer(strings.TrimSuffix(r.Value, "<Enter>")):
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
