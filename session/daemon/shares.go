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

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/relay/host"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// ShareByRelay serves a session, which a token is for, through a relay. Later daemons continue that.
func (d *Daemon) ShareByRelay(ctx context.Context, t apitoken.Token, at string) (link string, err error) {
	return d.shares.add(ctx, t, at)
}

// TokensRemoved ends the shares and subscriptions to notifications whose tokens were removed.
func (d *Daemon) TokensRemoved() {
	d.shares.sweep()
	d.push.Sweep()
}

// shares holds the sessions shared through relays. A file stores them with the keys of their links, so they outlive
// restarts and upgrades of the daemon, like their tokens.
type shares struct {
	serve  func(token string) http.Handler
	tokens *apitoken.Store
	log    *slog.Logger
	path   string
	ctx    context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup

	mu  sync.Mutex // guards what follows
	all map[string]*shared
}

// shared is one session that is served through a relay.
type shared struct {
	host.Share
	end context.CancelCauseFunc
}

// openShares resumes the stored shares.
func openShares(serve func(token string) http.Handler, tokens *apitoken.Store, log *slog.Logger, path string) *shares {
	s := &shares{serve: serve, tokens: tokens, log: log, path: path, all: map[string]*shared{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	var kept []host.Share
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Error("shares through relays not restored", "file", path, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kept {
		if g, err := tokens.GrantByName(k.Token); err == nil && s.all[k.Token] == nil {
			s.begin(k, g.Expires, true, func(error) {})
		}
	}
	return s
}

// begin serves a share until its token expires. With retry, it keeps trying if the relay is unreachable. The caller
// holds mu.
func (s *shares) begin(k host.Share, until time.Time, retry bool, ready func(error)) {
	ctx, end := context.WithCancelCause(s.ctx)
	over := func() bool { return true }
	if !until.IsZero() {
		over = time.AfterFunc(time.Until(until), func() { end(host.ErrEnded) }).Stop
	}
	one := &shared{k, end}
	s.all[k.Token] = one
	h := &host.Host{Share: k, Serve: s.serve(k.Token), Log: s.log, RetryFirst: retry}
	s.wg.Go(func() {
		defer end(nil)
		defer over()
		h.Run(ctx, ready)
		if s.ctx.Err() == nil { // expired, token removed, or never started
			s.forget(one)
		}
	})
}

// forget removes a share.
func (s *shares) forget(one *shared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[one.Token] == one {
		delete(s.all, one.Token)
		s.save()
	}
}

// add starts and stores a share, if its relay accepts it.
func (s *shares) add(ctx context.Context, t apitoken.Token, at string) (link string, err error) {
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
	s.save()
	return k.Link(), nil
}

// save writes the file. The caller holds mu.
func (s *shares) save() {
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

// sweep ends the shares whose tokens were removed.
func (s *shares) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, one := range s.all {
		if _, err := s.tokens.GrantByName(name); errors.Is(err, apitoken.ErrNotFound) || errors.Is(err, apitoken.ErrExpired) {
			one.end(host.ErrEnded)
		}
	}
}

// close ends all shares.
func (s *shares) close() {
	s.end()
	s.wg.Wait()
}
