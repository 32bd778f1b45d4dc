//go:build unix

package member

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

func (p *part) labels() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.settings.Labels)
}

func (p *part) drained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings.Drained
}

// Former is this machine's name, if the fleet has copies of a machine that had it before; else it is empty.
func (m *Member) Former() string {
	m.mu.Lock()
	p := m.part
	m.mu.Unlock()
	if p == nil || p.copier.formers() == 0 {
		return ""
	}
	return p.id.Name
}

// Status is this machine's part.
func (m *Member) Status() api.Fleet {
	m.mu.Lock()
	p, why := m.part, m.why
	if m.leaving {
		why = replaced()
	}
	m.mu.Unlock()
	if p == nil {
		v := api.Fleet{On: why != nil}
		if why != nil {
			v.Error = why.Error()
		}
		return v
	}
	v := api.Fleet{
		On: true, Fleet: p.id.Fleet, Host: p.id.Name, May: p.id.May, Admin: p.id.Admin, Servers: bare(p.settings.Servers),
		Labels: p.labels(), Drained: p.drained(), Expires: p.id.Cert.NotAfter,
	}
	server, err := p.link.State()
	v.Connected, v.Server = err == nil, server
	p.mu.Lock()
	claim := p.claim
	v.Unsent = p.unsent
	p.mu.Unlock()
	behind, age, copyErr := p.behind()
	v.CopyBehind, v.CopyAge, v.Former = behind, age.Milliseconds(), p.copier.formers()
	if copyErr != nil {
		v.CopyError = copyErr.Error()
	}
	var told error
	v.Waiting, told = p.pub.State()
	for _, e := range []error{err, claim, told} {
		if e != nil && v.Error == "" {
			v.Error = e.Error()
		}
	}
	return v
}

// Drain has this machine take nothing more by fleet run, or take it again.
func (m *Member) Drain(on bool) error {
	p, err := m.now()
	if err != nil {
		return err
	}
	s, err := m.cfg.Dir.Settings()
	if err == nil {
		s.Drained = on
		err = m.cfg.Dir.SaveSettings(s)
	}
	if err != nil {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	p.mu.Lock()
	p.settings.Drained = on
	p.mu.Unlock()
	p.tellHost()
	for end := time.Now().Add(toldTime); time.Now().Before(end); { // whoever asks next sees it
		if waiting, err := p.pub.State(); waiting == 0 || err != nil {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	return nil
}

// toldTime bounds how long is waited until the fleet knows.
const toldTime = 2 * time.Second

// askTime bounds how long the registry may take to answer.
const askTime = 30 * time.Second

// skewShown is how far clocks may differ without a word. A host's time is written when it tells of itself, and the entry
// is taken seconds later where much is to be told: that is no skew.
const skewShown = 10 * time.Second

// Ask is what hosts say of themselves and their sessions: of one, or all.
func (m *Member) Ask(ctx context.Context, host string, sessions bool) ([]api.FleetHost, []api.FleetSession, error) {
	p, err := m.now()
	if err != nil {
		return nil, nil, err
	}
	patterns := registry.Hosts()
	switch {
	case host != "":
		if err := fleet.CheckName(host); err != nil {
			return nil, nil, api.Errorf(api.CodeInvalid, "%v", err)
		}
		patterns = registry.Of(host)
	case sessions:
		patterns = registry.Everything()
	}
	p.reached(ctx)
	if _, err := p.link.State(); err != nil {
		return m.unasked(host, sessions, err)
	}
	ctx, done := context.WithTimeout(ctx, askTime)
	defer done()
	all, err := registry.Snapshot(ctx, p.link.JetStream(), patterns)
	if err != nil {
		if _, over := m.now(); over != nil {
			return nil, nil, over
		}
		return m.unasked(host, sessions, err)
	}
	hosts, list := Read(all)
	m.remember(hosts)
	for i := range hosts {
		hosts[i].Here = hosts[i].Host == p.id.Name
	}
	if members, err := m.cfg.Dir.Members(); err == nil && host == "" { // who is away and has no sessions is known here
		hosts = withAway(hosts, members)
	}
	return hosts, list, nil
}

// unasked is the answer while the fleet cannot be asked. A name that no host of it was ever seen to have is somebody
// else's: who wants to know whether it is the fleet's is told that it is not.
func (m *Member) unasked(host string, sessions bool, err error) ([]api.FleetHost, []api.FleetSession, error) {
	if host == "" || sessions || slices.Contains(m.cfg.Dir.Hosts(), host) {
		return nil, nil, cutOff(err)
	}
	members, _ := m.cfg.Dir.Members() // where there is no list, nobody is on it
	if slices.ContainsFunc(members, func(i ident.Issued) bool { return i.Name == host && i.Kind == ident.Host && i.Revoked.IsZero() }) {
		return nil, nil, cutOff(err)
	}
	return []api.FleetHost{}, nil, nil
}

// maxKnown bounds how many names are remembered.
const maxKnown = 20000

// remember keeps names of hosts that were seen, for when the fleet cannot be asked.
func (m *Member) remember(hosts []api.FleetHost) {
	m.knownMu.Lock()
	defer m.knownMu.Unlock()
	known := m.cfg.Dir.Hosts()
	there := make(map[string]bool, len(known))
	for _, name := range known {
		there[name] = true
	}
	old := len(known)
	for i := range hosts {
		if name := hosts[i].Host; !there[name] && fleet.CheckName(name) == nil && len(known) < maxKnown {
			known, there[name] = append(known, name), true
		}
	}
	if len(known) == old {
		return
	}
	slices.Sort(known)
	if err := m.cfg.Dir.SaveHosts(known); err != nil {
		m.cfg.Log.Warn("names of the fleet's hosts are not kept", "err", err)
	}
}

// learnHosts learns the names of the fleet's hosts once.
func (p *part) learnHosts(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, askTime)
	defer done()
	if all, err := registry.Snapshot(ctx, p.link.JetStream(), registry.Hosts()); err == nil {
		hosts, _ := Read(all)
		p.m.remember(hosts)
	}
}

// Read reads entries of the registry, which every member may have made as it likes. They come host by host.
func Read(all []registry.Entry) ([]api.FleetHost, []api.FleetSession) {
	hosts, list := make([]api.FleetHost, 0), make([]api.FleetSession, 0, len(all))
	var newest time.Time // the servers' time, whatever this machine's clock says
	for i := range all {
		if e := &all[i]; e.Record == "" && e.Time.After(newest) {
			newest = e.Time
		}
	}
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(e registry.Entry) bool { return e.Host != all[0].Host })
		if n < 0 {
			n = len(all)
		}
		var h *api.FleetHost
		if h, list = readHost(all[:n], list, newest.Add(-staleTime)); h != nil {
			hosts = append(hosts, *h)
		}
		all = all[n:]
	}
	return hosts, list
}

// staleTime is how far what a host says of itself may be behind what the others say. The servers take such an entry away
// much sooner; one that was killed may have it again without an end.
const staleTime = 3 * registry.HostTime

// readHost reads what is said of one host, or nil where that is nothing, and appends its sessions. A host that was not
// heard of since then is away.
func readHost(all []registry.Entry, list []api.FleetSession, since time.Time) (*api.FleetHost, []api.FleetSession) {
	var h *api.FleetHost
	name := all[0].Host
	for i := range all {
		if e := &all[i]; e.Record == "" {
			h = readOwn(e)
		}
	}
	if h != nil && h.Seen.Before(since) {
		*h = api.FleetHost{Host: name, State: "away", Seen: h.Seen}
	}
	away := h == nil || h.State == "away"
	from := len(list)
	for i := range all {
		e := &all[i]
		if e.Record == "" {
			continue
		}
		list = append(list, api.FleetSession{})
		s := &list[len(list)-1]
		if s.Decode(e.Value) != nil || s.ID != e.Record {
			list = list[:len(list)-1]
			continue
		}
		if s.Host, s.Away = name, away; !away {
			continue
		}
		if s.State == "running" { // until it is heard of again
			s.State = "lost"
		}
		if h == nil {
			h = &api.FleetHost{Host: name, State: "away"}
		}
		if h.Sessions++; e.Time.After(h.Seen) {
			h.Seen = e.Time
		}
	}
	slices.SortFunc(list[from:], func(a, b api.FleetSession) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return h, list
}

// readOwn is what a host says of itself; nil: it is JetStream's answer to another member, which had it put here.
func readOwn(e *registry.Entry) *api.FleetHost {
	var h api.FleetHost
	if json.Unmarshal(e.Value, &h) != nil || h.Host != e.Host {
		return nil
	}
	h.Host, h.State, h.Seen = e.Host, "connected", e.Time
	if skew := h.Time.Sub(e.Time); !h.Time.IsZero() && skew.Abs() > skewShown {
		h.Skew = skew.Milliseconds()
	}
	return &h
}

func withAway(hosts []api.FleetHost, members []ident.Issued) []api.FleetHost {
	for i := range members {
		known := slices.ContainsFunc(hosts, func(h api.FleetHost) bool { return h.Host == members[i].Name })
		if !known && members[i].Kind == ident.Host && members[i].Revoked.IsZero() {
			hosts = append(hosts, api.FleetHost{Host: members[i].Name, State: "away"})
		}
	}
	slices.SortFunc(hosts, func(a, b api.FleetHost) int { return cmp.Compare(a.Host, b.Host) })
	return hosts
}

// Events are what a reader has not acknowledged.
func (m *Member) Events(ctx context.Context, in api.FleetRead) (api.FleetEvents, error) {
	out := api.FleetEvents{Events: []api.FleetEvent{}}
	p, err := m.now()
	if err != nil {
		return out, err
	}
	if err := fleet.CheckName(in.Reader); err != nil {
		return out, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if _, err := p.link.State(); errors.Is(err, link.ErrRevoked) { // it does not get better: nobody waits for it
		return out, api.Errorf(api.CodeDenied, "the fleet is not asked: %v", err).WithHint("`longterm fleet invite`, where the fleet was made, lets this machine in anew")
	}
	js := p.link.JetStream()
	if in.Ack > 0 {
		if err := registry.Acknowledge(ctx, js, p.id.Name, in.Reader, in.Ack); err != nil {
			return out, cutOff(err)
		}
		out.Cursor = in.Ack
	} else if out.Cursor, err = registry.Cursor(ctx, js, p.id.Name, in.Reader); err != nil {
		return out, cutOff(err)
	}
	all, lost, err := registry.After(ctx, js, out.Cursor, cmp.Or(in.Limit, 100), time.Duration(in.WaitMS)*time.Millisecond)
	if err != nil && ctx.Err() == nil {
		return out, cutOff(err)
	}
	out.Lost = lost
	for i := range all {
		e := api.FleetEvent{Host: all[i].Host, Cursor: all[i].Seq}
		if json.Unmarshal(all[i].Value, &e.Completion) == nil && e.Kind == all[i].Kind {
			out.Events = append(out.Events, e)
		}
		out.Cursor = all[i].Seq
	}
	return out, nil
}

// bare are addresses without passwords.
func bare(servers []string) []string {
	all := make([]string, len(servers))
	for i, s := range servers {
		all[i] = link.Bare(s)
	}
	return all
}
