package api

import (
	"encoding/json"
	"time"
)

// AgentState is how a coding agent that runs in a session gets on.
type AgentState struct {
	Agent    string    `json:"agent" doc:"which one: claude, codex, gemini, kimi, opencode, aider"`
	State    string    `json:"state" enum:"working,needs_input,needs_approval,done,idle,unknown" doc:"done: what it was told is done; idle: it waits for its first task; unknown: nothing tells"`
	Reason   string    `json:"reason"`
	Source   string    `json:"source,omitempty" enum:"hook,kernel,screen" doc:"by what it is known"`
	Evidence string    `json:"evidence,omitempty" doc:"the event, row or title that says so"`
	Rules    int       `json:"rules" doc:"version of what is known of this agent"`
	Since    time.Time `json:"since"`
	// Conversation is what its resume command takes.
	Conversation string `json:"conversation,omitempty" doc:"id with which its conversation is taken up again"`
	Resume       string `json:"resume,omitempty" doc:"command line that takes its conversation up again"`
}

// AgentEvent is what a hook of an agent tells of itself.
type AgentEvent struct {
	Agent string          `json:"agent,omitempty" maxLength:"64" doc:"which agent; default: told by the event's form"`
	Event string          `json:"event,omitempty" maxLength:"128" doc:"its name; default: that in data"`
	Data  json.RawMessage `json:"data,omitempty" doc:"the event as the agent gave it to its hook"`
}

// AgentHeard answers AgentEvent.
type AgentHeard struct {
	State *AgentState `json:"agent_state,omitempty" doc:"how the agent was before; absent: it is not known yet"`
}
