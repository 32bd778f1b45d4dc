package inputqueue

import (
	"context"
	"errors"
	"testing"
	"time"
)

// limitedDevice is a terminal that accepts a number of bytes at once.
type limitedDevice struct{ room int }

func (d *limitedDevice) TryWrite(p []byte) int {
	n := min(len(p), d.room)
	d.room -= n
	return n
}
func (d *limitedDevice) Write(p []byte) (int, error)      { return len(p), nil }
func (d *limitedDevice) SetWriteDeadline(time.Time) error { return nil }

func TestTypeAhead(t *testing.T) {
	for _, c := range []struct {
		name   string
		typed  int
		unread []int // bytes by check
		waits  []bool
	}{
		{"nothing was typed", 0, []int{0}, []bool{false}},
		{"read at once", 5, []int{0, 0, 0}, []bool{true, false, false}},
		{"read late", 5, []int{5, 5, 0, 0}, []bool{true, true, true, false}},
		{"seen in between", 5, []int{0, 5, 0, 0}, []bool{true, true, true, false}},
		{"much of it", minQueueRoom + 1, []int{0, 0, 0, 0, 0, 0}, []bool{true, true, true, true, true, false}},
	} {
		q := NewQueue(&limitedDevice{1 << 20})
		if _, err := q.Add(t.Context(), make([]byte, c.typed)); err != nil {
			t.Fatal(err)
		}
		var a TypeAhead
		for i := range c.unread {
			if got := a.MayBeUnread(q, func() int { return c.unread[i] }); got != c.waits[i] {
				t.Errorf("%s, check %d: %v", c.name, i, got)
			}
		}
	}
}

func TestQueue_RejectsInput(t *testing.T) {
	if _, err := NewQueue(nil).Add(t.Context(), []byte("x")); !errors.Is(err, ErrEnded) {
		t.Errorf("without a device: %v", err)
	}
	q := NewQueue(&limitedDevice{3})
	if _, err := q.Add(t.Context(), make([]byte, MaxQueued+1)); !errors.Is(err, ErrOverloaded) {
		t.Errorf("above the limit: %v", err)
	}
	if err := q.AddNow([]byte("abcd"), nil); err == nil || errors.Is(err, ErrUnreadInput) {
		t.Errorf("input without space: %v", err)
	}
	q.End()
	if _, err := q.Add(context.Background(), []byte("x")); !errors.Is(err, ErrEnded) {
		t.Errorf("after End: %v", err)
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
