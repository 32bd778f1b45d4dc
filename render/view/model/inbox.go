package model

import "time"

// InboxEntry is something that needs the user's attention.
type InboxEntry struct {
	ID         string // of an approval the approval's
	Kind       string // approval, question, failed, finished, message, port
	Session    string // id; "": none
	Name       string // of the session
	Text       string
	Since      time.Time
	Answerable bool   // a question that a typed line answers
	Command    string // shell command that answers it or shows more
}

// InboxApproval and InboxQuestion are the kinds for which a program waits.
const (
	InboxApproval = "approval"
	InboxQuestion = "question"
)
