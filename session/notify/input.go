package notify

import (
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// InputEvent reports that a program needs input from the user.
type InputEvent struct {
	Session string    `json:"session"` // id
	Name    string    `json:"name"`
	Kind    string    `json:"needs"`    // password, confirm, menu, text
	Prompt  string    `json:"question"` // text of the prompt, as printed
	Command string    `json:"command"`
	Cwd     string    `json:"cwd"`
	Since   time.Time `json:"since"`
	Offset  uint64    `json:"offset"` // end of the output: with the session it identifies the prompt
}

// kindPhrases describe the kinds of input.
var kindPhrases = map[string]string{
	"password": "wants a password", "confirm": "asks yes or no", "menu": "wants a choice", "text": "waits for input",
}

// phrase describes the needed input.
func (w *InputEvent) phrase() string {
	if text := kindPhrases[w.Kind]; text != "" {
		return text
	}
	return "waits for input"
}

// maxPromptText bounds the prompt in a notification, in characters.
const maxPromptText = 120

// Text returns the event as one line. Of a long prompt it has the end, which usually lists the accepted answers.
func (w *InputEvent) Text() string {
	text := "? " + w.Name + " " + w.phrase()
	if prompt := []rune(w.Prompt); len(prompt) > maxPromptText {
		text += ": …" + string(prompt[len(prompt)-maxPromptText:])
	} else if len(prompt) > 0 {
		text += ": " + w.Prompt
	}
	return webhook.OneLine(text, 200)
}

// title implements notification.
func (w *InputEvent) title() string { return webhook.OneLine(w.Name+" "+w.phrase(), 120) }

// environ implements notification.
func (w *InputEvent) environ() []string {
	return []string{
		"LONGTERM_NAME=" + w.Name, "LONGTERM_SESSION=" + w.Session, "LONGTERM_NEEDS=" + w.Kind, "LONGTERM_QUESTION=" + w.Prompt,
		"LONGTERM_COMMAND=" + w.Command, "LONGTERM_CWD=" + w.Cwd,
	}
}

// fillNotice implements notification.
func (w *InputEvent) fillNotice(n *webhook.Notice) {
	n.Event, n.Urgent, n.At, n.Key = "input", true, w.Since, fmt.Sprintf("input %s %d", w.Session, w.Offset)
	n.Title, n.Text = w.title(), w.Text()
}

// redact implements notification.
func (w *InputEvent) redact(mask func(string) string) notification {
	c := *w
	c.Name, c.Prompt, c.Command, c.Cwd = mask(w.Name), mask(w.Prompt), mask(w.Command), mask(w.Cwd)
	return &c
}

// briefData implements notification.
func (w *InputEvent) briefData() any {
	return struct {
		Session string `json:"session"`
		Name    string `json:"name"`
		Needs   string `json:"needs"`
	}{w.Session, w.Name, w.Kind}
}
