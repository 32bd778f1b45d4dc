package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
)

// handlePushAnswer answers an entry of the inbox for a button of a notification. The page's service worker has no key:
// the signed answer counts instead, once, together with the cookie of the login that subscribed.
func (d *Server) handlePushAnswer(w http.ResponseWriter, r *http.Request, v visitor) {
	var in struct{ Answer string }
	if !readPageRequest(w, r, &in) {
		return
	}
	g, item, answer, err := d.Redeem(r.Context(), in.Answer, d.loginsOf(r, v))
	if err != nil {
		d.loginFailed(w, v, err)
		return
	}
	body, err := json.Marshal(answer)
	if err != nil {
		writeError(w, http.StatusInternalServerError, api.Errorf(api.CodeInternal, "%v", err))
		return
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.URL = &url.URL{Path: api.Version + "/inbox/" + url.PathEscape(item) + "/answer"}
	d.Serve(w, r, g)
}

// loginsOf returns the grants of a request's cookies.
func (d *Server) loginsOf(r *http.Request, v visitor) (list []apitoken.Grant) {
	for c := range loginCookies(r, v) {
		if g, err := d.Tokens.Verify(c.Value); err == nil {
			list = append(list, g)
		}
	}
	return list
}
