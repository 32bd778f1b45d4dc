//go:build unix

package daemon

import (
	"cmp"
	"context"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// openGate creates the gateway with its dependencies.
func (d *Daemon) openGate(ctx context.Context) error {
	rules := rulesInEffect{rulebook.Open(rulebook.Options{
		File: d.cfg.Dirs.PolicyFile(), LastGoodCopy: d.cfg.Dirs.PolicyKept(), MayDeleteCopy: true, Trust: d.cfg.Dirs.PolicyTrust(), Root: d.cfg.Dirs.Root(), Home: jobs.Home(), Log: d.log,
	}), d.conf}
	var err error
	d.gate, err = authorize.Open(ctx, authorize.Config{
		Rules: rules, Author: rules.Book, Store: d.store, Audit: auditTrail{d.audit}, Bus: gateBus{d}, NotifyUsers: d.notifyApproval, OnAgentLine: d.recordAgentWork, Flush: func(ctx context.Context) { d.reg.Flush(ctx) },
		AgentsMayUseYes: func() bool { return d.conf.Get().Policy.AgentsYes }, Log: d.log,
		Cwd: d.cwdOf, Drafts: draftsOfJobs{d}, CheckStartDir: func(dir string) error { return spawn.CheckStart(dir, d.conf.Get().Policy.Roots) },
	})
	return err
}

// draftsOfJobs are the drafts in which jobs ran.
type draftsOfJobs struct{ d *Daemon }

// CheckDraft implements authorize.Drafts.
func (p draftsOfJobs) CheckDraft(ctx context.Context, v *api.DraftReview) error {
	return p.d.jobs.CheckDraft(ctx, v)
}

// AwaitDraft implements authorize.Drafts.
func (p draftsOfJobs) AwaitDraft(ctx context.Context, asking string) error {
	return p.d.jobs.AwaitDraft(ctx, asking)
}

// cwdOf returns the directory of a session's shell.
func (d *Daemon) cwdOf(session string) string {
	e := d.reg.ByID(session)
	if e == nil {
		return ""
	}
	return e.CurrentDir(e.Session.Status())
}

// recordAgentWork records the agent whose line a session received.
func (d *Daemon) recordAgentWork(session, agent string) {
	if e := d.reg.ByID(session); e != nil {
		d.reg.RecordAgentWork(e, agent)
	}
}

// rulesInEffect is a rule book with the presets of the current configuration.
type rulesInEffect struct {
	*rulebook.Book
	conf *liveconfig.Settings
}

// For implements authorize.Rules.
func (r rulesInEffect) For(s rulebook.Subject) (*policy.Engine, *rulebook.Sources) {
	p := &r.conf.Get().Policy
	r.SetDefaults(policy.Preset(p.Default), policy.Preset(p.Agents))
	return r.Book.For(s)
}

// auditTrail writes the gateway's decisions to the audit log.
type auditTrail struct{ log *audit.Log }

// RecordDecision implements authorize.Audit.
func (t auditTrail) RecordDecision(_ context.Context, r authorize.Record) error {
	a := &r.Request
	rec := audit.Record{
		Actor: r.Actor, Kind: audit.Kind(a.Kind), Session: a.Session, Name: a.Name, Line: a.Line, Path: a.Path, Argv: a.Argv,
		Parent: a.Parent, Depth: a.Depth, Cwd: a.Cwd, Verdict: r.Verdict.String(), Rule: r.Rule, Approval: r.Approval, Scope: r.Scope, Note: r.Note,
	}
	if a.Kind == authorize.Line || a.Kind == authorize.Command {
		rec.Job = a.ID
	}
	if r.Answer {
		rec.Kind, rec.Verdict = audit.Answer, "approved"
		if r.Verdict == policy.Deny {
			rec.Verdict = "rejected"
		}
	}
	if a.Kind == authorize.Execution && r.Verdict == policy.Allow && r.Approval == "" { // it waits for this in execve
		return t.log.AppendSoon(rec)
	}
	_, err := t.log.Append(rec)
	return err
}

// gateBus publishes approvals with their sessions.
type gateBus struct{ d *Daemon }

// PublishApproval implements authorize.Bus.
func (b gateBus) PublishApproval(kind string, a *api.Approval) {
	var s *api.Session
	if e := b.d.reg.ByID(a.Session); a.Session != "" && e != nil && e.IsReady() {
		view := b.d.reg.Describe(e, e.Session.Status())
		s = &view
	}
	b.d.reg.Bus.PublishApproval(kind, a, s)
}

// Approvals implements registry.Host.
func (d *Daemon) Approvals(session string) []string { return d.gate.Waiting(session) }

// OnRemoved implements registry.Host.
func (d *Daemon) OnRemoved(session string) {
	d.gate.Forget(context.Background(), session)
	if face := d.api.Load(); face != nil {
		face.Forget(session)
	}
}

// notifyApproval notifies users of a new approval.
func (d *Daemon) notifyApproval(a *api.Approval) {
	how := d.conf.NotifyApproval()
	if !how.IsEnabled() {
		return
	}
	what := a.Line
	if what == "" && len(a.Argv) > 0 {
		what = shellquote.Line(a.Argv)
	}
	asked := notify.ApprovalEvent{
		Approval: a.ID, Session: a.Session, Name: a.Name, Actor: a.Actor.String(), Command: cmp.Or(what, a.Path), Cwd: a.Cwd,
		Reason: strings.Join(a.Judgement.Explain(), "; "), Risk: a.Risk, Time: a.Asked,
	}
	redact.RewriteStrings(&asked, plaintext.Literal) // nothing of it is hidden
	go func() {                                      // bounded by its own timeout
		sender := d.reg.Sender()
		if err := sender.SendApproval(context.Background(), how, &asked); err != nil {
			d.log.Warn("notify about an approval", "approval", a.ID, "err", err)
		}
	}()
}
