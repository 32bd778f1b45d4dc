package fairsched

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLanesTakeTurns checks that requests start in turn by lanes: one behind ten thousand of another lane waits for one
// of them only.
//
// FEATURES: R88
func TestLanesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		hold, err := l.Begin(t.Context(), "first", "")
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 20_000)
		wait := func(name string) {
			go func() {
				s, err := l.Begin(t.Context(), name, "")
				if err != nil {
					t.Error(err)
					return
				}
				order <- name
				s.End()
			}()
			synctest.Wait()
		}
		for range 1000 {
			wait("wild")
		}
		wait("screen")
		hold.End()
		synctest.Wait()
		for i := range 1001 {
			if name := <-order; name == "screen" {
				if i > 1 {
					t.Errorf("the screen was started after %d others", i)
				}
				break
			}
		}
		synctest.Wait()
		if l.free != 1 || len(l.lanes) != 0 || len(l.turn) != 0 {
			t.Errorf("left: %d free, %d lanes, %d in turn", l.free, len(l.lanes), len(l.turn))
		}
	})
}

// TestCrowdLeavesSlotsFree checks that few requests of a crowded lane run at a time, so that other lanes start at once.
// A lane without a crowd uses all slots.
//
// FEATURES: R88
func TestCrowdLeavesSlotsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 4
		l := New(slots).Crowds(1)
		var mu sync.Mutex
		now, most, done := map[string]int{}, map[string]int{}, map[string]int{}
		work := func(lane string, of int) {
			for range of {
				go func() {
					s, err := l.Begin(t.Context(), lane, "")
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					now[lane]++
					most[lane] = max(most[lane], now[lane])
					mu.Unlock()
					time.Sleep(lease / 2)
					mu.Lock()
					now[lane]--
					done[lane]++
					mu.Unlock()
					s.End()
				}()
			}
		}
		work("few", crowd-1)
		time.Sleep(time.Hour)
		synctest.Wait()
		if most["few"] != slots || done["few"] != crowd-1 {
			t.Errorf("of the lane without a crowd %d ran at once, %d in all", most["few"], done["few"])
		}
		work("wild", 1000)
		time.Sleep(10 * lease) // requests from before the crowd are done
		mu.Lock()
		most["wild"] = 0
		mu.Unlock()
		for range 10 {
			time.Sleep(lease)
			began := time.Now()
			s, err := l.Begin(t.Context(), "screen", "")
			if err != nil || time.Since(began) != 0 {
				t.Errorf("waited %v behind a crowd: %v", time.Since(began), err)
			}
			s.End()
		}
		synctest.Wait()
		if mu.Lock(); most["wild"] != 1 {
			t.Errorf("of the crowd %d were worked on at once", most["wild"])
		}
		mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		if done["wild"] != 1000 || l.free != slots || len(l.lanes) != 0 || len(l.turn) != 0 {
			t.Errorf("%d of the crowd ran; left: %d free, %d lanes, %d in turn", done["wild"], l.free, len(l.lanes), len(l.turn))
		}
	})
}

// TestDisconnectedClients_FreeTheirSlots checks that a caller that disconnects holds no slot, and takes none from later
// ones.
func TestDisconnectedClients_FreeTheirSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		hold, _ := l.Begin(t.Context(), "a", "")
		ctx, cancel := context.WithCancel(t.Context())
		for range 10 {
			go func() {
				if s, err := l.Begin(ctx, "a", ""); err == nil {
					s.End()
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		hold.End()
		hold.End() // twice gives it back once
		if s, err := l.Begin(t.Context(), "b", ""); err != nil || l.free != 0 {
			t.Errorf("%v, %d free", err, l.free)
		} else {
			s.End()
		}
		if l.free != 1 {
			t.Errorf("%d free", l.free)
		}
	})
}

// TestStartedRequests_GoFirst checks that started requests of a lane go first, and that new ones take turns by their
// lines.
func TestStartedRequests_GoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		hold, _ := l.Begin(t.Context(), "a", "")
		var order []string // appended by the holder of the only slot
		begin := func(line string) {
			go func() {
				s, _ := l.Begin(t.Context(), "a", line)
				order = append(order, line)
				s.End()
			}()
			synctest.Wait()
		}
		begin("1")
		begin("1")
		begin("2")
		hold.Give()
		hold.Give()
		synctest.Wait()
		if got := strings.Join(order, " "); got != "1 2 1" {
			t.Errorf("turns: %s", got)
		}
		order = nil
		other, _ := l.Begin(t.Context(), "a", "")
		begin("new")
		go func() {
			over := Wait(With(t.Context(), hold)) // its request has no slot: it only continues
			over()
			order = append(order, "begun")
			hold.End()
			hold.GoOn(t.Context()) // after its end it needs none
		}()
		synctest.Wait()
		other.End()
		synctest.Wait()
		if got := strings.Join(order, " "); got != "begun new" {
			t.Errorf("turns: %s", got)
		}
		if l.free != 1 {
			t.Errorf("%d free", l.free)
		}
	})
}

// TestWaitingForATurnCounts checks that the time that a request waits for its turn counts against its limit, also the
// wait for an earlier slot.
//
// FEATURES: R88
func TestWaitingForATurnCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		if d := TimeRemaining(t.Context(), time.Hour); d != time.Hour {
			t.Errorf("%v without a slot", d)
		}
		hold, _ := l.Begin(t.Context(), "a", "")
		hold.lease.Stop()
		time.AfterFunc(7*time.Second, hold.End)
		s, err := l.Begin(t.Context(), "b", "")
		if err != nil {
			t.Fatal(err)
		}
		defer s.End()
		ctx := With(t.Context(), s)
		want := func(d, left time.Duration) {
			t.Helper()
			if got := TimeRemaining(ctx, d); got != left {
				t.Errorf("%v of %v is left, want %v", got, d, left)
			}
		}
		want(10*time.Second, 3*time.Second)
		want(5*time.Second, 0)
		s.ArrivedBefore(hold.ArrivedAt().Add(-2 * time.Second))
		want(10*time.Second, time.Second)
		s.ArrivedBefore(time.Now())
		s.ArrivedBefore(time.Time{})
		want(10*time.Second, time.Second)
		var none *Slot
		if !none.ArrivedAt().IsZero() {
			t.Error("no request arrived")
		}
	})
}

// TestLease checks that a request that exceeds its lease has lost its slot, and does not release another's.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		stuck, _ := l.Begin(t.Context(), "a", "")
		began := time.Now()
		next, err := l.Begin(t.Context(), "b", "")
		if err != nil || time.Since(began) != lease {
			t.Fatalf("%v after %s", err, time.Since(began))
		}
		stuck.End()
		if l.free != 0 {
			t.Error("the slot of another was given back")
		}
		next.End()
		var none *Slot
		none.Give()
		none.GoOn(t.Context())
		none.End()
		Wait(t.Context())()
		if l.free != 1 {
			t.Errorf("%d free", l.free)
		}
	})
}

// pipes is an in-memory listener.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestRequestsAreParsedInTurn checks that a request is parsed when it has its turn, classified by its first bytes, also
// the second one of a connection. A client that disconnects meanwhile holds nothing.
//
// FEATURES: R88
func TestRequestsAreParsedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, quick := New(1), New(1)
		var mu sync.Mutex
		var seen []string
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Kind") != "careless" {
				slot := SlotOf(r.Context())
				if slot == nil || SlotOf(r.Context()) != nil {
					t.Error("the handler did not get the slot that its request was parsed in, once")
				}
				defer slot.End()
			}
			body, err := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			if r.Header.Get("Kind") != "gone" { // it arrives beside the others
				seen = append(seen, r.Header.Get("Kind")+string(body))
			}
			if gone := r.Header.Get("Kind") == "gone"; gone != (err != nil) {
				t.Error("result of the body:", err)
			}
		})}
		l := make(pipes)
		served := make(chan error)
		go func() {
			served <- s.Serve(Listen(s, l, func(request []byte) (*Scheduler, string, string, string) {
				if Header(request, "Kind") == "quick" {
					return quick, "", "quick", ""
				}
				return all, "", "", ""
			}, nil, 100))
		}()
		dial := func() net.Conn {
			mine, theirs := net.Pipe()
			l <- theirs
			go func() { _, _ = io.Copy(io.Discard, mine) }()
			return mine
		}
		ask := func(c net.Conn, header string) {
			body := strings.Repeat("b", 5000) // more than is read at once
			if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: h\r\n%s\r\nContent-Length: %d\r\n\r\n", header, len(body)); err != nil {
				t.Error(err)
			}
			go func() { _, _ = io.WriteString(c, body) }()
			synctest.Wait()
		}
		hold := func() *Slot {
			h, err := all.Begin(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			h.lease.Stop()
			return h
		}
		kinds := func(want string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			var got []string
			for _, x := range seen {
				got = append(got, strings.TrimRight(x, "b"))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("handled: %q, want %q", got, want)
			}
		}
		a, b, gone := dial(), dial(), dial()
		h := hold()
		ask(a, "Kind: one")
		ask(gone, "Kind: gone")
		_ = gone.Close()
		ask(b, "kind: quick")
		kinds("quick")
		h.End()
		synctest.Wait()
		kinds("quick one")
		h = hold()
		ask(a, "Kind: two")
		ask(b, "Kind: quick")
		kinds("quick one quick")
		h.End()
		synctest.Wait()
		kinds("quick one quick two")
		ask(b, "Kind: careless") // its handler takes no slot
		ask(a, "Kind: three")
		kinds("quick one quick two careless three")
		_ = a.Close()
		_ = b.Close()
		close(l)
		<-served
		_ = s.Close()
		synctest.Wait()
		if all.free != 1 || quick.free != 1 {
			t.Errorf("%d and %d free", all.free, quick.free)
		}
	})
}

// ready is a listener with a connection always waiting.
type ready struct{ net.Listener }

func (ready) Accept() (net.Conn, error) {
	c, other := net.Pipe()
	_ = other.Close()
	return c, nil
}

// TestConnectionsAreTakenInAFewAtATime checks that of many simultaneous connections a few are accepted at a time, and
// that single ones do not wait.
//
// FEATURES: R88
func TestConnectionsAreTakenInAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen(&http.Server{}, ready{}, nil, nil, 1000)
		accept := func() {
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		}
		began := time.Now()
		for range 10 * acceptBatch {
			accept()
		}
		if d := time.Since(began); d != 9*acceptPause {
			t.Errorf("%d connections were accepted after %v", 10*acceptBatch, d)
		}
		for range 10 * acceptBatch {
			time.Sleep(acceptPause)
			began = time.Now()
			accept()
			if d := time.Since(began); d != 0 {
				t.Fatalf("a single connection waited %v", d)
			}
		}
	})
}
