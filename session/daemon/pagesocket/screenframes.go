//go:build unix

package pagesocket

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/web/wire"
	"github.com/longterm-dev/longterm/vterm"
)

// maxUnacked bounds the unacknowledged frames of a subscription.
const maxUnacked = 2

// sub is a session that a page shows. Its goroutine reads the screen and sends frames.
type sub struct {
	c      *conn
	id     int
	e      *registry.Handle
	ctx    context.Context
	stop   context.CancelFunc
	wake   chan struct{}
	client *sizepolicy.Client

	mu          sync.Mutex // guards what follows
	view        wire.View
	changed     bool // view did
	sent        uint64
	sizes       map[uint64]int // of frames that were not acknowledged, in bytes
	typing      chan wire.Message
	images      []*vterm.Image // that its last frame shows
	queued      int            // bytes that wait to be typed
	inputPaused bool           // an approval for typed input is open
	typed       int64          // last message that was typed
	ackPending  bool           // an acknowledgement is scheduled
}

// subscribe starts to show a session, or changes the view of it.
func (c *conn) subscribe(m *wire.Message) {
	v, err := m.View()
	if err != nil {
		c.reportEnd(m.ID, api.Errorf(api.CodeInvalid, "%v", err))
		return
	}
	e, err := c.srv.Host.Session(c.ctx, v.Session)
	if err != nil {
		c.drop(m.ID)
		c.reportEnd(m.ID, err)
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
		c.reportEnd(m.ID, api.Errorf(api.CodeLimit, "%d sessions are shown at a time, which is the most", wire.MaxSubs).WithHint("end another subscription"))
		return
	}
	p = &sub{c: c, id: m.ID, e: e, wake: make(chan struct{}, 1), view: v, changed: true, sizes: map[uint64]int{}}
	p.client = &sizepolicy.Client{Policy: sizepolicy.None, Identity: sizepolicy.Identity{
		Kind: "page", By: identity.Of(c.ctx), Since: time.Now(), ViewOnly: !c.mayType(),
	}}
	p.ctx, p.stop = context.WithCancel(c.ctx)
	c.subsMu.Lock()
	c.subs[m.ID] = p
	c.subsMu.Unlock()
	c.working.Go(func() {
		err := p.run(v.Thumb)
		if p.ctx.Err() == nil { // not ended on request
			c.reportEnd(p.id, err)
		}
		p.finish()
	})
}

// reportEnd reports the end of a subscription.
func (c *conn) reportEnd(id int, err error) {
	v := c.errorReply("gone", err)
	v.ID = id
	_ = c.send(v)
}

// poke wakes the subscription's goroutine.
func (p *sub) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// acknowledge records that the page has processed the frames up to n.
func (p *sub) acknowledge(n uint64) {
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

// finish ends the subscription and releases its frames in flight.
func (p *sub) finish() {
	p.stop()
	p.acknowledge(^uint64(0))
	p.c.subsMu.Lock()
	if p.c.subs[p.id] == p {
		delete(p.c.subs, p.id)
	}
	p.c.subsMu.Unlock()
}

// mayShow reports whether the page has processed enough frames for the next one.
func (p *sub) mayShow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sizes) < maxUnacked && (len(p.sizes) == 0 || p.c.inFlight.Load() < maxInFlight)
}

// run sends a frame after each change, once the page has processed the earlier ones and the interval has passed.
func (p *sub) run(thumb bool) error {
	if !thumb { // watching keeps a temporary session alive; pages do not affect its size
		p.e.Clients.Join(p.client)
		defer func() {
			if p.e.Clients.Leave(p.client) && p.e.IsTemporary() && p.e.Session.Status().State != session.Running {
				p.c.srv.Registry.RemoveEnded(p.e)
			}
		}()
	}
	w := p.e.Session.Watch()
	defer w.Close()
	shown := frames{p: p}
	due := time.NewTimer(0)
	defer due.Stop()
	var pace frameTimer
	for {
		select {
		case <-w.Frames:
			if !shown.past {
				pace.noteChange(time.Now())
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
			pace.noteChange(now)
		}
		switch wait := pace.next.Sub(now); {
		case pace.since.IsZero():
			continue
		case !p.mayShow():
			if changed {
				p.markChanged()
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

// frameTimer schedules the next frame.
type frameTimer struct {
	since time.Time // arrival of the oldest unsent change; zero: none
	next  time.Time // when it may be shown
}

// noteChange records that a change waits to be shown.
func (p *frameTimer) noteChange(now time.Time) {
	if p.since.IsZero() {
		p.since = now
	}
}

// timerSlack is how much before its rate allows the next frame may start, because timers fire late.
const timerSlack = 2 * time.Millisecond

// begin starts a frame and returns the time of its oldest change. The time to make and write the frame does not delay
// the next.
func (p *frameTimer) begin(now time.Time, perSecond int) (since time.Time) {
	since, p.since = p.since, time.Time{}
	p.next = now.Add(time.Second/time.Duration(perSecond) - timerSlack)
	return since
}

// takeView returns the view to show, and whether it changed since the last call.
func (p *sub) takeView() (wire.View, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changed
	p.changed = false
	return p.view, changed
}

// markChanged schedules a new frame.
func (p *sub) markChanged() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = true
}

// frames builds the frames of a subscription.
type frames struct {
	p       *sub
	shown   wire.PageScreen
	since   uint64
	started bool
	past    bool // a past screen is shown, which does not change
	view    wire.View
	frame   vterm.Frame
	screen  render.Screen
}

// show reads the screen and sends what the page lacks.
func (s *frames) show(view wire.View, changed bool, dirty time.Time) error {
	p := s.p
	if changed && (view.From != s.view.From || view.To != s.view.To || view.At != s.view.At || s.past) {
		s.since = 0 // all rows are looked at; what the page has it is not sent again
	}
	s.view, s.past = view, view.At != ""
	f := wire.Frame{ID: p.id, Epoch: epoch(), Screen: &s.screen, From: view.From, To: view.To, Links: !view.Thumb, Requested: changed}
	var resumed map[int]bool
	var err error
	if s.past {
		err = s.emulatorAt(&f)
	} else {
		resumed, err = s.copyScreen(&f)
	}
	if errors.Is(err, session.ErrStopped) || p.ctx.Err() != nil {
		return err
	}
	if err != nil { // the page may choose another moment
		v := p.c.errorReply("err", err)
		v.ID = p.id
		return p.c.send(v)
	}
	f.State = string(p.e.Session.Status().State)
	if late := time.Since(dirty).Milliseconds(); late >= lateThreshold {
		f.Behind = late
	}
	return s.send(&f, resumed)
}

// lateThreshold is the delay from which a page is reported to be behind, in ms.
const lateThreshold = 250

// copyScreen copies the screen, or the rows that changed. resumed holds the rows that changed since the page's
// connection broke, or nil if the page has no screen.
func (s *frames) copyScreen(f *wire.Frame) (resumed map[int]bool, err error) {
	p := s.p
	set := p.c.srv.Host.Redactor(p.c.ctx)
	again := !s.started && set.Empty() && s.view.Version > 0 && s.view.Epoch == epoch()
	var modes vterm.Modes
	err = p.e.Session.WithScreen(p.ctx, func(v session.View) {
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
		above := redact.LinesAbove(v.Engine)
		v.Engine.Frame(&s.frame, vterm.Query{}) // a secret may continue in unchanged rows
		set.RedactFrame(&s.frame, above)
	})
	if err != nil {
		return nil, err
	}
	p.showsImages(&s.frame)
	s.since, s.started = s.frame.Version, true
	render.FromFrame(&s.screen, &s.frame)
	f.Mouse, f.AppCursor, f.Bracketed, f.Kitty = mouseNames[modes.Mouse], modes.AppCursor, modes.BracketedPaste, modes.Kitty
	return resumed, nil
}

var mouseNames = map[vterm.MouseTracking]string{
	vterm.MouseX10: "press", vterm.MouseNormal: "click", vterm.MouseButton: "drag", vterm.MouseAny: "any",
}

// pastSlots bounds how many past screens are rebuilt at a time, of all pages: each may read megabytes.
var pastSlots = make(chan struct{}, 2)

// emulatorAt calls look with the emulator's state at an earlier offset, and returns that offset.
func (c *conn) emulatorAt(ctx context.Context, e *registry.Handle, at string, look func(vterm.Engine)) (uint64, error) {
	select {
	case pastSlots <- struct{}{}:
		defer func() { <-pastSlots }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	off, err := c.srv.Host.Offset(ctx, e, at)
	if err != nil {
		return 0, err
	}
	engine, err := e.Session.EmulatorAt(ctx, off)
	if err == nil {
		look(engine)
	}
	return off, err
}

// emulatorAt fills f with the screen at an earlier offset.
func (s *frames) emulatorAt(f *wire.Frame) error {
	p := s.p
	off, err := p.c.emulatorAt(p.ctx, p.e, s.view.At, func(engine vterm.Engine) {
		above := redact.LinesAbove(engine)
		engine.Frame(&s.frame, vterm.Query{})
		p.c.srv.Host.Redactor(p.c.ctx).RedactFrame(&s.frame, above)
	})
	if err != nil {
		return err
	}
	p.showsImages(&s.frame)
	s.since, s.started = 0, true
	render.FromFrame(&s.screen, &s.frame)
	f.At = &off
	return nil
}

// send writes a frame, and counts it as unacknowledged.
func (s *frames) send(f *wire.Frame, resumed map[int]bool) error {
	p := s.p
	f.Thin = p.c.partialFrames
	p.mu.Lock()
	f.N = p.sent + 1
	p.mu.Unlock()
	return p.c.write(func(dst []byte) []byte {
		if p.ctx.Err() != nil { // the page may show another session under this id by now
			return dst
		}
		if resumed != nil {
			s.shown.MarkKnown(f, &p.c.styles, resumed)
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
