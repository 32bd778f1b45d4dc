package api

import "time"

// Token is who may use the API over TCP, and what for. Its secret was shown when it was made, and is kept nowhere.
type Token struct {
	Name    string    `json:"name" doc:"unique; records call whoever uses it so"`
	Level   string    `json:"level" enum:"read,change,all" doc:"looks only; runs and types, too; ends, removes and answers approvals, too"`
	Session string    `json:"session,omitempty" doc:"id of the one session it is for; absent: all"`
	Agent   string    `json:"agent,omitempty" doc:"label of the agent whose it is"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero" doc:"absent: never"`
	Expired bool      `json:"expired,omitempty"`
}

// NewToken says what token to make.
type NewToken struct {
	Name    string `json:"name" minLength:"1" maxLength:"64"`
	Level   string `json:"level,omitempty" enum:"read,change,all" doc:"default: read"`
	Session string `json:"session,omitempty" doc:"id, name, or a unique prefix of the one session it is for; default: all"`
	Agent   string `json:"agent,omitempty" doc:"label of the agent whose it is: requests with it are judged and recorded as that agent's"`
	Days    int    `json:"days,omitempty" minimum:"0" maximum:"36500" doc:"how long it counts; 0: for ever"`
}

// MadeToken is a token with its secret.
type MadeToken struct {
	Token
	Secret string `json:"secret" doc:"shown this once"`
}
