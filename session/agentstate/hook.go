package agentstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Hook is an event that an agent told of by itself.
type Hook struct {
	Agent        string
	Event        string // as the agent names it
	Kind         string // of a notification
	Conversation string // id that takes it up again
	Cwd          string
	Message      string // what a person is told
}

// MaxHook bounds an event's JSON; MaxText what is kept of its texts.
const (
	MaxHook = 4 << 20
	MaxText = 512
)

// hookJSON has the fields of the agents' events that say something of their state.
type hookJSON struct {
	Event        string `json:"hook_event_name"`
	Type         string `json:"type"` // codex' notify
	SessionID    string `json:"session_id"`
	ThreadID     string `json:"thread-id"`
	Cwd          string `json:"cwd"`
	Message      string `json:"message"`
	Notification string `json:"notification_type"`
	Tool         string `json:"tool_name"`
}

// ReadHook reads an event. of names the agent and event the event, where the caller knows them; nothing
// to read is an event without anything more.
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
	h = Hook{Agent: of, Event: event, Kind: j.Notification, Conversation: j.SessionID, Cwd: j.Cwd, Message: j.Message}
	if h.Event == "" {
		h.Event = j.Event
	}
	if h.Event == "" {
		h.Event = j.Type
	}
	if h.Event == "" {
		return h, errors.New("the event has no name")
	}
	if h.Conversation == "" {
		h.Conversation = j.ThreadID
	}
	if h.Agent == "" {
		h.Agent = guessAgent(&h, &j)
	}
	if h.Message == "" && j.Tool != "" {
		h.Message = j.Tool
	}
	for _, s := range []*string{&h.Agent, &h.Event, &h.Kind, &h.Conversation, &h.Message} {
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

// guessAgent tells whose event it is by its form.
func guessAgent(h *Hook, j *hookJSON) string {
	if j.ThreadID != "" {
		return "codex"
	}
	for _, a := range agents {
		if _, ok := a.Hooks[h.Event]; ok {
			return a.Name
		}
	}
	return ""
}

// short is a text that people are shown: one line, of bounded length.
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

// isID says that a text can be a conversation's id: no flag, no blank, nothing a shell reads.
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

// means is what a hook says; nil: nothing.
func (a *Agent) means(h *Hook) *Rule {
	if r, ok := a.Hooks[h.Event+"/"+h.Kind]; ok {
		return &r
	}
	if r, ok := a.Hooks[h.Event]; ok {
		return &r
	}
	return nil
}
