package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
)

// KeyHeader carries the page's key. Browsers send cookies to every port of a host, and with some requests of other
// pages; they never add this header, whose key the page keeps in its own storage.
const KeyHeader = "Longterm-Page"

// keyOf returns the page's key for a login's secret. The secret cannot be derived from it.
func keyOf(secret string) string {
	sum := sha256.Sum256([]byte("longterm page\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// loginInfo describes a login to the page.
type loginInfo struct {
	Name    string    `json:"name"`
	Key     string    `json:"key,omitempty"`
	May     []string  `json:"may"`
	Session string    `json:"session,omitempty"`
	Label   string    `json:"label,omitempty"`
	Masked  bool      `json:"masked,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// describeGrant returns the description of a grant.
func describeGrant(g apitoken.Grant) loginInfo {
	return loginInfo{Name: g.Name, May: g.Rights().Names(), Session: g.Session, Label: g.Label, Masked: g.Masked, Expires: g.Expires}
}

// WriteLoginInfo sends the description of a login.
func WriteLoginInfo(w http.ResponseWriter, g apitoken.Grant) { writeJSON(w, describeGrant(g)) }

// handleLogin sets a cookie for a code, which creates a login, or for a token.
func (d *Server) handleLogin(w http.ResponseWriter, r *http.Request, v visitor) {
	var in struct{ Code, Token string }
	if !readPageRequest(w, r, &in) {
		return
	}
	if (in.Code == "") == (in.Token == "") {
		writeError(w, http.StatusUnprocessableEntity, api.Errorf(api.CodeInvalid, "a login has a code or a token").WithHint("open the link that `longterm web` prints"))
		return
	}
	var err error
	secret := in.Token
	if in.Code != "" {
		if secret, err = d.redeem(r, in.Code); err != nil {
			d.loginFailed(w, v, err)
			return
		}
	}
	g, err := d.Tokens.Verify(secret)
	if err != nil {
		d.loginFailed(w, v, unauthorizedError(err))
		return
	}
	d.setCookie(w, v, cookieOf(v, g, secret), secret, g.Expires)
	m := describeGrant(g)
	m.Key = keyOf(secret)
	writeJSON(w, m)
}

// readPageRequest reads the JSON body of a request that needs no key, and reports whether it came from the page. It
// rejects others.
func readPageRequest(w http.ResponseWriter, r *http.Request, in any) bool {
	if r.Header.Get("Origin") == "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		writeError(w, http.StatusForbidden, api.Errorf(api.CodeDenied, "request not from the page").WithHint("open the link that `longterm web` prints"))
		return false
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLogin))
	if err == nil {
		err = json.Unmarshal(b, in)
	}
	if err != nil {
		writeError(w, http.StatusUnprocessableEntity, api.Errorf(api.CodeInvalid, "invalid request: %v", err).WithHint("open the link that `longterm web` prints"))
	}
	return err == nil
}

// redeem creates the login of a link's code.
func (d *Server) redeem(r *http.Request, code string) (secret string, err error) {
	t, ok := d.links.take(code)
	if !ok {
		return "", api.Errorf(api.CodeUnauthorized, "the link is not known: it was used, or is older than %d minutes", LinkLifetime/time.Minute).
			WithHint("create a new link with `longterm web`")
	}
	t.Name += "-" + strings.ToLower(rand.Text()[:6])
	made, secret, err := d.Tokens.Make(t)
	if errors.Is(err, apitoken.ErrFull) {
		return "", api.Errorf(api.CodeLimit, "%v", err).WithHint("revoke some of them with `longterm token revoke`")
	}
	if err != nil {
		return "", api.Errorf(api.CodeStorage, "%v", err)
	}
	if d.OnLogin != nil {
		d.OnLogin(r, made, "logged in from "+hostOnly(r.RemoteAddr))
	}
	return secret, nil
}

// loginFailed rejects an invalid login, and limits the rate of failures per address. Valid logins are never limited: a local
// program shares its address with the owner's browser.
func (d *Server) loginFailed(w http.ResponseWriter, v visitor, err error) {
	status := http.StatusUnauthorized
	var e *api.Error
	if errors.As(err, &e) {
		status = e.GetStatus()
	}
	if status == http.StatusUnauthorized {
		if wait := d.failures.wait(v.addr); wait > 0 {
			writeTooManyLogins(w, wait)
			return
		}
		d.failures.recordFailure(v.addr)
		if d.Log != nil {
			d.Log.Warn("refused a login of the page", "from", v.addr, "err", err)
		}
	}
	writeError(w, status, err)
}

// cookieOf returns the cookie name of a login. A login for one session has a separate cookie, so that following its link
// leaves other tabs logged in.
func cookieOf(v visitor, g apitoken.Grant, secret string) string {
	if g.Session == "" {
		return v.cookie
	}
	return v.cookie + "." + keyOf(secret)[:8]
}

// secretOf returns the secret of the cookie that a key belongs to, or "". had reports whether any login cookie exists.
func secretOf(r *http.Request, v visitor, key string) (secret string, had bool) {
	for c := range loginCookies(r, v) {
		had = true
		if subtle.ConstantTimeCompare([]byte(key), []byte(keyOf(c.Value))) == 1 {
			secret = c.Value
		}
	}
	return secret, had
}

// loginCookies iterates over the cookies of logins in a request.
func loginCookies(r *http.Request, v visitor) iter.Seq[*http.Cookie] {
	return func(yield func(*http.Cookie) bool) {
		for _, c := range r.Cookies() {
			if (c.Name == v.cookie || strings.HasPrefix(c.Name, v.cookie+".")) && !yield(c) {
				return
			}
		}
	}
}

// setCookie sets a login's cookie; an empty secret removes it.
func (d *Server) setCookie(w http.ResponseWriter, v visitor, name, secret string, expires time.Time) {
	c := &http.Cookie{Name: name, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.secure}
	switch {
	case secret == "":
		c.MaxAge = -1
	case !expires.IsZero():
		c.MaxAge = max(1, int(expires.Sub(d.Now())/time.Second))
	default:
		c.MaxAge = int((400 * 24 * time.Hour) / time.Second) // browsers keep none for longer
	}
	http.SetCookie(w, c)
}

// handleLogout ends a login that a link created; it does not revoke explicit tokens.
func (d *Server) handleLogout(w http.ResponseWriter, r *http.Request, v visitor, g apitoken.Grant, secret string) {
	if strings.HasPrefix(g.Name, LoginPrefix) {
		if _, err := d.Tokens.Revoke(g.Name); err != nil {
			writeError(w, http.StatusInternalServerError, api.Errorf(api.CodeStorage, "%v", err))
			return
		}
		if d.OnLogin != nil {
			d.OnLogin(r, apitoken.Token{Name: g.Name}, "logged out")
		}
	}
	d.setCookie(w, v, cookieOf(v, g, secret), "", time.Time{})
	writeJSON(w, map[string]bool{"ok": true})
}

// LoginPrefix starts the names of tokens that links of `longterm web` create.
const LoginPrefix = "web-"

// withLogin calls f with the grant of a request's login, or rejects the request.
func (d *Server) withLogin(w http.ResponseWriter, r *http.Request, v visitor, f func(g apitoken.Grant, secret string)) {
	key := r.Header.Get(KeyHeader)
	secret, had := secretOf(r, v, key)
	if !had || key == "" {
		writeError(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "not logged in").WithHint("open the link that `longterm web` prints"))
		return
	}
	if secret == "" {
		writeError(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "the page's key is not that of its login").WithHint("open the link that `longterm web` prints"))
		return
	}
	if g, ok := d.verify(w, v, secret); ok {
		f(g, secret)
	}
}

// verify returns the grant of a secret, or rejects the request.
func (d *Server) verify(w http.ResponseWriter, v visitor, secret string) (apitoken.Grant, bool) {
	g, err := d.Tokens.Verify(secret)
	if err != nil {
		d.loginFailed(w, v, unauthorizedError(err))
		return apitoken.Grant{}, false
	}
	return g, true
}

// unauthorizedError converts an error of token verification to an API error.
func unauthorizedError(err error) error {
	if !errors.Is(err, apitoken.ErrNotFound) && !errors.Is(err, apitoken.ErrExpired) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	return api.Errorf(api.CodeUnauthorized, "%v", err).WithHint("make another link with `longterm web`")
}
