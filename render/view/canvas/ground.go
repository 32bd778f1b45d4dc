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

// hearing is the terminal, with an ear for what it says of its background. The screen gets all the same bytes: it leaves
// out what it does not know.
type hearing struct {
	tcell.Tty
	screen  tcell.Screen // that draws on it
	settled atomic.Bool  // cells of the screen are locked
	anew    atomic.Bool  // it requested a complete drawing
	scan    outer.Answers
	typed   typedText
	rest    []byte // buffer for what is no answer; the screen reads all input by itself
	keys    keyTap
	fence   outer.Fence
	leaving atomic.Bool // input is dropped, answers are counted
	tell    func(theme.Ground)

	mu      sync.Mutex // guards answers and scan
	answers picture.Answers
	onOuter func(vterm.Outer)   // receives the answers; may be nil
	newest  vterm.Outer         // the value that onOuter received last
	able    func(picture.Means) // nil: nobody wants to know what images it can draw

	writing sync.Mutex // guards drawing
	drawing []byte     // has begun with beginSync, and waits for its endSync
}

// A drawing that a terminal shows as one (mode 2026). The screen writes its end by itself.
const (
	beginSync = "\x1b[?2026h"
	endSync   = "\x1b[?2026l"
)

// Write has a drawing go with its end, in one call of the system: else a terminal that shows it as one waits for the second,
// which comes when this process had its next turn.
func (h *hearing) Write(p []byte) (int, error) {
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

func (h *hearing) Read(p []byte) (int, error) {
	return h.keys.read(p, func(p []byte) (int, error) { return h.typed.read(p, h.hear) })
}

// hear reads what comes from the terminal, and takes notice of its answers.
func (h *hearing) hear(p []byte) (int, error) {
	for {
		n, err := h.hearOnce(p)
		if n <= 0 || err != nil || !h.leaving.Load() {
			return n, err
		}
	}
}

func (h *hearing) hearOnce(p []byte) (int, error) {
	n, err := h.Tty.Read(p)
	h.mu.Lock()
	before, reported := h.scan.Attributes, bytes.Contains(p[:max(n, 0)], []byte("\x1b[?997;"))
	h.rest = h.scan.Feed(h.rest[:0], p[:max(n, 0)], func(scheme string) { h.tell(theme.GroundOf(scheme)) })
	attributes := h.scan.Attributes - before
	news, means, able := h.answers.Feed(p[:max(n, 0)]), h.answers.Means(), h.able
	h.mu.Unlock()
	if attributes > 0 {
		h.fence.CountAnswers(attributes)
	}
	if reported && !h.leaving.Load() { // the colours have changed, too
		_, _ = h.Write([]byte(outer.AskColours + outer.Attributes)) // a closed terminal fails the drawing
	}
	h.tellOuter()
	if news && able != nil {
		able(means)
	}
	return n, err
}

// tellOuter calls onOuter with the description of the terminal if it has changed, once the terminal has answered all queries.
func (h *hearing) tellOuter() {
	h.mu.Lock()
	now, onOuter := h.scan.Outer, h.onOuter
	if now.Keys == vterm.KeysNone { // the screen library reports key presses by itself
		now.Keys = vterm.KeysPress
	}
	changed := h.scan.Attributes > 0 && now != h.newest && onOuter != nil && !h.fence.Pending(time.Now())
	if changed {
		h.newest = now
	}
	h.mu.Unlock()
	if changed {
		onOuter(now)
	}
}

// WindowSize implements tcell.Tty. The screen calls it when the window has changed.
func (h *hearing) WindowSize() (tcell.WindowSize, error) {
	ws, err := h.Tty.WindowSize()
	if err == nil {
		h.mu.Lock()
		h.scan.SetWindow(ws.PixelWidth, ws.PixelHeight, ws.Width, ws.Height)
		h.mu.Unlock()
		h.tellOuter()
	}
	return ws, err
}

// Start implements tcell.Tty.
func (h *hearing) Start() error {
	h.leaving.Store(false)
	return h.Tty.Start()
}

// Drain implements tcell.Tty. The screen calls it before it releases the terminal. Drain reads until the terminal has answered
// all queries, and drops keys.
func (h *hearing) Drain() error {
	if limit := h.fence.Timeout(time.Now()); limit > 0 {
		h.leaving.Store(true)
		closed := make(chan struct{})
		go func() { // the screen's reader may have ended already
			defer close(closed)
			p := make([]byte, 256)
			for {
				if n, err := h.hear(p); n <= 0 || err != nil {
					return
				}
			}
		}()
		_, _ = h.Write([]byte(outer.StopReports + outer.Attributes)) // a closed terminal answers nothing
		h.fence.Wait(limit, closed)
	}
	return h.Tty.Drain()
}

// AskGround queries a terminal's background. The function given to Terminal receives the answer. It returns false for other
// screens. Inside of tmux the terminal around tmux is queried, too, where that is allowed.
func AskGround(screen tcell.Screen, insideTmux bool) (asked bool) {
	text := outer.AskColours + outer.AskKeys + outer.Follow
	if insideTmux {
		text = outer.AskColoursTmux + text
	}
	return write(screen, text)
}

// SetKeyboard sets the flags of the kitty keyboard protocol by which a terminal reports keys. They replace those of the screen
// library. It returns false for other screens than terminals.
func SetKeyboard(screen tcell.Screen, flags uint8) bool {
	return write(screen, "\x1b[="+strconv.Itoa(int(flags))+";1u")
}

// OnOuter calls known with what a terminal answers about itself, and again when an answer changes. known runs on the goroutine that
// reads the terminal. Call OnOuter before AskMeans, whose query comes last.
func OnOuter(screen tcell.Screen, known func(vterm.Outer)) {
	tty, _ := screen.Tty()
	if h, ok := tty.(*hearing); ok {
		h.mu.Lock()
		h.onOuter = known
		h.mu.Unlock()
	}
}

// LeaveGround undoes what AskGround asked for.
func LeaveGround(screen tcell.Screen) { _ = write(screen, outer.Unfollow) }

func write(screen tcell.Screen, text string) bool {
	tty, _ := screen.Tty()
	h, ok := tty.(*hearing)
	if ok {
		_, _ = h.Write([]byte(text)) // a terminal that is gone is noticed where it is drawn
	}
	return ok
}
