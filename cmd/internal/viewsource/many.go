//go:build unix

package viewsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// multiHostSource combines the daemons of several hosts into one source; one host is the simplest case. Ids of
// sessions, approvals and jobs of remote hosts have the form HOST/ID in the viewer. Each daemon has its own feed, so a
// slow or unreachable one does not delay the others.
type multiHostSource []source

// hostOf returns the host of an id, and the id on that host.
func (m multiHostSource) hostOf(id string) (*source, string) {
	if host, rest, ok := strings.Cut(id, "/"); ok {
		for i := range m {
			if m[i].prefix == host {
				return &m[i], rest
			}
		}
	}
	for i := range m {
		if m[i].prefix == "" {
			return &m[i], id
		}
	}
	return &m[0], id
}

// home returns the host on which a session starts that belongs to no other session.
func (m multiHostSource) home() *source { return &m[0] }

// Timeouts, in real time.
const (
	// firstTime is how long the first list waits for all hosts. Others come when they answer.
	firstTime = 1500 * time.Millisecond
	// cutTime is how long a host may be unreachable before the viewer shows it: a restart of the daemon takes less.
	cutTime = 500 * time.Millisecond
)

// hostSnapshot is the newest update of a host.
type hostSnapshot struct {
	host   int          // index of the host
	update model.Update // the update
}

// Sessions follows the events of all.
func (m multiHostSource) Sessions(ctx context.Context) <-chan model.Update {
	if len(m) == 1 {
		return m[0].Sessions(ctx)
	}
	in, out := make(chan hostSnapshot), make(chan model.Update, 1)
	var feeds sync.WaitGroup
	for i := range m {
		feeds.Go(func() {
			for u := range m[i].Sessions(ctx) {
				select {
				case in <- hostSnapshot{i, u}:
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		defer close(out)
		defer feeds.Wait()
		g := newCombinedUpdates(m)
		begun := time.Now() // before the timer's: when that fires, the time is over
		wake := time.NewTimer(firstTime)
		defer wake.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case h := <-in:
				g.setHost(h, time.Now())
			case <-wake.C:
			}
			now := time.Now()
			if !g.complete() && now.Sub(begun) < firstTime {
				continue
			}
			select { // the newest counts
			case <-out:
			default:
			}
			u, next := g.update(now)
			out <- u
			if next > 0 {
				wake.Reset(next)
			}
		}
	}()
	return out
}

// combinedUpdates combines the updates of all hosts. It does no I/O: times are passed in.
type combinedUpdates struct {
	m     multiHostSource
	hosts []hostState
}

// hostState is the last known state of a host.
type hostState struct {
	update      model.Update // newest update with sessions, with the viewer's ids
	hasSessions bool         // an update with sessions has arrived
	answered    bool         // an update has arrived: sessions, or an error
	why         string       // why the host is unreachable; empty: it is reachable
	since       time.Time    // time of the last change of why
}

func newCombinedUpdates(m multiHostSource) *combinedUpdates {
	return &combinedUpdates{m, make([]hostState, len(m))}
}

// complete reports whether every host has sent an update.
func (g *combinedUpdates) complete() bool {
	return !slices.ContainsFunc(g.hosts, func(k hostState) bool { return !k.answered })
}

// setHost stores a host's update.
func (g *combinedUpdates) setHost(h hostSnapshot, now time.Time) {
	k := &g.hosts[h.host]
	k.answered = true
	if h.update.Unavailable != "" {
		if k.why == "" {
			k.since = now
		}
		k.why = h.update.Unavailable
		return
	}
	k.why, k.hasSessions, k.update = "", true, h.update
	m := &g.m[h.host]
	if m.prefix == "" {
		return
	}
	for i := range k.update.Sessions {
		s := &k.update.Sessions[i]
		s.ID, s.Name, s.Host = m.qualify(s.ID), m.qualify(s.Name), m.prefix
	}
	for i := range k.update.Approvals {
		a := &k.update.Approvals[i]
		a.ID, a.Session, a.Name, a.Group = m.qualify(a.ID), m.qualify(a.Session), m.qualify(a.Name), m.qualify(a.Group)
	}
	for i := range k.update.Ended {
		k.update.Ended[i].ID = m.qualify(k.update.Ended[i].ID)
	}
}

// update returns the combined update, in the order of the hosts, and the time until the next change without new events;
// 0: none.
func (g *combinedUpdates) update(now time.Time) (all model.Update, next time.Duration) {
	for i := range g.hosts {
		k := &g.hosts[i]
		all.Approvals, all.Ended = append(all.Approvals, k.update.Approvals...), append(all.Ended, k.update.Ended...)
		from := len(all.Sessions)
		all.Sessions = append(all.Sessions, k.update.Sessions...)
		away := now.Sub(k.since)
		switch {
		case k.hasSessions && k.why == "":
			continue
		case k.hasSessions && away < cutTime:
			next = max(next, cutTime-away)
			continue
		case !k.answered:
			k.since, k.why, k.answered = now, "no answer yet", true
		}
		all.Unreachable = append(all.Unreachable, model.Unreachable{Host: g.m[i].prefix, Why: k.why, Since: k.since, NeverReached: !k.hasSessions})
		for j := range all.Sessions[from:] {
			all.Sessions[from+j].UnreachableSince = k.since
		}
	}
	slices.SortStableFunc(all.Approvals, func(a, b model.Approval) int { return a.Asked.Compare(b.Asked) })
	return all, next
}

func (m multiHostSource) Watch(ctx context.Context, id string, cols, rows int) panes.Stream {
	h, id := m.hostOf(id)
	return h.Watch(ctx, id, cols, rows)
}

func (m multiHostSource) New(ctx context.Context, beside, dir, line string) (string, error) {
	h := m.home()
	if beside != "" {
		h, beside = m.hostOf(beside)
	}
	id, err := h.New(ctx, beside, dir, line)
	return h.qualify(id), err
}

// StartPlayback plays sessions of this host only: the path of longterm on other hosts is unknown.
func (m multiHostSource) StartPlayback(ctx context.Context, id string) (string, error) {
	h, there := m.hostOf(id)
	if h.host != "" {
		return "", fmt.Errorf("session of a remote host; play it with `longterm play %s/%s`", h.host, there)
	}
	past, err := h.StartPlayback(ctx, there)
	return h.qualify(past), err
}

func (m multiHostSource) Kill(ctx context.Context, id string) error {
	h, id := m.hostOf(id)
	return h.Kill(ctx, id)
}

func (m multiHostSource) Restart(ctx context.Context, id string) error {
	h, id := m.hostOf(id)
	return h.Restart(ctx, id)
}

// Rename takes the name with the host before it, as it is shown, or without.
func (m multiHostSource) Rename(ctx context.Context, id, name string) error {
	h, id := m.hostOf(id)
	if h.prefix != "" {
		name = strings.TrimPrefix(name, h.prefix+"/")
	}
	return h.Rename(ctx, id, name)
}

func (m multiHostSource) SizeBy(ctx context.Context, id, policy string) error {
	h, id := m.hostOf(id)
	return h.SizeBy(ctx, id, policy)
}

func (m multiHostSource) Tail(ctx context.Context, id string, rows int) (page.Page, error) {
	h, id := m.hostOf(id)
	return h.Tail(ctx, id, rows)
}

func (m multiHostSource) Older(ctx context.Context, id string, before, rows int) ([]render.Line, error) {
	h, id := m.hostOf(id)
	return h.Older(ctx, id, before, rows)
}

func (m multiHostSource) Commands(ctx context.Context, id string) ([]page.Command, error) {
	h, id := m.hostOf(id)
	return h.Commands(ctx, id)
}

func (m multiHostSource) Output(ctx context.Context, id string, n int) (string, error) {
	h, id := m.hostOf(id)
	return h.Output(ctx, id, n)
}

func (m multiHostSource) Details(ctx context.Context, id string) ([]model.Detail, error) {
	h, id := m.hostOf(id)
	list, err := h.Details(ctx, id)
	for i := range list {
		list[i].Action.Job = h.qualify(list[i].Action.Job)
	}
	return list, err
}

func (m multiHostSource) Summary(ctx context.Context, id string) (model.Summary, error) {
	h, id := m.hostOf(id)
	return h.Summary(ctx, id)
}

func (m multiHostSource) Reply(ctx context.Context, id, text string, secret bool) error {
	h, id := m.hostOf(id)
	return h.Reply(ctx, id, text, secret)
}

func (m multiHostSource) DropRule(ctx context.Context, id, rule string) error {
	h, id := m.hostOf(id)
	return h.DropRule(ctx, id, rule)
}

func (m multiHostSource) LetType(ctx context.Context, id string, n int, types bool) error {
	h, id := m.hostOf(id)
	return h.LetType(ctx, id, n, types)
}

func (m multiHostSource) StopJob(ctx context.Context, job string) error {
	h, job := m.hostOf(job)
	return h.StopJob(ctx, job)
}

// Answer answers approval requests, each at its own host.
func (m multiHostSource) Answer(ctx context.Context, ids []string, r overlays.Reply) error {
	of := map[*source][]string{}
	for _, id := range ids {
		h, id := m.hostOf(id)
		of[h] = append(of[h], id)
	}
	errs := make([]error, 0, len(of))
	var mu sync.Mutex // guards errs
	var asked sync.WaitGroup
	for h, ids := range of {
		asked.Go(func() {
			err := h.Answer(ctx, ids, r)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	asked.Wait()
	return errors.Join(errs...)
}

// editor opens the user's editor at errors of sessions of all hosts.
type editor struct {
	multiHostSource
	stdin    *os.File
	template string
}

func (e editor) hostOf(id string) (placeEditor, string) {
	h, id := e.multiHostSource.hostOf(id)
	return placeEditor{*h, h.host, sourcepos.Editor{Template: e.template, Stdin: e.stdin}}, id
}

func (e editor) Problems(ctx context.Context, id string) ([]model.Problem, error) {
	p, id := e.hostOf(id)
	return p.Problems(ctx, id)
}

func (e editor) Edit(ctx context.Context, p model.Problem) error {
	at, _ := e.hostOf("")
	return at.Edit(ctx, p)
}
