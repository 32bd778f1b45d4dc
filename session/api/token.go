package api

import "time"

// Token is who may use the API over TCP, and what for. Its secret was shown when it was made, and is kept nowhere.
type Token struct {
	Name    string    `json:"name" doc:"unique; records call whoever uses it so"`
	Level   string    `json:"level" enum:"read,change,all" doc:"looks only; runs and types, too; ends, removes and answers approvals, too"`
	May     []string  `json:"may,omitempty" enum:"look,type,approve,manage" doc:"rights one by one, in place of the level: sees; types and has lines run; answers approvals; starts, changes, ends and removes sessions"`
	Session string    `json:"session,omitempty" doc:"id of the one session it is for; absent: all"`
	Label   string    `json:"label,omitempty" doc:"key=value: it is for the sessions that have this label"`
	Agent   string    `json:"agent,omitempty" doc:"label of the agent whose it is"`
	Page    bool      `json:"page,omitempty" doc:"a login of the page in a browser"`
	Masked  bool      `json:"masked,omitempty" doc:"secrets in output are masked"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero" doc:"absent: never"`
	Expired bool      `json:"expired,omitempty"`
}

// NewToken says what token to make.
type NewToken struct {
	Name    string   `json:"name" minLength:"1" maxLength:"64"`
	Level   string   `json:"level,omitempty" enum:"read,change,all" doc:"default: read"`
	May     []string `json:"may,omitempty" enum:"look,type,approve,manage" doc:"rights one by one, in place of a level; who may do anything may look"`
	Session string   `json:"session,omitempty" doc:"id, name, or a unique prefix of the one session it is for; default: all"`
	Label   string   `json:"label,omitempty" maxLength:"200" doc:"key=value: for the sessions that have this label only"`
	Agent   string   `json:"agent,omitempty" doc:"label of the agent whose it is: requests with it are judged and recorded as that agent's"`
	Days    int      `json:"days,omitempty" minimum:"0" maximum:"36500" doc:"how long it counts; 0: for ever"`
}

// MadeToken is a token with its secret.
type MadeToken struct {
	Token
	Secret string `json:"secret" doc:"shown this once"`
}
