package api

import (
	"time"

	"github.com/longterm-dev/longterm/session/actor"
)

// Judgement is what the rules say of a line, a command or an execution.
type Judgement struct {
	Verdict  string   `json:"verdict" enum:"allow,ask,deny" doc:"the strictest of all its commands"`
	Rule     string   `json:"rule,omitempty" doc:"of the command that decided"`
	Words    string   `json:"words,omitempty" doc:"of the command that decided"`
	Why      string   `json:"why,omitempty"`
	Instead  string   `json:"instead,omitempty" doc:"what to do instead"`
	Commands []Judged `json:"commands,omitempty" doc:"every command that it would run, with its own verdict"`
}

// Judged is one command of what was judged.
type Judged struct {
	Argv    []string `json:"argv" doc:"words as the program gets them; what is not known is …"`
	Verdict string   `json:"verdict" enum:"allow,ask,deny"`
	Rule    string   `json:"rule,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Approval is something that a person is, or was, asked to allow.
type Approval struct {
	ID      string      `json:"id" doc:"A1, A2 …"`
	State   string      `json:"state" enum:"pending,answered,gone" doc:"gone: nobody waits for it any more"`
	Kind    string      `json:"kind" enum:"line,command,execution,network,reveal,write,stop"`
	Actor   actor.Actor `json:"actor" doc:"who asks"`
	Session string      `json:"session,omitempty" doc:"id; absent: none yet"`
	Name    string      `json:"name,omitempty" doc:"of the session"`
	Line    string      `json:"line,omitempty"`
	Path    string      `json:"path,omitempty" doc:"of an execution: the file; else what it is about"`
	Argv    []string    `json:"argv,omitempty"`
	Cwd     string      `json:"cwd,omitempty"`
	Depth   int         `json:"depth,omitempty" doc:"of an execution: 0 is what was asked for, 1 what that started …"`
	Parent  []string    `json:"parent,omitempty" doc:"of an execution: argv of what started it"`
	Policy  string      `json:"policy,omitempty" doc:"rules that the call or the session asked for"`

	Judgement Judgement `json:"judgement" doc:"why a person is asked"`
	Risk      string    `json:"risk" enum:"low,medium,high"`
	Group     string    `json:"group" doc:"approvals of one group are much the same: they can be answered together"`
	Prefixes  []string  `json:"session_prefixes,omitempty" doc:"what an answer for the session would allow in it"`
	Rule      string    `json:"always_rule,omitempty" doc:"what an answer for always would write into the rules, if it is not edited; absent: no rule can allow it"`
	RuleCwd   string    `json:"always_cwd,omitempty" doc:"directory in and below which that rule would count; absent: everywhere"`
	NoRule    string    `json:"always_none,omitempty" doc:"why no rule can allow it"`

	Count int       `json:"count" doc:"how many ask for the same"`
	Asked time.Time `json:"asked"`

	Ended    *time.Time   `json:"ended,omitempty"`
	Answer   string       `json:"answer,omitempty" enum:"once,session,always,reject"`
	Feedback string       `json:"feedback,omitempty" doc:"for whoever asked"`
	By       *actor.Actor `json:"answered_by,omitempty"`
	Written  string       `json:"rule_written,omitempty" doc:"the rule that an answer for always made"`
	Note     string       `json:"note,omitempty" doc:"what else there is to know of it: a full disk did not take the answer so far"`
}

// Answers returns the answers that the approval accepts. If none is always, a user may still give it with a rule.
func (a *Approval) Answers() []string {
	list := []string{"once"}
	if a.Session != "" {
		list = append(list, "session")
	}
	if a.Rule != "" {
		list = append(list, "always")
	}
	return append(list, "reject")
}

// ApprovalAnswer answers one approval.
type ApprovalAnswer struct {
	Answer   string `json:"answer" enum:"once,session,always,reject" doc:"allow it this time; allow such commands in this session; allow them by a rule that is written down; do not allow it"`
	Feedback string `json:"feedback,omitempty" maxLength:"4096" doc:"for whoever asked"`
	Rule     string `json:"rule,omitempty" maxLength:"1024" doc:"with always: the rule, instead of the one that was proposed"`
}

// ApprovalsAnswer answers several. Exactly one of IDs, Group and All is given.
type ApprovalsAnswer struct {
	ApprovalAnswer
	IDs   []string `json:"ids,omitempty" maxItems:"10000"`
	Group string   `json:"group,omitempty" doc:"all that are pending in this group"`
	All   bool     `json:"all,omitempty" doc:"all that are pending"`
}

// ApprovalsAnswered says which were answered.
type ApprovalsAnswered struct {
	Answered []Approval `json:"answered"`
	Failed   []Failed   `json:"failed,omitempty" doc:"those that were not, and why"`
}

// Failed is one of several that went wrong.
type Failed struct {
	ID    string `json:"id"`
	Error Error  `json:"error"`
}

// Grant is what a person allowed for a session.
type Grant struct {
	ID       string    `json:"id" doc:"G1, G2 …"`
	Session  string    `json:"session" doc:"id"`
	Name     string    `json:"name,omitempty" doc:"of the session, while there is one"`
	Kind     string    `json:"kind"`
	Rule     string    `json:"rule" doc:"that asks, and does not any more"`
	Prefix   string    `json:"prefix,omitempty" doc:"words that the command begins with"`
	Exact    string    `json:"exact,omitempty" doc:"all of what is allowed, where no prefix is"`
	Dir      string    `json:"dir,omitempty" doc:"in which it holds, of a prefix also below; absent: everywhere"`
	Approval string    `json:"approval"`
	Created  time.Time `json:"created"`
}
