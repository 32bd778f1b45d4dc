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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

const (
	maxPools = 4 // environments and directories; the least used one goes
	warmTime = 10 * time.Second

	warmGrace = time.Second // of each step of the kill ladder: all steps fit into warmTime
)

// pool holds warm shells: started, at their first prompt, with nothing run in them. They
// are handed out oldest first, each once: what a line leaves in a shell (variables,
// functions, options) cannot all be seen, so that none is given to the next one. Others
// are made in the background, when the line has ended.
//
// A shell is for callers whose directory and environment are those it was started with,
// so that a command finds what it would find in a shell of its own.
type pool struct {
	jobs *Set

	mu     sync.Mutex
	racks  []*rack // least used first
	closed bool    // the daemon leaves
	work   sync.WaitGroup
}

// close waits for what is being made or ended.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.work.Wait()
}

// rack are the warm shells for one directory and environment.
type rack struct {
	key    string
	who    actor.Actor // for whom they are
	start  api.NewSession
	ready  []*warm // oldest first
	making bool
}

// warm is a shell of the pool.
type warm struct {
	*registry.Handle
	rack *rack
	dir  string // as the shell tells it at its first prompt
}

// volatile are variables that differ from caller to caller without meaning anything.
var volatile = []string{"_", "OLDPWD", "PWD", "SHLVL", "LONGTERM_SESSION"}

// poolKey names what a warm shell has to agree in with its caller.
func poolKey(n *api.NewSession, agent string) string {
	env := slices.DeleteFunc(slices.Clone(n.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(volatile, name)
	})
	slices.Sort(env)
	sum := sha256.Sum256([]byte(n.Cwd + "\x00" + strings.Join(env, "\x00") + "\x00" + strings.Join(n.SetEnv, "\x00") + "\x00" + n.Umask + "\x00" + n.Policy + "\x00" + agent))
	return hex.EncodeToString(sum[:8])
}

// take hands out a warm shell. Where none is ready the caller gets one that is made for it.
func (p *pool) take(ctx context.Context, n api.NewSession) (*warm, error) {
	r := p.rackFor(n, actor.Of(ctx))
	for {
		p.mu.Lock()
		if len(r.ready) == 0 {
			p.mu.Unlock()
			break
		}
		w := r.ready[0]
		r.ready = r.ready[1:]
		p.mu.Unlock()
		if w.clean() {
			return w, nil
		}
		p.end(w.Handle) // it died, or was used
	}
	return p.make(ctx, r)
}

// rackFor is the rack for a caller, made if there is none; the least used one goes.
func (p *pool) rackFor(n api.NewSession, who actor.Actor) *rack {
	who = actor.Actor{UID: who.UID, Agent: who.Agent, Policy: who.Policy}
	key := poolKey(&n, who.Agent)
	p.mu.Lock()
	i := slices.IndexFunc(p.racks, func(r *rack) bool { return r.key == key })
	var r *rack
	if i >= 0 {
		r = p.racks[i]
		p.racks = slices.Delete(p.racks, i, i+1)
	} else {
		r = &rack{key: key, who: who, start: api.NewSession{Asking: api.Asking{Policy: n.Policy}, Cwd: n.Cwd, Env: n.Env, SetEnv: n.SetEnv, Umask: n.Umask, Labels: map[string]string{registry.PoolLabel: key}}}
	}
	p.racks = append(p.racks, r)
	var old []*warm
	if len(p.racks) > maxPools {
		old = p.racks[0].ready
		p.racks = p.racks[1:]
	}
	p.mu.Unlock()
	for _, w := range old {
		p.end(w.Handle)
	}
	return r
}

// fill makes shells until the rack is full, in the background, one after the other.
func (p *pool) fill(r *rack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.making && !p.closed {
		r.making = true
		p.work.Go(func() { p.stock(r) })
	}
}

func (p *pool) stock(r *rack) {
	for p.wants(r) {
		w, err := p.make(p.jobs.ctx, r)
		if err != nil {
			if p.jobs.ctx.Err() == nil {
				p.jobs.log.Warn("no warm shell", "err", err)
			}
			p.mu.Lock()
			r.making = false
			p.mu.Unlock()
			return
		}
		p.mu.Lock()
		kept := slices.Contains(p.racks, r)
		if kept {
			r.ready = append(r.ready, w)
		}
		p.mu.Unlock()
		if !kept { // the rack went meanwhile
			p.end(w.Handle)
		}
	}
}

// wants says whether the rack is to get another shell; else none is made.
func (p *pool) wants(r *rack) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.making = slices.Contains(p.racks, r) && len(r.ready) < p.jobs.conf.Get().Pool.Size
	return r.making
}

// make starts a shell and waits for its prompt.
func (p *pool) make(ctx context.Context, r *rack) (*warm, error) {
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	e, err := p.jobs.reg.Create(actor.With(ctx, r.who), r.start)
	if err != nil {
		return nil, err
	}
	w, err := e.Session.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondPrompt}}})
	if err == nil && len(w.Fired) == 0 {
		err = api.Errorf(api.CodeEnded, "the shell ended before its first prompt").WithHint("start it with `longterm new` and look at its screen")
	}
	if err != nil {
		p.end(e)
		return nil, err
	}
	return &warm{e, r, e.CurrentDir(e.Session.Status())}, nil
}

// used replaces a shell that was used. It stays for a while, for callers who have not read yet
// what it printed.
func (p *pool) used(w *warm) {
	if w.rack != nil {
		p.fill(w.rack)
	}
	time.AfterFunc(registry.TemporaryGrace, func() { p.end(w.Handle) })
}

// clean says that a shell is as it was when it was made, as far as can be seen: at its
// prompt, in its directory, with no job and no program.
func (w *warm) clean() bool {
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

// sweep ends warm shells that the daemon before left, but for those that run a job.
func (p *pool) sweep() {
	busy := map[*registry.Handle]bool{}
	for _, j := range p.jobs.all() {
		busy[j.e] = true
	}
	for _, e := range p.jobs.reg.All() {
		switch {
		case !e.Pooled() || busy[e]:
		case p.unread(e):
			time.AfterFunc(registry.TemporaryGrace, func() { p.end(e) })
		default:
			p.end(e)
		}
	}
}

// unread says that a job ran in the shell, whose result may not have been read.
func (p *pool) unread(e *registry.Handle) bool {
	list, err := p.jobs.store.Jobs(context.Background(), store.JobQuery{Session: e.ID(), Limit: 1})
	return err == nil && len(list) > 0 && time.Since(list[0].Ended) < registry.TemporaryGrace
}
