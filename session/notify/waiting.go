package notify

import (
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// Waiting is that a program waits for input that a user gives.
type Waiting struct {
	Session  string    `json:"session"` // id
	Name     string    `json:"name"`
	Needs    string    `json:"needs"`    // password, confirm, menu, text
	Question string    `json:"question"` // as printed
	Command  string    `json:"command"`
	Cwd      string    `json:"cwd"`
	Since    time.Time `json:"since"`
	Offset   uint64    `json:"offset"` // of the output's end: with the session it names the question
}

var needs = map[string]string{
	"password": "wants a password", "confirm": "asks yes or no", "menu": "wants a choice", "text": "waits for input",
}

func (w *Waiting) what() string {
	if text := needs[w.Needs]; text != "" {
		return text
	}
	return "waits for input"
}

// maxPrompt bounds the prompt text in a notification, in characters.
const maxPrompt = 120

// Text returns the event as one line. Of a long prompt it keeps the end, which usually lists the possible answers.
func (w *Waiting) Text() string {
	text := "? " + w.Name + " " + w.what()
	if asked := []rune(w.Question); len(asked) > maxPrompt {
		text += ": …" + string(asked[len(asked)-maxPrompt:])
	} else if len(asked) > 0 {
		text += ": " + w.Question
	}
	return webhook.OneLine(text, 200)
}

func (w *Waiting) title() string { return webhook.OneLine(w.Name+" "+w.what(), 120) }

func (w *Waiting) environ() []string {
	return []string{
		"LONGTERM_NAME=" + w.Name, "LONGTERM_SESSION=" + w.Session, "LONGTERM_NEEDS=" + w.Needs, "LONGTERM_QUESTION=" + w.Question,
		"LONGTERM_COMMAND=" + w.Command, "LONGTERM_CWD=" + w.Cwd,
	}
}

func (w *Waiting) describe(n *webhook.Notice) {
	n.Event, n.Urgent, n.At, n.Key = "input", true, w.Since, fmt.Sprintf("input %s %d", w.Session, w.Offset)
	n.Title, n.Text = w.title(), w.Text()
}

func (w *Waiting) redact(mask func(string) string) notification {
	c := *w
	c.Name, c.Question, c.Command, c.Cwd = mask(w.Name), mask(w.Question), mask(w.Command), mask(w.Cwd)
	return &c
}

func (w *Waiting) brief() any {
	return struct {
		Session string `json:"session"`
		Name    string `json:"name"`
		Needs   string `json:"needs"`
	}{w.Session, w.Name, w.Needs}
}
