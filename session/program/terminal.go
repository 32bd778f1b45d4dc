package program

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
)

// Terminal is the terminal of a Cmd.Main: a plain line, no PTY. Output is shown, with "\n" converted to "\r\n". Input
// is read by lines and echoed, as in any new terminal, until Raw or Hide change that. Its goroutines wait on channels
// only, so that in a testing/synctest bubble all waits, timeouts and pauses take the bubble's time.
type Terminal struct {
	h *lineHost
}

// lineHost is the host of a Main.
type lineHost struct {
	main func(*Terminal) int
	ring *ring.Ring
	keep *retention

	room  chan struct{}
	typed chan struct{} // there is input, or the end
	hup   chan struct{} // the terminal was closed
	hang  sync.Once
	tasks sync.WaitGroup

	writing sync.Mutex // one writer to the ring: Main, or the echo
	s       *session.Session

	mu    sync.Mutex // guards what follows
	state respond.EchoState
	input bytes.Buffer // ready to be read
	line  []byte       // being typed
	cols  int
	rows  int
	reads bool // Main waits for input
}

func newLineHost(c *Cmd, r *ring.Ring, keep *retention) *lineHost {
	return &lineHost{
		main: c.Main, ring: r, keep: keep, cols: c.Cols, rows: c.Rows, state: respond.EchoOn,
		room: make(chan struct{}, 1), typed: make(chan struct{}, 1), hup: make(chan struct{}),
	}
}

func (h *lineHost) begin(s *session.Session) {
	h.s = s
	h.tasks.Go(func() {
		code := h.main(&Terminal{h})
		s.Exited(session.Exit{Code: code, Time: time.Now()}, h.ring.Head())
		s.Closed()
	})
}

// Write shows p. It blocks while the session has no room for it, and fails once the terminal
// is closed.
func (t *Terminal) Write(p []byte) (int, error) {
	if err := t.h.show(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (h *lineHost) show(p []byte) error {
	h.writing.Lock()
	defer h.writing.Unlock()
	for len(p) > 0 {
		n, err := h.s.WriteRing(func(room []byte) (int, error) { return copy(room, p), nil })
		if err != nil { // no room
			if h.ring.Stall() {
				continue
			}
			select {
			case <-h.room:
				continue
			case <-h.hup:
				return os.ErrClosed
			}
		}
		p = p[n:]
		if h.ring.Notice() {
			h.s.Notice()
		}
		if err := h.keep.waitForReader(n, h.ring.Head()); err != nil {
			return err
		}
	}
	return nil
}

// Read reads what was typed; io.EOF when the terminal is closed.
func (t *Terminal) Read(p []byte) (int, error) {
	h := t.h
	for {
		h.mu.Lock()
		n, _ := h.input.Read(p)
		h.reads = n == 0
		h.mu.Unlock()
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		select {
		case <-h.typed:
		case <-h.hup:
			return 0, io.EOF
		}
	}
}

// Raw delivers input key by key, without echo.
func (t *Terminal) Raw() { t.h.set(respond.EchoApp) }

// Hide stops the echo, as for a password; lines are still lines.
func (t *Terminal) Hide() { t.h.set(respond.EchoOff) }

// Show restores the initial mode: lines, echoed.
func (t *Terminal) Show() { t.h.set(respond.EchoOn) }

// Size returns the terminal's current size, in cells.
func (t *Terminal) Size() (cols, rows int) {
	t.h.mu.Lock()
	defer t.h.mu.Unlock()
	return t.h.cols, t.h.rows
}

// Closed returns a channel that is closed with the terminal; Main must return then.
func (t *Terminal) Closed() <-chan struct{} { return t.h.hup }

func (h *lineHost) set(s respond.EchoState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = s
	if s == respond.EchoApp {
		h.input.Write(h.line)
		h.line = nil
		wake(h.typed)
	}
}

// TryWrite implements Device: nothing is taken without Write, which may have to wait for room
// for the echo.
func (h *lineHost) TryWrite([]byte) int { return 0 }

// Write implements Device: it types.
func (h *lineHost) Write(p []byte) (int, error) {
	select {
	case <-h.hup:
		return 0, os.ErrClosed
	default:
	}
	h.mu.Lock()
	var echo []byte
	for _, b := range p {
		echo = h.key(echo, b)
	}
	h.mu.Unlock()
	if err := h.show(echo); err != nil {
		return 0, err
	}
	wake(h.typed)
	return len(p), nil
}

// key does what a terminal does with a byte that is typed, and appends what it shows.
func (h *lineHost) key(echo []byte, b byte) []byte {
	if h.state == respond.EchoApp {
		h.input.WriteByte(b)
		h.reads = false
		return echo
	}
	var shown []byte
	switch {
	case b == '\r' || b == '\n':
		h.input.Write(append(h.line, '\n'))
		h.line, h.reads, shown = nil, false, []byte("\r\n")
	case b == 0x7f || b == '\b':
		if n := len(h.line); n > 0 {
			h.line, shown = h.line[:n-1], []byte("\b \b")
		}
	case b < ' ' && b != '\t':
		h.line, shown = append(h.line, b), []byte{'^', b + '@'}
	default:
		h.line, shown = append(h.line, b), []byte{b}
	}
	if h.state == respond.EchoOff {
		return echo
	}
	return append(echo, shown...)
}

// SetWriteDeadline implements Device: typing waits only for a running session.
func (h *lineHost) SetWriteDeadline(time.Time) error { return nil }

// Resize implements Device.
func (h *lineHost) Resize(cols, rows int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cols, h.rows = cols, rows
	return nil
}

// Resume implements Device.
func (h *lineHost) Resume() { wake(h.room) }

var errNoPTY = errors.New("a Main has no PTY")

// Control implements Device: what a Main waits for is not to be probed.
func (h *lineHost) Control(func(fd int) error) error { return errNoPTY }

// Release implements Device.
func (h *lineHost) Release() {}

func (h *lineHost) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reads
}

func (h *lineHost) echo() respond.EchoState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// signal hangs up for any signal: a function cannot receive others.
func (h *lineHost) signal(os.Signal) error {
	h.hang.Do(func() { close(h.hup) })
	return nil
}

// end waits for Main without a bound: a function cannot be killed.
func (h *lineHost) end(time.Duration) error {
	h.hang.Do(func() { close(h.hup) })
	close(h.keep.over)
	h.tasks.Wait()
	return nil
}
