//go:build unix

package daemon

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// openGate makes the gateway with what it asks of others.
func (d *Daemon) openGate(ctx context.Context) error {
	p := d.conf.Get().Policy
	book := rulebook.Open(rulebook.Options{
		File:   filepath.Join(filepath.Dir(d.cfg.Dirs.ConfigFile()), "policy.toml"),
		Person: policy.Preset(p.Default), Agents: policy.Preset(p.Agents), Log: d.log,
	})
	var err error
	d.gate, err = gateway.Open(ctx, gateway.Config{
		Rules: book, Store: d.store, Bus: gateBus{d}, Tell: d.tellApproval, Log: d.log,
		GoOn: func() bool { return d.conf.Get().Policy.AuditFull == config.AuditGoOn },
	})
	return err
}

// gateBus tells of approvals with the sessions they are about.
type gateBus struct{ d *Daemon }

// PublishApproval implements gateway.Bus.
func (b gateBus) PublishApproval(kind string, a *api.Approval) {
	var s *api.Session
	if e := b.d.reg.ByID(a.Session); a.Session != "" && e != nil && e.Ready() {
		view := b.d.reg.Describe(e, e.Session.Status())
		s = &view
	}
	b.d.reg.Bus.PublishApproval(kind, a, s)
}

// Approvals implements registry.Host.
func (d *Daemon) Approvals(session string) []string { return d.gate.Waiting(session) }

// Removed implements registry.Host.
func (d *Daemon) Removed(session string) { d.gate.Forget(context.Background(), session) }

// tellApproval tells people that they are asked for something, as they are told of commands that end.
func (d *Daemon) tellApproval(a *api.Approval) {
	how := d.conf.NotifyAsked()
	if !how.Any() {
		return
	}
	what := a.Line
	if what == "" && len(a.Argv) > 0 {
		what = spawn.Quote(a.Argv)
	}
	asked := notify.Asked{
		Approval: a.ID, Session: a.Session, Name: a.Name, Who: a.Actor.String(), Command: cmp.Or(what, a.Path), Cwd: a.Cwd,
		Why: a.Judgement.Why, Risk: a.Risk, Time: a.Asked,
	}
	go func() { // bounded by its own timeout
		sender := notify.Sender{Terminals: d.reg.Terminals.Send}
		if err := sender.SendAsked(context.Background(), how, &asked); err != nil {
			d.log.Warn("tell of an approval", "approval", a.ID, "err", err)
		}
	}()
}
