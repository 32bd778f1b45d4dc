package authorize

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

func asked(q *queue, id, digest string) *entry {
	e, isNew, _ := q.ask(id, digest, Request{ID: id})
	if isNew {
		e.view = api.Approval{ID: idOf(e.n), Session: "s", Count: len(e.holders)}
	}
	return e
}

// consistent checks the invariants of a queue's maps.
func consistent(t *testing.T, q *queue) {
	t.Helper()
	for digest, e := range q.digests {
		if q.open[e.n] != e || e.digest != digest || e.isClaimed() {
			t.Fatalf("digest %s is of %d, claimed %v", digest, e.n, e.isClaimed())
		}
	}
	for id, e := range q.requests {
		if _, ok := e.holders[id]; !ok || q.open[e.n] != e {
			t.Fatalf("request %s is of %d, which does not know it", id, e.n)
		}
	}
	for n, e := range q.open {
		if n != e.n || n > q.last || len(e.holders) != e.view.Count {
			t.Fatalf("%d: %d askings, count %d", n, len(e.holders), e.view.Count)
		}
	}
}

// FEATURES: R63
func TestQueue(t *testing.T) {
	q := newQueue(4)
	a := asked(q, "1", "x")
	if b := asked(q, "2", "x"); a != b || a.n != 5 || a.view.Count != 2 {
		t.Fatalf("the same request was made: %d and %d, %d times", a.n, b.n, b.view.Count)
	}
	if c := asked(q, "3", "y"); c.n != 6 {
		t.Fatalf("another thing is %d", c.n)
	}
	if again, isNew, changed := q.ask("1", "other", Request{}); again != a || isNew || changed || a.holders["1"] != 2 {
		t.Fatal("the same request is a new one")
	}
	consistent(t, q)

	if left := q.release("1"); left != 1 {
		t.Errorf("%d hold it", left)
	}
	if gone, less := q.drop("1"); gone != nil || less != nil {
		t.Error("a held request was dropped")
	}
	q.release("1")
	if gone, less := q.drop("1"); gone != nil || less != a || a.view.Count != 1 {
		t.Error("the other request is still pending")
	}
	q.release("2")
	if got := q.unheld(); !slices.Equal(got, []string{"2"}) {
		t.Errorf("unheld: %v", got)
	}
	if gone, _ := q.drop("2"); gone != a || q.open[5] != nil {
		t.Error("the request stays pending after its last caller left")
	}
	consistent(t, q)

	c, err := q.claim(6, "once, by me")
	if err != nil || c.n != 6 {
		t.Fatal(err)
	}
	if _, err := q.claim(6, "reject, by you"); !errors.As(err, new(*claimedError)) || !strings.Contains(err.Error(), "once, by me") {
		t.Errorf("answered twice: %v", err)
	}
	if _, err := q.claim(5, "once, by me"); !errors.Is(err, errNotOpen) {
		t.Errorf("answered after it was closed: %v", err)
	}
	d := asked(q, "4", "y")
	if d == c {
		t.Error("a new request joins an approval that is being answered")
	}
	if len(q.pending()) != 1 || !slices.Equal(q.openIn("s"), []string{"A6", "A7"}) {
		t.Errorf("pending %d, of the session %v", len(q.pending()), q.openIn("s"))
	}
	q.unclaim(c)
	if q.digests["y"] != d {
		t.Error("the newer one is not that which others join")
	}
	consistent(t, q)
	if c, err = q.claim(6, "once, by me"); err != nil {
		t.Fatal(err)
	}
	q.close(c, nil)
	select {
	case <-c.done:
	default:
		t.Error("no event was published")
	}
	consistent(t, q)
	if q.release("3") != 0 {
		t.Error("a request outlived its approval")
	}
	if gone, less := q.drop("3"); gone != nil || less != nil {
		t.Error("dropped after its end")
	}
}

func TestQueueOfTheDaemonBefore(t *testing.T) {
	q := newQueue(0)
	q.load(&entry{n: 9, digest: "x", view: api.Approval{ID: "A9"}}, []string{"1", "2"})
	consistent(t, q)
	if e, isNew, changed := q.ask("2", "x", Request{}); e.n != 9 || isNew || changed {
		t.Error("repeated, it is a new one")
	}
	if !reflect.DeepEqual(q.unheld(), []string{"1"}) {
		t.Errorf("%v", q.unheld())
	}
	if e := asked(q, "3", "y"); e.n != 10 {
		t.Errorf("a number is given twice: %d", e.n)
	}
}

// FuzzQueue checks that after any sequence of operations the maps agree, and each number was used once.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 10, 11, 20, 21, 30, 40, 50, 60})
	f.Add([]byte{0, 0, 16, 16, 32, 48, 0, 64, 80})
	f.Fuzz(func(t *testing.T, ops []byte) {
		q := newQueue(0)
		ids := []string{"a", "b", "c", "d"}
		var claimed []*entry
		given := map[int64]bool{}
		for _, op := range ops {
			id, digest := ids[op&3], ids[op>>2&3]
			switch op >> 4 % 6 {
			case 0:
				e, isNew, _ := q.ask(id, digest, Request{})
				if isNew && given[e.n] {
					t.Fatalf("%d is given twice", e.n)
				}
				given[e.n] = true
			case 1:
				q.release(id)
			case 2:
				q.drop(id)
			case 3:
				if e, err := q.claim(int64(op&15), "once, by me"); err == nil {
					claimed = append(claimed, e)
				}
			case 4:
				if n := len(claimed); n > 0 {
					q.unclaim(claimed[n-1])
					claimed = claimed[:n-1]
				}
			case 5:
				if n := len(claimed); n > 0 {
					q.close(claimed[n-1], nil)
					claimed = claimed[:n-1]
				}
			}
			consistent(t, q)
		}
	})
}

// TestQueue_NotifiesChanges checks that the queue reports since when programs of a session wait, and notifies of
// changes.
//
// FEATURES: R63
func TestQueue_NotifiesChanges(t *testing.T) {
	q, now := newQueue(0), time.Now()
	put := func(id string, kind Kind, session string, at time.Time) *entry {
		e, _, _ := q.ask(id, id, Request{ID: id, Kind: kind, Session: session})
		e.view.Session, e.last = session, at
		return e
	}
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	s, other := q.change("s"), q.change("other")
	put("line", Line, "s", now)
	if !closed(s) || closed(other) || q.oldestBlocking("s", now) != nil {
		t.Fatal("a waiting line is reported differently")
	}
	s = q.change("s")
	first, second := put("1", Execution, "s", now), put("2", Network, "s", now.Add(time.Second))
	put("3", Execution, "other", now)
	if !closed(s) || q.oldestBlocking("s", now) != first || q.oldestBlocking("s", now.Add(time.Second)) != second || q.oldestBlocking("s", now.Add(time.Hour)) != nil {
		t.Fatal("another one waits")
	}
	s = q.change("s")
	q.close(first, nil)
	if !closed(s) || q.oldestBlocking("s", now) != second {
		t.Error("the answer is not published")
	}
	s = q.change("s")
	q.release("2")
	if q.drop("2"); !closed(s) || q.oldestBlocking("s", now) != nil {
		t.Error("the closing is not published")
	}
	if len(q.changes) != 0 {
		t.Errorf("%d sessions still have change channels without watchers", len(q.changes))
	}
}
