package api

import "time"

// Token grants access to the API over TCP. Its secret was shown at creation and is not stored.
type Token struct {
	Name    string    `json:"name" doc:"unique; records use it as the caller's name"`
	Level   string    `json:"level" enum:"read,change,all" doc:"read: only reads; change: also runs and types; all: also ends, removes and answers approvals"`
	May     []string  `json:"may,omitempty" enum:"look,type,approve,manage" doc:"single rights instead of a level: look, type (and run lines), approve, manage (start, change, end and remove sessions)"`
	Session string    `json:"session,omitempty" doc:"id of its session; absent: all sessions"`
	Label   string    `json:"label,omitempty" doc:"key=value: valid for sessions with this label"`
	Agent   string    `json:"agent,omitempty" doc:"label of its agent"`
	Page    bool      `json:"page,omitempty" doc:"it is a login of the web page"`
	Masked  bool      `json:"masked,omitempty" doc:"secrets in output are masked"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero" doc:"absent: never"`
	Expired bool      `json:"expired,omitempty"`
}

// NewToken describes a token to create.
type NewToken struct {
	Name    string   `json:"name" minLength:"1" maxLength:"64"`
	Level   string   `json:"level,omitempty" enum:"read,change,all" doc:"default: read"`
	May     []string `json:"may,omitempty" enum:"look,type,approve,manage" doc:"single rights instead of a level; each includes look"`
	Session string   `json:"session,omitempty" doc:"id, name, or a unique prefix of its session; default: all sessions"`
	Label   string   `json:"label,omitempty" maxLength:"200" doc:"key=value: valid only for sessions with this label"`
	Agent   string   `json:"agent,omitempty" doc:"label of its agent: requests are judged and recorded as that agent's"`
	Days    int      `json:"days,omitempty" minimum:"0" maximum:"36500" doc:"validity in days; 0: no expiry"`
}

// MadeToken is a token with its secret.
type MadeToken struct {
	Token
	Secret string `json:"secret" doc:"the token; shown only here"`
}
