//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/relay/host"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// ShareByRelay has a session, that a token is for, served to readers of a relay, by the daemons to come too.
func (d *Daemon) ShareByRelay(ctx context.Context, t access.Token, at string) (link string, err error) {
	return d.shares.add(ctx, t, at)
}

// SharesChanged ends the shares whose tokens are gone.
func (d *Daemon) SharesChanged() { d.shares.sweep() }

// shares are the sessions that are shared through relays. They are kept in a file, with the keys of their links: what
// is shared outlives restarts and upgrades of the daemon, as its token does.
type shares struct {
	serve  func(token string) http.Handler
	tokens *access.Store
	log    *slog.Logger
	path   string
	ctx    context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup

	mu  sync.Mutex // guards what follows
	all map[string]*shared
}

// shared is one that is served.
type shared struct {
	host.Share
	end context.CancelCauseFunc
}

// openShares serves what was shared before.
func openShares(serve func(token string) http.Handler, tokens *access.Store, log *slog.Logger, path string) *shares {
	s := &shares{serve: serve, tokens: tokens, log: log, path: path, all: map[string]*shared{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	var kept []host.Share
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Error("what was shared through relays is shared no more", "file", path, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kept {
		if g, err := tokens.Named(k.Token); err == nil && s.all[k.Token] == nil {
			s.begin(k, g.Expires, true, func(error) {})
		}
	}
	return s
}

// begin serves a share until its token expires. stubborn: even if its relay is not there yet. The caller holds mu.
func (s *shares) begin(k host.Share, until time.Time, stubborn bool, ready func(error)) {
	ctx, end := context.WithCancelCause(s.ctx)
	over := func() bool { return true }
	if !until.IsZero() {
		over = time.AfterFunc(time.Until(until), func() { end(host.ErrEnded) }).Stop
	}
	one := &shared{k, end}
	s.all[k.Token] = one
	h := &host.Host{Share: k, Serve: s.serve(k.Token), Log: s.log, Stubborn: stubborn}
	s.wg.Go(func() {
		defer end(nil)
		defer over()
		h.Run(ctx, ready)
		if s.ctx.Err() == nil { // it expired, or its token is gone, or it never began
			s.forget(one)
		}
	})
}

func (s *shares) forget(one *shared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[one.Token] == one {
		delete(s.all, one.Token)
		s.keep()
	}
}

// add serves a share. It is made only if its relay takes it.
func (s *shares) add(ctx context.Context, t access.Token, at string) (link string, err error) {
	k, err := host.New(t.Name, at)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "%v", err)
	}
	ready := make(chan error, 1)
	s.mu.Lock()
	s.begin(k, t.Expires, false, func(err error) { ready <- err })
	one := s.all[t.Name]
	s.mu.Unlock()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		one.end(nil)
		return "", api.Errorf(api.CodeUnavailable, "the relay cannot be used: %v", err).WithHint("is `longterm relay` running there?")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep()
	return k.Link(), nil
}

// keep writes the file. The caller holds mu.
func (s *shares) keep() {
	kept := make([]host.Share, 0, len(s.all))
	for _, one := range s.all {
		kept = append(kept, one.Share)
	}
	b, err := json.Marshal(kept)
	if err == nil {
		err = atomicfile.Write(s.path, atomicfile.Options{Mode: 0o600, Sync: atomicfile.ContentAndName}, append(b, '\n'))
	}
	if err != nil {
		s.log.Error("what is shared through relays will not be shared by the next daemon", "err", err)
	}
}

// sweep ends those whose token is gone.
func (s *shares) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, one := range s.all {
		if _, err := s.tokens.Named(name); errors.Is(err, access.ErrUnknown) || errors.Is(err, access.ErrExpired) {
			one.end(host.ErrEnded)
		}
	}
}

func (s *shares) close() {
	s.end()
	s.wg.Wait()
}
