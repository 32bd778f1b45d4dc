package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// wire carries packets between two members, and loses, doubles and delays some of them.
type wire struct {
	a, b       *Mux
	loss       float64
	cut        atomic.Bool
	lost, sent atomic.Int64
}

type sent struct {
	from, to *Mux
	id       string
	b        []byte
}

func newWire(t *testing.T, loss float64) *wire {
	w := &wire{loss: loss}
	queue := make(chan sent, 1<<16)
	rnd := rand.New(rand.NewPCG(1, 2))
	transport := func(from, to **Mux) Transport {
		return func(_, id string, b []byte) error {
			queue <- sent{*from, *to, id, bytes.Clone(b)}
			return nil
		}
	}
	w.a, w.b = New("a", transport(&w.a, &w.b)), New("b", transport(&w.b, &w.a))
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		var held []sent
		for {
			var s sent
			select {
			case s = <-queue:
			case <-done:
				return
			}
			w.sent.Add(1)
			switch x := rnd.Float64(); {
			case w.cut.Load() || x < w.loss:
				w.lost.Add(1)
				continue
			case x < w.loss*1.2:
				held = append(held, s)
				continue
			case x < w.loss*1.4:
				s.to.Deliver(s.from.name, s.id, s.b)
			}
			s.to.Deliver(s.from.name, s.id, s.b)
			for _, h := range held {
				h.to.Deliver(h.from.name, h.id, h.b)
			}
			held = nil
		}
	}()
	t.Cleanup(func() { _, _ = w.a.Close(), w.b.Close() })
	return w
}

func (w *wire) pair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	got := make(chan net.Conn, 1)
	go func() {
		c, err := w.b.Accept()
		if err == nil {
			got <- c
		}
	}()
	c, err := w.a.Dial(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	return c, <-got
}

func content(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestEachByteOnceOverLoss checks that every byte arrives once and in order in both directions, with lost, repeated and
// late messages.
//
// FEATURES: R94
func TestEachByteOnceOverLoss(t *testing.T) {
	for _, loss := range []float64{0, 0.02, 0.3} {
		synctest.Test(t, func(t *testing.T) {
			w := newWire(t, loss)
			a, b := w.pair(t)
			there, back := content(1, 3<<20), content(2, 1<<20)
			results := make(chan error, 4)
			write := func(c net.Conn, what []byte) {
				_, err := c.Write(what)
				results <- errors.Join(err, c.(*Stream).CloseWrite())
			}
			read := func(c net.Conn, want []byte) {
				got, err := io.ReadAll(c)
				if err == nil && !bytes.Equal(got, want) {
					err = errors.New("other bytes came")
				}
				results <- err
			}
			go write(a, there)
			go write(b, back)
			go read(b, there)
			go read(a, back)
			for range 4 {
				if err := <-results; err != nil {
					t.Errorf("loss %v: %v", loss, err)
				}
			}
			if loss > 0 && w.lost.Load() == 0 {
				t.Error("no message was lost")
			}
			_, _ = a.Close(), b.Close()
		})
	}
}

// TestCut checks that a stream continues after a cut that is shorter than DeadTime, and ends after one that is longer.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, 0)
		a, b := w.pair(t)
		w.cut.Store(true)
		if _, err := a.Write([]byte("kept")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(DeadTime - 10*time.Second)
		w.cut.Store(false)
		buf := make([]byte, 4)
		if _, err := io.ReadFull(b, buf); err != nil || string(buf) != "kept" {
			t.Errorf("%q, %v", buf, err)
		}
		w.cut.Store(true)
		began := time.Now()
		if n, err := b.Read(buf); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("read %d bytes, %v", n, err)
		}
		if took := time.Since(began); took < DeadTime-pingTime || took > 2*DeadTime {
			t.Errorf("it ended after %v", took)
		}
	})
}

// TestCredit checks that a reader that does not read blocks its writer, and no other.
func TestCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, 0)
		slow, unread := w.pair(t)
		if err := slow.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := slow.Write(make([]byte, 8*Window))
		if !errors.Is(err, os.ErrDeadlineExceeded) || n < Window || n > 3*Window {
			t.Errorf("%d bytes were accepted, %v", n, err)
		}
		a, b := w.pair(t)
		if _, err := a.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(b, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadFull(unread, make([]byte, n)); err != nil {
			t.Errorf("%d of %d, %v", got, n, err)
		}
	})
}

// TestCloseFlushes checks that data written before Close arrives, then the end.
func TestCloseFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, 0.2)
		a, b := w.pair(t)
		go func() {
			_, _ = a.Write(content(3, 100000))
			_ = a.Close()
		}()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, content(3, 100000)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		_ = b.Close()
		time.Sleep(2 * DeadTime)
		if n := len(w.a.all()) + len(w.b.all()); n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
}

func TestDialEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, 0)
		w.cut.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.a.Dial(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		var m *Mux
		m = New("c", func(to, id string, _ []byte) error {
			go m.HandleUnroutable(to, id)
			return nil
		})
		defer m.Close()
		if _, err := m.Dial(t.Context(), "none"); !errors.Is(err, ErrNotConnected) {
			t.Error(err)
		}
	})
}

// FuzzDeliver checks that any messages of others end at most their own stream.
func FuzzDeliver(f *testing.F) {
	for _, p := range []packet{
		{kind: kindOpen, limit: 1}, {kind: kindData, offset: 3, data: []byte("abc")}, {kind: kindAck, offset: 1, limit: 2, retransmit: true},
		{kind: kindFin, offset: 1 << 63}, {kind: kindReset, data: []byte("no\x1b[31m")}, {kind: kindData, offset: ^uint64(0), data: []byte("x")},
	} {
		f.Add(p.encode(), []byte{1, 1})
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		m := New("m", func(string, string, []byte) error { return nil })
		defer m.Close()
		m.Deliver("p", "i", (&packet{kind: kindOpen, limit: 64}).encode())
		c, err := m.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte("0123456789"))
		m.Deliver("p", "i", one)
		m.Deliver("p", "i", two)
		s := c.(*Stream)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.readBuf) > Window || s.err == nil && s.next > max(s.limit, s.finOffset) {
			t.Errorf("%d bytes held, %d sent of %d", len(s.readBuf), s.next, s.limit)
		}
		if p, err := decode(one); err == nil {
			if again, err := decode(p.encode()); err != nil || again.kind != p.kind || !bytes.Equal(again.data, p.data) {
				t.Errorf("%+v is read as %+v, %v", p, again, err)
			}
		}
	})
}
