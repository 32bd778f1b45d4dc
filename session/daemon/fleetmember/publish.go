//go:build unix

package fleetmember

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// record is the published state of a session.
type record struct{ running, needs bool }

// scanInterval is the interval between full scans, independent of events; hostInterval is the interval between the
// host's own entries.
const (
	scanInterval = 30 * time.Second
	hostInterval = 5 * time.Second
)

// maxShown bounds published text in bytes: records are for lists.
const maxShown = 240

// View returns a session as the fleet sees it.
func View(s *api.Session, mask func(string) string) api.FleetSession {
	v := api.FleetSession{
		ID: s.ID, Name: s.Name, State: s.State, Approval: len(s.Approvals), Command: truncate(mask(s.Command)), Cwd: truncate(s.Cwd),
		Labels: s.Labels, Agent: s.Agent, ExitCode: s.ExitCode, Stopped: s.Stopped, Since: s.Started.UTC().Truncate(time.Second),
	}
	if s.Needs != nil {
		if v.Needs = s.Needs.Kind; s.Needs.Prompt {
			v.Needs = "prompt"
		}
	}
	if s.Progress != nil {
		v.Progress = int(s.Progress.Percent)
	}
	if s.Shell != nil && s.Shell.Command != "" {
		v.Command = truncate(mask(s.Shell.Command))
	}
	return v
}

// truncate truncates text to maxShown bytes.
func truncate(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:maxShown]), nil)) + "…"
}

// publish publishes the host and its sessions until ctx ends.
func (p *membership) publish(ctx context.Context) {
	l := p.m.cfg.Bus.Listen()
	defer p.m.cfg.Bus.Unsubscribe(l)
	p.scanAll()
	p.publishHost()
	p.work.Go(func() { p.pub.Run(ctx) })
	look, host := time.NewTicker(scanInterval), time.NewTicker(hostInterval)
	defer look.Stop()
	defer host.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			p.scanAll()
		case <-host.C:
			p.publishHost()
		case e, ok := <-l.C:
			switch {
			case !ok:
				return
			case e.Kind == "lost":
				p.scanAll()
			case e.Session == nil:
			case e.Kind == "removed":
				p.forget(e.Session.ID)
			default:
				p.publishSession(e.Session)
			}
		}
	}
}

// scanAll publishes all sessions, in case an event was missed.
func (p *membership) scanAll() {
	there := map[string]bool{}
	all := p.m.cfg.Sessions()
	for i := range all {
		there[all[i].ID] = true
		p.publishSession(&all[i])
	}
	for id := range p.publishedRecords() {
		if !there[id] {
			p.forget(id)
		}
	}
}

// publishedRecords returns a copy of records.
func (p *membership) publishedRecords() map[string]record {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]record, len(p.records))
	for id, r := range p.records {
		all[id] = r
	}
	return all
}

// publishSession publishes one session's state.
func (p *membership) publishSession(s *api.Session) {
	v := View(s, p.m.cfg.Mask)
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.records[s.ID] = record{s.State == "running", v.NeedsUser()}
	p.mu.Unlock()
	p.pub.Set(s.ID, b)
}

// forget removes a session from the registry.
func (p *membership) forget(id string) {
	p.mu.Lock()
	delete(p.records, id)
	p.mu.Unlock()
	p.pub.Remove(id)
}

// publishHost publishes the host's own entry.
func (p *membership) publishHost() {
	at := sys.ReadMachineLoad()
	h := api.FleetHost{
		Host: p.id.Name, Build: p.m.cfg.Build, System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Load: at.Load,
		Memory: at.Memory, Free: at.Free, Labels: p.labels(), Drained: p.isDrained(), Time: time.Now().UTC(),
	}
	h.Home, _ = os.UserHomeDir()
	for _, r := range p.publishedRecords() {
		h.Sessions++
		if r.running {
			h.Running++
		}
		if r.needs {
			h.Needs++
		}
	}
	behind, age, err := p.lag()
	h.CopyBehind, h.CopyAge, h.NotCopied = behind, age.Milliseconds(), err != nil
	if b, err := json.Marshal(h); err == nil {
		p.pub.Host(b)
	}
}

// subscription is the name of the subscription whose completions are forwarded.
const subscription = "fleet.forward"

// forward copies completions to the fleet's stream. The cursor moves once the stream has them; the stream drops
// duplicates.
func (p *membership) forward(ctx context.Context) {
	subs := p.m.cfg.Completions
	for pause := time.Second; ctx.Err() == nil; {
		err := p.forwardSome(ctx, subs)
		if err == nil {
			pause = time.Second
			continue
		}
		if ctx.Err() == nil {
			p.m.cfg.Log.Debug("forward completions to the fleet", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(registry.Jitter(pause)):
		}
		pause = min(2*pause, 15*time.Second)
	}
}

// forwardSome forwards the next unread completions.
func (p *membership) forwardSome(ctx context.Context, subs Completions) error {
	if _, err := subs.Put(ctx, subscription, "", api.NewSubscription{}); err != nil {
		return err
	}
	got, err := subs.Read(ctx, subscription, api.ReadCompletions{WaitMS: 30000, Limit: 100})
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.unsent = uint64(len(got.Completions))
	p.mu.Unlock()
	for i := range got.Completions {
		c := &got.Completions[i]
		c.Text = truncate(p.m.cfg.Mask(c.Text))
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := registry.PublishEvent(ctx, p.link.JetStream(), p.id.Name, c.Kind, strconv.FormatUint(c.Seq, 10), b); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.unsent = 0
	p.mu.Unlock()
	if got.Cursor == 0 {
		return nil
	}
	_, err = subs.Ack(ctx, subscription, api.AckCompletions{Cursor: got.Cursor})
	return err
}
