//go:build unix

package member

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/copies"
)

// Shelf is an instance of this daemon's own that sessions of one lost host are put in, to be read with what reads any
// other's.
type Shelf interface {
	TakeIn(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (name string, err error)
	Forget(ctx context.Context, id string) error
	// Resolve is the id of a session, by id, name or unique prefix of either.
	Resolve(ref string) (id string, err error)
	// CatchUp has all that is in it be found by searches.
	CatchUp(ctx context.Context)
	// Handler serves the API; before an answer is made, of is asked for what the answer is about.
	Handler(of *Lost) http.Handler
	Close()
}

// How long copies that nobody reads stay here, how much of them does in all, and how often is looked whether the fleet has
// newer ones: a host that counts as lost may be back and gone again.
const (
	shelfRest  = 10 * time.Minute
	shelfBytes = 2 << 30
	lookAgain  = 5 * time.Second
	// atOnce is how many sessions are asked for at once.
	atOnce = 8
)

// lostHosts are the hosts whose copies are read here. Nothing of them outlives the daemon.
type lostHosts struct {
	m *Member

	mu  sync.Mutex // guards what follows
	all map[string]*Lost
}

// Lost is a host whose copies are read.
type Lost struct {
	set   *lostHosts
	part  *part
	host  string
	dir   string
	shelf Shelf
	srv   *http.Server
	conns chan net.Conn
	ended chan struct{}
	rest  *time.Timer // gives it up
	used  time.Time   // guarded by mu of the set

	filling sync.Mutex // one request at a time has it filled; guards what follows
	looked  time.Time
	of      map[string]*onShelf
	asOf    time.Time
}

// onShelf is a session of it.
type onShelf struct {
	record time.Time   // of what is recorded of it
	newest copies.Head // of its output in the fleet
	output bool        // what it printed is here, up to there
	bytes  uint64
	lost   uint64 // bytes that are not in the copy
	bad    int
	used   time.Time
	failed error
}

// Part of what is known of a lost host that an answer needs.
type Part int

// Parts: what is recorded of all sessions, one of them whole, all of them whole.
const (
	Records Part = iota
	Session
	Whole
)

// DialCopy is a stream of bytes to an instance that has the fleet's copies of a host, and is only read.
func (m *Member) DialCopy(ctx context.Context, host string) (net.Conn, error) {
	p, err := m.now()
	if err != nil {
		return nil, err
	}
	if err := fleet.CheckName(host); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if may, err := access.ParseRights(p.id.May); err != nil || may != access.Everything || p.id.Masked {
		return nil, api.Errorf(api.CodeDenied, "copies of other hosts' sessions are told to no machine that may not do everything on them").
			WithHint("the fleet's owner invites it anew, without --may and --masked")
	}
	l, err := m.lost.open(ctx, p, host)
	if err != nil {
		return nil, err
	}
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.ended:
	case <-ctx.Done():
	}
	return nil, errors.Join(cutOff(errors.New("the copies are being closed")), here.Close(), there.Close())
}

// open is a host's copies, which are looked for when they are not known yet.
func (s *lostHosts) open(ctx context.Context, p *part, host string) (*Lost, error) {
	if l := s.known(p, host); l != nil {
		return l, nil
	}
	asking, done := context.WithTimeout(ctx, askTime)
	defer done()
	ids, err := copies.Sessions(asking, p.link.JetStream(), host)
	if err != nil {
		return nil, cutOff(err)
	}
	if len(ids) == 0 {
		return nil, api.Errorf(api.CodeNotFound, "the fleet has no copies of sessions of %s", host).WithHint("`longterm fleet ls` lists the sessions of all hosts")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.all[host]
	switch {
	case old != nil && old.part == p:
		return old, nil
	case p.ctx.Err() != nil:
		return nil, cutOff(p.ctx.Err())
	case old != nil:
		delete(s.all, host)
		old.end()
	}
	dir := filepath.Join(s.m.cfg.Lost, host)
	if err := os.RemoveAll(dir); err != nil {
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	shelf, err := s.m.cfg.OpenShelf(dir)
	if err != nil {
		return nil, api.Errorf(api.CodeStorage, "copies of %s cannot be put in %s: %v", host, dir, err)
	}
	l := &Lost{set: s, part: p, host: host, dir: dir, shelf: shelf, conns: make(chan net.Conn), ended: make(chan struct{}), of: map[string]*onShelf{}}
	l.srv = &http.Server{
		Handler: shelf.Handler(l), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.m.cfg.Log.Handler(), slog.LevelDebug),
	}
	l.used, l.rest = time.Now(), time.AfterFunc(shelfRest, func() { s.unread(l) })
	s.all[host] = l
	go func() { _ = l.srv.Serve(pipes{l}) }()
	return l, nil
}

func (s *lostHosts) known(p *part, host string) *Lost {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.all[host]; l != nil && l.part == p {
		l.used = time.Now()
		return l
	}
	return nil
}

// unread gives a host's copies up that nobody reads.
func (s *lostHosts) unread(l *Lost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rested := time.Since(l.used)
	switch {
	case s.all[l.host] != l:
	case rested < shelfRest:
		l.rest.Reset(shelfRest - rested)
	default:
		delete(s.all, l.host)
		l.end()
	}
}

func (s *lostHosts) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for host, l := range s.all {
		delete(s.all, host)
		l.end()
	}
}

func (l *Lost) end() {
	l.rest.Stop()
	close(l.ended)
	_ = l.srv.Close()
	l.filling.Lock() // who fills it is done
	defer l.filling.Unlock()
	l.shelf.Close()
	if err := os.RemoveAll(l.dir); err != nil {
		l.set.m.cfg.Log.Warn("copies that nobody reads are not removed", "host", l.host, "err", err)
	}
}

// pipes are the connections to a lost host's copies, as a listener.
type pipes struct{ l *Lost }

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.l.conns:
		return c, nil
	case <-p.l.ended:
		return nil, io.EOF
	}
}

// Close implements net.Listener.
func (p pipes) Close() error { return nil }

// Addr implements net.Listener.
func (p pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// Host is its name.
func (l *Lost) Host() string { return l.host }

// Need has here what an answer needs, and says what the copies do not have of it.
func (l *Lost) Need(ctx context.Context, what Part, ref string) (api.FleetCopy, error) {
	l.set.known(l.part, l.host) // it is read
	l.filling.Lock()
	defer l.filling.Unlock()
	said := api.FleetCopy{Host: l.host}
	select {
	case <-l.ended:
		return said, cutOff(errors.New("the copies are being closed"))
	default:
	}
	if err := l.look(ctx); err != nil {
		return said, err
	}
	count := func(e *onShelf) { said.NotCopied, said.Damaged = said.NotCopied+e.lost, said.Damaged+e.bad }
	switch what {
	case Session:
		id, err := l.shelf.Resolve(ref)
		if err != nil {
			return said, err
		}
		if err := l.fill(ctx, id, shelfBytes); err != nil {
			return said, err
		}
		count(l.of[id])
	case Whole:
		err := l.fillAll(ctx, &said)
		if err != nil {
			return said, err
		}
		fallthrough
	default:
		for _, e := range l.of {
			if count(e); e.failed != nil && what == Records {
				said.Left++
			}
		}
	}
	said.AsOf = l.asOf
	return said, nil
}

// fillAll fetches what all sessions printed, the newest first, as far as there is room.
func (l *Lost) fillAll(ctx context.Context, said *api.FleetCopy) error {
	var ids []string
	for id := range l.of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(l.of[b].newest.Kept.Compare(l.of[a].newest.Kept), cmp.Compare(a, b))
	})
	room := uint64(shelfBytes)
	for _, id := range ids {
		e := l.of[id]
		if e.newest.To.Offset > room {
			said.Left++
			continue
		}
		err := l.fill(ctx, id, room)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			said.Left++
			l.set.m.cfg.Log.Warn("a copy cannot be read", "host", l.host, "session", id, "err", err)
			continue
		}
		room -= min(room, e.bytes)
	}
	l.shelf.CatchUp(ctx)
	return nil
}

// look learns which sessions there are, and what is recorded of them.
func (l *Lost) look(ctx context.Context) error {
	if time.Since(l.looked) < lookAgain {
		return nil
	}
	asking, done := context.WithTimeout(ctx, askTime)
	defer done()
	p, js := l.part, l.part.link.JetStream()
	ids, err := copies.Sessions(asking, js, l.host)
	if err != nil {
		return cutOff(err)
	}
	type seen struct {
		id             string
		record, newest copies.Head
		err            error
	}
	found := make([]seen, len(ids))
	var work sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, id := range ids {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			f := &found[i]
			f.id = id
			if f.record, _, f.err = copies.Record(asking, js, p.id.CA, l.host, id); f.err == nil && !f.record.Removed {
				f.newest, _, f.err = copies.Last(asking, js, p.id.CA, l.host, id)
			}
		})
	}
	work.Wait()
	if err := asking.Err(); err != nil {
		return cutOff(err)
	}
	for i := range found {
		f := &found[i]
		e := l.of[f.id]
		if f.err == nil && f.record.Removed {
			if e != nil {
				if err := l.forget(ctx, f.id); err != nil {
					return err
				}
				delete(l.of, f.id)
			}
			continue
		}
		if e == nil {
			e = &onShelf{}
			l.of[f.id] = e
		}
		if e.failed = f.err; f.err != nil {
			continue
		}
		for _, at := range []time.Time{f.record.Kept, f.newest.Kept} {
			if at.After(l.asOf) {
				l.asOf = at
			}
		}
		old := e.record.Equal(f.record.Kept) && (!e.output || e.newest.To == f.newest.To)
		e.newest = f.newest
		if end := max(f.newest.End, f.record.End); !e.output && end > f.newest.To.Offset {
			e.lost = end - f.newest.To.Offset
		}
		if !old {
			e.failed = l.put(ctx, f.id, false)
		}
	}
	l.looked = time.Now()
	return nil
}

// fill fetches what a session printed, and makes room for it: at most so many bytes are here afterwards.
func (l *Lost) fill(ctx context.Context, id string, most uint64) error {
	e := l.of[id]
	if e == nil {
		return api.Errorf(api.CodeNotFound, "no session %q in the copy of %s", id, l.host)
	}
	if e.failed != nil {
		return api.Errorf(api.CodeStorage, "the copy of the session cannot be read: %v", e.failed)
	}
	e.used = time.Now()
	if e.output {
		return nil
	}
	if err := l.makeRoom(ctx, id, most); err != nil {
		return err
	}
	if err := l.put(ctx, id, true); err != nil {
		return api.Errorf(api.CodeStorage, "the copy of the session cannot be read: %v", err).WithHint("`longterm fleet status` says whether the fleet can be asked")
	}
	return nil
}

// makeRoom gives up what was printed by sessions that nobody has read for longest.
func (l *Lost) makeRoom(ctx context.Context, id string, most uint64) error {
	room := most - min(most, l.of[id].newest.To.Offset)
	var old []string
	var have uint64
	for other, e := range l.of {
		if other != id && e.output {
			old, have = append(old, other), have+e.bytes
		}
	}
	slices.SortFunc(old, func(a, b string) int { return l.of[a].used.Compare(l.of[b].used) })
	for _, other := range old {
		if have <= room {
			break
		}
		have -= l.of[other].bytes
		if err := l.put(ctx, other, false); err != nil {
			return err
		}
	}
	return nil
}

// put puts a session on the shelf, in the place of what is there of it: what is recorded of it, with what it printed or
// without.
func (l *Lost) put(ctx context.Context, id string, output bool) error {
	e := l.of[id]
	if err := l.forget(ctx, id); err != nil {
		return err
	}
	e.output, e.record = false, time.Time{}
	got, recorded, err := l.part.restore(ctx, l.host, id, filepath.Join(l.dir, "restoring"), func(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (string, error) {
		if e.newest.Kept.After(last) {
			last = e.newest.Kept
		}
		return l.shelf.TakeIn(ctx, host, id, record, journal, last)
	}, output)
	if err != nil {
		return err
	}
	if e.record, e.output = recorded, output; output {
		e.bytes, e.lost, e.bad = got.Bytes, got.Missing+got.Tail, got.Damaged
	}
	return nil
}

func (l *Lost) forget(ctx context.Context, id string) error {
	if _, err := l.shelf.Resolve(id); err != nil { // it is not there
		return nil
	}
	return l.shelf.Forget(ctx, id)
}
