package api

import "time"

// Subscription is somebody who is told of completions, also of those while it and the daemon were away.
type Subscription struct {
	Name    string    `json:"name" doc:"of a hook of the configuration: config:NAME"`
	Kinds   []string  `json:"kinds,omitempty" doc:"absent: all; of a hook of the configuration: its events"`
	Session string    `json:"session,omitempty" doc:"id of the one session it is for; absent: all"`
	Hook    string    `json:"hook,omitempty" doc:"line of a shell that the daemon runs for each, once"`
	Cursor  uint64    `json:"cursor" doc:"seq up to which it has acknowledged"`
	Newest  uint64    `json:"newest" doc:"seq of the newest completion there is, of any kind"`
	Failed  int       `json:"failed,omitempty" doc:"runs of the hook that failed"`
	Skipped int       `json:"skipped,omitempty" doc:"what the hook was not run for since the daemon started, by its limit or since too much came at once"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen" doc:"when it was last read or acknowledged; without a hook it is forgotten 30 days later"`
	// Failure is how the hook's newest run failed.
	Failure *HookFailure `json:"failure,omitempty" doc:"absent: the newest run of the hook that this daemon knows of went well"`
}

// HookFailure is how a run of a hook failed.
type HookFailure struct {
	Name    string    `json:"name" doc:"of the subscription; a hook of the configuration is config:NAME"`
	On      string    `json:"on" doc:"kind of what it was run for"`
	Session string    `json:"session,omitempty" doc:"id of the one that it was run for"`
	Job     string    `json:"job"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// NewSubscription says what to be told of.
type NewSubscription struct {
	Kinds   []string `json:"kinds,omitempty" maxItems:"5" enum:"job,command,session,input,approval" doc:"a job, a shell's command or a session ended; a program asks a person; a person has to allow something; default: all"`
	Session string   `json:"session,omitempty" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Hook    string   `json:"hook,omitempty" maxLength:"4096" doc:"line of a shell that the daemon runs for each, one after the other and each once; LONGTERM_COMPLETION has the completion in JSON"`
}

// ReadCompletions asks for what a subscription has not acknowledged.
type ReadCompletions struct {
	Ack    uint64 `json:"ack,omitempty" doc:"acknowledge first, up to this cursor"`
	After  uint64 `json:"after,omitempty" doc:"leave out those up to here without acknowledging them: the reader has them in hand"`
	Limit  int    `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"at most so many; default 100"`
	WaitMS int    `json:"wait_ms,omitempty" minimum:"0" maximum:"50000" doc:"where there is none, wait so long for one; 0: do not"`
	Reader string `json:"reader,omitempty" maxLength:"64" doc:"name of who reads, which stays the same from call to call. A subscription has one reader: with another name it goes to who takes it"`
	Take   bool   `json:"take,omitempty" doc:"become the reader; who was it before is refused from then on"`
}

// AckCompletions says up to where completions were dealt with.
type AckCompletions struct {
	Cursor uint64 `json:"cursor" minimum:"1" doc:"of an answer, or the seq of a completion: that one and all before it"`
	Reader string `json:"reader,omitempty" maxLength:"64" doc:"who acknowledges; refused when another one reads; absent: whoever"`
}

// Completions are what a subscription has not acknowledged, oldest first.
type Completions struct {
	Completions []Completion `json:"completions"`
	Cursor      uint64       `json:"cursor" doc:"acknowledge up to here when these were dealt with; until then they come again"`
	More        bool         `json:"more,omitempty" doc:"there are more at once"`
	Lost        uint64       `json:"lost,omitempty" doc:"so many of any kind were dropped before they were acknowledged: the newest 20000 are kept"`
}

// Completion is something that ended, or that wants a person.
type Completion struct {
	Seq      uint64    `json:"seq" doc:"grows; never given twice"`
	Kind     string    `json:"kind" enum:"job,command,session,input,approval"`
	Session  string    `json:"session,omitempty" doc:"its id"`
	Name     string    `json:"name,omitempty" doc:"of the session, then"`
	Job      string    `json:"job,omitempty" doc:"its id"`
	Command  int       `json:"command,omitempty" doc:"its number in the session"`
	Approval string    `json:"approval,omitempty" doc:"its id"`
	State    string    `json:"state" doc:"how it ended; input: password, confirm, menu or text; approval: what is to be allowed"`
	ExitCode *int      `json:"exit_code,omitempty" doc:"absent: there is none, or it is not known"`
	Signal   string    `json:"signal,omitempty"`
	Text     string    `json:"text,omitempty" doc:"line, command, or why it is taken for a question; the first 1000 characters"`
	At       time.Time `json:"at"`
}
