//go:build unix

package pagesocket

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/web/wire"
	"github.com/longterm-dev/longterm/vterm"
)

// maxUnacked is how many frames of a subscription are under way.
const maxUnacked = 2

// sub is a session that a page shows. Its goroutine looks at the session and sends frames.
type sub struct {
	c    *conn
	id   int
	e    *registry.Handle
	ctx  context.Context
	stop context.CancelFunc
	wake chan struct{}
	seat *sizepolicy.Client

	mu      sync.Mutex // guards what follows
	view    wire.View
	changed bool // view did
	sent    uint64
	sizes   map[uint64]int // of frames that were not acknowledged, in bytes
	typing  chan wire.Message
	images  []*vterm.Image // that its last frame shows
	queued  int            // bytes that wait to be typed
	asks    bool           // a person is asked about what is being typed
	typed   int64          // the last message that was
	telling bool           // that is about to be told
}

// subscribe begins to show a session, or changes what of it is shown.
func (c *conn) subscribe(m *wire.Message) {
	v, err := m.View()
	if err != nil {
		c.gone(m.ID, api.Errorf(api.CodeInvalid, "%v", err))
		return
	}
	e, err := c.srv.Host.Session(c.ctx, v.Session)
	if err != nil {
		c.drop(m.ID)
		c.gone(m.ID, err)
		return
	}
	c.subsMu.Lock()
	p, n := c.subs[m.ID], len(c.subs)
	c.subsMu.Unlock()
	if p != nil && p.e == e && p.ctx.Err() == nil {
		p.mu.Lock()
		p.view, p.changed = v, true
		p.mu.Unlock()
		p.poke()
		return
	}
	if p != nil {
		c.drop(m.ID)
	} else if n >= wire.MaxSubs {
		c.gone(m.ID, api.Errorf(api.CodeLimit, "%d sessions are shown at a time, which is the most", wire.MaxSubs).WithHint("end another subscription"))
		return
	}
	p = &sub{c: c, id: m.ID, e: e, wake: make(chan struct{}, 1), view: v, changed: true, sizes: map[uint64]int{}}
	p.seat = &sizepolicy.Client{Policy: sizepolicy.None, Is: sizepolicy.Identity{
		Kind: "page", By: actor.Of(c.ctx), Since: time.Now(), Looks: !c.mayType(),
	}}
	p.ctx, p.stop = context.WithCancel(c.ctx)
	c.subsMu.Lock()
	c.subs[m.ID] = p
	c.subsMu.Unlock()
	c.working.Go(func() {
		err := p.run(v.Thumb)
		if p.ctx.Err() == nil { // nobody asked for its end
			c.gone(p.id, err)
		}
		p.over()
	})
}

func (c *conn) gone(id int, err error) {
	v := c.complaint("gone", err)
	v.ID = id
	_ = c.say(v)
}

func (p *sub) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// acknowledged notes that frames are taken, up to one.
func (p *sub) acknowledged(n uint64) {
	p.mu.Lock()
	for k, size := range p.sizes {
		if k <= n {
			p.c.inFlight.Add(-int64(size))
			delete(p.sizes, k)
		}
	}
	p.mu.Unlock()
	p.poke()
}

// over gives back what frames under way were counted for.
func (p *sub) over() {
	p.stop()
	p.acknowledged(^uint64(0))
	p.c.subsMu.Lock()
	if p.c.subs[p.id] == p {
		delete(p.c.subs, p.id)
	}
	p.c.subsMu.Unlock()
}

// mayShow says whether the page is done with what it was sent.
func (p *sub) mayShow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sizes) < maxUnacked && (len(p.sizes) == 0 || p.c.inFlight.Load() < maxInFlight)
}

// run sends a frame whenever something changed, the page has taken those before, and enough time went by.
func (p *sub) run(thumb bool) error {
	if !thumb { // whoever looks at it keeps a temporary session; no page has a say in its size
		p.e.Clients.Join(p.seat)
		defer func() {
			if p.e.Clients.Leave(p.seat) && p.e.Temporary() && p.e.Session.Status().State != session.Running {
				p.c.srv.Registry.RemoveEnded(p.e)
			}
		}()
	}
	w := p.e.Session.Watch()
	defer w.Close()
	shown := frames{p: p}
	due := time.NewTimer(0)
	defer due.Stop()
	var pace pace
	for {
		select {
		case <-w.Frames:
			if !shown.past {
				pace.waits(time.Now())
			}
		case <-p.wake:
		case <-due.C:
		case <-w.Done:
			return session.ErrStopped
		case <-p.ctx.Done():
			return p.ctx.Err()
		}
		view, changed := p.takeView()
		now := time.Now()
		if changed {
			pace.waits(now)
		}
		switch wait := pace.next.Sub(now); {
		case pace.since.IsZero():
			continue
		case !p.mayShow():
			if changed {
				p.again()
			}
			continue
		case wait > 0 && !changed:
			due.Reset(wait)
			continue
		}
		if err := shown.show(view, changed, pace.begin(now, view.FPS)); err != nil {
			return err
		}
	}
}

// pace is when something is to be shown.
type pace struct {
	since time.Time // when it came; zero: there is nothing
	next  time.Time // when it may be shown
}

// waits notes that there is something.
func (p *pace) waits(now time.Time) {
	if p.since.IsZero() {
		p.since = now
	}
}

// early is how much earlier than at its rate the next frame may be begun: clocks are late.
const early = 2 * time.Millisecond

// begin begins a frame of what came since then. What making and writing it takes does not put off the next.
func (p *pace) begin(now time.Time, perSecond int) (since time.Time) {
	since, p.since = p.since, time.Time{}
	p.next = now.Add(time.Second/time.Duration(perSecond) - early)
	return since
}

// takeView is what is to be shown, and whether that is new.
func (p *sub) takeView() (wire.View, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changed
	p.changed = false
	return p.view, changed
}

// again has a new view looked at later.
func (p *sub) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = true
}

// frames makes the frames of a subscription.
type frames struct {
	p      *sub
	shown  wire.Shown
	since  uint64
	begun  bool
	past   bool // a past screen is shown, which does not change
	view   wire.View
	frame  vterm.Frame
	screen render.Screen
}

// show looks at the session and sends what the page does not have.
func (s *frames) show(view wire.View, changed bool, dirty time.Time) error {
	p := s.p
	if changed && (view.From != s.view.From || view.To != s.view.To || view.At != s.view.At || s.past) {
		s.since = 0 // all rows are looked at; what the page has it is not sent again
	}
	s.view, s.past = view, view.At != ""
	f := wire.Frame{ID: p.id, Epoch: epoch(), Screen: &s.screen, From: view.From, To: view.To, Links: !view.Thumb, Asked: changed}
	var resumed map[int]bool
	var err error
	if s.past {
		err = s.lookBack(&f)
	} else {
		resumed, err = s.look(&f)
	}
	if errors.Is(err, session.ErrStopped) || p.ctx.Err() != nil {
		return err
	}
	if err != nil { // the page may ask for another moment
		v := p.c.complaint("err", err)
		v.ID = p.id
		return p.c.say(v)
	}
	f.State = string(p.e.Session.Status().State)
	if late := time.Since(dirty).Milliseconds(); late >= lateFrom {
		f.Behind = late
	}
	return s.send(&f, resumed)
}

// lateFrom is from when on a page is told that it is behind, in ms.
const lateFrom = 250

// look takes the screen as it is, or the rows of it that changed. resumed are the rows that changed since the page's
// connection broke; nil: it has none.
func (s *frames) look(f *wire.Frame) (resumed map[int]bool, err error) {
	p := s.p
	set := p.c.srv.Host.Veil(p.c.ctx)
	again := !s.begun && set.Empty() && s.view.Version > 0 && s.view.Epoch == epoch()
	var modes vterm.Modes
	err = p.e.Session.Look(p.ctx, func(v session.View) {
		modes = v.Modes
		if again {
			var delta vterm.Frame
			if v.Engine.Frame(&delta, vterm.Query{Since: s.view.Version}); !delta.Full {
				resumed = map[int]bool{}
				for i := range delta.Lines {
					resumed[delta.Lines[i].Row] = true
				}
			}
		}
		if set.Empty() {
			v.Engine.Frame(&s.frame, vterm.Query{Since: s.since})
			return
		}
		above := secrets.Above(v.Engine)
		v.Engine.Frame(&s.frame, vterm.Query{}) // a secret may go on in rows that did not change
		set.Frame(&s.frame, above)
	})
	if err != nil {
		return nil, err
	}
	p.showsImages(&s.frame)
	s.since, s.begun = s.frame.Version, true
	render.FromFrame(&s.screen, &s.frame)
	f.Mouse, f.AppCursor, f.Bracketed, f.Kitty = mouseNames[modes.Mouse], modes.AppCursor, modes.BracketedPaste, modes.Kitty
	return resumed, nil
}

var mouseNames = map[vterm.MouseTracking]string{
	vterm.MouseX10: "press", vterm.MouseNormal: "click", vterm.MouseButton: "drag", vterm.MouseAny: "any",
}

// lookingBack bounds how many past screens are made at a time, of all pages: each may read megabytes.
var lookingBack = make(chan struct{}, 2)

// lookBack has a session looked at as it stood at a moment, which is an offset.
func (c *conn) lookBack(ctx context.Context, e *registry.Handle, at string, look func(vterm.Engine)) (uint64, error) {
	select {
	case lookingBack <- struct{}{}:
		defer func() { <-lookingBack }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	off, err := c.srv.Host.Offset(ctx, e, at)
	if err != nil {
		return 0, err
	}
	engine, err := e.Session.Past(ctx, off)
	if err == nil {
		look(engine)
	}
	return off, err
}

// lookBack takes a past screen.
func (s *frames) lookBack(f *wire.Frame) error {
	p := s.p
	off, err := p.c.lookBack(p.ctx, p.e, s.view.At, func(engine vterm.Engine) {
		above := secrets.Above(engine)
		engine.Frame(&s.frame, vterm.Query{})
		p.c.srv.Host.Veil(p.c.ctx).Frame(&s.frame, above)
	})
	if err != nil {
		return err
	}
	p.showsImages(&s.frame)
	s.since, s.begun = 0, true
	render.FromFrame(&s.screen, &s.frame)
	f.At = &off
	return nil
}

// send writes a frame, and counts it as under way.
func (s *frames) send(f *wire.Frame, resumed map[int]bool) error {
	p := s.p
	f.Thin = p.c.brief
	p.mu.Lock()
	f.N = p.sent + 1
	p.mu.Unlock()
	return p.c.write(func(dst []byte) []byte {
		if p.ctx.Err() != nil { // the page may show another session under this id by now
			return dst
		}
		if resumed != nil {
			s.shown.Has(f, &p.c.styles, resumed)
		}
		b, nothing := s.shown.Append(dst, &p.c.styles, f)
		if nothing {
			return nil
		}
		p.mu.Lock()
		p.sent = f.N
		p.sizes[f.N] = len(b)
		p.mu.Unlock()
		p.c.inFlight.Add(int64(len(b)))
		return b
	})
}
