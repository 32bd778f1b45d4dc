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

	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// many are the daemons of several hosts as one source; one is the simplest case. What the viewer knows by an id (a
// session, an approval, a job) has its host before it there, HOST/ID, but for those of this host. Each daemon has a
// feed of its own: one that cannot be reached, or is slow, holds no other up.
type many []source

// of is the host of an id, and the id there.
func (m many) of(id string) (*source, string) {
	if host, rest, ok := strings.Cut(id, "/"); ok {
		for i := range m {
			if m[i].shown == host {
				return &m[i], rest
			}
		}
	}
	for i := range m {
		if m[i].shown == "" {
			return &m[i], id
		}
	}
	return &m[0], id
}

// home is where sessions start that belong beside no other.
func (m many) home() *source { return &m[0] }

// Bounds of waiting, in real time.
const (
	// firstTime is how long the first list waits for all hosts. Others come when they answer.
	firstTime = 1500 * time.Millisecond
	// cutTime is how long a host may be away before that is said: a daemon that restarts is back sooner.
	cutTime = 500 * time.Millisecond
)

// heard is what a host said last.
type heard struct {
	of int
	u  model.Update
}

// Sessions follows the events of all.
func (m many) Sessions(ctx context.Context) <-chan model.Update {
	if len(m) == 1 {
		return m[0].Sessions(ctx)
	}
	in, out := make(chan heard), make(chan model.Update, 1)
	var feeds sync.WaitGroup
	for i := range m {
		feeds.Go(func() {
			for u := range m[i].Sessions(ctx) {
				select {
				case in <- heard{i, u}:
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		defer close(out)
		defer feeds.Wait()
		g := newGathered(m)
		begun := time.Now() // before the timer's: when that fires, the time is over
		wake := time.NewTimer(firstTime)
		defer wake.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case h := <-in:
				g.take(h, time.Now())
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

// gathered is what all hosts said, put together. It is a machine: times are given to it.
type gathered struct {
	m     many
	known []known
}

// known is what is known of a host.
type known struct {
	u     model.Update // the newest that says something, as the viewer knows its ids
	ever  bool         // there was one
	asked bool         // something was heard: sessions, or why there are none
	why   string       // why it cannot be reached; empty: it can
	since time.Time
}

func newGathered(m many) *gathered { return &gathered{m, make([]known, len(m))} }

// complete says that something was heard of each host.
func (g *gathered) complete() bool {
	return !slices.ContainsFunc(g.known, func(k known) bool { return !k.asked })
}

func (g *gathered) take(h heard, now time.Time) {
	k := &g.known[h.of]
	k.asked = true
	if h.u.Away != "" {
		if k.why == "" {
			k.since = now
		}
		k.why = h.u.Away
		return
	}
	k.why, k.ever, k.u = "", true, h.u
	m := &g.m[h.of]
	if m.shown == "" {
		return
	}
	for i := range k.u.Sessions {
		s := &k.u.Sessions[i]
		s.ID, s.Name, s.Host = m.there(s.ID), m.there(s.Name), m.shown
	}
	for i := range k.u.Approvals {
		a := &k.u.Approvals[i]
		a.ID, a.Session, a.Name, a.Group = m.there(a.ID), m.there(a.Session), m.there(a.Name), m.there(a.Group)
	}
	for i := range k.u.Ended {
		k.u.Ended[i].ID = m.there(k.u.Ended[i].ID)
	}
}

// update is all of it, in the order of the hosts, and when there is more to say although nothing is heard; 0: never.
func (g *gathered) update(now time.Time) (all model.Update, next time.Duration) {
	for i := range g.known {
		k := &g.known[i]
		all.Approvals, all.Ended = append(all.Approvals, k.u.Approvals...), append(all.Ended, k.u.Ended...)
		from := len(all.Sessions)
		all.Sessions = append(all.Sessions, k.u.Sessions...)
		away := now.Sub(k.since)
		switch {
		case k.ever && k.why == "":
			continue
		case k.ever && away < cutTime:
			next = max(next, cutTime-away)
			continue
		case !k.asked:
			k.since, k.why, k.asked = now, "no answer yet", true
		}
		all.CutOff = append(all.CutOff, model.CutOff{Host: g.m[i].shown, Why: k.why, Since: k.since, Never: !k.ever})
		for j := range all.Sessions[from:] {
			all.Sessions[from+j].CutOff = k.since
		}
	}
	slices.SortStableFunc(all.Approvals, func(a, b model.Approval) int { return a.Asked.Compare(b.Asked) })
	return all, next
}

func (m many) Watch(ctx context.Context, id string, cols, rows int) panes.Stream {
	h, id := m.of(id)
	return h.Watch(ctx, id, cols, rows)
}

func (m many) New(ctx context.Context, beside, dir, line string) (string, error) {
	h := m.home()
	if beside != "" {
		h, beside = m.of(beside)
	}
	id, err := h.New(ctx, beside, dir, line)
	return h.there(id), err
}

// Past is of sessions of this host: where another one has its program is not known.
func (m many) Past(ctx context.Context, id string) (string, error) {
	h, there := m.of(id)
	if h.at != "" {
		return "", fmt.Errorf("it is a session of another host; `longterm play %s/%s` plays it", h.at, there)
	}
	past, err := h.Past(ctx, there)
	return h.there(past), err
}

func (m many) Kill(ctx context.Context, id string) error {
	h, id := m.of(id)
	return h.Kill(ctx, id)
}

func (m many) Restart(ctx context.Context, id string) error {
	h, id := m.of(id)
	return h.Restart(ctx, id)
}

// Rename takes the name with the host before it, as it is shown, or without.
func (m many) Rename(ctx context.Context, id, name string) error {
	h, id := m.of(id)
	if h.shown != "" {
		name = strings.TrimPrefix(name, h.shown+"/")
	}
	return h.Rename(ctx, id, name)
}

func (m many) SizeBy(ctx context.Context, id, policy string) error {
	h, id := m.of(id)
	return h.SizeBy(ctx, id, policy)
}

func (m many) Tail(ctx context.Context, id string, rows int) (page.Page, error) {
	h, id := m.of(id)
	return h.Tail(ctx, id, rows)
}

func (m many) Older(ctx context.Context, id string, before, rows int) ([]render.Line, error) {
	h, id := m.of(id)
	return h.Older(ctx, id, before, rows)
}

func (m many) Commands(ctx context.Context, id string) ([]page.Command, error) {
	h, id := m.of(id)
	return h.Commands(ctx, id)
}

func (m many) Output(ctx context.Context, id string, n int) (string, error) {
	h, id := m.of(id)
	return h.Output(ctx, id, n)
}

func (m many) Details(ctx context.Context, id string) ([]model.Detail, error) {
	h, id := m.of(id)
	list, err := h.Details(ctx, id)
	for i := range list {
		list[i].Lead.Job = h.there(list[i].Lead.Job)
	}
	return list, err
}

func (m many) Glance(ctx context.Context, id string) (model.Glance, error) {
	h, id := m.of(id)
	return h.Glance(ctx, id)
}

func (m many) Reply(ctx context.Context, id, text string, secret bool) error {
	h, id := m.of(id)
	return h.Reply(ctx, id, text, secret)
}

func (m many) DropRule(ctx context.Context, id, rule string) error {
	h, id := m.of(id)
	return h.DropRule(ctx, id, rule)
}

func (m many) LetType(ctx context.Context, id string, n int, types bool) error {
	h, id := m.of(id)
	return h.LetType(ctx, id, n, types)
}

func (m many) StopJob(ctx context.Context, job string) error {
	h, job := m.of(job)
	return h.StopJob(ctx, job)
}

// Answer answers approvals, each where it was asked for.
func (m many) Answer(ctx context.Context, ids []string, r overlays.Reply) error {
	of := map[*source][]string{}
	for _, id := range ids {
		h, id := m.of(id)
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

// editor opens the person's editor at errors of sessions of all hosts.
type editor struct {
	many
	stdin    *os.File
	template string
}

func (e editor) of(id string) (placeEditor, string) {
	h, id := e.many.of(id)
	return placeEditor{*h, h.at, places.Editor{Template: e.template, Stdin: e.stdin}}, id
}

func (e editor) Problems(ctx context.Context, id string) ([]model.Problem, error) {
	p, id := e.of(id)
	return p.Problems(ctx, id)
}

func (e editor) Edit(ctx context.Context, p model.Problem) error {
	at, _ := e.of("")
	return at.Edit(ctx, p)
}
