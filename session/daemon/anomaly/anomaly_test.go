//go:build unix

package anomaly

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// noTerminal is the device of a session without input.
type noTerminal struct{}

func (noTerminal) Write(p []byte) (int, error)      { return len(p), nil }
func (noTerminal) TryWrite(p []byte) int            { return len(p) }
func (noTerminal) SetWriteDeadline(time.Time) error { return nil }
func (noTerminal) Resize(int, int) error            { return nil }
func (noTerminal) Control(func(int) error) error    { return errors.New("no terminal") }
func (noTerminal) Resume()                          {}
func (noTerminal) Release()                         {}

// host is a session whose earlier failures printed lines with "error:"; with no history, none did.
type host struct {
	s         *session.Session
	r         *ring.Ring
	noHistory bool
	wanted    bool
	published []string
	searches  atomic.Int32
	stop      context.Context
}

func newHost(t *testing.T) *host {
	t.Helper()
	j, _, err := journal.Open(t.TempDir()+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{r: ring.Local(ring.DefaultSize), stop: t.Context()}
	h.s, err = session.New(session.Config{
		ID: "compared", Device: noTerminal{}, Ring: h.r, Journal: j, Options: vterm.Options{Cols: 80, Rows: 24},
		Status: session.Status{State: session.Running, Cols: 80, Rows: 24}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.s.Start()
	return h
}

func (h *host) print(text string) {
	h.r.Publish(copy(h.r.Room(), text))
	h.s.NotifyOutput()
}

func (h *host) Session() *session.Session { return h.s }

func (h *host) FindFailures(context.Context) (func([]byte) bool, error) {
	h.searches.Add(1)
	if h.noHistory {
		return nil, nil
	}
	return func(line []byte) bool { return bytes.Contains(line, []byte("error:")) }, nil
}

func (h *host) ShouldPublish() bool { return h.wanted }

func (h *host) Publish(line string, _ uint64) { h.published = append(h.published, line) }

func (h *host) Go(f func(context.Context) error, done func()) bool {
	go func() {
		defer done()
		_ = f(h.stop)
	}()
	return true
}

// anomaly returns the current result of a wait for an anomaly since an offset.
func (h *host) anomaly(t *testing.T, since uint64) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	r, err := h.s.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondAnomaly}}, Since: &since})
	switch {
	case len(r.Fired) > 0:
		return r.Fired[0].Match
	case err != nil && !errors.Is(err, context.DeadlineExceeded):
		t.Fatal(err)
	}
	return ""
}

// TestTracker_FirstLine checks that a task is compared after two seconds or for a caller that waits, from its start,
// and up to its first anomaly.
//
// FEATURES: R127
func TestTracker_FirstLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		defer h.s.Stop()
		h.wanted = true
		var tr Tracker
		h.print("error: of the command before\r\n")
		synctest.Wait()
		_, from := h.s.OutputRange()
		tr.Start(h, 1, from, time.Now())()
		h.print("ok\r\nx.c:1: \x1b[31merror:\x1b[0m no x\r\nerror: another\r\n")
		time.Sleep(delay - time.Millisecond)
		synctest.Wait()
		if n := h.searches.Load(); n > 0 {
			t.Errorf("compared too early: %d searches", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := h.anomaly(t, from); got != "x.c:1: error: no x" || len(h.published) != 1 || h.published[0] != got {
			t.Errorf("%q, published %q", got, h.published)
		}

		_, from = h.s.OutputRange()
		tr.Start(h, 2, from, time.Now())()
		h.print("error: in a short command\r\n")
		time.Sleep(time.Second)
		_, to := h.s.OutputRange()
		tr.End(2, to)
		time.Sleep(time.Minute)
		if got := h.anomaly(t, from); got != "" || h.searches.Load() != 1 {
			t.Errorf("compared after its end: %q", got)
		}
		defer tr.AddWaiter()() // also of a command that has ended
		if err := tr.AwaitCompared(t.Context()); err != nil || h.anomaly(t, from) != "error: in a short command" || len(h.published) != 1 {
			t.Errorf("%v, %q, published %q", err, h.anomaly(t, from), h.published)
		}

		h.noHistory = true
		_, from = h.s.OutputRange()
		tr.Start(h, 3, from, time.Now())()
		h.print("error: without history\r\n")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := h.anomaly(t, from); got != "" || h.searches.Load() != 3 {
			t.Errorf("%q after %d searches", got, h.searches.Load())
		}
	})
}

// TestTracker_ComparesOnlyCompleteLines checks that a line that grows piece by piece is compared once it is complete,
// and the last line without its end when the task ends.
//
// FEATURES: R127
func TestTracker_ComparesOnlyCompleteLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		defer h.s.Stop()
		var tr Tracker
		defer tr.AddWaiter()()
		tr.Start(h, 0, 0, time.Now())()
		for _, piece := range []string{"x.c:", "1: err", "or: no", " x"} {
			h.print(piece)
			time.Sleep(time.Second)
			synctest.Wait()
			if got := h.anomaly(t, 0); got != "" {
				t.Errorf("after %q: %q", piece, got)
			}
		}
		_, to := h.s.OutputRange()
		tr.End(0, to)
		synctest.Wait()
		if got := h.anomaly(t, 0); got != "x.c:1: error: no x" || len(h.published) > 0 {
			t.Errorf("%q, published %q", got, h.published)
		}
	})
}
