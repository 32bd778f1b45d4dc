package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/apitoken"
)

// testServer is a server with its requests, and a clock that the test sets.
type testServer struct {
	*Server
	t      *testing.T
	now    time.Time
	source apitoken.Source
	proxy  string
	served []apitoken.Grant
	paths  []string
}

func newTestServer(t *testing.T) *testServer {
	t.Helper()
	h := &testServer{t: t, now: time.Now()}
	h.Server = New(Config{
		Tokens: apitoken.Open(filepath.Join(t.TempDir(), "tokens.json")), Now: func() time.Time { return h.now },
		Source: func() apitoken.Source { return h.source }, IsProxy: func(peer string) bool { return peer == h.proxy },
		Serve: func(w http.ResponseWriter, r *http.Request, g apitoken.Grant) {
			h.served, h.paths = append(h.served, g), append(h.paths, r.URL.Path)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"served":true}`)
		},
	})
	return h
}

const origin = "http://127.0.0.1:7719"

// request returns a request as the page makes it.
func request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, origin+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Origin", origin)
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do serves a request and returns the response.
func (h *testServer) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// login logs in by a new link, and returns a function that makes requests of that login.
func (h *testServer) login(t apitoken.Token) func(method, path string) *http.Request {
	h.t.Helper()
	if t.Name = "web"; len(t.May) == 0 {
		t.May = apitoken.Everything.Names()
	}
	w := h.do(request("POST", "/web/login", `{"code":"`+h.Link(t)+`"}`))
	var me struct{ Key string }
	if err := json.Unmarshal(w.Body.Bytes(), &me); err != nil || w.Code != http.StatusOK || me.Key == "" || len(w.Result().Cookies()) != 1 {
		h.t.Fatalf("%d %s", w.Code, w.Body)
	}
	cookie := w.Result().Cookies()[0]
	return func(method, path string) *http.Request {
		r := request(method, path, "{}")
		r.AddCookie(cookie)
		r.Header.Set(KeyHeader, me.Key)
		return r
	}
}

// ticket returns a socket ticket of a login.
func (h *testServer) ticket(as func(method, path string) *http.Request) string {
	h.t.Helper()
	var v struct{ Ticket string }
	if w := h.do(as("POST", "/web/ticket")); json.Unmarshal(w.Body.Bytes(), &v) != nil || v.Ticket == "" {
		h.t.Fatalf("%d %s", w.Code, w.Body)
	}
	return v.Ticket
}

// TestCookie checks that a cookie is limited to the page of this host, and no response body contains its secret.
//
// FEATURES: R83
func TestCookie(t *testing.T) {
	h := newTestServer(t)
	w := h.do(request("POST", "/web/login", `{"code":"`+h.Link(apitoken.Token{Name: "web", May: []string{"look"}, Expires: h.now.Add(time.Hour)})+`"}`))
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || c.Domain != "" || c.MaxAge < 3500 || c.MaxAge > 3600 || c.Name != "longterm_7719" {
		t.Errorf("%+v", c)
	}
	if strings.Contains(w.Body.String(), c.Value) || strings.Contains(w.Body.String(), apitoken.Prefix) {
		t.Errorf("%s", w.Body)
	}
	r := request("POST", "/web/login", `{"code":"`+h.Link(apitoken.Token{Name: "web", May: []string{"look"}})+`"}`)
	r.TLS = &tls.ConnectionState{}
	r.Header.Set("Origin", "https://127.0.0.1:7719")
	if c := h.do(r).Result().Cookies()[0]; !c.Secure || !strings.HasPrefix(c.Name, "__Host-") || c.MaxAge <= 0 {
		t.Errorf("by TLS: %+v", c)
	}
	// Only a trusted proxy may report TLS.
	for peer, secure := range map[string]bool{"127.0.0.1": true, "10.0.0.9": false} {
		h.proxy = "127.0.0.1"
		r := request("POST", "/web/login", `{"code":"`+h.Link(apitoken.Token{Name: "web", May: []string{"look"}})+`"}`)
		r.RemoteAddr = peer + ":1"
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("Origin", "https://127.0.0.1:7719")
		got := h.do(r)
		if secure && (got.Code != http.StatusOK || !got.Result().Cookies()[0].Secure) {
			t.Errorf("%s: %d %v", peer, got.Code, got.Header())
		}
		if !secure && (got.Code != http.StatusForbidden || len(got.Result().Cookies()) > 0) { // plain HTTP for the server
			t.Errorf("%s: %d %v", peer, got.Code, got.Header())
		}
	}
}

// TestCodes_ValidOnce checks that a link is valid once and for a limited time; so is a ticket, and only with the cookie
// of its login.
//
// FEATURES: R83
func TestCodes_ValidOnce(t *testing.T) {
	h := newTestServer(t)
	code := h.Link(apitoken.Token{Name: "web", May: []string{"look"}})
	for i, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if w := h.do(request("POST", "/web/login", `{"code":"`+code+`"}`)); w.Code != want {
			t.Errorf("login %d: %d %s", i, w.Code, w.Body)
		}
	}
	late := h.Link(apitoken.Token{Name: "web", May: []string{"look"}})
	h.now = h.now.Add(LinkLifetime)
	if w := h.do(request("POST", "/web/login", `{"code":"`+late+`"}`)); w.Code != http.StatusUnauthorized {
		t.Errorf("expired link: got %d", w.Code)
	}
	alice, bob := h.login(apitoken.Token{}), h.login(apitoken.Token{})
	socket := func(as func(method, path string) *http.Request, ticket string) *http.Request {
		r := as("GET", "/web/socket")
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-WebSocket-Protocol", Protocol+", "+ticketPrefix+ticket)
		return r
	}
	ticket := h.ticket(alice)
	for i, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if w := h.do(socket(alice, ticket)); w.Code != want {
			t.Errorf("socket %d: %d %s", i, w.Code, w.Body)
		}
	}
	if w := h.do(socket(bob, h.ticket(alice))); w.Code != http.StatusUnauthorized {
		t.Errorf("ticket of another login: got %d", w.Code)
	}
	if w := h.do(socket(alice, "")); w.Code != http.StatusUnauthorized {
		t.Errorf("without ticket: got %d", w.Code)
	}
	old := h.ticket(alice)
	h.now = h.now.Add(ticketLifetime)
	if w := h.do(socket(alice, old)); w.Code != http.StatusUnauthorized {
		t.Errorf("expired ticket: got %d", w.Code)
	}
	r := socket(alice, h.ticket(alice))
	r.Header.Del("Cookie")
	if w := h.do(r); w.Code != http.StatusUnauthorized {
		t.Errorf("ticket without its cookie: got %d", w.Code)
	}
	r = socket(alice, h.ticket(alice))
	r.Header.Del("Origin")
	if w := h.do(r); w.Code != http.StatusForbidden {
		t.Errorf("socket without origin: got %d", w.Code)
	}
	if len(h.served) != 1 || h.paths[0] != "/v1/page" {
		t.Errorf("%d sockets, %v", len(h.served), h.paths)
	}
}

// TestRequests_FromOtherSites checks that requests that other pages make a browser send are rejected: of a rebound name
// (DNS rebinding), another site, another port of this host, which browsers count as the same site and send our cookies
// to, a form, a picture, a frame.
//
// FEATURES: R83
func TestRequests_FromOtherSites(t *testing.T) {
	h := newTestServer(t)
	as := h.login(apitoken.Token{})
	h.served = nil
	ticket := h.ticket(as)
	own := func(r *http.Request) {}
	for name, c := range map[string]struct {
		method, path string
		change       func(r *http.Request)
		want         int
	}{
		"the page itself":       {"GET", "/v1/sessions", own, http.StatusOK},
		"a name that is ours":   {"GET", "/v1/sessions", func(r *http.Request) { r.Host = "localhost:7719" }, http.StatusOK},
		"DNS rebinding":         {"GET", "/v1/sessions", func(r *http.Request) { r.Host = "evil.example:7719" }, http.StatusForbidden},
		"rebinding of the file": {"GET", "/", func(r *http.Request) { r.Host = "evil.example:7719" }, http.StatusForbidden},
		"rebinding of a ticket": {"POST", "/web/ticket", func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden},
		"another site's origin": {"POST", "/v1/sessions", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"another port":          {"POST", "/v1/sessions", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:3000") }, http.StatusForbidden},
		"another port's fetch":  {"GET", "/v1/sessions", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, http.StatusForbidden},
		"no origin":             {"POST", "/v1/sessions", func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"a form without a key": {"POST", "/v1/sessions", func(r *http.Request) {
			r.Header.Del(KeyHeader)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}, http.StatusUnauthorized},
		"a picture with the cookie": {"GET", "/v1/sessions/one/screen/png", func(r *http.Request) { r.Header.Del(KeyHeader) }, http.StatusUnauthorized},
		"another login's key":       {"GET", "/v1/sessions", func(r *http.Request) { r.Header.Set(KeyHeader, keyOf("lt_other")) }, http.StatusUnauthorized},
		"the key without a cookie":  {"GET", "/v1/sessions", func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized},
		"a token in the address":    {"GET", "/v1/sessions?token=x", func(r *http.Request) { r.Header.Del("Cookie") }, http.StatusUnauthorized},
		"cross-site socket": {"GET", "/web/socket", func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-WebSocket-Protocol", Protocol+", "+ticketPrefix+ticket)
		}, http.StatusForbidden},
		"a link from elsewhere": {"GET", "/", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, http.StatusOK},
		"a link to an answer": {"GET", "/v1/sessions", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, http.StatusForbidden},
		"a login of theirs": {"POST", "/web/login", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:7719.evil.example") }, http.StatusForbidden},
		"a login by a form": {"POST", "/web/login", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusForbidden},
		"preflight":         {"OPTIONS", "/v1/sessions", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"a path out":        {"GET", "/p/../../../etc/passwd", own, http.StatusNotFound},
		"the API by a path": {"GET", "/web/../v1/sessions", own, http.StatusNotFound},
	} {
		r := as(c.method, c.path)
		c.change(r)
		before := len(h.served)
		w := h.do(r)
		if w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
		}
		if served := len(h.served) > before; served != (c.want == http.StatusOK && strings.HasPrefix(c.path, "/v1")) {
			t.Errorf("%s: served %v", name, served)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: got CORS headers", name)
		}
	}
}

// TestOrigin_Scheme checks that an origin includes the scheme: TLS and plain HTTP on a port are different sites,
// possibly of different owners. Behind a proxy the page's scheme is the proxy's, or that of a configured origin.
//
// FEATURES: R83
func TestOrigin_Scheme(t *testing.T) {
	const plain, withTLS = origin, "https://127.0.0.1:7719"
	byTLS := func(_ *testServer, r *http.Request) { r.TLS = &tls.ConnectionState{} }
	proxied := func(h *testServer, r *http.Request) {
		h.proxy = "127.0.0.1"
		r.Header.Set("X-Forwarded-Proto", "https")
	}
	named := func(h *testServer, _ *http.Request) { h.source.Origins = []string{withTLS} }
	none := func(*testServer, *http.Request) {}
	for _, c := range []struct {
		name   string
		setup  func(*testServer, *http.Request)
		origin string
		want   bool
	}{
		{"plain", none, plain, true},
		{"plain", none, withTLS, false},
		{"plain, of another scheme", none, "ws://127.0.0.1:7719", false},
		{"plain, without a scheme", none, "//127.0.0.1:7719", false},
		{"TLS", byTLS, withTLS, true},
		{"TLS", byTLS, plain, false},
		{"behind a proxy", proxied, withTLS, true},
		{"behind a proxy", proxied, plain, false},
		{"behind a proxy that says nothing, named", named, withTLS, true},
		{"behind a proxy that says nothing, named", named, plain, true},
		{"a proxy that nobody named", func(_ *testServer, r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }, withTLS, false},
	} {
		h := newTestServer(t)
		r := request("POST", "/web/login", `{"code":"`+h.Link(apitoken.Token{Name: "web", May: []string{"look"}})+`"}`)
		c.setup(h, r)
		r.Header.Set("Origin", c.origin)
		want := http.StatusForbidden
		if c.want {
			want = http.StatusOK
		}
		if w := h.do(r); w.Code != want || !c.want && (len(w.Result().Cookies()) > 0 || !strings.Contains(w.Body.String(), "may not send requests here")) {
			t.Errorf("%s, from %s: %d %s", c.name, c.origin, w.Code, w.Body)
		}
	}
}

// TestSecurityHeaders checks that every response forbids framing and foreign scripts, and sends no referrer.
//
// FEATURES: R83
func TestSecurityHeaders(t *testing.T) {
	h := newTestServer(t)
	as := h.login(apitoken.Token{})
	for _, r := range []*http.Request{request("GET", "/", ""), request("GET", "/none", ""), as("GET", "/v1/sessions"), as("GET", "/web/me"), request("GET", "/v1/sessions", "")} {
		got := h.do(r).Header()
		csp := got.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "script-src 'self'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: %q is not in %q", r.URL, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: %q", r.URL, csp)
		}
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got.Get(name) != want {
				t.Errorf("%s: %s is %q", r.URL, name, got.Get(name))
			}
		}
		if r.URL.Path != "/" && got.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got cacheable response: %q", r.URL, got.Get("Cache-Control"))
		}
	}
}

// TestLogin_RateLimit checks that an address with too many failed logins must wait before the next failure; valid
// logins are never limited.
//
// FEATURES: R83
// FAULT: G15
func TestLogin_RateLimit(t *testing.T) {
	h := newTestServer(t)
	try := func(addr, code string) *httptest.ResponseRecorder {
		r := request("POST", "/web/login", `{"code":"`+code+`"}`)
		r.RemoteAddr = addr + ":1"
		return h.do(r)
	}
	for i := range failBurst {
		if w := try("10.0.0.1", "WRONG"); w.Code != http.StatusUnauthorized {
			t.Fatalf("%d: %d", i, w.Code)
		}
	}
	if w := try("10.0.0.1", "WRONG"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	made, secret, err := h.Tokens.Make(apitoken.Token{Name: "mine", May: []string{"look"}})
	if err != nil {
		t.Fatal(err)
	}
	for bearer, want := range map[string]int{"lt_WRONG": http.StatusTooManyRequests, secret: http.StatusOK} {
		r := request("GET", "/v1/sessions", "")
		r.RemoteAddr = "10.0.0.1:2"
		r.Header.Set("Authorization", "Bearer "+bearer)
		if w := h.do(r); w.Code != want {
			t.Errorf("by a token (%s): %d, want %d", made.Name, w.Code, want)
		}
	}
	for _, body := range []string{`{"token":"` + secret + `"}`, `{"code":"` + h.Link(apitoken.Token{Name: "web", May: []string{"look"}}) + `"}`} {
		r := request("POST", "/web/login", body)
		r.RemoteAddr = "10.0.0.1:3"
		w := h.do(r)
		if w.Code != http.StatusOK {
			t.Fatalf("a valid login: %d %s", w.Code, w.Body)
		}
		var m loginInfo
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		r = request("GET", "/web/me", "")
		r.RemoteAddr = "10.0.0.1:4"
		r.AddCookie(w.Result().Cookies()[0])
		r.Header.Set(KeyHeader, m.Key)
		if w := h.do(r); w.Code != http.StatusOK {
			t.Errorf("a valid cookie: %d %s", w.Code, w.Body)
		}
	}
	if w := try("10.0.0.2", "WRONG"); w.Code != http.StatusUnauthorized {
		t.Errorf("other address: got %d", w.Code)
	}
	h.now = h.now.Add(failRefill)
	if w := try("10.0.0.1", "WRONG"); w.Code != http.StatusUnauthorized {
		t.Errorf("after the wait: got %d %s", w.Code, w.Body)
	}
	for i := range 30_000 { // the number of remembered addresses is bounded
		h.failures.recordFailure(net.IPv4(1, byte(i>>16), byte(i>>8), byte(i)).String())
	}
	if n := len(h.failures.buckets); n > 10_000 {
		t.Errorf("got %d addresses", n)
	}
}

// TestLogin_ForOneSession checks that logins for different sessions have separate cookies in one browser. Each request
// is served for the login of its key.
//
// FEATURES: R83
func TestLogin_ForOneSession(t *testing.T) {
	h := newTestServer(t)
	owner, shared := h.login(apitoken.Token{}), h.login(apitoken.Token{Session: "one", May: []string{"look"}})
	both := func(as func(method, path string) *http.Request, method, path string) *http.Request {
		r := as(method, path)
		for _, of := range []func(method, path string) *http.Request{owner, shared} {
			for _, c := range of(method, path).Cookies() {
				if had, err := r.Cookie(c.Name); err != nil {
					r.AddCookie(c)
				} else if had.Value != c.Value {
					t.Fatalf("both are %s", c.Name)
				}
			}
		}
		return r
	}
	for session, as := range map[string]func(method, path string) *http.Request{"": owner, "one": shared} {
		before := len(h.served)
		if w := h.do(both(as, "GET", "/v1/sessions")); w.Code != http.StatusOK || len(h.served) != before+1 || h.served[before].Session != session {
			t.Errorf("%q: %d %s", session, w.Code, w.Body)
		}
		r := both(as, "GET", "/web/socket")
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-WebSocket-Protocol", Protocol+", "+ticketPrefix+h.ticket(func(method, path string) *http.Request { return both(as, method, path) }))
		if w := h.do(r); w.Code != http.StatusOK || len(h.served) != before+2 || h.served[before+1].Session != session {
			t.Errorf("%q, socket: %d %s", session, w.Code, w.Body)
		}
	}
	w := h.do(both(shared, "POST", "/web/logout"))
	if c := w.Result().Cookies(); len(c) != 1 || c[0].MaxAge >= 0 || c[0].Name == owner("GET", "/").Cookies()[0].Name {
		t.Errorf("logout of one login: got removed cookies %v", c)
	}
	if w := h.do(owner("GET", "/web/me")); w.Code != http.StatusOK {
		t.Errorf("owner after that logout: got %d %s", w.Code, w.Body)
	}
}

// TestLogin_Revoked checks that a revoked or expired login is rejected, and logging out revokes a login.
//
// FEATURES: R83
func TestLogin_Revoked(t *testing.T) {
	h := newTestServer(t)
	as, other := h.login(apitoken.Token{}), h.login(apitoken.Token{})
	if w := h.do(as("POST", "/web/logout")); w.Code != http.StatusOK || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := h.do(as("GET", "/web/me")); w.Code != http.StatusUnauthorized {
		t.Errorf("after logout: got %d", w.Code)
	}
	if w := h.do(other("GET", "/web/me")); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"key"`) {
		t.Errorf("other login: got %d %s", w.Code, w.Body)
	}
	all, err := h.Tokens.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if _, err := h.Tokens.Revoke(k.Name); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/web/me", "/v1/sessions"} {
		if w := h.do(other("GET", path)); w.Code != http.StatusUnauthorized {
			t.Errorf("%s of a revoked login: got %d", path, w.Code)
		}
	}
}

// TestHost_LocalAddress checks that the local address of a connection is accepted as host; other addresses are not.
func TestHost_LocalAddress(t *testing.T) {
	h := newTestServer(t)
	for host, want := range map[string]int{"192.0.2.7:7719": http.StatusOK, "192.0.2.8:7719": http.StatusForbidden, "box:7719": http.StatusForbidden, "page.example": http.StatusOK} {
		h.source.Hosts = []string{"page.example"}
		r := request("GET", "/", "")
		r.Host = host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 7719})))
		if w := h.do(r); w.Code != want {
			t.Errorf("%s: %d, want %d", host, w.Code, want)
		}
	}
}

// TestLogin_Invalid checks that login requests are bounded in size, and invalid ones are rejected.
func TestLogin_Invalid(t *testing.T) {
	h := newTestServer(t)
	for body, want := range map[string]int{
		``: 422, `[]`: 422, `{}`: 422, `{"code":""}`: 422, `{"code":"a","token":"b"}`: 422, `{"code":1}`: 422,
		`{"code":"` + strings.Repeat("x", maxLogin) + `"}`: 422, `{"token":"lt_"}`: 401, `{"code":"x"}`: 401,
	} {
		if w := h.do(request("POST", "/web/login", body)); w.Code != want || len(w.Result().Cookies()) > 0 {
			t.Errorf("%.40s: %d, want %d", body, w.Code, want)
		}
	}
}
