//go:build unix

package viewsource

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// promptTTY is the terminal, opened separately so that reads and writes never block.
type promptTTY struct {
	tcell.Tty

	mu    sync.Mutex // guards the fields below
	f     *os.File   // nil: stopped
	rw    io.ReadWriter
	guard *takeover.Guard // nil: none
}

// openTTY opens this process's terminal.
func openTTY() (tcell.Tty, error) {
	tty, err := tcell.NewDevTty()
	if err != nil {
		return nil, err
	}
	return &promptTTY{Tty: tty}, nil
}

// Start implements tcell.Tty.
func (t *promptTTY) Start() error {
	if err := t.Tty.Start(); err != nil {
		return err
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil // the other opening will do
	}
	t.startGuard()                             // it is raw, and nothing is drawn yet
	if f.SetReadDeadline(time.Time{}) != nil { // the file blocks: a pending read could not be ended
		return f.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.f, t.rw = f, rawio.WrapFile(f)
	return nil
}

// startGuard starts a guard process that restores the terminal if this process is killed. The guard gets its own open
// file, because Fd makes a file blocking.
func (t *promptTTY) startGuard() {
	out, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer out.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.guard = takeover.StartGuard(out, takeover.AlternateReset, takeover.SettingsReset)
}

// file returns the file to use.
func (t *promptTTY) file() io.ReadWriter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f == nil {
		return t.Tty
	}
	return t.rw
}

func (t *promptTTY) Read(p []byte) (int, error)  { return t.file().Read(p) }
func (t *promptTTY) Write(p []byte) (int, error) { return t.file().Write(p) }

// WindowSize implements tcell.Tty. tcell calls it before each drawing.
func (t *promptTTY) WindowSize() (tcell.WindowSize, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f != nil {
		if s, err := rawio.WindowSize(t.f); err == nil && s.Col > 0 && s.Row > 0 {
			return tcell.WindowSize{Width: int(s.Col), Height: int(s.Row), PixelWidth: int(s.Xpixel), PixelHeight: int(s.Ypixel)}, nil
		}
	}
	return t.Tty.WindowSize()
}

// Drain implements tcell.Tty: it ends a pending read.
func (t *promptTTY) Drain() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.f != nil {
		_ = t.f.SetReadDeadline(time.Now())
	}
	return t.Tty.Drain()
}

// Stop implements tcell.Tty.
func (t *promptTTY) Stop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.Tty.Stop()
	if t.f != nil {
		_ = t.f.SetReadDeadline(time.Now())
		_ = t.f.Close()
		t.f, t.rw = nil, nil
	}
	t.guard.Dismiss() // modes are as they were; what was drawn is undone before
	t.guard = nil
	return err
}
