package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// viewer is the event loop and what belongs to it.
type viewer struct {
	loop
	src     Source
	o       Options
	keys    *keymap.Map
	theme   *theme.Theme
	chosen  string // theme that the person chose here, or before
	m       model.Model
	panes   *panes.Set
	mode    mode
	message string           // shown until the next key
	over    overlays.Overlay // nil: none
	table   *keymap.Mode     // the mode that is in force; nil: none
	locked  bool             // all keys go to the session
	hints   bool             // what can follow the prefix is shown
	welcome bool             // the card for newcomers is shown, until the first key
	canvas  canvas.Canvas
	means   picture.Means // of the terminal, to draw images
	quit    bool

	layout   placed
	fresh    bool      // everything is to be drawn
	emptied  time.Time // when the last session went, or the last key of those that were being typed then came
	bar      bars.Bar
	side     bars.Side
	pointer  pointer
	pasting  *strings.Builder
	copied   string          // the newest, to be pasted
	away     bool            // another window has the focus
	reported string          // the session that was told it has the focus
	pasts    map[string]bool // sessions in which others are looked back at: their panes go when they end
	repeats  time.Time       // until then keys that repeat need no prefix
	unframed bool            // borders are turned: off where they are wanted, or on
	typedTo  map[string]bool // sessions that keys were sent to
	killed   map[string]bool // those that the person had end here
	mute     map[string]bool // sessions whose size the viewer does not ask for
	answered map[string]bool // approvals whose answer is on its way
	asks     announcement    // of approvals, in the bar last
	layouts  layoutKeeper
	pacer    framePacer
	ahead    typeAhead
	down     map[rune]bool // keys that were typed into a session, and whose release was not reported
	keyboard uint8         // flags of the kitty protocol that the terminal reports keys with
	unseen   bool          // the key that is handled was typed into sessions, and is all that happened
	changed  bool          // since it was drawn more happened than that rows of panes were printed
	ground   ground
	details  details
	glances  glances
	problems problems
}

// Run shows sessions until the person quits or ctx ends. The terminal is given back on
// every way out, panics included.
func Run(ctx context.Context, src Source, o Options) error {
	if err := o.defaults(); err != nil {
		return err
	}
	keys, err := o.keymap()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	said := make(chan theme.Ground, 8)
	o.tell = func(g theme.Ground) {
		select {
		case said <- g:
		default: // nobody changes colours so often
		}
	}
	if err := o.Screen.Init(); err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	v := newViewer(ctx, src, o, keys)
	defer v.tasks.Wait()
	defer o.Screen.Fini()
	defer v.canvas.Undraw()
	defer canvas.LeaveGround(o.Screen)
	defer v.reclaim()
	defer cancel()
	v.listenOuter()
	v.listen(said)
	v.askMeans()
	o.Screen.EnablePaste()
	o.Screen.EnableFocus()
	return v.run()
}

func newViewer(ctx context.Context, src Source, o Options, keys *keymap.Map) *viewer {
	v := &viewer{
		loop: loop{ctx: ctx, calls: make(chan func(), 16)}, src: src, o: o, keys: keys, fresh: true, changed: true, theme: o.Theme,
		m:       model.New(o.Only),
		canvas:  canvas.New(o.Screen, o.NoColor),
		typedTo: map[string]bool{}, killed: map[string]bool{}, mute: map[string]bool{}, pasts: map[string]bool{}, answered: map[string]bool{},
	}
	v.m.Quiet, v.m.TabsLast = o.Alerts, o.Tmux
	v.ahead.opened = o.Now()
	v.canvas.UseASCII(o.ascii())
	v.layouts = layoutKeeper{store: o.Layouts, host: v, m: &v.m, begin: o.Layout}
	v.panes = panes.New(paneHost{v}, copyHost{v}, o.History)
	v.panes.Predict(o.Predict)
	if v.theme == nil {
		v.theme = o.fitting(theme.UnknownGround)
	}
	if o.NoColor {
		v.theme = theme.Mono
	}
	return v
}

var errSourceEnded = errors.New("the sessions' source has ended")

// maxBatch bounds the events handled before the screen is drawn.
const maxBatch = 256

func (v *viewer) run() error {
	defer v.closePanes()
	defer v.endPasts()
	defer v.layouts.saveAtEnd(v.ctx)
	in := inputs{events: make(chan tcell.Event, 64), sessions: v.src.Sessions(v.ctx)}
	v.spawn(func() { v.o.Screen.ChannelEvents(in.events, v.ctx.Done()) })
	v.layouts.load(v.ctx)
	v.welcome = v.layouts.fresh && !v.o.NoHints
	v.watchOptions()
	v.watchOrders()
	v.refresh()
	for {
		if err := v.wait(&in); err != nil || v.quit || v.ctx.Err() != nil {
			return err
		}
		if v.pasting == nil {
			v.pace()
		}
	}
}

// inputs are the channels of others.
type inputs struct {
	events   chan tcell.Event
	sessions <-chan model.Update
}

// wait handles an event and those that came with it: floods of output and pastes are
// drawn once per batch.
func (v *viewer) wait(in *inputs) error {
	select {
	case <-v.ctx.Done():
		return nil
	case <-v.o.Tick: // durations
		v.tick()
	case e, ok := <-in.events:
		return v.event(e, ok, in)
	case u, ok := <-in.sessions:
		v.changed = true
		return v.update(u, ok)
	case f := <-v.panes.Arriving():
		v.arrived(f)
	case f := <-v.calls:
		v.pacer.urgent, v.changed = true, true
		f()
	}
	for range maxBatch {
		select {
		case f := <-v.panes.Arriving():
			v.arrived(f)
		default:
			return nil
		}
	}
	return nil
}

// arrived has a pane show a frame. That what was typed came to nothing is said.
func (v *viewer) arrived(f panes.Arrived) {
	v.changed = !f.Apply() || v.changed
	v.pacer.came(f.For(v.m.Focus))
	if id, effects := f.Effects(); len(effects) > 0 && slices.Contains(v.m.Shown(), id) {
		v.forwardEffects(id, effects)
	}
	if id, held := f.Held(); held {
		if s := v.m.Session(id); s != nil {
			v.message = "not typed: this viewer only looks at " + canvas.Printable(s.Name) + "; `longterm clients` lets it type"
		}
	}
}

func (v *viewer) tick() {
	v.pacer.urgent, v.changed = true, true
	v.m.Tick(v.o.Now())
	v.detailsTick()
	v.layouts.save()
}

// event handles what the terminal sent, and what it sent since.
func (v *viewer) event(e tcell.Event, ok bool, in *inputs) error {
	for range maxBatch {
		if !ok {
			v.quit = true // the terminal is gone
			return nil
		}
		v.handled(e)
		select {
		case e, ok = <-in.events:
		default:
			return nil
		}
	}
	v.handled(e)
	return nil
}

// handled handles what the terminal sent, and has it drawn unless it was a key that changed nothing on the screen.
func (v *viewer) handled(e tcell.Event) {
	v.unseen = false
	v.handle(e)
	if v.unseen {
		v.pacer.typed(time.Now())
		return
	}
	v.pacer.urgent, v.changed = true, true
}

func (v *viewer) handle(e tcell.Event) {
	if v.problems.opening { // what came before the terminal was lent; it is drawn anew, and asked, when it is back
		if f, ok := e.(*tcell.EventFocus); ok {
			v.away = !f.Focused
		}
		return
	}
	switch e := e.(type) {
	case *tcell.EventResize:
		v.canvas.Sync()
		v.fresh = true
	case *tcell.EventKey, *tcell.EventPaste:
		if !v.holdInput(e) {
			v.input(e)
		}
	case *tcell.EventMouse:
		v.mouse(e)
	case *tcell.EventFocus:
		if v.away = !e.Focused; e.Focused { // colours may be others now, and not all terminals tell
			canvas.AskGround(v.o.Screen, insideTmux())
		}
	}
}

func (v *viewer) update(u model.Update, ok bool) error {
	if !ok {
		if v.ctx.Err() != nil {
			return nil
		}
		return errSourceEnded
	}
	if u.Away != "" && v.m.Away == "" {
		v.after(bars.AwayTime, func() {}) // to be told then
	}
	first, some := !v.m.Loaded, len(v.m.Shown()) > 0
	bells, asked := v.rung(), v.m.Approvals
	v.m.Update(u, v.o.Now())
	if u.Away == "" && !first {
		v.askings(asked)
	}
	if first && v.m.Loaded {
		v.restoreTheme(v.layouts.restore())
	}
	v.closeLeft()
	if some && len(v.m.Shown()) == 0 {
		v.emptied = v.o.Now()
	}
	if v.rung() > bells && !first && !v.m.Quiet.NoBell && !v.problems.opening {
		_ = v.o.Screen.Beep()
	}
	v.releaseInput()
	return nil
}

// rung counts the bells of sessions without the focus.
func (v *viewer) rung() (n int) {
	for i := range v.m.Sessions {
		if v.away || v.m.Sessions[i].ID != v.m.Focus {
			n += v.m.Sessions[i].Bells
		}
	}
	return n
}

// closeLeft closes the panes of shells that the person left, of what was killed here, and of past screens.
func (v *viewer) closeLeft() {
	for i := range v.m.Sessions {
		s := &v.m.Sessions[i]
		if s.State != model.StateRunning && v.pasts[s.ID] {
			delete(v.pasts, s.ID)
			v.m.Forget(s.ID)
			continue
		}
		switch name := canvas.Printable(s.Name); {
		case s.State == model.StateRunning:
			continue
		case v.killed[s.ID]:
			v.message = name + " was killed; its output is kept"
		case s.ExitCode != nil && v.m.IsShell(s.ID) && v.typedTo[s.ID]:
			v.message = fmt.Sprintf("%s ended with status %d", name, *s.ExitCode)
		default:
			continue
		}
		delete(v.killed, s.ID)
		delete(v.typedTo, s.ID)
		delete(v.m.Alerts, s.ID)
		v.m.Forget(s.ID)
	}
}

// pace draws, or has that done when the time has come.
func (v *viewer) pace() {
	draw, wait := v.pacer.due(time.Now())
	switch {
	case !draw:
	case v.changed || v.over != nil || v.hints || v.welcome:
		v.refresh()
	default:
		v.show(time.Now(), v.drawRows)
	}
	if wait > 0 {
		v.after(wait, func() { v.pacer.rung(time.Now()) })
	}
}

// refresh brings panes and screen in line with the model.
func (v *viewer) refresh() {
	begin := time.Now()
	v.arrange()
	v.m.Visit()
	v.tellFocus()
	v.setKeyboard()
	if !v.away {
		delete(v.m.Alerts, v.m.Focus)
	}
	v.show(begin, v.draw)
}

// show draws, while the terminal is the viewer's.
func (v *viewer) show(begin time.Time, draw func()) {
	if v.ground.awaited || v.problems.opening {
		return
	}
	draw()
	v.changed = false
	v.pacer.cost = time.Since(begin)
	if v.o.Drawn != nil {
		v.o.Drawn(v.pacer.cost)
	}
}

// focused is the focused session's pane; nil: it is not on the screen.
func (v *viewer) focused() *panes.Pane { return v.panes.Get(v.m.Focus) }
