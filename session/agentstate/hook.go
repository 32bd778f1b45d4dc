package agentstate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Hook is an event that an agent reported itself.
type Hook struct {
	Agent        string
	Event        string // as the agent names it
	Word         string // as its hook was called
	Kind         string // of a notification; of a tool's event the tool
	Conversation string // id for resuming it
	Cwd          string
	Message      string // message for the user
}

// MaxHook bounds an event's JSON; MaxText what is kept of its texts.
const (
	MaxHook = 4 << 20
	MaxText = 512
)

// hookJSON has the fields of the agents' events that concern their state.
type hookJSON struct {
	Event      string `json:"hook_event_name"`
	Type       string `json:"type"` // codex' notify, opencode's events
	Transcript string `json:"transcript_path"`
	OpenID     string `json:"sessionID"` // opencode
	Properties struct {
		SessionID string `json:"sessionID"`
	} `json:"properties"`
	SessionID    string `json:"session_id"`
	ThreadID     string `json:"thread-id"`
	Cwd          string `json:"cwd"`
	Message      string `json:"message"`
	Notification string `json:"notification_type"`
	Tool         string `json:"tool_name"`
}

// words maps our own names of events, for hooks of agents whose events have others.
var words = map[string]Rule{
	"prompt":     {State: Working, Reason: "received a task"},
	"permission": {State: NeedsApproval, Reason: "requests permission"},
	"stop":       {State: rest, Reason: "turn finished"},
}

// ReadHook reads an event. of names the agent and event the event, if known: the agent's own name for it, or prompt,
// permission, notification or stop. Empty input is an event without details. The agent is empty if unknown.
func ReadHook(of, event string, b []byte) (h Hook, err error) {
	var j hookJSON
	if len(b) > MaxHook {
		return h, fmt.Errorf("the event has %d bytes, more than %d", len(b), MaxHook)
	}
	if len(strings.TrimSpace(string(b))) > 0 {
		if err := json.Unmarshal(b, &j); err != nil {
			return h, fmt.Errorf("the event is no JSON object: %w", err)
		}
	}
	h = Hook{
		Agent: of, Event: cmp.Or(j.Event, j.Type, event), Word: event, Kind: cmp.Or(j.Notification, j.Tool), Cwd: j.Cwd, Message: j.Message,
		Conversation: cmp.Or(j.SessionID, j.ThreadID, j.OpenID, j.Properties.SessionID),
	}
	if h.Event == "" {
		return h, errors.New("the event has no name")
	}
	if h.Agent == "" {
		h.Agent = guessAgent(&j)
	}
	if h.Message == "" && j.Tool != "" {
		h.Message = j.Tool
	}
	for _, s := range []*string{&h.Agent, &h.Event, &h.Word, &h.Kind, &h.Conversation, &h.Message} {
		*s = short(*s)
	}
	if len(h.Cwd) > 4096 || !strings.HasPrefix(h.Cwd, "/") {
		h.Cwd = ""
	}
	if !isID(h.Conversation) {
		h.Conversation = "" // it would be an argument of a command
	}
	return h, nil
}

// guessAgent returns the agent of an event by the event's form, or "".
func guessAgent(j *hookJSON) string {
	switch {
	case j.ThreadID != "":
		return "codex"
	case j.OpenID != "" || j.Properties.SessionID != "":
		return "opencode"
	}
	for _, a := range agents() {
		if strings.Contains(j.Transcript, "/."+a.Name+"/") {
			return a.Name
		}
	}
	return ""
}

// short returns a text for display: one line, of bounded length.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	for i := range s {
		if i > MaxText {
			return s[:i]
		}
	}
	return s
}

// isID reports whether a text can be a conversation's id: no flag, no blank, no shell syntax.
func isID(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '-' || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// means returns the rule for a hook's event, or nil.
func (a *Agent) means(h *Hook) *Rule {
	if r, ok := a.Hooks[h.Event+"/"+h.Kind]; ok {
		return &r
	}
	if r, ok := a.Hooks[h.Event]; ok {
		return &r
	}
	if r, ok := words[h.Word]; ok {
		return &r
	}
	return nil
}

// Brief returns the event as JSON for ReadHook, without tasks and tool inputs.
func (h *Hook) Brief() map[string]string {
	m := map[string]string{"hook_event_name": h.Event, "notification_type": h.Kind, "session_id": h.Conversation, "cwd": h.Cwd, "message": h.Message}
	for name, v := range m {
		if v == "" {
			delete(m, name)
		}
	}
	return m
}
