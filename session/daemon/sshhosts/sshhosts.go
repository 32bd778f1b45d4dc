//go:build unix

// Package sshhosts connects the daemon to the configured ssh hosts (hosts.names) for the web page, with the links that
// the CLI uses too (session/hosts). It connects when a client requests a host's sessions or page, not before. It never
// prompts for a password and installs nothing, so hosts that need that are unreachable from here.
package sshhosts

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/paths"
)

// Hosts is the set of configured hosts. It is safe for concurrent use; the zero value has none.
type Hosts struct {
	Settings func() *config.Settings
	Dirs     paths.Dirs
	// LinkArgv is the command line of the process that holds the connection to a host, whose longterm is at program.
	LinkArgv func(t hosts.Target, program string) []string
	Mask     func(string) string // secrets in command lines
}

// listTime bounds the wait for a host's list of sessions.
const listTime = 20 * time.Second

// List returns the hosts with their known state; it connects to none.
func (h *Hosts) List() []api.SSHHost {
	list := []api.SSHHost{}
	for _, name := range h.names() {
		v := api.SSHHost{Host: name, State: "idle"}
		if w, err := h.settingsOf(name); err == nil && w.IsLinked() {
			v.State = "connected"
		}
		list = append(list, v)
	}
	return list
}

// names returns the names of the configured hosts.
func (h *Hosts) names() []string {
	if h.Settings == nil || h.LinkArgv == nil {
		return nil
	}
	return h.Settings().Hosts.Names
}

// settingsOf returns the connection settings of a configured host: the page cannot reach other hosts.
func (h *Hosts) settingsOf(name string) (*hosts.RemoteHost, error) {
	if names := h.names(); !slices.Contains(names, name) {
		return nil, api.Errorf(api.CodeNotFound, "%.60q is not among hosts.names", name).
			WithHint("`longterm config set hosts.names %s%.60s` adds it", strings.Join(append(slices.Clone(names), ""), " "), name)
	}
	t, err := hosts.ParseTarget(name)
	if err != nil {
		return nil, err
	}
	s := h.Settings().Hosts
	return &hosts.RemoteHost{Target: t, SSH: hosts.SSH{Argv: s.SSH, Keep: s.ConnIdleTimeout, Dir: h.Dirs.Hosts()}, LinkArgv: h.LinkArgv, Log: h.Dirs.KeeperLog()}, nil
}

// Dial connects to the daemon of a host.
func (h *Hosts) Dial(ctx context.Context, name string) (net.Conn, error) {
	w, err := h.settingsOf(name)
	if err != nil {
		return nil, err
	}
	if conn, err := w.Dial(ctx); err == nil {
		return conn, nil
	}
	if err := w.Ensure(ctx); err != nil {
		return nil, err
	}
	return w.Dial(ctx)
}

// Sessions returns the sessions of a host, in the form of fleet lists.
func (h *Hosts) Sessions(ctx context.Context, name string) ([]api.FleetSession, error) {
	w, err := h.settingsOf(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	c := client.New(client.Options{Dirs: h.Dirs, Remote: w, From: hosts.ClientLabel(), Build: func() string { return "" }})
	defer c.Close()
	all, err := c.List(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = api.Errorf(api.CodeUnavailable, "%s did not answer within %v", name, listTime)
		}
		return nil, err
	}
	list := make([]api.FleetSession, len(all))
	for i := range all {
		list[i] = fleetmember.View(&all[i], h.Mask)
		list[i].Host = name
	}
	return list, nil
}
