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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

// getClients lists who is attached to a session, or looks at it.
func (s *Server) getClients(_ context.Context, in *struct {
	Session string `path:"session"`
}) ([]api.Attached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	list := []api.Attached{}
	for _, c := range e.Clients.Seen() {
		list = append(list, attachedOf(&c))
	}
	return list, nil
}

func attachedOf(c *sizepolicy.Seen) api.Attached {
	a := api.Attached{
		N: c.N, Kind: c.Kind, By: c.By, Terminal: c.Terminal, May: "type", Own: c.Looks, Cols: c.Cols, Rows: c.Rows, Since: c.Since, Inside: c.Inside,
	}
	if c.Held || c.Looks {
		a.May = "look"
	}
	if !c.Typed.IsZero() {
		a.Typed = &c.Typed
	}
	return a
}

// postClient has a client look only, type again, or leave: for a person to say.
func (s *Server) postClient(ctx context.Context, in *struct {
	Session string `path:"session"`
	Client  int    `path:"client" doc:"its number, as the list has it"`
	Body    api.AttachedEdit
}) (none, error) {
	if err := mayChangeClients(ctx, "saying what other clients may do"); err != nil {
		return none{}, err
	}
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	unknown := api.Errorf(api.CodeNotFound, "no client %d is at this session", in.Client).WithHint("`longterm clients %s` lists them", e.Record().Name)
	if may := in.Body.May; may != "" {
		c, known := e.Clients.Hold(in.Client, may == "look")
		switch {
		case !known:
			return none{}, unknown
		case may == "type" && c.Looks:
			return none{}, api.Errorf(api.CodeInvalid, "client %d came to look only, or may not type by its token", in.Client)
		}
		s.fitSize(ctx, e)
	}
	if in.Body.Detach {
		switch known, asked := e.Clients.Detach(in.Client); {
		case !known:
			return none{}, unknown
		case !asked:
			return none{}, api.Errorf(api.CodeInvalid, "client %d shows several sessions and is not attached to this one", in.Client).WithHint("have it look only")
		}
	}
	return none{true}, nil
}

// mayChangeClients refuses to have what concerns a person's terminals done by anybody but a person.
func mayChangeClients(ctx context.Context, what string) error {
	if by := actor.Of(ctx); by.IsAgent() {
		return api.Errorf(api.CodeDenied, "%s is for a person, not for %s", what, by)
	}
	return asPerson(ctx, what)
}

// mayDetach refuses to have a person's terminals leave for anybody but a person.
func mayDetach(ctx context.Context) error {
	err := mayChangeClients(ctx, "having other clients leave")
	if e, ok := errors.AsType[*api.Error](err); ok && actor.Of(ctx).IsAgent() {
		return e.WithHint("attach beside them, without detach_others")
	}
	return err
}

// terminalOf names the terminal that a process runs on, as ps does; empty: it has none, or that is not known.
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

// postRenew hands variables of a person's login to the shells that run: those the configuration names, and shells of a
// person's sessions only. What agents run, under rules of its own or in a sandbox, keeps what it was given.
func (s *Server) postRenew(ctx context.Context, in *struct{ Body api.Renewal }) (none, error) {
	if err := mayChangeClients(ctx, "renewing the variables of shells"); err != nil {
		return none{}, err
	}
	env := map[string]*string{}
	for _, name := range s.conf.Get().Shells.Renew {
		value, ok := in.Body.Env[name]
		switch {
		case !ok:
			continue
		case !shell.IsName(name), value != nil && (len(*value) > maxRenewed || strings.ContainsRune(*value, 0)):
			return none{}, api.Errorf(api.CodeInvalid, "the variable %q", name).WithHint("its name has to be a shell's, its value at most %d bytes of text", maxRenewed)
		}
		env[name] = value
	}
	if len(env) == 0 {
		return none{true}, nil
	}
	var errs error
	for _, e := range s.reg.All() {
		if r := e.Record(); r.Agent != "" || r.Policy != "" || s.reg.Sandbox(e) != nil || e.Temporary() || finished(e.Session) {
			continue
		}
		if err := e.Session.Renew(ctx, env); err != nil && !errors.Is(err, session.ErrStopped) {
			errs = errors.Join(errs, err)
		}
	}
	return none{true}, errs
}

// fitSize gives a session the size its clients call for.
func (s *Server) fitSize(ctx context.Context, e *registry.Handle) {
	if cols, rows, ok := e.Clients.Size(); ok {
		if err := e.Session.Resize(ctx, cols, rows); err != nil && !errors.Is(err, session.ErrStopped) {
			s.log.Warn("resize", "session", e.Session.ID(), "err", err)
		}
	}
}

// maxLayout bounds a layout that is handed to viewers, in bytes.
const maxLayout = 256 << 10

// postArrange tells viewers how sessions are to stand. Sessions are named by id there, whatever they are called here.
func (s *Server) postArrange(ctx context.Context, in *struct{ Body api.Arrange }) (api.Arranged, error) {
	a := in.Body
	a.Order = ""
	if a.Do == "focus" || a.Do == "apply" { // keys would go elsewhere than the person thinks
		if err := asPerson(ctx, "moving the focus of viewers"); err != nil {
			return api.Arranged{}, err
		}
		if by := actor.Of(ctx); by.IsAgent() {
			return api.Arranged{}, api.Errorf(api.CodeDenied, "moving the focus of viewers is for a person, not for %s", by).WithHint("place shows a session and leaves the focus")
		}
	}
	if a.Do == "apply" {
		if len(a.Layout) == 0 || len(a.Layout) > maxLayout {
			return api.Arranged{}, api.Errorf(api.CodeInvalid, "a layout of %d bytes", len(a.Layout)).WithHint("give one of at most %d, as `longterm layout dump` prints it", maxLayout)
		}
		return s.order(ctx, nil, a)
	}
	switch over := a.Float || a.Pinned; {
	case a.Do != "place" && (over || a.Stacked || a.Area != nil):
		return api.Arranged{}, api.Errorf(api.CodeInvalid, "float, pinned, stacked and area are for place, not for %s", a.Do)
	case over && a.Stacked:
		return api.Arranged{}, api.Errorf(api.CodeInvalid, "a pane that floats cannot be stacked").WithHint("give one of float, pinned and stacked")
	case a.Area != nil && !over:
		return api.Arranged{}, api.Errorf(api.CodeInvalid, "an area is for panes that float").WithHint("say float or pinned as well")
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
	return s.order(ctx, &view, a)
}

// orderTime is how long the viewers are waited for: each does it with its next turn.
const orderTime = 2 * time.Second

// order tells the viewers, and waits for one that has done it. The session is the one that it is about; nil: none.
func (s *Server) order(ctx context.Context, about *api.Session, a api.Arrange) (api.Arranged, error) {
	viewers := s.viewers()
	n := len(viewers)
	if n == 0 { // those that show no session yet are not counted
		s.reg.Bus.Send(api.Event{Kind: "arrange", Session: about, Arrange: &a})
		return api.Arranged{OK: true, Viewers: &n}, nil
	}
	q := s.orders.Ask(viewers)
	a.Order = q.ID
	s.reg.Bus.Send(api.Event{Kind: "arrange", Session: about, Arrange: &a})
	switch did, refused := q.Await(ctx, orderTime); {
	case did:
		return api.Arranged{OK: true, Viewers: &n}, nil
	case len(refused) > 0:
		slices.Sort(refused)
		return api.Arranged{}, api.Errorf(api.CodeNotFound, "%s", strings.Join(slices.Compact(refused), "; ")).
			WithHint("nothing was changed; `longterm layout dump` prints how the viewer stands")
	}
	return api.Arranged{}, api.Errorf(api.CodeTimeout, "no viewer has answered within %v, so it is not known whether anything was changed", orderTime).
		WithHint("a viewer that is stopped, or older than its daemon, does not answer: begin it again")
}

// postOrder takes what a viewer says to how it was to change. One that comes too late is heard by nobody. An agent reads the
// same events, but shows nothing that it could have changed.
func (s *Server) postOrder(ctx context.Context, in *struct {
	Order string `path:"order" maxLength:"64"`
	Body  api.OrderAnswer
}) (none, error) {
	by := actor.Of(ctx)
	if by.IsAgent() && !s.viewers()[by.PID] {
		return none{}, api.Errorf(api.CodeDenied, "an order is answered by viewers, not by %s", by).WithHint("`longterm layout` prints what viewers answered")
	}
	return none{s.orders.Answer(in.Order, by.PID, in.Body.Why)}, nil
}

// viewers are those that are open. One viewer shows many sessions, so they are told apart by their processes.
func (s *Server) viewers() map[int]bool {
	viewers := map[int]bool{}
	for _, e := range s.reg.All() {
		for _, c := range e.Clients.Seen() {
			if c.Kind == viewerKind {
				viewers[c.By.PID] = true
			}
		}
	}
	return viewers
}

// viewerKind is what clients are that show frames.
const viewerKind = "viewer"
