//go:build unix

package attachclient

import (
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/render/predict"
	"github.com/longterm-dev/longterm/session/attach"
)

// ahead draws what is typed before its echo comes. Its methods do nothing where it is nil. Its mutex is locked while the
// terminal is written to, which may take nothing for long: who types leaves what was typed to who
// has it then, and waits only for a terminal that takes nothing of what it draws itself. It is locked after the attachment's, and before that of what was left.
type ahead struct {
	mu     sync.Mutex
	t      *termio.Terminal
	p      *predict.Terminal
	filter attach.Filter // knows where sequences end
	kept   []byte
	newest uint64 // message of typing
	timer  *time.Timer
	over   bool

	leftMu sync.Mutex // guards left
	left   []typing   // typed, and not looked at yet
}

// typing is a message of typing.
type typing struct {
	b []byte
	n uint64
}

func newAhead(t *termio.Terminal, always bool) *ahead {
	cols, rows := t.Size()
	a := &ahead{t: t, p: predict.NewTerminal(cols, rows)}
	a.p.Always = always
	a.timer = time.AfterFunc(time.Hour, a.tick)
	return a
}

// write writes to the terminal what the guesses make of something, and has the time be told.
func (a *ahead) write(b []byte) error {
	if at := a.p.Next(); !at.IsZero() && !a.over {
		a.timer.Reset(time.Until(at))
	}
	if len(b) == 0 || a.over {
		return nil
	}
	return a.t.Draw(b)
}

// show draws what the session printed.
func (a *ahead) show(b []byte) error {
	a.lock()
	defer a.unlock()
	a.kept = a.filter.Append(a.kept[:0], b)
	whole := a.filter.Between() && (len(b) == 0 || b[len(b)-1] < 0x80)
	return a.write(a.p.Write(b, whole, time.Now()))
}

// typed takes the n-th message, which stays as it is.
func (a *ahead) typed(b []byte, n uint64) {
	if a == nil {
		return
	}
	a.leftMu.Lock()
	a.left = append(a.left, typing{b, n})
	a.leftMu.Unlock()
	if a.mu.TryLock() {
		a.unlock()
	}
}

// lock has what was typed before be looked at first.
func (a *ahead) lock() {
	a.mu.Lock()
	a.takeLeft()
}

// unlock leaves nothing that was typed meanwhile.
func (a *ahead) unlock() {
	for {
		a.takeLeft()
		a.mu.Unlock()
		a.leftMu.Lock()
		none := len(a.left) == 0
		a.leftMu.Unlock()
		if none || !a.mu.TryLock() { // who has it now sees to it
			return
		}
	}
}

func (a *ahead) takeLeft() {
	a.leftMu.Lock()
	left := a.left
	a.left = nil
	a.leftMu.Unlock()
	for _, m := range left {
		if m.n == a.newest+1 {
			_ = a.write(a.p.Type(m.b, m.n, time.Now()))
		} else { // some were typed in another way
			_ = a.write(a.p.Clear(m.n))
		}
		a.newest = m.n
	}
}

func (a *ahead) taken(n uint64) {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Take(n, time.Now()))
}

func (a *ahead) tick() {
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Tick(time.Now()))
}

func (a *ahead) resize(cols, rows int) {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Resize(cols, rows, a.newest))
}

// clear has the terminal show what the session printed, and nothing else.
func (a *ahead) clear() {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Clear(a.newest))
}

// anew is for another session: its messages are numbered from 1.
func (a *ahead) anew() {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.t.Draw(a.p.Clear(a.newest))
	cols, rows := a.t.Size()
	always := a.p.Always
	a.p, a.newest, a.filter = predict.NewTerminal(cols, rows), 0, attach.Filter{}
	a.p.Always = always
}

// end ends it, once: the terminal is about to be given back, and nothing is drawn there afterwards.
func (a *ahead) end() {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Clear(a.newest))
	a.over = true
	a.timer.Stop()
}
