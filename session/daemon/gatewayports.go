//go:build unix

package daemon

import (
	"cmp"
	"context"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// openGate makes the gateway with what it asks of others.
func (d *Daemon) openGate(ctx context.Context) error {
	rules := rulesInEffect{rulebook.Open(rulebook.Options{
		File: d.cfg.Dirs.PolicyFile(), Kept: d.cfg.Dirs.PolicyKept(), Keep: true, Trust: d.cfg.Dirs.PolicyTrust(), Root: d.cfg.Dirs.Root(), Home: jobs.Home(), Log: d.log,
	}), d.conf}
	var err error
	d.gate, err = gateway.Open(ctx, gateway.Config{
		Rules: rules, Author: rules.Book, Store: d.store, Audit: trail{d.audit}, Bus: gateBus{d}, Tell: d.tellApproval, Worked: d.workedIn, Flush: func(ctx context.Context) { d.reg.Flush(ctx) },
		AgentsYes: func() bool { return d.conf.Get().Policy.AgentsYes }, Log: d.log,
		Cwd: d.cwdOf, Start: func(dir string) error { return spawn.CheckStart(dir, d.conf.Get().Policy.Roots) },
	})
	return err
}

// cwdOf is where a session's shell is.
func (d *Daemon) cwdOf(session string) string {
	e := d.reg.ByID(session)
	if e == nil {
		return ""
	}
	return e.CurrentDir(e.Session.Status())
}

// workedIn notes whose line a session was given.
func (d *Daemon) workedIn(session, agent string) {
	if e := d.reg.ByID(session); e != nil {
		d.reg.WorkedIn(e, agent)
	}
}

// rulesInEffect are the book's, with the presets of the configuration as it is now.
type rulesInEffect struct {
	*rulebook.Book
	conf *settings.Settings
}

// For implements gateway.Rules.
func (r rulesInEffect) For(s rulebook.Subject) (*policy.Engine, *rulebook.Sources) {
	p := &r.conf.Get().Policy
	r.SetDefaults(policy.Preset(p.Default), policy.Preset(p.Agents))
	return r.Book.For(s)
}

// trail has the audit log keep what the gateway decides.
type trail struct{ log *audit.Log }

// Decided implements gateway.Audit.
func (t trail) Decided(_ context.Context, r gateway.Record) error {
	a := &r.Ask
	rec := audit.Record{
		Actor: r.Actor, Kind: audit.Kind(a.Kind), Session: a.Session, Name: a.Name, Line: a.Line, Path: a.Path, Argv: a.Argv,
		Parent: a.Parent, Depth: a.Depth, Cwd: a.Cwd, Verdict: r.Verdict.String(), Rule: r.Rule, Approval: r.Approval, Scope: r.Scope, Note: r.Note,
	}
	if a.Kind == gateway.Line || a.Kind == gateway.Command {
		rec.Job = a.ID
	}
	if r.Answer {
		rec.Kind, rec.Verdict = audit.Answer, "approved"
		if r.Verdict == policy.Deny {
			rec.Verdict = "rejected"
		}
	}
	if a.Kind == gateway.Execution && r.Verdict == policy.Allow && r.Approval == "" { // it waits for this in execve
		return t.log.Soon(rec)
	}
	_, err := t.log.Append(rec)
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
func (d *Daemon) Removed(session string) {
	d.gate.Forget(context.Background(), session)
	if face := d.face.Load(); face != nil {
		face.Forget(session)
	}
}

// tellApproval tells people that they are asked for something, as they are told of commands that end.
func (d *Daemon) tellApproval(a *api.Approval) {
	how := d.conf.NotifyAsked()
	if !how.Any() {
		return
	}
	what := a.Line
	if what == "" && len(a.Argv) > 0 {
		what = shellquote.Line(a.Argv)
	}
	asked := notify.Asked{
		Approval: a.ID, Session: a.Session, Name: a.Name, Who: a.Actor.String(), Command: cmp.Or(what, a.Path), Cwd: a.Cwd,
		Why: a.Judgement.Why, Risk: a.Risk, Time: a.Asked,
	}
	secrets.Rewrite(&asked, plaintext.Literal) // nothing of it is hidden
	go func() {                                // bounded by its own timeout
		sender := d.reg.Sender()
		if err := sender.SendAsked(context.Background(), how, &asked); err != nil {
			d.log.Warn("tell of an approval", "approval", a.ID, "err", err)
		}
	}()
}
