package api

import "time"

// Subscription is a durable reader of completions, including those while it and the daemon were down.
type Subscription struct {
	Name    string    `json:"name" doc:"name; config:NAME for hooks of the configuration"`
	Kinds   []string  `json:"kinds,omitempty" doc:"kinds of events; absent: all; for a hook of the configuration its events"`
	Session string    `json:"session,omitempty" doc:"id of its session; absent: all sessions"`
	Hook    string    `json:"hook,omitempty" doc:"shell line that the daemon runs once for each completion"`
	Cursor  uint64    `json:"cursor" doc:"seq of the newest acknowledged completion"`
	Newest  uint64    `json:"newest" doc:"seq of the newest completion of any kind"`
	Failed  int       `json:"failed,omitempty" doc:"failed runs of the hook"`
	Skipped int       `json:"skipped,omitempty" doc:"completions skipped by the hook since the daemon started, because of its limit or a burst"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen" doc:"time of the newest read or acknowledgement; without a hook it is removed 30 days later"`
	// Failure is the failure of the hook's newest run.
	Failure *HookFailure `json:"failure,omitempty" doc:"failure of the hook's newest run; absent: it succeeded"`
}

// HookFailure is a failed run of a hook.
type HookFailure struct {
	Name    string    `json:"name" doc:"of the subscription; a hook of the configuration is config:NAME"`
	On      string    `json:"on" doc:"kind of its event"`
	Session string    `json:"session,omitempty" doc:"id of the event's session"`
	Job     string    `json:"job"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// NewSubscription selects the completions of a subscription.
type NewSubscription struct {
	Kinds   []string `json:"kinds,omitempty" maxItems:"5" enum:"job,command,session,input,approval" doc:"job, command, session: its end; input: a program needs input; approval: an approval is pending; default: all"`
	Session string   `json:"session,omitempty" doc:"id, name, or a unique prefix of its session; default: all sessions"`
	Hook    string   `json:"hook,omitempty" maxLength:"4096" doc:"shell line that the daemon runs once for each completion, one at a time; LONGTERM_COMPLETION has the completion in JSON"`
}

// ReadCompletions requests completions that a subscription has not acknowledged.
type ReadCompletions struct {
	Ack    uint64 `json:"ack,omitempty" doc:"acknowledge first, up to this cursor"`
	After  uint64 `json:"after,omitempty" doc:"skip completions up to this cursor without acknowledging them"`
	Limit  int    `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"maximum number; default 100"`
	WaitMS int    `json:"wait_ms,omitempty" minimum:"0" maximum:"50000" doc:"time to wait for the first one; 0: no wait"`
	Reader string `json:"reader,omitempty" maxLength:"64" doc:"name of the reader, the same in each call. A subscription has one reader; another one must take it"`
	Take   bool   `json:"take,omitempty" doc:"become the reader; the previous one is rejected from then on"`
}

// AckCompletions acknowledges completions.
type AckCompletions struct {
	Cursor uint64 `json:"cursor" minimum:"1" doc:"cursor of a response, or seq of a completion: that one and all before it"`
	Reader string `json:"reader,omitempty" maxLength:"64" doc:"name of the reader; rejected if another one reads; absent: any"`
}

// Completions are the completions that a subscription has not acknowledged, oldest first.
type Completions struct {
	Completions []Completion `json:"completions"`
	Cursor      uint64       `json:"cursor" doc:"acknowledge up to this cursor once handled; unacknowledged ones are sent again"`
	More        bool         `json:"more,omitempty" doc:"more completions are available"`
	Lost        uint64       `json:"lost,omitempty" doc:"completions dropped before their acknowledgement: the newest 20000 are kept"`
}

// Completion reports that something ended, or needs a user.
type Completion struct {
	Seq      uint64    `json:"seq" doc:"increasing number; never reused"`
	Kind     string    `json:"kind" enum:"job,command,session,input,approval"`
	Session  string    `json:"session,omitempty" doc:"id of the session"`
	Name     string    `json:"name,omitempty" doc:"name of the session at that time"`
	Job      string    `json:"job,omitempty" doc:"id of the job"`
	Command  int       `json:"command,omitempty" doc:"command number in the session"`
	Approval string    `json:"approval,omitempty" doc:"id of the approval"`
	State    string    `json:"state" doc:"outcome; input: password, confirm, menu or text; approval: the request"`
	ExitCode *int      `json:"exit_code,omitempty" doc:"absent: none or unknown"`
	Signal   string    `json:"signal,omitempty"`
	Text     string    `json:"text,omitempty" doc:"line, command, or evidence for the question; the first 1000 characters"`
	At       time.Time `json:"at"`
}
