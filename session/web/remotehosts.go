package web

import (
	"net/http"
	"strings"

	"github.com/longterm-dev/longterm/session/apitoken"
)

// hostPrefix is the path prefix of a remote host's page: everything at the top is also below hostPrefix and the host's name.
// Files, logins, tickets and rights are this host's; the API and the socket are the remote one's.
const hostPrefix = "/h/"

// SSHPrefix marks the name of a host that is reached over ssh: a host of the fleet may have the same name.
const SSHPrefix = "ssh:"

// stripHost removes the name of a remote host from a request's path and returns it; "" for the local host.
func stripHost(r *http.Request) string {
	rest, ok := strings.CutPrefix(r.URL.Path, hostPrefix)
	host, path, whole := strings.Cut(rest, "/")
	if !ok || !whole || host == "" {
		return ""
	}
	r.URL.Path = "/" + path
	if raw, ok := strings.CutPrefix(r.URL.RawPath, hostPrefix); ok {
		_, raw, _ = strings.Cut(raw, "/")
		r.URL.RawPath = "/" + raw
	}
	return host
}

// serveAllowed serves a logged-in client: the local API, or a remote host's.
func (d *Server) serveAllowed(w http.ResponseWriter, r *http.Request, v visitor, g apitoken.Grant) {
	if v.host != "" {
		d.ServeHost(w, r, g, v.host)
		return
	}
	d.Serve(w, r, g)
}
