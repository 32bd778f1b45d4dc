//go:build unix

package attachclient

import (
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/render/predict"
)

// localEcho draws typed text before its echo arrives. All methods accept nil and do nothing then.
//
// Its mutex is held during writes to the terminal, which may block. A typing goroutine therefore leaves its input to
// the current holder, and waits only for a terminal that accepts none of its own drawing. Lock order: the attachment's
// mutex, then this one, then leftMu.
type localEcho struct {
	mu     sync.Mutex
	t      *termio.Terminal
	p      *predict.Terminal
	newest uint64 // number of the newest input message
	timer  *time.Timer
	ended  bool // the terminal is restored: nothing may be drawn

	leftMu sync.Mutex     // guards left
	left   []inputMessage // input that a typing goroutine left for the current holder of mu
}

// inputMessage is one numbered input message.
type inputMessage struct {
	b []byte // typed bytes
	n uint64 // message number, from 1
}

// newLocalEcho returns the local echo of a terminal. Unless always is set, it draws predictions only on slow links.
func newLocalEcho(t *termio.Terminal, always bool) *localEcho {
	cols, rows := t.Size()
	a := &localEcho{t: t, p: predict.NewTerminal(cols, rows)}
	a.p.Always = always
	a.timer = time.AfterFunc(time.Hour, a.tick)
	return a
}

// write draws bytes on the terminal, and schedules the timer for the next change of predictions.
func (a *localEcho) write(b []byte) error {
	if at := a.p.Next(); !at.IsZero() && !a.ended {
		a.timer.Reset(time.Until(at))
	}
	if len(b) == 0 || a.ended {
		return nil
	}
	return a.t.Draw(b)
}

// show draws what the session printed.
func (a *localEcho) show(b []byte) error {
	a.lock()
	defer a.unlock()
	return a.write(a.p.Write(b, time.Now()))
}

// predict draws predictions for the n-th message, which the caller does not change later.
func (a *localEcho) predict(b []byte, n uint64) {
	if a == nil {
		return
	}
	a.leftMu.Lock()
	a.left = append(a.left, inputMessage{b, n})
	a.leftMu.Unlock()
	if a.mu.TryLock() {
		a.unlock()
	}
}

// lock locks the mutex and handles input that was left for the holder.
func (a *localEcho) lock() {
	a.mu.Lock()
	a.drainLeft()
}

// unlock handles input that arrived meanwhile, and unlocks the mutex.
func (a *localEcho) unlock() {
	for {
		a.drainLeft()
		a.mu.Unlock()
		a.leftMu.Lock()
		none := len(a.left) == 0
		a.leftMu.Unlock()
		if none || !a.mu.TryLock() { // the next holder handles it
			return
		}
	}
}

// drainLeft draws predictions for the input in left. The caller holds mu.
func (a *localEcho) drainLeft() {
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

// acknowledge records that the session has received all messages up to n.
func (a *localEcho) acknowledge(n uint64) {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.HandleAck(n, time.Now()))
}

// tick updates predictions when their timer fires.
func (a *localEcho) tick() {
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Tick(time.Now()))
}

// resize sets the terminal's size for predictions.
func (a *localEcho) resize(cols, rows int) {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Resize(cols, rows, a.newest))
}

// clear removes all predictions from the terminal.
func (a *localEcho) clear() {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Clear(a.newest))
}

// reset prepares for another session, whose messages are numbered from 1.
func (a *localEcho) reset() {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.t.Draw(a.p.Clear(a.newest))
	cols, rows := a.t.Size()
	always := a.p.Always
	a.p, a.newest = predict.NewTerminal(cols, rows), 0
	a.p.Always = always
}

// end stops local echo before the terminal is restored. Later calls draw nothing.
func (a *localEcho) end() {
	if a == nil {
		return
	}
	a.lock()
	defer a.unlock()
	_ = a.write(a.p.Clear(a.newest))
	a.ended = true
	a.timer.Stop()
}
