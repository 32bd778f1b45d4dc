package api

import "time"

// Web is the page in the browser, as it is served.
type Web struct {
	On     bool   `json:"on"`
	Listen string `json:"listen,omitempty" doc:"address it is served at, HOST:PORT"`
	URL    string `json:"url,omitempty" doc:"where a browser finds it"`
	TLS    bool   `json:"tls,omitempty"`
	// Local is about who can reach the address.
	Local bool   `json:"loopback,omitempty" doc:"only this machine reaches the address"`
	Error string `json:"error,omitempty" doc:"why it is not served, though it was asked for"`
}

// OpenWeb has the page served, if it is not, and makes a link to log in with.
type OpenWeb struct {
	Listen  string   `json:"listen,omitempty" maxLength:"255" doc:"HOST:PORT; default: where it is served already, else a port of 127.0.0.1"`
	TLSCert string   `json:"tls_cert,omitempty" maxLength:"4096" doc:"absolute path of a certificate in PEM; it is read again when it changes"`
	TLSKey  string   `json:"tls_key,omitempty" maxLength:"4096" doc:"absolute path of its key"`
	May     []string `json:"may,omitempty" enum:"look,type,approve,manage" doc:"what the login allows; default: everything"`
	Session string   `json:"session,omitempty" doc:"id, name, or a unique prefix of the one session it is for; default: all"`
	Label   string   `json:"label,omitempty" maxLength:"200" doc:"key=value: for the sessions that have this label"`
	Days    int      `json:"days,omitempty" minimum:"0" maximum:"400" doc:"how long the login counts; default 30"`
	Masked  bool     `json:"masked,omitempty" doc:"mask secrets in output"`
	NoLink  bool     `json:"no_link,omitempty" doc:"make no link"`
}

// WebLink is the page with a link to log in.
type WebLink struct {
	Web
	Link    string    `json:"link,omitempty" doc:"good for one login"`
	Expires time.Time `json:"expires,omitzero" doc:"until when the link is good"`
}

// Share is a link to one session for others.
type Share struct {
	Type  bool   `json:"type,omitempty" doc:"whoever has the link may type; default: only look"`
	Hours int    `json:"hours,omitempty" minimum:"0" maximum:"9600" doc:"how long it counts; default 24"`
	Relay string `json:"relay,omitempty" maxLength:"1000" doc:"address of a relay that passes it on, sealed; default: it is served from here"`
}

// Shared is a link that was made. Its token is listed and revoked as others are.
type Shared struct {
	Token Token  `json:"token"`
	Link  string `json:"link" doc:"shown this once; whoever has it sees the session until the token expires or is revoked"`
}
