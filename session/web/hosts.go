package web

import (
	"net/http"
	"strings"

	"github.com/longterm-dev/longterm/session/apitoken"
)

// hostsAt is the prefix of a remote host's page: everything at the top is also below hostsAt and the host's name.
// Files, logins, tickets and permissions are this host's; the API and the socket are the remote one's.
const hostsAt = "/h/"

// OverSSH is before the name of a host that is reached over ssh: one of the fleet may have the same.
const OverSSH = "ssh:"

// hostIn takes the name of another host out of the path of a request; "": it is about this one.
func hostIn(r *http.Request) string {
	rest, ok := strings.CutPrefix(r.URL.Path, hostsAt)
	host, path, whole := strings.Cut(rest, "/")
	if !ok || !whole || host == "" {
		return ""
	}
	r.URL.Path = "/" + path
	if raw, ok := strings.CutPrefix(r.URL.RawPath, hostsAt); ok {
		_, raw, _ = strings.Cut(raw, "/")
		r.URL.RawPath = "/" + raw
	}
	return host
}

// serve serves a logged-in client: the local API, or a remote host's.
func (d *Server) serve(w http.ResponseWriter, r *http.Request, v visitor, g apitoken.Grant) {
	if v.host != "" {
		d.ServeOther(w, r, g, v.host)
		return
	}
	d.Serve(w, r, g)
}
