package api

import (
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// Judgement is the policy verdict on a line, a command or an execution.
type Judgement struct {
	Verdict  string   `json:"verdict" enum:"allow,ask,deny" doc:"the strictest verdict of its commands"`
	Rule     string   `json:"rule,omitempty" doc:"rule that decided"`
	Words    string   `json:"words,omitempty" doc:"words of the command that decided"`
	Why      string   `json:"why,omitempty"`
	Instead  string   `json:"instead,omitempty" doc:"what to do instead"`
	Effects  []string `json:"effects,omitempty" doc:"if approval is needed: its effects in words"`
	NoDraft  string   `json:"no_draft,omitempty" doc:"if the rules want a draft: why it did not run in one"`
	Commands []Judged `json:"commands,omitempty" doc:"every command that it would run, with its own verdict"`
}

// Explain returns what would happen, in words: the effects, or without any the reason of the verdict.
func (j *Judgement) Explain() []string {
	if len(j.Effects) == 0 && j.Why != "" {
		return []string{j.Why}
	}
	return j.Effects
}

// RuleWithReason returns the rule of the verdict, with its reason if Explain does not return that.
func (j *Judgement) RuleWithReason() string {
	switch {
	case j.Rule == "":
		return ""
	case len(j.Effects) == 0 || j.Why == "":
		return fmt.Sprintf("rule %q", j.Rule)
	}
	return fmt.Sprintf("rule %q: %s", j.Rule, j.Why)
}

// Judged is the verdict on one command.
type Judged struct {
	Argv    []string `json:"argv" doc:"words as the program receives them; … for unknown ones"`
	Verdict string   `json:"verdict" enum:"allow,ask,deny"`
	Rule    string   `json:"rule,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Approval is a request that a user must, or had to, approve or reject.
type Approval struct {
	ID      string         `json:"id" doc:"A1, A2 …"`
	State   string         `json:"state" enum:"pending,answered,gone" doc:"gone: no longer needed"`
	Kind    string         `json:"kind" enum:"line,command,execution,network,reveal,write,stop"`
	Actor   identity.Actor `json:"actor" doc:"the requesting caller"`
	Session string         `json:"session,omitempty" doc:"id; absent: none yet"`
	Name    string         `json:"name,omitempty" doc:"name of the session"`
	Line    string         `json:"line,omitempty"`
	Path    string         `json:"path,omitempty" doc:"for an execution: the file; else the path that the request concerns"`
	Argv    []string       `json:"argv,omitempty"`
	Cwd     string         `json:"cwd,omitempty"`
	Depth   int            `json:"depth,omitempty" doc:"of an execution: 0 is the requested program, 1 its child …"`
	Parent  []string       `json:"parent,omitempty" doc:"of an execution: argv of its parent"`
	Policy  string         `json:"policy,omitempty" doc:"preset of the call or the session"`

	Judgement Judgement    `json:"judgement" doc:"why approval is needed"`
	Draft     *DraftReview `json:"draft,omitempty" doc:"it ran in a draft: an answer decides about its changes"`
	Risk      string       `json:"risk" enum:"low,medium,high"`
	Group     string       `json:"group" doc:"approvals of one group are similar: one answer can cover them"`
	Prefixes  []string     `json:"session_prefixes,omitempty" doc:"commands that the answer session would allow"`
	Rule      string       `json:"always_rule,omitempty" doc:"rule that the answer always would add, unless edited; absent: no rule can allow it"`
	RuleCwd   string       `json:"always_cwd,omitempty" doc:"directory in and below which that rule would apply; absent: everywhere"`
	NoRule    string       `json:"always_none,omitempty" doc:"why no rule can allow it"`

	Count int       `json:"count" doc:"how many requests it covers"`
	Asked time.Time `json:"asked"`

	Ended    *time.Time      `json:"ended,omitempty"`
	Answer   string          `json:"answer,omitempty" enum:"once,session,always,reject"`
	Feedback string          `json:"feedback,omitempty" doc:"for the requesting caller"`
	By       *identity.Actor `json:"answered_by,omitempty"`
	Written  string          `json:"rule_written,omitempty" doc:"rule added by the answer always"`
	Note     string          `json:"note,omitempty" doc:"a note, for example that a full disk delays the recording of the answer"`
}

// Answers returns the answers that the approval accepts. If none is always, a user may still give it with a rule.
func (a *Approval) Answers() []string {
	list := []string{"once"}
	if a.Session != "" && a.Draft == nil {
		list = append(list, "session")
	}
	if a.Rule != "" {
		list = append(list, "always")
	}
	return append(list, "reject")
}

// ApprovalAnswer answers one approval.
type ApprovalAnswer struct {
	Answer   string `json:"answer" enum:"once,session,always,reject" doc:"once: allow it; session: allow similar commands in this session; always: add a rule that allows them; reject: do not run it"`
	Feedback string `json:"feedback,omitempty" maxLength:"4096" doc:"for the requesting caller"`
	Rule     string `json:"rule,omitempty" maxLength:"1024" doc:"with always: the rule, instead of the proposed one"`
}

// ApprovalsAnswer answers several approvals. Exactly one of IDs, Group and All is set.
type ApprovalsAnswer struct {
	ApprovalAnswer
	IDs   []string `json:"ids,omitempty" maxItems:"10000"`
	Group string   `json:"group,omitempty" doc:"all pending approvals of this group"`
	All   bool     `json:"all,omitempty" doc:"all pending approvals"`
}

// ApprovalsAnswered lists the answered approvals.
type ApprovalsAnswered struct {
	Answered []Approval `json:"answered"`
	Failed   []Failed   `json:"failed,omitempty" doc:"approvals that were not answered, and why"`
}

// Failed is one of several items that failed.
type Failed struct {
	ID    string `json:"id"`
	Error Error  `json:"error"`
}

// Grant is a user's permission for a session.
type Grant struct {
	ID       string    `json:"id" doc:"G1, G2 …"`
	Session  string    `json:"session" doc:"id"`
	Name     string    `json:"name,omitempty" doc:"name of the session, while it exists"`
	Kind     string    `json:"kind"`
	Rule     string    `json:"rule" doc:"rule that required approval"`
	Prefix   string    `json:"prefix,omitempty" doc:"first words of the command"`
	Exact    string    `json:"exact,omitempty" doc:"the whole allowed command; absent with a prefix"`
	Dir      string    `json:"dir,omitempty" doc:"directory in which it applies, for a prefix also below; absent: everywhere"`
	Approval string    `json:"approval"`
	Created  time.Time `json:"created"`
}
