//go:build unix

package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

// Requests are begun in turn by lanes: one behind ten thousand of another lane waits for one of them only.
//
// FEATURES: R88
func TestLanesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes()
		l.free = 1
		hold, err := l.enter(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 20_000)
		wait := func(name string) {
			go func() {
				leave, err := l.enter(t.Context(), name)
				if err != nil {
					t.Error(err)
					return
				}
				order <- name
				leave()
			}()
			synctest.Wait()
		}
		for range 1000 {
			wait("wild")
		}
		wait("screen")
		hold()
		synctest.Wait()
		for i := range 1001 {
			if name := <-order; name == "screen" {
				if i > 1 {
					t.Errorf("the screen was begun after %d others", i)
				}
				break
			}
		}
		synctest.Wait()
		if l.free != 1 || len(l.waiting) != 0 || len(l.turn) != 0 {
			t.Errorf("left: %d free, %d lanes, %d in turn", l.free, len(l.waiting), len(l.turn))
		}
	})
}

// A caller who goes away holds no slot, and takes none from those behind.
func TestLanesOfThoseWhoWentAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLanes()
		l.free = 1
		hold, _ := l.enter(t.Context(), "a")
		ctx, cancel := context.WithCancel(t.Context())
		for range 10 {
			go func() {
				if leave, err := l.enter(ctx, "a"); err == nil {
					leave()
				}
			}()
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		hold()
		hold() // twice gives it back once
		if leave, err := l.enter(t.Context(), "b"); err != nil || l.free != 0 {
			t.Errorf("%v, %d free", err, l.free)
		} else {
			leave()
		}
		if l.free != 1 {
			t.Errorf("%d free", l.free)
		}
	})
}

// A slot's number is not the client's to make up, and a tool that begins gives the slot back.
func TestSlotIsGivenBackWhenAToolBegins(t *testing.T) {
	l := newLanes()
	l.free = 1
	h := l.handler(func(*http.Request) string { return "who" }, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if l.free != 0 {
			t.Error("no slot is taken")
		}
		if r.Header.Get(slotHeader) == "77" {
			t.Error("the client's number stands")
		}
		if l.begun(r.Header); l.free != 1 {
			t.Error("the slot is not given back")
		}
		l.begun(http.Header{slotHeader: {"77"}})
		l.begun(http.Header{slotHeader: {"x"}})
	}))
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	r.Header.Set(slotHeader, "77")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if l.free != 1 || len(l.held) != 0 {
		t.Errorf("%d free, %d held", l.free, len(l.held))
	}
}
