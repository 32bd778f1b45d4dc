package authorize

import (
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/effects"
)

// The rules' verdict draft: the caller runs the request in a draft, then requests it again, with its changes. The second
// request creates the approval. An answer decides about the changes.

// Drafts are the drafts in which requests ran.
type Drafts interface {
	// CheckDraft returns why the changes of a draft cannot be committed, or nil.
	CheckDraft(ctx context.Context, d *api.DraftReview) error
	// AwaitDraft waits until an answer about a draft is carried out, and returns why its changes were not committed, or nil.
	AwaitDraft(ctx context.Context, asking string) error
}

// wantsDraft reports whether the verdict on a request is draft. Users see what they run, so their verdict is ask.
func (a *Request) wantsDraft(j *policy.Judgement) bool {
	if a.Kind != Line && a.Kind != Command || !a.Actor.IsAgent() || a.Drafted != nil || j.Verdict != policy.Ask {
		return false
	}
	for i := range j.Commands {
		if j.Commands[i].Draft {
			return true
		}
	}
	return false
}

// tmpPathPattern finds paths in /tmp and /var/tmp, which are others in a draft's session.
var tmpPathPattern = pattern.Lazy(`(^|[\s=:'"(<>,@])(/var)?/tmp(/|[\s'")]|$)|\$\{?TMPDIR`)

// noDraft returns why a request does not run in a draft, or "".
func (a *Request) noDraft(j *policy.Judgement) string {
	text := a.Line
	if text == "" {
		text = strings.Join(a.Argv, " ")
	}
	switch {
	case a.MakeDraft == nil:
		return "only lines and commands without a program that reads them can"
	case a.Opaque != "" || j.IsUnparsable || j.IsIncomplete:
		return "the line cannot be read as a whole"
	case len(j.Commands) >= policy.MaxCommands:
		return "the line has too many commands"
	case tmpPathPattern.MatchString(text):
		return "it uses /tmp, and a draft has its own"
	}
	d, err := a.MakeDraft()
	if err != nil {
		return strings.TrimSuffix(oneLine(err.Error()), ".")
	}
	if a.Kind == Line {
		exported := func(name string) bool { _, is := a.ShellVariables[name]; return is }
		if word, keeps := a.priorState.IsUnchangedBy(policy.Line{Text: a.Line, Shell: a.Shell, Cwd: a.Cwd, Home: a.Home}, exported); !keeps {
			return strings.TrimSpace("it changes or uses the state of the session's shell: " + oneLine(word))
		}
	}
	return effects.EscapeReason(j.Commands, d)
}

// runsInDraft reports whether an execution belongs to a run in a draft. The draft holds its effects, so only denials count.
func (g *Gateway) runsInDraft(a *Request) bool {
	if a.Kind != Execution {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.lastFlight(a.Session)
	return f != nil && f.request.InDraft
}

// maxReviewed bounds the changes that an approval's effects name.
const maxReviewed = 8

// effectsOfDraft returns in words what a request did in its draft, and what a commit would change.
func effectsOfDraft(d *api.DraftReview) []string {
	ended := "its exit status is unknown"
	switch {
	case d.Signal != "":
		ended = "it was ended by signal " + d.Signal
	case d.ExitCode != nil:
		ended = fmt.Sprintf("exit status %d", *d.ExitCode)
	}
	out := []string{"ran in a draft: " + ended + lastLine(d.Output)}
	words := map[string]string{"added": "adds", "modified": "changes", "deleted": "deletes", "replaced": "replaces", "meta": "changes attributes of", "type": "changes the type of"}
	for i := range d.Changes {
		c := &d.Changes[i]
		if i == maxReviewed {
			break
		}
		text := words[c.Kind] + " " + oneLine(c.Path)
		x := extent{files: c.Files, bytes: c.Bytes}
		if c.Type == "dir" && c.Files == 0 {
			x.dirs = 1
		}
		if c.Type == "dir" || c.Bytes > 0 {
			text += ": " + x.String()
		}
		if c.Git != "" {
			text += ", " + c.Git + map[bool]string{true: " by git"}[c.Git == "ignored" || c.Git == "tracked"]
		}
		if c.Conflict != nil {
			text += " (" + *c.Conflict + ")"
		}
		out = append(out, text)
	}
	if shown := min(len(d.Changes), maxReviewed); d.Count > shown {
		total := extent{files: d.Written + d.Deleted, bytes: d.Bytes, isCut: d.AtLeast}
		out = append(out, fmt.Sprintf("and %d more changes; in all %s", d.Count-shown, total.String()))
	}
	return out
}

// lastLine returns the last line of an output as a clause.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n\r "), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return "; last line of its output: " + oneLine(last)
	}
	return ""
}

// checkDraft returns why an answer that allows the changes of a draft cannot be given.
func (g *Gateway) checkDraft(ctx context.Context, v *api.Approval, answer string) error {
	if v.Draft == nil || answer == answerReject || g.c.Drafts == nil {
		return nil
	}
	return g.c.Drafts.CheckDraft(ctx, v.Draft)
}

// awaitDraft waits until an answer about a draft is carried out, and notes in v how that went.
func (g *Gateway) awaitDraft(ctx context.Context, asking string, v *api.Approval) {
	if v.Draft == nil || g.c.Drafts == nil {
		return
	}
	d := *v.Draft
	v.Draft = &d
	if err := g.c.Drafts.AwaitDraft(ctx, asking); err != nil {
		d.State, d.Error = "failed", err.Error()
		v.Note = "not committed: " + oneLine(err.Error()) + fmt.Sprintf("; the draft stays open: `longterm changes %s`", api.ShortID(d.Session))
		return
	}
	if d.State = "committed"; v.Answer == answerReject {
		d.State = "discarded"
	}
}
