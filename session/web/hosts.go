package web

import (
	"net/http"
	"strings"

	"github.com/longterm-dev/longterm/session/access"
)

// hostsAt is where the page of another host's sessions is: all that is at the top is below hostsAt and the host's name,
// too. Files, logins and tickets are this host's, and so is who may ask; the API and the socket are the other's.
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

// serve serves who is logged in: here, or of another host.
func (d *Door) serve(w http.ResponseWriter, r *http.Request, v visitor, g access.Grant) {
	if v.host != "" {
		d.ServeOther(w, r, g, v.host)
		return
	}
	d.Serve(w, r, g)
}
