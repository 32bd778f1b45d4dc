package canvas

import (
	"bytes"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/outer"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// terminalTap wraps the terminal and reads its answers before the screen does. The screen gets the same bytes and
// ignores unknown ones.
type terminalTap struct {
	tcell.Tty
	screen          tcell.Screen  // screen that draws on the terminal
	cellsLocked     atomic.Bool   // cells of the screen are locked (damageCache)
	redrawRequested atomic.Bool   // the terminal requested a full redraw
	scan            outer.Answers // finds answers in the input
	typed           typedText
	unanswered      []byte // scratch buffer for input without answers; the screen reads all input itself
	keys            keyTap
	fence           outer.Fence
	leaving         atomic.Bool            // input is dropped and answers are counted, before the terminal is released
	onBackground    func(theme.Background) // receives the terminal's background

	mu             sync.Mutex // guards answers and scan
	answers        picture.Answers
	onOuter        func(vterm.Outer)     // receives the answers; may be nil
	lastOuter      vterm.Outer           // last value passed to onOuter
	onImageSupport func(picture.Support) // receives the ways in which the terminal can draw images; nil: not wanted

	writing sync.Mutex // guards drawing
	drawing []byte     // drawing started with beginSync that waits for its endSync
}

// Start and end of a drawing that a terminal shows at once (mode 2026). The screen writes the end separately.
const (
	beginSync = "\x1b[?2026h"
	endSync   = "\x1b[?2026l"
)

// Write sends a drawing together with its end in one system call. Otherwise a terminal with synchronized updates waits
// for the end until this process runs again.
func (h *terminalTap) Write(p []byte) (int, error) {
	h.fence.CountQueries(p, time.Now())
	h.writing.Lock()
	defer h.writing.Unlock()
	begins := bytes.HasPrefix(p, []byte(beginSync)) && !bytes.HasSuffix(p, []byte(endSync))
	if len(h.drawing) == 0 && !begins {
		return h.Tty.Write(p)
	}
	h.drawing = append(h.drawing, p...)
	if begins {
		return len(p), nil
	}
	_, err := h.Tty.Write(h.drawing)
	h.drawing = h.drawing[:0]
	return len(p), err
}

func (h *terminalTap) Read(p []byte) (int, error) {
	return h.keys.read(p, func(p []byte) (int, error) { return h.typed.read(p, h.readInput) })
}

// readInput reads from the terminal and handles its reports.
func (h *terminalTap) readInput(p []byte) (int, error) {
	for {
		n, err := h.readInputOnce(p)
		if n <= 0 || err != nil || !h.leaving.Load() {
			return n, err
		}
	}
}

// readInputOnce reads once.
func (h *terminalTap) readInputOnce(p []byte) (int, error) {
	n, err := h.Tty.Read(p)
	h.mu.Lock()
	before, reported := h.scan.Attributes, bytes.Contains(p[:max(n, 0)], []byte("\x1b[?997;"))
	h.unanswered = h.scan.Feed(h.unanswered[:0], p[:max(n, 0)], func(scheme string) { h.onBackground(theme.BackgroundOf(scheme)) })
	attributes := h.scan.Attributes - before
	news, means, able := h.answers.Feed(p[:max(n, 0)]), h.answers.Support(), h.onImageSupport
	h.mu.Unlock()
	if attributes > 0 {
		h.fence.CountAnswers(attributes)
	}
	if reported && !h.leaving.Load() { // the colours have changed, too
		_, _ = h.Write([]byte(outer.AskColors + outer.Attributes)) // a closed terminal fails the drawing
	}
	h.publishOuter()
	if news && able != nil {
		able(means)
	}
	return n, err
}

// publishOuter calls onOuter if the terminal's description has changed, once all queries are answered.
func (h *terminalTap) publishOuter() {
	h.mu.Lock()
	now, onOuter := h.scan.Outer, h.onOuter
	if now.Keys == vterm.KeysNone { // the screen library reports key presses by itself
		now.Keys = vterm.KeysPress
	}
	changed := h.scan.Attributes > 0 && now != h.lastOuter && onOuter != nil && !h.fence.Pending(time.Now())
	if changed {
		h.lastOuter = now
	}
	h.mu.Unlock()
	if changed {
		onOuter(now)
	}
}

// WindowSize implements tcell.Tty. The screen calls it when the window has changed.
func (h *terminalTap) WindowSize() (tcell.WindowSize, error) {
	ws, err := h.Tty.WindowSize()
	if err == nil {
		h.mu.Lock()
		h.scan.SetWindow(ws.PixelWidth, ws.PixelHeight, ws.Width, ws.Height)
		h.mu.Unlock()
		h.publishOuter()
	}
	return ws, err
}

// Start implements tcell.Tty.
func (h *terminalTap) Start() error {
	h.leaving.Store(false)
	return h.Tty.Start()
}

// Drain implements tcell.Tty. The screen calls it before it releases the terminal. Drain reads until the terminal has answered
// all queries, and drops keys.
func (h *terminalTap) Drain() error {
	if limit := h.fence.Timeout(time.Now()); limit > 0 {
		h.leaving.Store(true)
		closed := make(chan struct{})
		go func() { // the screen's reader may have ended already
			defer close(closed)
			p := make([]byte, 256)
			for {
				if n, err := h.readInput(p); n <= 0 || err != nil {
					return
				}
			}
		}()
		_, _ = h.Write([]byte(outer.StopReports + outer.Attributes)) // a closed terminal answers nothing
		h.fence.Wait(limit, closed)
	}
	return h.Tty.Drain()
}

// QueryBackground queries a terminal's background. The function passed to Terminal receives the answer. Inside of tmux
// it also queries the terminal around tmux, where tmux allows that. It returns false if screen is not a terminal.
func QueryBackground(screen tcell.Screen, insideTmux bool) (asked bool) {
	text := outer.AskColors + outer.AskKeys + outer.EnableSchemeReports
	if insideTmux {
		text = outer.AskColorsTmux + text
	}
	return write(screen, text)
}

// SetKeyboard sets the kitty keyboard flags with which a terminal reports keys, instead of those of the screen library.
// It returns false if screen is not a terminal.
func SetKeyboard(screen tcell.Screen, flags uint8) bool {
	return write(screen, "\x1b[="+strconv.Itoa(int(flags))+";1u")
}

// OnOuter calls known with the terminal's answers about itself, and again when one changes, on the goroutine that reads
// the terminal. Call it before QueryImageSupport, whose query comes last.
func OnOuter(screen tcell.Screen, known func(vterm.Outer)) {
	tty, _ := screen.Tty()
	if h, ok := tty.(*terminalTap); ok {
		h.mu.Lock()
		h.onOuter = known
		h.mu.Unlock()
	}
}

// StopBackgroundReports undoes QueryBackground.
func StopBackgroundReports(screen tcell.Screen) { _ = write(screen, outer.DisableSchemeReports) }

func write(screen tcell.Screen, text string) bool {
	tty, _ := screen.Tty()
	h, ok := tty.(*terminalTap)
	if ok {
		_, _ = h.Write([]byte(text)) // drawing reports a closed terminal
	}
	return ok
}
