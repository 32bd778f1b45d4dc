package api

import "time"

// Kinds of entries of the inbox.
const (
	InboxApproval = "approval"
	InboxQuestion = "question"
	InboxFailed   = "failed"
	InboxFinished = "finished"
	InboxMessage  = "message"
	InboxPort     = "port"
	InboxAnomaly  = "anomaly"
)

// InboxItem is an entry of the inbox that needs the user's attention.
type InboxItem struct {
	ID      string            `json:"id" doc:"A7: an approval; else I1, I2 …"`
	Kind    string            `json:"kind" enum:"approval,question,failed,finished,message,port,anomaly" doc:"approval, question: a program waits for it; failed, finished: a run that ended while no client of a user showed its session; message: a notification or bell of a program then; port: a TCP port that its programs opened then; anomaly: a running command printed a line of its earlier failures then"`
	State   string            `json:"state" enum:"open,snoozed,done"`
	Host    string            `json:"host,omitempty" doc:"in lists of several hosts: where it is, if not here"`
	Session string            `json:"session,omitempty" doc:"id; absent: none, or removed"`
	Name    string            `json:"name,omitempty" doc:"of the session"`
	Labels  map[string]string `json:"labels,omitempty" doc:"of the session"`
	Cwd     string            `json:"cwd,omitempty" doc:"directory in which it happened"`
	Text    string            `json:"text" doc:"what happened, in one line"`
	Since   time.Time         `json:"since"`
	Until   *time.Time        `json:"until,omitempty" doc:"end of the snooze"`
	Do      []string          `json:"do" doc:"commands that answer it or show more"`
	Answers []string          `json:"answers,omitempty" doc:"usual answers, for POST /inbox/{item}/answer; of a question, other texts too"`
	// Answerable is false for secrets, menus and full-screen programs.
	Answerable bool   `json:"answerable,omitempty" doc:"POST /inbox/{item}/answer answers it"`
	Risk       string `json:"risk,omitempty" enum:"low,medium,high" doc:"of an approval"`
	Input      string `json:"input,omitempty" enum:"password,confirm,menu,text,agent" doc:"of a question; agent: asked by a coding agent on its screen"`
	Agent      string `json:"agent,omitempty" doc:"label of the agent that started the session, or requested the approval"`
	Job        string `json:"job,omitempty" doc:"of a run: the job"`
	Command    int    `json:"command,omitempty" doc:"of a run or an anomaly: number of the shell's command"`
	ExitCode   *int   `json:"exit_code,omitempty" doc:"of a run"`
	Signal     string `json:"signal,omitempty" doc:"of a run: the signal that ended it"`
	Count      int    `json:"count,omitempty" doc:"of a message: bells"`
	Port       int    `json:"port,omitempty" doc:"of a port: its number"`
}

// Blocks reports whether a program waits for the user.
func (i *InboxItem) Blocks() bool { return i.Kind == InboxApproval || i.Kind == InboxQuestion }

// Rank returns the rank of an entry's kind in the list: first entries that block a program, then failures, then others.
func (i *InboxItem) Rank() int {
	switch {
	case i.Blocks():
		return 0
	case i.Kind == InboxFailed, i.Kind == InboxAnomaly:
		return 1
	}
	return 2
}

// InboxAnswer answers an approval or a question of the inbox.
type InboxAnswer struct {
	Answer   string `json:"answer" maxLength:"4096" doc:"of an approval: once, session, always, or deny (also: reject); of a question: the text to type, with Enter after it"`
	Feedback string `json:"feedback,omitempty" maxLength:"4096" doc:"of an approval: for the requesting caller"`
}

// InboxSnooze hides an entry of the inbox for a time.
type InboxSnooze struct {
	ForMS int64 `json:"for_ms" minimum:"0" maximum:"2592000000" doc:"time; 0: show it again at once"`
}
