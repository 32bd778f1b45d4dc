//go:build unix

package fleetmember

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

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/replica"
)

// ReplicaDaemon is a read-only daemon for the replicas of one lost host. It serves them by the same code as local sessions.
type ReplicaDaemon interface {
	// Import imports a session's record and journal.
	Import(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (name string, err error)
	Forget(ctx context.Context, id string) error // Forget removes a session.
	// Resolve returns the ID of a session, by ID, name or unique prefix of either.
	Resolve(ref string) (id string, err error)
	// CatchUp indexes all output for searches.
	CatchUp(ctx context.Context)
	// Handler serves the API; it announces each request's subject to of before answering.
	Handler(of *HostReplica) http.Handler
	Close()
}

// Bounds of the replicas on this machine: how long unread ones stay, their total size, and how often the fleet is
// checked for newer ones, because a lost host may have returned and vanished again.
const (
	replicaIdleTime = 10 * time.Minute
	maxReplicaBytes = 2 << 30
	refreshInterval = 5 * time.Second
	// maxParallel bounds the sessions that are requested in parallel.
	maxParallel = 8
)

// lostHosts holds the lost hosts whose replicas are read here. They are deleted with the daemon.
type lostHosts struct {
	m *Member

	mu     sync.Mutex // guards what follows
	all    map[string]*HostReplica
	ending map[string]*HostReplica // replicas whose directories are being deleted
}

// replicaStore is the fleet's storage of a host's sessions.
type replicaStore interface {
	sessions(ctx context.Context) ([]string, error)
	// heads returns the heads of a session's record and of its newest output.
	heads(ctx context.Context, id string) (record, newest replica.Head, err error)
	// first returns the place where the stored output starts.
	first(ctx context.Context, id string) (replica.Place, error)
	restore(ctx context.Context, id, scratch string, takeIn ImportSession, output bool) (api.RestoredSession, time.Time, error)
}

// HostReplica is the local copy of a lost host's sessions.
type HostReplica struct {
	set        *lostHosts
	membership *membership
	store      replicaStore
	host       string
	dir        string
	maxBytes   uint64 // bound of stored output, except output in use
	daemon     ReplicaDaemon
	srv        *http.Server
	conns      chan net.Conn
	ended      chan struct{}
	removed    chan struct{} // closed once the directory is removed
	expiry     *time.Timer   // drops the replica when it is not read
	// used and readers are guarded by lostHosts.mu: the time of the last read, and the number of readers.
	used    time.Time
	readers int

	filling   chan struct{} // held by the request that fills the replica; guards the fields below
	refreshed time.Time
	sessions  map[string]*replicaSession
	asOf      time.Time // time of the newest record
}

// replicaSession is a session of a lost host.
type replicaSession struct {
	record time.Time    // time of the fetched record
	newest replica.Head // of its output in the fleet
	output bool         // the output up to newest is here
	bytes  uint64
	lost   uint64 // bytes missing in the replica
	bad    int    // number of damaged chunks
	used   time.Time
	failed error
	// readers counts the requests that read the session, which keeps it here. Only the filling request increments it.
	readers atomic.Int64
}

// ReplicaSlice selects the part of a lost host that an answer needs.
type ReplicaSlice int

// Slices: the records of all sessions, one session with output, all sessions with output.
const (
	RecordsOnly ReplicaSlice = iota
	SessionOutput
	AllOutput
)

// DialReplica opens a stream to a read-only daemon with the fleet's replica of a host.
func (m *Member) DialReplica(ctx context.Context, host string) (net.Conn, error) {
	p, err := m.current()
	if err != nil {
		return nil, err
	}
	if err := fleet.CheckName(host); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if may, err := apitoken.ParseRights(p.id.May); err != nil || may != apitoken.Everything || p.id.Masked {
		return nil, api.Errorf(api.CodeDenied, "replica denied: this machine has limited rights in the fleet").
			WithHint("invite it again without --may and --masked")
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
	return nil, errors.Join(closingError(), here.Close(), there.Close())
}

// open returns a host's replica and fetches its list of sessions if it is not known yet.
func (s *lostHosts) open(ctx context.Context, p *membership, host string) (*HostReplica, error) {
	if l := s.openReplica(p, host); l != nil {
		return l, nil
	}
	asking, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	ids, err := replica.Sessions(asking, p.link.JetStream(), host)
	if err != nil {
		return nil, unreachable(err)
	}
	if len(ids) == 0 {
		return nil, api.Errorf(api.CodeNotFound, "the fleet has no copies of sessions of %s", host).WithHint("`longterm fleet ls` lists the sessions of all hosts")
	}
	s.mu.Lock()
	for old := s.ending[host]; old != nil; old = s.ending[host] {
		s.mu.Unlock()
		select {
		case <-old.removed:
		case <-ctx.Done():
			return nil, unreachable(ctx.Err())
		}
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	switch l := s.all[host]; {
	case p.ctx.Err() != nil:
		return nil, unreachable(p.ctx.Err())
	case l != nil:
		return l, nil
	}
	dir := filepath.Join(s.m.cfg.ReplicaDir, host)
	if err := os.RemoveAll(dir); err != nil {
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	shelf, err := s.m.cfg.OpenReplicaDaemon(dir)
	if err != nil {
		return nil, api.Errorf(api.CodeStorage, "copies of %s cannot be put in %s: %v", host, dir, err)
	}
	l := newHostReplica(s, host, dir, shelf)
	l.membership, l.store = p, &fleetStore{p, host}
	l.srv = &http.Server{
		Handler: shelf.Handler(l), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.m.cfg.Log.Handler(), slog.LevelDebug),
	}
	l.used, l.expiry = time.Now(), time.AfterFunc(replicaIdleTime, func() { s.expire(l) })
	s.all[host] = l
	go func() { _ = l.srv.Serve(pipeListener{l}) }()
	return l, nil
}

func newHostReplica(s *lostHosts, host, dir string, shelf ReplicaDaemon) *HostReplica {
	return &HostReplica{
		set: s, host: host, dir: dir, maxBytes: maxReplicaBytes, daemon: shelf, conns: make(chan net.Conn), ended: make(chan struct{}), removed: make(chan struct{}),
		filling: make(chan struct{}, 1), sessions: map[string]*replicaSession{},
	}
}

// openReplica returns the replica of a host that is open here, or nil.
func (s *lostHosts) openReplica(p *membership, host string) *HostReplica {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.all[host]; l != nil && l.membership == p {
		l.used = time.Now()
		return l
	}
	return nil
}

// read counts a reader until done is called.
func (s *lostHosts) read(l *HostReplica) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[l.host] != l {
		return nil, closingError()
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

// closingError returns the error of a replica that is being closed.
func closingError() error { return unreachable(errors.New("the copies are being closed")) }

// expire drops a host's replica that was not read for replicaIdleTime.
func (s *lostHosts) expire(l *HostReplica) {
	s.mu.Lock()
	rested := time.Since(l.used)
	switch {
	case s.all[l.host] != l:
	case l.readers > 0:
		l.expiry.Reset(replicaIdleTime)
	case rested < replicaIdleTime:
		l.expiry.Reset(replicaIdleTime - rested)
	default:
		s.retire(l)
		s.mu.Unlock()
		s.end(l)
		return
	}
	s.mu.Unlock()
}

// closeAll deletes all replicas.
func (s *lostHosts) closeAll() {
	s.mu.Lock()
	var others []*HostReplica
	for _, l := range s.ending {
		others = append(others, l)
	}
	var ours []*HostReplica
	for _, l := range s.all {
		ours = append(ours, l)
		s.retire(l)
	}
	s.mu.Unlock()
	for _, l := range ours {
		s.end(l)
	}
	for _, l := range others {
		<-l.removed
	}
}

// retire removes a replica from use; end must follow. The caller holds mu.
func (s *lostHosts) retire(l *HostReplica) {
	delete(s.all, l.host)
	s.ending[l.host] = l
}

// end deletes a retired replica. It may wait for the request that fills it.
func (s *lostHosts) end(l *HostReplica) {
	l.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ending, l.host)
	close(l.removed)
}

// end stops the server and removes the directory.
func (l *HostReplica) end() {
	l.expiry.Stop()
	close(l.ended)
	_ = l.srv.Close()
	l.filling <- struct{}{} // waits for a request that fills it
	defer func() { <-l.filling }()
	l.daemon.Close()
	if err := os.RemoveAll(l.dir); err != nil {
		l.set.m.cfg.Log.Warn("remove unread replicas", "host", l.host, "err", err)
	}
}

// pipeListener is a net.Listener for connections to a lost host's replica.
type pipeListener struct{ l *HostReplica }

// Accept implements net.Listener.
func (p pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-p.l.conns:
		return c, nil
	case <-p.l.ended:
		return nil, io.EOF
	}
}

// Close implements net.Listener.
func (p pipeListener) Close() error { return nil }

// Addr implements net.Listener.
func (p pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// Host returns the host's name.
func (l *HostReplica) Host() string { return l.host }

// Need fetches what an answer needs and keeps it until done is called. It returns what the replica lacks of it.
func (l *HostReplica) Need(ctx context.Context, what ReplicaSlice, ref string) (said api.FleetCopy, done func(), err error) {
	said = api.FleetCopy{Host: l.host}
	over, err := l.set.read(l)
	if err != nil {
		return said, nil, err
	}
	var reads []*replicaSession
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
		return said, done, closingError()
	case <-ctx.Done():
		return said, done, ctx.Err()
	}
	select {
	case <-l.ended:
		return said, done, closingError()
	default:
	}
	if err := l.refresh(ctx); err != nil {
		return said, done, err
	}
	hold := func(e *replicaSession) {
		reads = append(reads, e)
		e.readers.Add(1)
	}
	count := func(e *replicaSession) { said.NotCopied, said.Damaged = said.NotCopied+e.lost, said.Damaged+e.bad }
	switch what {
	case SessionOutput:
		id, err := l.daemon.Resolve(ref)
		if err != nil {
			return said, done, err
		}
		if err := l.fill(ctx, id); err != nil {
			return said, done, err
		}
		hold(l.sessions[id])
		count(l.sessions[id])
	case AllOutput:
		err := l.fillAll(ctx, &said, hold)
		if err != nil {
			return said, done, err
		}
		fallthrough
	default:
		for _, e := range l.sessions {
			hold(e)
			if count(e); e.failed != nil && what == RecordsOnly {
				said.LeftOut++
			}
		}
	}
	said.AsOf = l.asOf
	return said, done, nil
}

// fillAll fetches the output of all sessions, the newest first, as far as space permits, and calls hold for each that
// is here.
func (l *HostReplica) fillAll(ctx context.Context, said *api.FleetCopy, hold func(*replicaSession)) error {
	var ids []string
	for id := range l.sessions {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(l.sessions[b].newest.Kept.Compare(l.sessions[a].newest.Kept), cmp.Compare(a, b))
	})
	room := l.maxBytes
	for _, id := range ids {
		e := l.sessions[id]
		size, err := l.size(ctx, id, room)
		if err == nil && size > room {
			said.LeftOut++
			continue
		}
		if err == nil {
			err = l.fill(ctx, id)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			said.LeftOut++
			l.set.m.cfg.Log.Warn("a copy cannot be read", "host", l.host, "session", id, "err", err)
			continue
		}
		hold(e)
		room -= min(room, e.bytes)
	}
	l.daemon.CatchUp(ctx)
	return nil
}

// size returns an upper bound of the bytes that the replica has of a session's output. It queries the fleet only if the
// session printed more than room, because the oldest output may be gone.
func (l *HostReplica) size(ctx context.Context, id string, room uint64) (uint64, error) {
	e := l.sessions[id]
	printed := e.newest.To.Offset
	switch {
	case e.output:
		return e.bytes, nil
	case e.failed != nil || printed <= room:
		return printed, nil
	}
	asking, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	from, err := l.store.first(asking, id)
	if err != nil {
		return 0, unreachable(err)
	}
	return printed - min(printed, from.Offset), nil
}

// refresh reads the list of sessions and their records, at most every refreshInterval.
func (l *HostReplica) refresh(ctx context.Context) error {
	if time.Since(l.refreshed) < refreshInterval {
		return nil
	}
	asking, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	ids, err := l.store.sessions(asking)
	if err != nil {
		return unreachable(err)
	}
	type seen struct {
		id             string
		record, newest replica.Head
		err            error
	}
	found := make([]seen, len(ids))
	var work sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i, id := range ids {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			f := &found[i]
			f.id = id
			f.record, f.newest, f.err = l.store.heads(asking, id)
		})
	}
	work.Wait()
	if err := asking.Err(); err != nil {
		return unreachable(err)
	}
	for i := range found {
		f := &found[i]
		e := l.sessions[f.id]
		if e != nil && e.readers.Load() > 0 { // it stays as it is for now
			continue
		}
		if f.err == nil && f.record.Removed {
			if e != nil {
				if err := l.forget(ctx, f.id); err != nil {
					return err
				}
				delete(l.sessions, f.id)
			}
			continue
		}
		if e == nil {
			e = &replicaSession{}
			l.sessions[f.id] = e
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
		if ctx.Err() != nil { // not an error of the replica
			return ctx.Err()
		}
		e.failed = err
	}
	l.refreshed = time.Now()
	return nil
}

// fill fetches a session's output after freeing space for it.
func (l *HostReplica) fill(ctx context.Context, id string) error {
	e := l.sessions[id]
	if e == nil {
		return api.Errorf(api.CodeNotFound, "no session %q in the copy of %s", id, l.host)
	}
	if e.failed != nil {
		return api.Errorf(api.CodeStorage, "replica of the session not readable: %v", e.failed)
	}
	e.used = time.Now()
	if e.output {
		return nil
	}
	if err := l.makeRoom(ctx, id); err != nil {
		return err
	}
	if err := l.put(ctx, id, true); err != nil {
		l.refreshed = time.Time{} // it may be another by now
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return api.Errorf(api.CodeStorage, "replica of the session not readable: %v", err).WithHint("`longterm fleet status` shows whether the fleet is reachable")
	}
	return nil
}

// makeRoom drops the output of the least recently read sessions that are not in use.
func (l *HostReplica) makeRoom(ctx context.Context, id string) error {
	var old []string
	var have uint64
	for other, e := range l.sessions {
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
	size, err := l.size(ctx, id, l.maxBytes-min(l.maxBytes, have))
	if err != nil {
		return err
	}
	room := l.maxBytes - min(l.maxBytes, size)
	slices.SortFunc(old, func(a, b string) int { return l.sessions[a].used.Compare(l.sessions[b].used) })
	for _, other := range old {
		if have <= room {
			break
		}
		have -= l.sessions[other].bytes
		if err := l.put(ctx, other, false); err != nil {
			return err
		}
	}
	return nil
}

// put fetches a session's record, with or without its output, and replaces the local one. The old one stays until the
// new one has arrived.
func (l *HostReplica) put(ctx context.Context, id string, output bool) error {
	e := l.sessions[id]
	got, recorded, err := l.store.restore(ctx, id, filepath.Join(l.dir, "restoring"), func(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (string, error) {
		if e.newest.Kept.After(last) {
			last = e.newest.Kept
		}
		ctx = context.WithoutCancel(ctx) // both or none
		if err := l.forget(ctx, id); err != nil {
			return "", err
		}
		e.output = false
		return l.daemon.Import(ctx, host, id, record, journal, last)
	}, output)
	if err != nil {
		e.record = time.Time{} // fetched again at the next check
		return err
	}
	if e.record, e.output = recorded, output; output {
		e.bytes, e.lost, e.bad = got.Bytes, got.Missing+got.Tail, got.Damaged
	}
	return nil
}

// forget removes a session that the fleet no longer has.
func (l *HostReplica) forget(ctx context.Context, id string) error {
	if _, err := l.daemon.Resolve(id); err != nil { // it is not there
		return nil
	}
	return l.daemon.Forget(ctx, id)
}

// fleetStore implements replicaStore for a fleet.
type fleetStore struct {
	p    *membership
	host string
}

func (k *fleetStore) sessions(ctx context.Context) ([]string, error) {
	return replica.Sessions(ctx, k.p.link.JetStream(), k.host)
}

func (k *fleetStore) heads(ctx context.Context, id string) (record, newest replica.Head, err error) {
	if record, _, err = replica.Record(ctx, k.p.link.JetStream(), k.p.id.CA, k.host, id); err == nil && !record.Removed {
		newest, _, err = replica.LastChunk(ctx, k.p.link.JetStream(), k.p.id.CA, k.host, id)
	}
	return record, newest, err
}

func (k *fleetStore) first(ctx context.Context, id string) (at replica.Place, err error) {
	enough := errors.New("that is enough")
	_, err = replica.EachChunk(ctx, k.p.link.JetStream(), k.p.id.CA, k.host, id, func(h replica.Head, _ []byte) error {
		at = h.From
		return enough
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return at, err
}

func (k *fleetStore) restore(ctx context.Context, id, scratch string, takeIn ImportSession, output bool) (api.RestoredSession, time.Time, error) {
	return k.p.restore(ctx, k.host, id, scratch, takeIn, output)
}
