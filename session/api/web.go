package api

import "time"

// Web is the status of the web server.
type Web struct {
	On     bool   `json:"on"`
	Listen string `json:"listen,omitempty" doc:"listening address, HOST:PORT"`
	URL    string `json:"url,omitempty" doc:"URL for browsers"`
	TLS    bool   `json:"tls,omitempty"`
	// Local states that only this machine can reach the address.
	Local bool   `json:"loopback,omitempty" doc:"only this machine reaches the address"`
	Error string `json:"error,omitempty" doc:"why it is enabled but not served"`
}

// OpenWeb starts the web server if needed, and requests a login link.
type OpenWeb struct {
	Listen  string   `json:"listen,omitempty" maxLength:"255" doc:"HOST:PORT; default: the current address, else a free port of 127.0.0.1"`
	TLSCert string   `json:"tls_cert,omitempty" maxLength:"4096" doc:"absolute path of a PEM certificate; reloaded after changes"`
	TLSKey  string   `json:"tls_key,omitempty" maxLength:"4096" doc:"absolute path of the certificate's key"`
	May     []string `json:"may,omitempty" enum:"look,type,approve,manage" doc:"rights of the login; default: all"`
	Session string   `json:"session,omitempty" doc:"id, name, or a unique prefix of its session; default: all sessions"`
	Label   string   `json:"label,omitempty" maxLength:"200" doc:"key=value: valid for sessions with this label"`
	Days    int      `json:"days,omitempty" minimum:"0" maximum:"400" doc:"validity of the login in days; default 30"`
	Masked  bool     `json:"masked,omitempty" doc:"mask secrets in output"`
	NoLink  bool     `json:"no_link,omitempty" doc:"make no link"`
}

// WebLink is the status of the web server with a login link.
type WebLink struct {
	Web
	Link    string    `json:"link,omitempty" doc:"link for one login"`
	Expires time.Time `json:"expires,omitzero" doc:"expiry of the link"`
}

// Share requests a share link to one session.
type Share struct {
	Type  bool   `json:"type,omitempty" doc:"holders of the link may type; default: view-only"`
	Hours int    `json:"hours,omitempty" minimum:"0" maximum:"9600" doc:"validity in hours; default 24"`
	Relay string `json:"relay,omitempty" maxLength:"1000" doc:"address of a relay that forwards it encrypted; default: this machine serves it"`
	QR    bool   `json:"qr,omitempty" doc:"return the link as a QR code, too"`
}

// Shared is a new share link. Its token is listed and revoked like others.
type Shared struct {
	Token  Token  `json:"token"`
	Link   string `json:"link" doc:"shown once; grants view of the session until the token expires or is revoked"`
	QR     string `json:"qr,omitempty" doc:"the link as a QR code: SVG path data, a module per unit, with a border"`
	QRSize int    `json:"qr_size,omitempty" doc:"width and height of the QR code, in modules"`
	// Local states that only this machine can reach the link.
	Local bool `json:"loopback,omitempty" doc:"only this machine reaches the link"`
}
