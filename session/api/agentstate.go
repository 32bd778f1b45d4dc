package api

import (
	"encoding/json"
	"time"
)

// AgentState is the state of a coding agent that runs in a session.
type AgentState struct {
	Agent    string    `json:"agent" doc:"name of the agent: claude, codex, gemini, kimi, opencode, aider"`
	State    string    `json:"state" enum:"working,needs_input,needs_approval,done,idle,unknown" doc:"done: its task is done; idle: it waits for its first task; unknown: no evidence"`
	Reason   string    `json:"reason"`
	Source   string    `json:"source,omitempty" enum:"hook,kernel,screen" doc:"source of the state"`
	Evidence string    `json:"evidence,omitempty" doc:"the event, row or title behind the state"`
	Rules    int       `json:"rules" doc:"version of the rules for this agent"`
	Since    time.Time `json:"since"`
	// Conversation is the argument of its resume command.
	Conversation string `json:"conversation,omitempty" doc:"id for resuming its conversation"`
	Resume       string `json:"resume,omitempty" doc:"command line that resumes its conversation"`
}

// AgentEvent is an event that an agent's hook reports.
type AgentEvent struct {
	Agent string          `json:"agent,omitempty" maxLength:"64" doc:"agent; default: detected from the event's format"`
	Event string          `json:"event,omitempty" maxLength:"128" doc:"name of the event; default: the name in data"`
	Data  json.RawMessage `json:"data,omitempty" doc:"the event as the agent passed it to its hook"`
}

// AgentHeard is the response to AgentEvent.
type AgentHeard struct {
	State *AgentState `json:"agent_state,omitempty" doc:"previous state of the agent; absent: unknown"`
}
