//go:build unix

package member

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

// record is a session as the registry has it.
type record struct{ running, needs bool }

// lookEvery is how often everything is looked at, events or not; hostEvery how often the host tells of itself.
const (
	lookEvery = 30 * time.Second
	hostEvery = 5 * time.Second
)

// maxShown bounds what of a text is told, in bytes: records are for lists.
const maxShown = 240

// View is a session as the fleet sees it.
func View(s *api.Session, mask func(string) string) api.FleetSession {
	v := api.FleetSession{
		ID: s.ID, Name: s.Name, State: s.State, Approval: len(s.Approvals), Command: short(mask(s.Command)), Cwd: short(s.Cwd),
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
		v.Command = short(mask(s.Shell.Command))
	}
	return v
}

func short(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:maxShown]), nil)) + "…"
}

// tell tells of the host and its sessions until the end.
func (p *part) tell(ctx context.Context) {
	l := p.m.cfg.Bus.Listen()
	defer p.m.cfg.Bus.Leave(l)
	p.lookAtAll()
	p.tellHost()
	p.work.Go(func() { p.pub.Run(ctx) })
	look, host := time.NewTicker(lookEvery), time.NewTicker(hostEvery)
	defer look.Stop()
	defer host.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			p.lookAtAll()
		case <-host.C:
			p.tellHost()
		case e, ok := <-l.C:
			switch {
			case !ok:
				return
			case e.Kind == "lost":
				p.lookAtAll()
			case e.Session == nil:
			case e.Kind == "removed":
				p.forget(e.Session.ID)
			default:
				p.tellOf(e.Session)
			}
		}
	}
}

// lookAtAll looks at all sessions, as nobody may have told of a change.
func (p *part) lookAtAll() {
	there := map[string]bool{}
	all := p.m.cfg.Sessions()
	for i := range all {
		there[all[i].ID] = true
		p.tellOf(&all[i])
	}
	for id := range p.known() {
		if !there[id] {
			p.forget(id)
		}
	}
}

func (p *part) known() map[string]record {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]record, len(p.records))
	for id, r := range p.records {
		all[id] = r
	}
	return all
}

func (p *part) tellOf(s *api.Session) {
	v := View(s, p.m.cfg.Mask)
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.records[s.ID] = record{s.State == "running", v.Asks()}
	p.mu.Unlock()
	p.pub.Set(s.ID, b)
}

func (p *part) forget(id string) {
	p.mu.Lock()
	delete(p.records, id)
	p.mu.Unlock()
	p.pub.Remove(id)
}

func (p *part) tellHost() {
	at := sys.LookAtMachine()
	h := api.FleetHost{
		Host: p.id.Name, Build: p.m.cfg.Build, System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Load: at.Load,
		Memory: at.Memory, Free: at.Free, Labels: p.labels(), Drained: p.drained(), Time: time.Now().UTC(),
	}
	h.Home, _ = os.UserHomeDir()
	for _, r := range p.known() {
		h.Sessions++
		if r.running {
			h.Running++
		}
		if r.needs {
			h.Needs++
		}
	}
	behind, age, err := p.behind()
	h.CopyBehind, h.CopyAge, h.NotCopied = behind, age.Milliseconds(), err != nil
	if b, err := json.Marshal(h); err == nil {
		p.pub.Host(b)
	}
}

// subscription is the one by which completions are forwarded.
const subscription = "fleet.forward"

// forward hands completions to the fleet's stream. The cursor moves when the stream has them; what is told twice is kept
// once.
func (p *part) forward(ctx context.Context) {
	subs := p.m.cfg.Completions
	for pause := time.Second; ctx.Err() == nil; {
		err := p.forwardSome(ctx, subs)
		if err == nil {
			pause = time.Second
			continue
		}
		if ctx.Err() == nil {
			p.m.cfg.Log.Debug("the fleet is not told of completions now", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(registry.Jitter(pause)):
		}
		pause = min(2*pause, 15*time.Second)
	}
}

func (p *part) forwardSome(ctx context.Context, subs Completions) error {
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
		c.Text = short(p.m.cfg.Mask(c.Text))
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := registry.Tell(ctx, p.link.JetStream(), p.id.Name, c.Kind, strconv.FormatUint(c.Seq, 10), b); err != nil {
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
