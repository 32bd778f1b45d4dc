//go:build unix

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

// getClients lists a session's attached clients and viewers.
func (s *Server) getClients(_ context.Context, in *struct {
	Session string `path:"session"`
}) ([]api.Attached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	list := []api.Attached{}
	for _, c := range e.Clients.List() {
		list = append(list, attachedOf(&c))
	}
	return list, nil
}

func attachedOf(c *sizepolicy.Info) api.Attached {
	a := api.Attached{
		N: c.N, Kind: c.Kind, By: c.By, Terminal: c.Terminal, May: "type", OwnChoice: c.ViewOnly, Cols: c.Cols, Rows: c.Rows, Since: c.Since, Inside: c.Inside,
	}
	if c.MadeViewOnly || c.ViewOnly {
		a.May = "look"
	}
	if !c.Typed.IsZero() {
		a.Typed = &c.Typed
	}
	return a
}

// postClient makes a client view-only, lets it type again or detaches it, on a user's request.
func (s *Server) postClient(ctx context.Context, in *struct {
	Session string `path:"session"`
	Client  int    `path:"client" doc:"number from the list"`
	Body    api.AttachedEdit
}) (noContent, error) {
	if err := mayChangeClients(ctx, "changing other clients"); err != nil {
		return noContent{}, err
	}
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return noContent{}, err
	}
	unknown := api.Errorf(api.CodeNotFound, "no client %d is at this session", in.Client).WithHint("`longterm clients %s` lists them", e.Record().Name)
	if may := in.Body.May; may != "" {
		c, known := e.Clients.SetViewOnly(in.Client, may == "look")
		switch {
		case !known:
			return noContent{}, unknown
		case may == "type" && c.ViewOnly:
			return noContent{}, api.Errorf(api.CodeInvalid, "client %d came to look only, or may not type by its token", in.Client)
		}
		s.fitSize(ctx, e)
	}
	if in.Body.Detach {
		switch known, asked := e.Clients.Detach(in.Client); {
		case !known:
			return noContent{}, unknown
		case !asked:
			return noContent{}, api.Errorf(api.CodeInvalid, "client %d shows several sessions and is not attached to this one", in.Client).WithHint("make it view-only")
		}
	}
	return noContent{true}, nil
}

// mayChangeClients rejects changes of a user's terminals by agents.
func mayChangeClients(ctx context.Context, what string) error {
	if by := identity.Of(ctx); by.IsAgent() {
		return api.Errorf(api.CodeDenied, "%s requires a user, not %s", what, by)
	}
	return requireUser(ctx, what)
}

// mayDetach rejects agents that detach a user's terminals.
func mayDetach(ctx context.Context) error {
	err := mayChangeClients(ctx, "detaching other clients")
	if e, ok := errors.AsType[*api.Error](err); ok && identity.Of(ctx).IsAgent() {
		return e.WithHint("attach without detach_others")
	}
	return err
}

// terminalOf returns the name of a process's terminal, like ps; empty if it has none or that is unknown.
func terminalOf(pid int) string {
	st, err := sys.ReadStat(pid)
	if pid <= 0 || err != nil || st.TTY == 0 {
		return ""
	}
	// The kernel's new_encode_dev: minor bits 0-7 and 20-31, major bits 8-19. 136 to 143 are pts, 4 is tty.
	major, minor := st.TTY>>8&0xfff, st.TTY&0xff|st.TTY>>12&0xfff00
	switch {
	case major >= 136 && major <= 143:
		return fmt.Sprint("pts/", (major-136)<<8+minor)
	case major == 4 && minor < 64:
		return fmt.Sprint("tty", minor)
	}
	return ""
}

// maxRenewed bounds a variable's value, in bytes.
const maxRenewed = 32 << 10

// postRenew passes login variables to running shells: those that the configuration names, and only in user sessions.
// Sessions of agents, with rules or in a sandbox keep theirs.
func (s *Server) postRenew(ctx context.Context, in *struct{ Body api.Renewal }) (noContent, error) {
	if err := mayChangeClients(ctx, "renewing the variables of shells"); err != nil {
		return noContent{}, err
	}
	env := map[string]*string{}
	for _, name := range s.conf.Get().Shells.UpdateEnv {
		value, ok := in.Body.Env[name]
		switch {
		case !ok:
			continue
		case !shell.IsVariableName(name), value != nil && (len(*value) > maxRenewed || strings.ContainsRune(*value, 0)):
			return noContent{}, api.Errorf(api.CodeInvalid, "the variable %q", name).WithHint("use a valid shell name and at most %d bytes of text", maxRenewed)
		}
		env[name] = value
	}
	if len(env) == 0 {
		return noContent{true}, nil
	}
	var errs error
	for _, e := range s.reg.All() {
		if r := e.Record(); r.Agent != "" || r.Policy != "" || s.reg.Sandbox(e) != nil || e.IsTemporary() || hasEnded(e.Session) {
			continue
		}
		if err := e.Session.RenewEnviron(ctx, env); err != nil && !errors.Is(err, session.ErrStopped) {
			errs = errors.Join(errs, err)
		}
	}
	return noContent{true}, errs
}

// fitSize sets a session's size according to its clients.
func (s *Server) fitSize(ctx context.Context, e *registry.Handle) {
	if cols, rows, ok := e.Clients.Size(); ok {
		if err := e.Session.Resize(ctx, cols, rows); err != nil && !errors.Is(err, session.ErrStopped) {
			s.log.Warn("resize", "session", e.Session.ID(), "err", err)
		}
	}
}

// maxLayout bounds a layout that is sent to viewers, in bytes.
const maxLayout = 256 << 10

// postArrange sends viewers a layout change. It replaces session names by ids.
func (s *Server) postArrange(ctx context.Context, in *struct{ Body api.Arrange }) (api.Arranged, error) {
	a := in.Body
	a.Order = ""
	if a.Do == "focus" || a.Do == "apply" { // the user's keys would go to another session
		if err := requireUser(ctx, "moving the focus of viewers"); err != nil {
			return api.Arranged{}, err
		}
		if by := identity.Of(ctx); by.IsAgent() {
			return api.Arranged{}, api.Errorf(api.CodeDenied, "moving the focus of viewers requires a user, not %s", by).WithHint("place shows a session and leaves the focus")
		}
	}
	if a.Do == "apply" {
		if len(a.Layout) == 0 || len(a.Layout) > maxLayout {
			return api.Arranged{}, api.Errorf(api.CodeInvalid, "a layout of %d bytes", len(a.Layout)).WithHint("give one of at most %d, as `longterm layout dump` prints it", maxLayout)
		}
		return s.sendLayoutChange(ctx, nil, a)
	}
	switch over := a.Float || a.Pinned; {
	case a.Do != "place" && (over || a.Stacked || a.Area != nil):
		return api.Arranged{}, api.Errorf(api.CodeInvalid, "float, pinned, stacked and area are for place, not for %s", a.Do)
	case over && a.Stacked:
		return api.Arranged{}, api.Errorf(api.CodeInvalid, "a pane that floats cannot be stacked").WithHint("give one of float, pinned and stacked")
	case a.Area != nil && !over:
		return api.Arranged{}, api.Errorf(api.CodeInvalid, "an area is for panes that float").WithHint("add float or pinned")
	}
	e, err := s.reg.Resolve(a.Session)
	if err != nil {
		return api.Arranged{}, err
	}
	a.Session = e.ID()
	if a.Beside != "" {
		beside, err := s.reg.Resolve(a.Beside)
		if err != nil {
			return api.Arranged{}, err
		}
		a.Beside = beside.ID()
	}
	view := s.reg.Describe(e, e.Session.Status())
	return s.sendLayoutChange(ctx, &view, a)
}

// layoutAnswerTime bounds the wait for viewers: each applies a layout change in its next iteration.
const layoutAnswerTime = 2 * time.Second

// sendLayoutChange sends a change to the viewers and waits until one has applied it. about is the session concerned; nil if none.
func (s *Server) sendLayoutChange(ctx context.Context, about *api.Session, a api.Arrange) (api.Arranged, error) {
	viewers := s.viewers()
	n := len(viewers)
	if n == 0 { // those that show no session yet are not counted
		s.reg.Bus.Send(api.Event{Kind: "arrange", Session: about, Arrange: &a})
		return api.Arranged{OK: true, Viewers: &n}, nil
	}
	q := s.layoutAnswers.Ask(viewers)
	a.Order = q.ID
	s.reg.Bus.Send(api.Event{Kind: "arrange", Session: about, Arrange: &a})
	switch did, refused := q.Await(ctx, layoutAnswerTime); {
	case did:
		return api.Arranged{OK: true, Viewers: &n}, nil
	case len(refused) > 0:
		slices.Sort(refused)
		return api.Arranged{}, api.Errorf(api.CodeNotFound, "%s", strings.Join(slices.Compact(refused), "; ")).
			WithHint("nothing was changed; `longterm layout dump` prints how the viewer stands")
	}
	return api.Arranged{}, api.Errorf(api.CodeTimeout, "no viewer has answered within %v, so it is not known whether anything was changed", layoutAnswerTime).
		WithHint("a stopped or outdated viewer does not answer; restart it")
}

// postOrder handles a viewer's answer to a layout change. Late answers are dropped. Agents read the same events but may
// not answer, as they show nothing.
func (s *Server) postOrder(ctx context.Context, in *struct {
	Order string `path:"order" maxLength:"64"`
	Body  api.OrderAnswer
}) (noContent, error) {
	by := identity.Of(ctx)
	if by.IsAgent() && !s.viewers()[by.PID] {
		return noContent{}, api.Errorf(api.CodeDenied, "an order is answered by viewers, not by %s", by).WithHint("`longterm layout` prints what viewers answered")
	}
	return noContent{s.layoutAnswers.Answer(in.Order, by.PID, in.Body.Why)}, nil
}

// viewers returns the open viewers. A viewer shows many sessions, so they are identified by process.
func (s *Server) viewers() map[int]bool {
	viewers := map[int]bool{}
	for _, e := range s.reg.All() {
		for _, c := range e.Clients.List() {
			if c.Kind == viewerKind {
				viewers[c.By.PID] = true
			}
		}
	}
	return viewers
}

// viewerKind is the kind of clients that show frames.
const viewerKind = "viewer"
