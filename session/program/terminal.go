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

// Terminal is the terminal of a Cmd.Main, without a PTY. Output is shown, with "\n" converted to "\r\n". Input is read
// by lines and echoed, as in any new terminal, until Raw or Hide change that. Its goroutines wait on channels only, so
// that in a testing/synctest bubble all waits, timeouts and pauses take the bubble's time.
type Terminal struct {
	host *mainHost
}

// mainHost is the host of a Cmd.Main.
type mainHost struct {
	main      func(*Terminal) int
	ring      *ring.Ring
	retention *retention

	ringSpace  chan struct{} // signals free space in the ring
	inputReady chan struct{} // signals input, or a change of the mode
	hungUp     chan struct{} // closed with the terminal
	hangUpOnce sync.Once
	tasks      sync.WaitGroup // goroutine of Main

	writeMu sync.Mutex // serializes the writers to the ring: Main and the echo
	session *session.Session

	mu          sync.Mutex // guards the fields below
	echoMode    respond.EchoState
	input       bytes.Buffer // bytes that Main can read
	partialLine []byte       // line that the user has not ended
	cols        int
	rows        int
	isReading   bool // Main waits for input
}

// newMainHost returns the host of c.Main.
func newMainHost(c *Cmd, r *ring.Ring, keep *retention) *mainHost {
	return &mainHost{
		main: c.Main, ring: r, retention: keep, cols: c.Cols, rows: c.Rows, echoMode: respond.EchoOn,
		ringSpace: make(chan struct{}, 1), inputReady: make(chan struct{}, 1), hungUp: make(chan struct{}),
	}
}

// start implements host.
func (h *mainHost) start(s *session.Session) {
	h.session = s
	h.tasks.Go(func() {
		code := h.main(&Terminal{h})
		s.Exited(session.Exit{Code: code, Time: time.Now()}, h.ring.Head())
		s.Closed()
	})
}

// Write shows p. It blocks while the ring is full, and fails once the terminal is closed.
func (t *Terminal) Write(p []byte) (int, error) {
	if err := t.host.writeRing(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeRing writes p to the ring. It blocks while the ring is full.
func (h *mainHost) writeRing(p []byte) error {
	h.writeMu.Lock()
	defer h.writeMu.Unlock()
	for len(p) > 0 {
		n, err := h.session.WriteRing(func(room []byte) (int, error) { return copy(room, p), nil })
		if err != nil { // the ring is full
			if h.ring.Stall() {
				continue
			}
			select {
			case <-h.ringSpace:
				continue
			case <-h.hungUp:
				return os.ErrClosed
			}
		}
		p = p[n:]
		if h.ring.ShouldNotify() {
			h.session.NotifyOutput()
		}
		if err := h.retention.waitForReader(n, h.ring.Head()); err != nil {
			return err
		}
	}
	return nil
}

// Read reads input. It returns io.EOF when the terminal is closed.
func (t *Terminal) Read(p []byte) (int, error) {
	h := t.host
	for {
		h.mu.Lock()
		n, _ := h.input.Read(p)
		h.isReading = n == 0
		h.mu.Unlock()
		if n > 0 || len(p) == 0 {
			return n, nil
		}
		select {
		case <-h.inputReady:
		case <-h.hungUp:
			return 0, io.EOF
		}
	}
}

// Raw selects input key by key, without echo.
func (t *Terminal) Raw() { t.host.setEcho(respond.EchoApp) }

// Hide disables echo, as for a password; input is still read by lines.
func (t *Terminal) Hide() { t.host.setEcho(respond.EchoOff) }

// Show restores the initial mode: lines, echoed.
func (t *Terminal) Show() { t.host.setEcho(respond.EchoOn) }

// Size returns the terminal's current size, in cells.
func (t *Terminal) Size() (cols, rows int) {
	t.host.mu.Lock()
	defer t.host.mu.Unlock()
	return t.host.cols, t.host.rows
}

// Closed returns a channel that is closed with the terminal. Main must return then.
func (t *Terminal) Closed() <-chan struct{} { return t.host.hungUp }

// setEcho sets the mode of the terminal.
func (h *mainHost) setEcho(s respond.EchoState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.echoMode = s
	if s == respond.EchoApp {
		h.input.Write(h.partialLine)
		h.partialLine = nil
		wake(h.inputReady)
	}
}

// TryWrite implements Device. It accepts no bytes, because Write may have to wait for space for the echo.
func (h *mainHost) TryWrite([]byte) int { return 0 }

// Write implements Device: it processes input.
func (h *mainHost) Write(p []byte) (int, error) {
	select {
	case <-h.hungUp:
		return 0, os.ErrClosed
	default:
	}
	h.mu.Lock()
	var echo []byte
	for _, b := range p {
		echo = h.handleByte(echo, b)
	}
	h.mu.Unlock()
	if err := h.writeRing(echo); err != nil {
		return 0, err
	}
	wake(h.inputReady)
	return len(p), nil
}

// handleByte processes a byte of input as a terminal does, and appends its echo.
func (h *mainHost) handleByte(echo []byte, b byte) []byte {
	if h.echoMode == respond.EchoApp {
		h.input.WriteByte(b)
		h.isReading = false
		return echo
	}
	var shown []byte
	switch {
	case b == '\r' || b == '\n':
		h.input.Write(append(h.partialLine, '\n'))
		h.partialLine, h.isReading, shown = nil, false, []byte("\r\n")
	case b == 0x7f || b == '\b':
		if n := len(h.partialLine); n > 0 {
			h.partialLine, shown = h.partialLine[:n-1], []byte("\b \b")
		}
	case b < ' ' && b != '\t':
		h.partialLine, shown = append(h.partialLine, b), []byte{'^', b + '@'}
	default:
		h.partialLine, shown = append(h.partialLine, b), []byte{b}
	}
	if h.echoMode == respond.EchoOff {
		return echo
	}
	return append(echo, shown...)
}

// SetWriteDeadline implements Device. It has no effect: input waits only for the session.
func (h *mainHost) SetWriteDeadline(time.Time) error { return nil }

// Resize implements Device.
func (h *mainHost) Resize(cols, rows int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cols, h.rows = cols, rows
	return nil
}

// Resume implements Device.
func (h *mainHost) Resume() { wake(h.ringSpace) }

// errNoPTY is returned by Control: a Main has no descriptor.
var errNoPTY = errors.New("a Main has no PTY")

// Control implements Device: the kernel cannot show what a Main waits for.
func (h *mainHost) Control(func(fd int) error) error { return errNoPTY }

// Release implements Device.
func (h *mainHost) Release() {}

func (h *mainHost) isIdle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.isReading
}

// echoState implements host.
func (h *mainHost) echoState() respond.EchoState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.echoMode
}

// signal closes the terminal for any signal: a function cannot receive others.
func (h *mainHost) signal(os.Signal) error {
	h.hangUpOnce.Do(func() { close(h.hungUp) })
	return nil
}

// terminate closes the terminal and waits for Main without a limit: a function cannot be killed.
func (h *mainHost) terminate(time.Duration) error {
	h.hangUpOnce.Do(func() { close(h.hungUp) })
	close(h.retention.stopped)
	h.tasks.Wait()
	return nil
}
