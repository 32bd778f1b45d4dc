package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// viewer holds the event loop and its state.
type viewer struct {
	loop
	src          Source
	o            Options
	keys         *keymap.Map
	theme        *theme.Theme
	chosen       string // theme that the user chose, now or in an earlier run
	m            model.Model
	panes        *panes.Set
	mode         mode
	message      string           // shown until the next key
	overlay      overlays.Overlay // open overlay; nil if unset
	table        *keymap.Mode     // the active mode, or nil
	locked       bool             // all keys go to the session
	hints        bool             // the panel of hints is shown
	welcome      bool             // the welcome card is shown, until the first key
	canvas       canvas.Canvas
	imageSupport picture.Support // image support of the terminal
	quit         bool

	layout        paneLayout
	needsRedraw   bool      // everything must be redrawn
	emptySince    time.Time // when the last session ended, or when the last key of text being typed then arrived
	bar           statusbar.Bar
	side          statusbar.Side
	pointer       pointer
	pasting       *strings.Builder
	copied        string          // last copied text, for pasting
	unfocused     bool            // another window has the focus
	reported      string          // the session that last received a focus report
	playbacks     map[string]bool // playback sessions of this viewer: their panes close when they end
	repeatUntil   time.Time       // end of the time in which repeatable keys need no prefix
	framesToggled bool            // the user toggled borders against the configuration
	typedTo       map[string]bool // sessions that received keys
	killed        map[string]bool // sessions that the user killed here
	ignoresSize   map[string]bool // sessions whose size the viewer does not influence
	answered      map[string]bool // approvals whose answer is being sent
	announced     announcement    // announcement of approvals in the status bar
	layouts       layoutKeeper
	pacer         framePacer
	typeAhead     typeAhead
	pressedKeys   map[rune]bool // keys sent to a session whose release was not reported
	keyboard      uint8         // kitty keyboard flags that the terminal has
	onlyTyped     bool          // the current key was sent to sessions and changed nothing else
	changed       bool          // more than rows of panes changed since the last drawing
	background    backgroundState
	details       details
	summaries     summaries
	problems      problems
	inbox         inbox
	changes       changes
}

// Run shows sessions until the user quits or ctx ends. It restores the terminal on every way out, including panics.
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
	said := make(chan theme.Background, 8)
	o.onBackground = func(g theme.Background) {
		select {
		case said <- g:
		default: // colours do not change this often
		}
	}
	if err := o.Screen.Init(); err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	v := newViewer(ctx, src, o, keys)
	defer v.tasks.Wait()
	defer o.Screen.Fini()
	defer v.canvas.RemovePictures()
	defer canvas.StopBackgroundReports(o.Screen)
	defer v.reclaim()
	defer cancel()
	v.forwardOuter()
	v.watchBackground(said)
	v.queryGraphics()
	o.Screen.EnablePaste()
	o.Screen.EnableFocus()
	return v.run()
}

func newViewer(ctx context.Context, src Source, o Options, keys *keymap.Map) *viewer {
	v := &viewer{
		loop: loop{ctx: ctx, calls: make(chan func(), 16)}, src: src, o: o, keys: keys, needsRedraw: true, changed: true, theme: o.Theme,
		m:       model.New(o.Only),
		canvas:  canvas.New(o.Screen, o.NoColor),
		typedTo: map[string]bool{}, killed: map[string]bool{}, ignoresSize: map[string]bool{}, playbacks: map[string]bool{}, answered: map[string]bool{},
	}
	v.m.DisabledAlerts, v.m.TabsLast = o.Alerts, o.Tmux
	v.typeAhead.opened = o.Now()
	v.canvas.UseASCII(o.ascii())
	v.layouts = layoutKeeper{store: o.Layouts, host: v, m: &v.m, initialName: o.Layout}
	v.panes = panes.New(paneHost{v}, copyHost{v}, o.History)
	v.panes.SetLocalEcho(o.Predict)
	if v.theme == nil {
		v.theme = o.defaultTheme(theme.UnknownBackground)
	}
	if o.NoColor {
		v.theme = theme.Mono
	}
	return v
}

var errSourceEnded = errors.New("session source closed")

// maxBatch bounds the events handled before the screen is drawn.
const maxBatch = 256

func (v *viewer) run() error {
	defer v.closePanes()
	defer v.endPlaybacks()
	defer v.layouts.saveAtEnd(v.ctx)
	in := inputs{events: make(chan tcell.Event, 64), sessions: v.src.Sessions(v.ctx)}
	v.spawn(func() { v.o.Screen.ChannelEvents(in.events, v.ctx.Done()) })
	v.layouts.load(v.ctx)
	v.welcome = v.layouts.isNewUser && !v.o.NoHints
	v.watchOptions()
	v.watchOrders()
	v.refresh()
	for {
		if err := v.wait(&in); err != nil || v.quit || v.ctx.Err() != nil {
			return err
		}
		if v.pasting == nil {
			v.scheduleDraw()
		}
	}
}

// inputs holds the channels that the event loop receives from.
type inputs struct {
	events   chan tcell.Event
	sessions <-chan model.Update
}

// wait handles an event and all that have arrived with it: floods of output and pastes are drawn once per batch.
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
	case f := <-v.panes.Arrivals():
		v.showFrame(f)
	case f := <-v.calls:
		v.pacer.urgent, v.changed = true, true
		f()
	}
	for range maxBatch {
		select {
		case f := <-v.panes.Arrivals():
			v.showFrame(f)
		default:
			return nil
		}
	}
	return nil
}

// showFrame shows a frame in its pane. It also reports typed input that the session rejected.
func (v *viewer) showFrame(f panes.Arrival) {
	v.changed = !f.Apply() || v.changed
	v.pacer.noteOutput(f.For(v.m.Focus))
	if id, effects := f.Effects(); len(effects) > 0 && slices.Contains(v.m.ShownPanes(), id) {
		v.forwardEffects(id, effects)
	}
	if id, held := f.RejectedInput(); held {
		if s := v.m.Session(id); s != nil {
			v.message = "not typed: this viewer is view-only in " + canvas.Printable(s.Name) + "; `longterm clients` can change that"
		}
	}
}

func (v *viewer) tick() {
	v.pacer.urgent, v.changed = true, true
	v.m.Tick(v.o.Now())
	v.detailsTick()
	v.layouts.save()
}

// event handles a terminal event, and those that have arrived since.
func (v *viewer) event(e tcell.Event, ok bool, in *inputs) error {
	for range maxBatch {
		if !ok {
			v.quit = true // the terminal was closed
			return nil
		}
		v.handleAndDraw(e)
		select {
		case e, ok = <-in.events:
		default:
			return nil
		}
	}
	v.handleAndDraw(e)
	return nil
}

// handleAndDraw handles a terminal event and schedules a frame, unless a key changed nothing on the screen.
func (v *viewer) handleAndDraw(e tcell.Event) {
	v.onlyTyped = false
	v.handle(e)
	if v.onlyTyped {
		v.pacer.noteTyped(time.Now())
		return
	}
	v.pacer.urgent, v.changed = true, true
}

func (v *viewer) handle(e tcell.Event) {
	if v.problems.editorRuns { // events from before the terminal was lent; it is redrawn and queried when it returns
		if f, ok := e.(*tcell.EventFocus); ok {
			v.unfocused = !f.Focused
		}
		return
	}
	switch e := e.(type) {
	case *tcell.EventResize:
		v.canvas.Sync()
		v.needsRedraw = true
	case *tcell.EventKey, *tcell.EventPaste:
		if !v.holdInput(e) {
			v.input(e)
		}
	case *tcell.EventMouse:
		v.mouse(e)
	case *tcell.EventFocus:
		if v.unfocused = !e.Focused; e.Focused { // colours may have changed, and not all terminals report that
			canvas.QueryBackground(v.o.Screen, insideTmux())
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
	if u.Unavailable != "" && v.m.Unavailable == "" {
		v.after(statusbar.UnreachableTime, func() {}) // to show the summary then
	}
	first, some := !v.m.Loaded, len(v.m.ShownPanes()) > 0
	bells, asked := v.countBells(), v.m.Approvals
	v.m.Update(u, v.o.Now())
	if u.Unavailable == "" && !first {
		v.noteNewApprovals(asked)
	}
	if first && v.m.Loaded {
		v.restoreTheme(v.layouts.restore())
	}
	v.closeEnded()
	if some && len(v.m.ShownPanes()) == 0 {
		v.emptySince = v.o.Now()
	}
	if v.countBells() > bells && !first && !v.m.DisabledAlerts.NoBell && !v.problems.editorRuns {
		_ = v.o.Screen.Beep()
	}
	v.releaseInput()
	return nil
}

// countBells counts the bells of sessions without the focus.
func (v *viewer) countBells() (n int) {
	for i := range v.m.Sessions {
		if v.unfocused || v.m.Sessions[i].ID != v.m.Focus {
			n += v.m.Sessions[i].Bells
		}
	}
	return n
}

// closeEnded closes the panes of shells that the user exited, of sessions killed here, and of playbacks.
func (v *viewer) closeEnded() {
	for i := range v.m.Sessions {
		s := &v.m.Sessions[i]
		if s.State != model.StateRunning && v.playbacks[s.ID] {
			delete(v.playbacks, s.ID)
			v.m.Forget(s.ID)
			continue
		}
		switch name := canvas.Printable(s.Name); {
		case s.State == model.StateRunning:
			continue
		case v.killed[s.ID]:
			v.message = name + " killed; output kept"
		case s.ExitCode != nil && v.m.IsShell(s.ID) && v.typedTo[s.ID]:
			v.message = fmt.Sprintf("%s exited with status %d", name, *s.ExitCode)
		default:
			continue
		}
		delete(v.killed, s.ID)
		delete(v.typedTo, s.ID)
		delete(v.m.Alerts, s.ID)
		v.m.Forget(s.ID)
	}
}

// scheduleDraw draws now, or schedules the drawing.
func (v *viewer) scheduleDraw() {
	draw, wait := v.pacer.due(time.Now())
	switch {
	case !draw:
	case v.changed || v.overlay != nil || v.hints || v.welcome:
		v.refresh()
	default:
		v.show(time.Now(), v.drawRows)
	}
	if wait > 0 {
		v.after(wait, func() { v.pacer.waitEnded(time.Now()) })
	}
}

// refresh updates panes and screen from the model.
func (v *viewer) refresh() {
	begin := time.Now()
	v.arrange()
	v.m.Visit()
	v.reportFocus()
	v.setKeyboard()
	if !v.unfocused {
		delete(v.m.Alerts, v.m.Focus)
	}
	v.show(begin, v.draw)
}

// show runs a drawing while the viewer owns the terminal.
func (v *viewer) show(begin time.Time, draw func()) {
	if v.background.waiting || v.problems.editorRuns {
		return
	}
	draw()
	v.changed = false
	v.pacer.cost = time.Since(begin)
	if v.o.Drawn != nil {
		v.o.Drawn(v.pacer.cost)
	}
}

// focusedPane returns the focused session's pane, or nil if it is not on the screen.
func (v *viewer) focusedPane() *panes.Pane { return v.panes.Get(v.m.Focus) }
