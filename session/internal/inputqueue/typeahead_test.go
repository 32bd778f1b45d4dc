package inputqueue

import (
	"context"
	"errors"
	"testing"
	"time"
)

// taker is a terminal that takes so many bytes at once, and no more.
type taker struct{ room int }

func (d *taker) TryWrite(p []byte) int {
	n := min(len(p), d.room)
	d.room -= n
	return n
}
func (d *taker) Write(p []byte) (int, error)      { return len(p), nil }
func (d *taker) SetWriteDeadline(time.Time) error { return nil }

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name   string
		typed  int
		unread []int // look by look
		waits  []bool
	}{
		{"nothing was typed", 0, []int{0}, []bool{false}},
		{"read at once", 5, []int{0, 0, 0}, []bool{true, false, false}},
		{"read late", 5, []int{5, 5, 0, 0}, []bool{true, true, true, false}},
		{"seen in between", 5, []int{0, 5, 0, 0}, []bool{true, true, true, false}},
		{"much of it", aheadRoom + 1, []int{0, 0, 0, 0, 0, 0}, []bool{true, true, true, true, true, false}},
	} {
		q := NewQueue(&taker{1 << 20})
		if _, err := q.Add(t.Context(), make([]byte, c.typed)); err != nil {
			t.Fatal(err)
		}
		var a TypeAhead
		for i := range c.unread {
			if got := a.Waits(q, func() int { return c.unread[i] }); got != c.waits[i] {
				t.Errorf("%s, look %d: %v", c.name, i, got)
			}
		}
	}
}

func TestQueueRefuses(t *testing.T) {
	if _, err := NewQueue(nil).Add(t.Context(), []byte("x")); !errors.Is(err, ErrEnded) {
		t.Errorf("without a device: %v", err)
	}
	q := NewQueue(&taker{3})
	if _, err := q.Add(t.Context(), make([]byte, MaxQueued+1)); !errors.Is(err, ErrOverloaded) {
		t.Errorf("too much: %v", err)
	}
	if err := q.AddNow([]byte("abcd"), nil); err == nil || errors.Is(err, ErrAhead) {
		t.Errorf("what does not fit: %v", err)
	}
	q.End()
	if _, err := q.Add(context.Background(), []byte("x")); !errors.Is(err, ErrEnded) {
		t.Errorf("after its end: %v", err)
	}
}

func TestReplies(t *testing.T) {
	var r Replies
	r.Add(1, nil)
	r.Add(2, []byte("a"))
	r.Add(3, []byte("b"))
	if got := r.Take(); len(got) != 2 || got[0].At != 2 || string(got[1].Data) != "b" {
		t.Errorf("%+v", got)
	}
	if got := r.Take(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
