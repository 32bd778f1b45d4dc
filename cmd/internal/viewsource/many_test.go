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

// Several hosts are one list: each with its name, in their order; one that is cut off keeps what was known of it and is
// named, after the moment that a daemon takes to restart.
//
// FEATURES: R94
func TestSeveralHosts(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	g := newGathered(many{{}, {shown: "build"}, {shown: "db"}})
	says := func(of int, ids ...string) {
		var u model.Update
		for _, id := range ids {
			u.Sessions = append(u.Sessions, model.Session{ID: id, Name: "n" + id})
		}
		u.Approvals = []model.Approval{{ID: "A1", Session: "x", Name: "nx", Group: "g", Asked: begin.Add(time.Duration(-of) * time.Second)}}
		u.Ended = []model.Ended{{ID: "A0"}}
		g.take(heard{of, u}, begin)
	}
	says(0, "1")
	says(1, "1", "2")
	if g.complete() {
		t.Error("nothing was heard of db")
	}
	g.take(heard{2, model.Update{Away: "no route"}}, begin)
	if !g.complete() {
		t.Error("it was heard that db cannot be reached")
	}
	u, next := g.update(begin)
	var names string
	for _, s := range u.Sessions {
		names += s.ID + "=" + s.Name + "@" + s.Host + " "
	}
	if want := "1=n1@ build/1=build/n1@build build/2=build/n2@build "; names != want || next != 0 {
		t.Errorf("%s, then %v; want %s", names, next, want)
	}
	if len(u.CutOff) != 1 || u.CutOff[0] != (model.CutOff{Host: "db", Why: "no route", Since: begin, Never: true}) {
		t.Errorf("cut off: %+v", u.CutOff)
	}
	if a := u.Approvals; len(a) != 2 || a[0].ID != "build/A1" || a[0].Session != "build/x" || a[0].Name != "build/nx" || a[0].Group != "build/g" || a[1].ID != "A1" {
		t.Errorf("approvals, the oldest first: %+v", a)
	}
	if len(u.Ended) != 2 || u.Ended[1].ID != "build/A0" {
		t.Errorf("ended: %+v", u.Ended)
	}

	g.take(heard{1, model.Update{Away: "the connection was lost"}}, begin)
	if u, next = g.update(begin.Add(cutTime / 2)); len(u.CutOff) != 1 || next != cutTime/2 {
		t.Errorf("after a moment: %+v, then %v", u.CutOff, next)
	}
	g.take(heard{1, model.Update{Away: "refused"}}, begin.Add(cutTime))
	if u, _ = g.update(begin.Add(cutTime)); len(u.CutOff) != 2 || u.CutOff[0].Never || u.CutOff[0].Why != "refused" || !u.CutOff[0].Since.Equal(begin) {
		t.Errorf("later: %+v", u.CutOff)
	}
	if s := u.Sessions; len(s) != 3 || !s[0].CutOff.IsZero() || !s[1].CutOff.Equal(begin) || !s[2].CutOff.Equal(begin) {
		t.Errorf("its sessions stay: %+v", s)
	}
	says(1, "2")
	if u, _ = g.update(begin.Add(time.Hour)); len(u.CutOff) != 1 || len(u.Sessions) != 2 || !u.Sessions[1].CutOff.IsZero() {
		t.Errorf("when it is back: %+v", u)
	}
}

// What the viewer asks for by an id goes to its host.
func TestHostOfAnID(t *testing.T) {
	m := many{{shown: "build"}, {}, {shown: "ann@db"}}
	for id, want := range map[string][2]string{
		"build/1": {"build", "1"}, "ann@db/A3": {"ann@db", "A3"}, "1": {"", "1"}, "gone/1": {"", "gone/1"}, "": {"", ""},
	} {
		h, rest := m.of(id)
		if h.shown != want[0] || rest != want[1] {
			t.Errorf("%q: %q of %q; want %q", id, rest, h.shown, want)
		}
		if id != "" && h.there(rest) != id {
			t.Errorf("%q is called %q", id, h.there(rest))
		}
	}
	if h, id := (many{{at: "build"}}).of("a"); h.at != "build" || id != "a" {
		t.Errorf("of one host: %q %q", h.at, id)
	}
}

// What is typed into a session of another host is sent until that says that it was taken, and no more than its daemon
// remembers at once.
//
// FEATURES: R94, R113
func TestQueue(t *testing.T) {
	key := func() attach.Act { return attach.Act{Text: "x"} }
	drain := func(q *queue) (n int) {
		for _, ok := q.next(); ok; _, ok = q.next() {
			q.sent()
			n++
		}
		return n
	}
	q := &queue{resume: attach.Resume{Key: "k"}, most: maxFlying}
	for range maxFlying + 2 {
		q.add(key())
	}
	q.add(attach.Act{Cols: 80, Rows: 24})
	took := func(n uint64) *uint64 { return &n }
	if n := drain(q); n != maxFlying {
		t.Errorf("%d are on their way", n)
	}
	q.told(took(10))
	if n := drain(q); n != 3 {
		t.Errorf("then %d more, two keys and a size", n)
	}
	if r := q.again(); r.Typed != 10 || r.Key != "k" {
		t.Errorf("it goes on with %+v", r)
	}
	if n := drain(q); n != maxFlying+2-10 {
		t.Errorf("%d are sent again: those that were not taken, and no size", n)
	}
	q.told(took(9)) // of before
	q.told(took(maxFlying + 2))
	q.told(took(1 << 60))
	if len(q.acts) != 0 || q.again().Typed != maxFlying+2 {
		t.Errorf("at the end: %+v", q)
	}

	old := &queue{resume: attach.Resume{Key: "k"}, most: maxFlying}
	old.add(key())
	drain(old)
	if old.told(nil); len(old.acts) != 0 {
		t.Error("a daemon that does not say is taken to have taken all")
	}
	old.add(key())
	if drain(old); len(old.acts) != 0 {
		t.Error("nor is anything kept for it to be done again")
	}
	old.again()
	old.add(key())
	if drain(old); len(old.acts) != 1 {
		t.Error("what comes next may be a newer one")
	}
	here, there, other := newQueue(true), newQueue(false), newQueue(true)
	if !here.resume.Late || there.resume.Late || here.resume.Key == other.resume.Key {
		t.Errorf("%+v, %+v, %+v", here, there, other)
	}
	for range maxFlyingHere + 1 {
		here.add(key())
	}
	if n := drain(&here); n != maxFlyingHere || len(here.acts) != n+1 {
		t.Errorf("%d of %d are on their way here", n, len(here.acts))
	}
}

// What is typed has a number while somebody says what was taken, and is counted where it does not arrive.
//
// FEATURES: R94
func TestQueueCounts(t *testing.T) {
	key, wheel := attach.Act{Key: &input.Key{Code: input.KeyUp}}, attach.Act{Mouse: &input.Mouse{}}
	q := &queue{resume: attach.Resume{Key: "k"}, most: maxFlying}
	if n := q.add(key); n != 0 || q.unsent() != 3 {
		t.Errorf("without a connection it has the number %d; %d bytes are not sent", n, q.unsent())
	}
	q.open = true
	q.add(attach.Act{Cols: 80, Rows: 24})
	q.add(wheel)
	text := "pasted"
	if n := q.add(attach.Act{Paste: &text}); n != 3 || q.unsent() != 9 {
		t.Errorf("the third has the number %d; %d bytes are not sent", n, q.unsent())
	}
	for _, ok := q.next(); ok; _, ok = q.next() {
		q.sent()
	}
	if q.unsent() != 0 {
		t.Errorf("all was sent, but for %d bytes", q.unsent())
	}
	one := uint64(1)
	q.told(&one)
	if n := q.add(key); n != 4 {
		t.Errorf("the fourth has the number %d", n)
	}
	if q.open = false; q.unsent() != 9 {
		t.Errorf("the connection was lost: %d bytes are not known to have arrived", q.unsent())
	}
	for range maxWaiting {
		q.add(key)
	}
	if n := 6 + 3*(maxWaiting+1); q.unsent() != n || q.full == 0 {
		t.Errorf("%d bytes, with %d that there was no room for; want %d", q.unsent(), q.full, n)
	}
	fast := newQueue(true)
	fast.open = true
	for range 20 * maxWaiting { // a paste that comes as keys, to a daemon that takes them one by one
		fast.add(key)
	}
	if fast.full != 0 || len(fast.acts) != 20*maxWaiting {
		t.Errorf("%d bytes of a paste had no room, %d keys wait", fast.full, len(fast.acts))
	}
	here := newQueue(true)
	here.open = true
	if n := here.add(key); n != 0 {
		t.Errorf("this host's echo is awaited: %d", n)
	}
}

// Streams that were lost wait for their daemon, and go on when it is back.
func TestReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reach{}
		r.found()
		begin := time.Now()
		if r.await(t.Context()); time.Since(begin) != retryTime {
			t.Errorf("a stream waits %v for a daemon that is there", time.Since(begin))
		}
		r.lost()
		r.lost()
		for range 2 {
			go func() {
				time.Sleep(time.Minute) // of synctest
				r.found()
			}()
		}
		if r.await(t.Context()); time.Since(begin) != time.Minute+retryTime {
			t.Errorf("it went on after %v", time.Since(begin))
		}
		r.lost()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.await(ctx)
		synctest.Wait()
	})
}
