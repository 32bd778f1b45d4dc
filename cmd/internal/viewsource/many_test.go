//go:build unix

package viewsource

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/vterm/input"
)

// TestSeveralHosts checks that several hosts form one list: each with its name, in their order. A disconnected host
// keeps its known sessions and is named, after the time of a daemon's restart.
//
// FEATURES: R94
func TestSeveralHosts(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	g := newCombinedUpdates(multiHostSource{{}, {prefix: "build"}, {prefix: "db"}})
	says := func(of int, ids ...string) {
		var u model.Update
		for _, id := range ids {
			u.Sessions = append(u.Sessions, model.Session{ID: id, Name: "n" + id})
		}
		u.Approvals = []model.Approval{{ID: "A1", Session: "x", Name: "nx", Group: "g", Asked: begin.Add(time.Duration(-of) * time.Second)}}
		u.Ended = []model.EndedApproval{{ID: "A0"}}
		g.setHost(hostSnapshot{of, u}, begin)
	}
	says(0, "1")
	says(1, "1", "2")
	if g.complete() {
		t.Error("no update of db")
	}
	g.setHost(hostSnapshot{2, model.Update{Unavailable: "no route"}}, begin)
	if !g.complete() {
		t.Error("db was reported as unreachable")
	}
	u, next := g.update(begin)
	var names string
	for _, s := range u.Sessions {
		names += s.ID + "=" + s.Name + "@" + s.Host + " "
	}
	if want := "1=n1@ build/1=build/n1@build build/2=build/n2@build "; names != want || next != 0 {
		t.Errorf("%s, then %v; want %s", names, next, want)
	}
	if len(u.Unreachable) != 1 || u.Unreachable[0] != (model.Unreachable{Host: "db", Why: "no route", Since: begin, NeverReached: true}) {
		t.Errorf("cut off: %+v", u.Unreachable)
	}
	if a := u.Approvals; len(a) != 2 || a[0].ID != "build/A1" || a[0].Session != "build/x" || a[0].Name != "build/nx" || a[0].Group != "build/g" || a[1].ID != "A1" {
		t.Errorf("approvals, the oldest first: %+v", a)
	}
	if len(u.Ended) != 2 || u.Ended[1].ID != "build/A0" {
		t.Errorf("ended: %+v", u.Ended)
	}

	g.setHost(hostSnapshot{1, model.Update{Unavailable: "the connection was lost"}}, begin)
	if u, next = g.update(begin.Add(cutTime / 2)); len(u.Unreachable) != 1 || next != cutTime/2 {
		t.Errorf("after a moment: %+v, then %v", u.Unreachable, next)
	}
	g.setHost(hostSnapshot{1, model.Update{Unavailable: "refused"}}, begin.Add(cutTime))
	if u, _ = g.update(begin.Add(cutTime)); len(u.Unreachable) != 2 || u.Unreachable[0].NeverReached || u.Unreachable[0].Why != "refused" || !u.Unreachable[0].Since.Equal(begin) {
		t.Errorf("later: %+v", u.Unreachable)
	}
	if s := u.Sessions; len(s) != 3 || !s[0].UnreachableSince.IsZero() || !s[1].UnreachableSince.Equal(begin) || !s[2].UnreachableSince.Equal(begin) {
		t.Errorf("its sessions stay: %+v", s)
	}
	says(1, "2")
	if u, _ = g.update(begin.Add(time.Hour)); len(u.Unreachable) != 1 || len(u.Sessions) != 2 || !u.Sessions[1].UnreachableSince.IsZero() {
		t.Errorf("when it is back: %+v", u)
	}
}

// TestHostOfAnID checks that requests by id go to the id's host.
func TestHostOfAnID(t *testing.T) {
	m := multiHostSource{{prefix: "build"}, {}, {prefix: "ann@db"}}
	for id, want := range map[string][2]string{
		"build/1": {"build", "1"}, "ann@db/A3": {"ann@db", "A3"}, "1": {"", "1"}, "gone/1": {"", "gone/1"}, "": {"", ""},
	} {
		h, rest := m.hostOf(id)
		if h.prefix != want[0] || rest != want[1] {
			t.Errorf("%q: %q of %q; want %q", id, rest, h.prefix, want)
		}
		if id != "" && h.qualify(rest) != id {
			t.Errorf("%q is called %q", id, h.qualify(rest))
		}
	}
	if h, id := (multiHostSource{{host: "build"}}).hostOf("a"); h.host != "build" || id != "a" {
		t.Errorf("of one host: %q %q", h.host, id)
	}
}

// TestQueue checks that input for a session of another host is sent until the host acknowledges it, and no more than
// its daemon remembers at once.
//
// FEATURES: R94, R113
func TestQueue(t *testing.T) {
	key := func() attach.Act { return attach.Act{Text: "x"} }
	drain := func(q *queue) (n int) {
		for _, ok := q.next(); ok; _, ok = q.next() {
			q.onSent()
			n++
		}
		return n
	}
	q := &queue{resume: attach.Resume{Key: "k"}, limit: maxUnackedRemote}
	for range maxUnackedRemote + 2 {
		q.add(key())
	}
	q.add(attach.Act{Cols: 80, Rows: 24})
	took := func(n uint64) *uint64 { return &n }
	if n := drain(q); n != maxUnackedRemote {
		t.Errorf("%d are on their way", n)
	}
	q.acknowledge(took(10))
	if n := drain(q); n != 3 {
		t.Errorf("then %d more, two keys and a size", n)
	}
	if r := q.resumeState(); r.Acknowledged != 10 || r.Key != "k" {
		t.Errorf("it continues with %+v", r)
	}
	if n := drain(q); n != maxUnackedRemote+2-10 {
		t.Errorf("%d messages are sent again, want the unacknowledged ones without sizes", n)
	}
	q.acknowledge(took(9)) // of before
	q.acknowledge(took(maxUnackedRemote + 2))
	q.acknowledge(took(1 << 60))
	if len(q.acts) != 0 || q.resumeState().Acknowledged != maxUnackedRemote+2 {
		t.Errorf("at the end: %+v", q)
	}

	old := &queue{resume: attach.Resume{Key: "k"}, limit: maxUnackedRemote}
	old.add(key())
	drain(old)
	if old.acknowledge(nil); len(old.acts) != 0 {
		t.Error("input of a daemon without acknowledgements stays queued")
	}
	old.add(key())
	if drain(old); len(old.acts) != 0 {
		t.Error("later input is queued for a repetition")
	}
	old.resumeState()
	old.add(key())
	if drain(old); len(old.acts) != 1 {
		t.Error("input after a reconnect, to a possibly newer daemon, is not queued")
	}
	here, there, other := newQueue(true), newQueue(false), newQueue(true)
	if !here.resume.AcksLate || there.resume.AcksLate || here.resume.Key == other.resume.Key {
		t.Errorf("%+v, %+v, %+v", here, there, other)
	}
	for range maxUnackedLocal + 1 {
		here.add(key())
	}
	if n := drain(&here); n != maxUnackedLocal || len(here.acts) != n+1 {
		t.Errorf("%d of %d are on their way here", n, len(here.acts))
	}
}

// TestQueueCounts checks that input has a number while the host acknowledges, and is counted if it does not arrive.
//
// FEATURES: R94
func TestQueueCounts(t *testing.T) {
	key, wheel := attach.Act{Key: &input.Key{Code: input.KeyUp}}, attach.Act{Mouse: &input.Mouse{}}
	q := &queue{resume: attach.Resume{Key: "k"}, limit: maxUnackedRemote}
	if n := q.add(key); n != 0 || q.unsent() != 3 {
		t.Errorf("without a connection it has the number %d; %d bytes are not sent", n, q.unsent())
	}
	q.connected = true
	q.add(attach.Act{Cols: 80, Rows: 24})
	q.add(wheel)
	text := "pasted"
	if n := q.add(attach.Act{Paste: &text}); n != 3 || q.unsent() != 9 {
		t.Errorf("the third has the number %d; %d bytes are not sent", n, q.unsent())
	}
	for _, ok := q.next(); ok; _, ok = q.next() {
		q.onSent()
	}
	if q.unsent() != 0 {
		t.Errorf("all was sent, but for %d bytes", q.unsent())
	}
	one := uint64(1)
	q.acknowledge(&one)
	if n := q.add(key); n != 4 {
		t.Errorf("the fourth has the number %d", n)
	}
	if q.connected = false; q.unsent() != 9 {
		t.Errorf("after the lost connection %d bytes are unconfirmed", q.unsent())
	}
	for range maxWaiting {
		q.add(key)
	}
	if n := 6 + 3*(maxWaiting+1); q.unsent() != n || q.rejectedBytes == 0 {
		t.Errorf("%d bytes, %d of them without space; want %d", q.unsent(), q.rejectedBytes, n)
	}
	fast := newQueue(true)
	fast.connected = true
	for range 20 * maxWaiting { // a paste that arrives as keys, to a daemon that takes them one by one
		fast.add(key)
	}
	if fast.rejectedBytes != 0 || len(fast.acts) != 20*maxWaiting {
		t.Errorf("%d bytes of a paste without space, %d keys wait", fast.rejectedBytes, len(fast.acts))
	}
	here := newQueue(true)
	here.connected = true
	if n := here.add(key); n != 0 {
		t.Errorf("this host's echo is awaited: %d", n)
	}
}

// TestReach checks that lost streams wait for their daemon, and continue when it is back.
func TestReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reachability{}
		r.markReachable()
		begin := time.Now()
		if r.await(t.Context()); time.Since(begin) != minBackoff {
			t.Errorf("a stream waits %v for a running daemon", time.Since(begin))
		}
		r.markUnreachable()
		r.markUnreachable()
		for range 2 {
			go func() {
				time.Sleep(time.Minute) // of synctest
				r.markReachable()
			}()
		}
		if r.await(t.Context()); time.Since(begin) != time.Minute+minBackoff {
			t.Errorf("it continued after %v", time.Since(begin))
		}
		r.markUnreachable()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.await(ctx)
		synctest.Wait()
	})
}
