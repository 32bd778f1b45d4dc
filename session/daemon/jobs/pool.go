//go:build unix

package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

const (
	maxPools = 4 // environments and directories with warm shells; the least recently used is removed
	// warmTime bounds the start of a warm shell.
	warmTime = 10 * time.Second

	warmGrace = time.Second // of each step of the kill ladder: all steps fit into warmTime
)

// pool holds warm shells: started, at their first prompt, with no line run in them. Each runs one line, the oldest
// first: what a line leaves in a shell (variables, functions, options) cannot all be seen. Others are started in the
// background after the line has ended.
//
// A warm shell is for callers with the directory and environment that it was started with, so that a command finds what
// it would find in its own shell.
type pool struct {
	jobs *Set

	mu     sync.Mutex
	groups []*warmGroup // least used first
	closed bool         // the daemon leaves
	work   sync.WaitGroup
}

// close waits for shells that are being started or ended.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.work.Wait()
}

// warmGroup holds the warm shells for one directory and environment.
type warmGroup struct {
	key      string
	who      identity.Actor // the callers that may use the shells
	start    api.NewSession
	ready    []*warm // idle shells, oldest first
	starting bool
}

// warm is a shell of the pool.
type warm struct {
	*registry.Handle
	group *warmGroup
	dir   string // as the shell reported it at its first prompt
}

// volatileVars are variables that differ between callers without effect on a command.
var volatileVars = []string{"_", "OLDPWD", "PWD", "SHLVL", "LONGTERM_SESSION"}

// poolKey returns the key of the group whose shells have the caller's directory and environment.
func poolKey(n *api.NewSession, agent string) string {
	env := slices.DeleteFunc(slices.Clone(n.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(volatileVars, name)
	})
	slices.Sort(env)
	pass := slices.Sorted(slices.Values(n.EnvPass))
	var key []byte
	for _, list := range [][]string{env, n.SetEnv, pass, {n.Cwd, n.EnvMode, n.Umask, n.Policy, agent}} {
		key = append(key, strings.Join(list, "\x00")+"\x00\x00"...)
	}
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// take returns a warm shell. If none is ready it starts one.
func (p *pool) take(ctx context.Context, n api.NewSession) (*warm, error) {
	r := p.groupFor(n, identity.Of(ctx))
	for {
		p.mu.Lock()
		if len(r.ready) == 0 {
			p.mu.Unlock()
			break
		}
		w := r.ready[0]
		r.ready = r.ready[1:]
		p.mu.Unlock()
		if w.isClean() {
			return w, nil
		}
		p.end(w.Handle) // it died, or was used
	}
	return p.make(ctx, r)
}

// groupFor returns the group of shells for a caller, and creates it if needed. The least recently used group is
// removed.
func (p *pool) groupFor(n api.NewSession, who identity.Actor) *warmGroup {
	who = identity.Actor{UID: who.UID, Agent: who.Agent, Policy: who.Policy}
	key := poolKey(&n, who.Agent)
	p.mu.Lock()
	i := slices.IndexFunc(p.groups, func(r *warmGroup) bool { return r.key == key })
	var r *warmGroup
	if i >= 0 {
		r = p.groups[i]
		p.groups = slices.Delete(p.groups, i, i+1)
	} else {
		r = &warmGroup{key: key, who: who, start: api.NewSession{ApprovalOptions: api.ApprovalOptions{Policy: n.Policy}, Cwd: n.Cwd, Env: n.Env, SetEnv: n.SetEnv, EnvMode: n.EnvMode, EnvPass: n.EnvPass, Umask: n.Umask, Labels: map[string]string{registry.PoolLabel: key}}}
	}
	p.groups = append(p.groups, r)
	var old []*warm
	if len(p.groups) > maxPools {
		old = p.groups[0].ready
		p.groups = p.groups[1:]
	}
	p.mu.Unlock()
	for _, w := range old {
		p.end(w.Handle)
	}
	return r
}

// fill starts shells until the group is full, in the background, one after the other.
func (p *pool) fill(r *warmGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.starting && !p.closed {
		r.starting = true
		p.work.Go(func() { p.startShells(r) })
	}
}

// startShells starts shells one after the other until the group is full.
func (p *pool) startShells(r *warmGroup) {
	for p.needsMore(r) {
		w, err := p.make(p.jobs.ctx, r)
		if err != nil {
			if p.jobs.ctx.Err() == nil {
				p.jobs.log.Warn("no warm shell", "err", err)
			}
			p.mu.Lock()
			r.starting = false
			p.mu.Unlock()
			return
		}
		p.mu.Lock()
		kept := slices.Contains(p.groups, r)
		if kept {
			r.ready = append(r.ready, w)
		}
		p.mu.Unlock()
		if !kept { // the group was removed before this
			p.end(w.Handle)
		}
	}
}

// needsMore reports whether the group needs another shell. Otherwise it marks the group as no longer starting shells.
func (p *pool) needsMore(r *warmGroup) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.starting = slices.Contains(p.groups, r) && len(r.ready) < p.jobs.conf.Get().Pool.Size
	return r.starting
}

// make starts a shell and waits for its prompt.
func (p *pool) make(ctx context.Context, r *warmGroup) (*warm, error) {
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	e, err := p.jobs.reg.Create(identity.WithActor(ctx, r.who), r.start)
	if err != nil {
		return nil, err
	}
	w, err := e.Session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondPrompt}}})
	if err == nil && len(w.Fired) == 0 {
		err = api.Errorf(api.CodeEnded, "the shell ended before its first prompt").WithHint("start it with `longterm new` and look at its screen")
	}
	if err != nil {
		p.end(e)
		return nil, err
	}
	return &warm{e, r, e.CurrentDir(e.Session.Status())}, nil
}

// replaceUsed replaces a shell after its line. The shell stays for a while, for callers that have not read its output
// yet.
func (p *pool) replaceUsed(w *warm) {
	if w.group != nil {
		p.fill(w.group)
	}
	time.AfterFunc(registry.TemporaryGrace, func() { p.end(w.Handle) })
}

// isClean reports whether a shell is as it was when it was made, as far as visible: at its prompt, in its directory,
// without a job or a program.
func (w *warm) isClean() bool {
	st := w.Session.Status()
	sh := st.Shell
	return st.State == session.Running && sh.Phase == shell.PhasePrompt && sh.Quality == shell.Full && !sh.Continuation &&
		w.CurrentDir(st) == w.dir && !w.HasChildren()
}

// end ends a shell and forgets it, if that is not done yet.
func (p *pool) end(e *registry.Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.jobs.reg.ByID(e.ID()) != e {
		return
	}
	p.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), warmTime)
		defer cancel()
		err := p.jobs.reg.Kill(ctx, e, warmGrace)
		if err == nil {
			err = p.jobs.reg.Remove(ctx, e, true)
		}
		if err != nil {
			p.jobs.log.Warn("end a warm shell", "session", e.ID(), "err", err)
		}
	})
}

// sweep ends warm shells of the previous daemon that run no job.
func (p *pool) sweep() {
	busy := map[*registry.Handle]bool{}
	for _, j := range p.jobs.all() {
		busy[j.e] = true
	}
	for _, e := range p.jobs.reg.All() {
		switch {
		case !e.IsPooled() || busy[e]:
		case p.mayBeUnread(e):
			time.AfterFunc(registry.TemporaryGrace, func() { p.end(e) })
		default:
			p.end(e)
		}
	}
}

// mayBeUnread reports whether a job ran in the shell whose result may not have been read.
func (p *pool) mayBeUnread(e *registry.Handle) bool {
	list, err := p.jobs.store.Jobs(context.Background(), store.JobQuery{Session: e.ID(), Limit: 1})
	return err == nil && len(list) > 0 && time.Since(list[0].Ended) < registry.TemporaryGrace
}
