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
	"sync/atomic"
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

	mu     sync.Mutex // guards what follows
	all    map[string]*Lost
	ending map[string]*Lost // their directories are still there
}

// kept is what the fleet keeps of a host's sessions.
type kept interface {
	sessions(ctx context.Context) ([]string, error)
	// heads are those of what is recorded of a session, and of the newest of what it printed.
	heads(ctx context.Context, id string) (record, newest copies.Head, err error)
	// first is where what is kept of what it printed begins.
	first(ctx context.Context, id string) (copies.Place, error)
	restore(ctx context.Context, id, scratch string, takeIn TakeIn, output bool) (api.RestoredSession, time.Time, error)
}

// Lost is a host whose copies are read.
type Lost struct {
	set   *lostHosts
	part  *part
	kept  kept
	host  string
	dir   string
	most  uint64 // bytes that are here of what was printed, but for what is read
	shelf Shelf
	srv   *http.Server
	conns chan net.Conn
	ended chan struct{}
	gone  chan struct{} // closed once its directory is not there any more
	rest  *time.Timer   // gives it up
	// Guarded by mu of the set: when it was read last, and how many read it now.
	used    time.Time
	readers int

	filling chan struct{} // one request at a time has it filled: who put something in; guards what follows
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
	// readers are requests that are being answered from it: it is not taken away from them. Who fills adds to them.
	readers atomic.Int64
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
	return nil, errors.Join(closing(), here.Close(), there.Close())
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
	for old := s.ending[host]; old != nil; old = s.ending[host] {
		s.mu.Unlock()
		select {
		case <-old.gone:
		case <-ctx.Done():
			return nil, cutOff(ctx.Err())
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	switch l := s.all[host]; {
	case p.ctx.Err() != nil:
		return nil, cutOff(p.ctx.Err())
	case l != nil:
		return l, nil
	}
	dir := filepath.Join(s.m.cfg.Lost, host)
	if err := os.RemoveAll(dir); err != nil {
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	shelf, err := s.m.cfg.OpenShelf(dir)
	if err != nil {
		return nil, api.Errorf(api.CodeStorage, "copies of %s cannot be put in %s: %v", host, dir, err)
	}
	l := newLost(s, host, dir, shelf)
	l.part, l.kept = p, &keptOf{p, host}
	l.srv = &http.Server{
		Handler: shelf.Handler(l), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.m.cfg.Log.Handler(), slog.LevelDebug),
	}
	l.used, l.rest = time.Now(), time.AfterFunc(shelfRest, func() { s.unread(l) })
	s.all[host] = l
	go func() { _ = l.srv.Serve(pipes{l}) }()
	return l, nil
}

func newLost(s *lostHosts, host, dir string, shelf Shelf) *Lost {
	return &Lost{
		set: s, host: host, dir: dir, most: shelfBytes, shelf: shelf, conns: make(chan net.Conn), ended: make(chan struct{}), gone: make(chan struct{}),
		filling: make(chan struct{}, 1), of: map[string]*onShelf{},
	}
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

// read counts a reader until done is called.
func (s *lostHosts) read(l *Lost) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[l.host] != l {
		return nil, closing()
	}
	l.used = time.Now()
	l.readers++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.used = time.Now()
		l.readers--
	}, nil
}

func closing() error { return cutOff(errors.New("the copies are being closed")) }

// unread gives a host's copies up that nobody reads.
func (s *lostHosts) unread(l *Lost) {
	s.mu.Lock()
	rested := time.Since(l.used)
	switch {
	case s.all[l.host] != l:
	case l.readers > 0:
		l.rest.Reset(shelfRest)
	case rested < shelfRest:
		l.rest.Reset(shelfRest - rested)
	default:
		s.giveUp(l)
		s.mu.Unlock()
		s.end(l)
		return
	}
	s.mu.Unlock()
}

func (s *lostHosts) closeAll() {
	s.mu.Lock()
	var others []*Lost
	for _, l := range s.ending {
		others = append(others, l)
	}
	var ours []*Lost
	for _, l := range s.all {
		ours = append(ours, l)
		s.giveUp(l)
	}
	s.mu.Unlock()
	for _, l := range ours {
		s.end(l)
	}
	for _, l := range others {
		<-l.gone
	}
}

// giveUp has a host's copies read by nobody any more; end ends them. The caller holds mu.
func (s *lostHosts) giveUp(l *Lost) {
	delete(s.all, l.host)
	s.ending[l.host] = l
}

// end ends what was given up, which may wait for who fills it.
func (s *lostHosts) end(l *Lost) {
	l.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ending, l.host)
	close(l.gone)
}

func (l *Lost) end() {
	l.rest.Stop()
	close(l.ended)
	_ = l.srv.Close()
	l.filling <- struct{}{} // who fills it is done
	defer func() { <-l.filling }()
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

// Need has here what an answer needs, where it stays until done is called, and says what the copies do not have of it.
func (l *Lost) Need(ctx context.Context, what Part, ref string) (said api.FleetCopy, done func(), err error) {
	said = api.FleetCopy{Host: l.host}
	over, err := l.set.read(l)
	if err != nil {
		return said, nil, err
	}
	var reads []*onShelf
	done = func() {
		for _, e := range reads {
			e.readers.Add(-1)
		}
		over()
	}
	defer func() {
		if err != nil {
			done()
			done = nil
		}
	}()
	select {
	case l.filling <- struct{}{}:
		defer func() { <-l.filling }()
	case <-l.ended:
		return said, done, closing()
	case <-ctx.Done():
		return said, done, ctx.Err()
	}
	select {
	case <-l.ended:
		return said, done, closing()
	default:
	}
	if err := l.look(ctx); err != nil {
		return said, done, err
	}
	hold := func(e *onShelf) {
		reads = append(reads, e)
		e.readers.Add(1)
	}
	count := func(e *onShelf) { said.NotCopied, said.Damaged = said.NotCopied+e.lost, said.Damaged+e.bad }
	switch what {
	case Session:
		id, err := l.shelf.Resolve(ref)
		if err != nil {
			return said, done, err
		}
		if err := l.fill(ctx, id); err != nil {
			return said, done, err
		}
		hold(l.of[id])
		count(l.of[id])
	case Whole:
		err := l.fillAll(ctx, &said, hold)
		if err != nil {
			return said, done, err
		}
		fallthrough
	default:
		for _, e := range l.of {
			hold(e)
			if count(e); e.failed != nil && what == Records {
				said.Left++
			}
		}
	}
	said.AsOf = l.asOf
	return said, done, nil
}

// fillAll fetches what all sessions printed, the newest first, as far as there is room. What is here is held.
func (l *Lost) fillAll(ctx context.Context, said *api.FleetCopy, hold func(*onShelf)) error {
	var ids []string
	for id := range l.of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(l.of[b].newest.Kept.Compare(l.of[a].newest.Kept), cmp.Compare(a, b))
	})
	room := l.most
	for _, id := range ids {
		e := l.of[id]
		size, err := l.size(ctx, id, room)
		if err == nil && size > room {
			said.Left++
			continue
		}
		if err == nil {
			err = l.fill(ctx, id)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			said.Left++
			l.set.m.cfg.Log.Warn("a copy cannot be read", "host", l.host, "session", id, "err", err)
			continue
		}
		hold(e)
		room -= min(room, e.bytes)
	}
	l.shelf.CatchUp(ctx)
	return nil
}

// size is how many bytes of what a session printed the copy has at most; it is only asked for where the session printed
// more than there is room for: what it printed first may not be kept any more.
func (l *Lost) size(ctx context.Context, id string, room uint64) (uint64, error) {
	e := l.of[id]
	printed := e.newest.To.Offset
	switch {
	case e.output:
		return e.bytes, nil
	case e.failed != nil || printed <= room:
		return printed, nil
	}
	asking, done := context.WithTimeout(ctx, askTime)
	defer done()
	from, err := l.kept.first(asking, id)
	if err != nil {
		return 0, cutOff(err)
	}
	return printed - min(printed, from.Offset), nil
}

// look learns which sessions there are, and what is recorded of them.
func (l *Lost) look(ctx context.Context) error {
	if time.Since(l.looked) < lookAgain {
		return nil
	}
	asking, done := context.WithTimeout(ctx, askTime)
	defer done()
	ids, err := l.kept.sessions(asking)
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
			f.record, f.newest, f.err = l.kept.heads(asking, id)
		})
	}
	work.Wait()
	if err := asking.Err(); err != nil {
		return cutOff(err)
	}
	for i := range found {
		f := &found[i]
		e := l.of[f.id]
		if e != nil && e.readers.Load() > 0 { // it stays as it is for now
			continue
		}
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
		if old {
			continue
		}
		err := l.put(ctx, f.id, false)
		if ctx.Err() != nil { // that says nothing of the copy
			return ctx.Err()
		}
		e.failed = err
	}
	l.looked = time.Now()
	return nil
}

// fill fetches what a session printed, and makes room for it.
func (l *Lost) fill(ctx context.Context, id string) error {
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
	if err := l.makeRoom(ctx, id); err != nil {
		return err
	}
	if err := l.put(ctx, id, true); err != nil {
		l.looked = time.Time{} // it may be another by now
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return api.Errorf(api.CodeStorage, "the copy of the session cannot be read: %v", err).WithHint("`longterm fleet status` says whether the fleet can be asked")
	}
	return nil
}

// makeRoom gives up what was printed by sessions that nobody has read for longest. What is being read stays.
func (l *Lost) makeRoom(ctx context.Context, id string) error {
	var old []string
	var have uint64
	for other, e := range l.of {
		if other == id || !e.output {
			continue
		}
		if have += e.bytes; e.readers.Load() == 0 {
			old = append(old, other)
		}
	}
	if have == 0 {
		return nil
	}
	size, err := l.size(ctx, id, l.most-min(l.most, have))
	if err != nil {
		return err
	}
	room := l.most - min(l.most, size)
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
// without. What is there stays until the other was fetched.
func (l *Lost) put(ctx context.Context, id string, output bool) error {
	e := l.of[id]
	got, recorded, err := l.kept.restore(ctx, id, filepath.Join(l.dir, "restoring"), func(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (string, error) {
		if e.newest.Kept.After(last) {
			last = e.newest.Kept
		}
		ctx = context.WithoutCancel(ctx) // both or none
		if err := l.forget(ctx, id); err != nil {
			return "", err
		}
		e.output = false
		return l.shelf.TakeIn(ctx, host, id, record, journal, last)
	}, output)
	if err != nil {
		e.record = time.Time{} // the next look puts it there anew
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

// keptOf is what a fleet that this machine is a part of keeps.
type keptOf struct {
	p    *part
	host string
}

func (k *keptOf) sessions(ctx context.Context) ([]string, error) {
	return copies.Sessions(ctx, k.p.link.JetStream(), k.host)
}

func (k *keptOf) heads(ctx context.Context, id string) (record, newest copies.Head, err error) {
	if record, _, err = copies.Record(ctx, k.p.link.JetStream(), k.p.id.CA, k.host, id); err == nil && !record.Removed {
		newest, _, err = copies.Last(ctx, k.p.link.JetStream(), k.p.id.CA, k.host, id)
	}
	return record, newest, err
}

func (k *keptOf) first(ctx context.Context, id string) (at copies.Place, err error) {
	enough := errors.New("that is enough")
	_, err = copies.Each(ctx, k.p.link.JetStream(), k.p.id.CA, k.host, id, func(h copies.Head, _ []byte) error {
		at = h.From
		return enough
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return at, err
}

func (k *keptOf) restore(ctx context.Context, id, scratch string, takeIn TakeIn, output bool) (api.RestoredSession, time.Time, error) {
	return k.p.restore(ctx, k.host, id, scratch, takeIn, output)
}
