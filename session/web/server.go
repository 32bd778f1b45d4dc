package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
)

// Config describes the environment of a Server.
type Config struct {
	Tokens *apitoken.Store
	// Source returns the configured hosts and origins of this daemon.
	Source func() apitoken.Source
	// IsProxy reports whether a peer is a trusted proxy, whose headers give the client's address and scheme.
	IsProxy func(peer string) bool
	// Serve serves a request below /v1, or the socket, within the rights of a grant.
	Serve func(w http.ResponseWriter, r *http.Request, g apitoken.Grant)
	// ServeHost serves the same of a remote host.
	ServeHost func(w http.ResponseWriter, r *http.Request, g apitoken.Grant, host string)
	// Redeem returns the entry of the inbox that the signed answer of a notification is for, the answer, and the login that
	// gives it, one of logins. It accepts each once.
	Redeem func(ctx context.Context, answer string, logins []apitoken.Grant) (apitoken.Grant, string, api.InboxAnswer, error)
	// OnLogin is called for each login that is created or ended, for the audit log.
	OnLogin func(r *http.Request, t apitoken.Token, what string)
	Log     *slog.Logger
	Now     func() time.Time // nil: time.Now
}

// Bounds of logins.
const (
	LinkLifetime   = 5 * time.Minute  // validity of a one-time link
	ticketLifetime = 15 * time.Second // validity of a ticket
	maxLinks       = 100
	maxTickets     = 1000
	maxLogin       = 4 << 10 // bytes of a login request

	failBurst  = 10              // failed logins of one address in a burst
	failRefill = 6 * time.Second // time until one more failure is allowed
)

// Server serves the page and its requests. Any goroutine may use it.
type Server struct {
	Config
	files    func() *Files // made on the first request
	links    *oneTimeCodes[apitoken.Token]
	tickets  *oneTimeCodes[string] // keys of logins
	failures *loginLimiter
}

// New returns a web server.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Server{
		Config: c, files: Embedded, links: newOneTimeCodes[apitoken.Token](maxLinks, c.Now), tickets: newOneTimeCodes[string](maxTickets, c.Now),
		failures: &loginLimiter{burst: failBurst, refill: failRefill, maxAddresses: 10_000, now: c.Now},
	}
}

// Link creates a code for one login, with a token like t. It is valid for LinkLifetime.
func (d *Server) Link(t apitoken.Token) (code string) {
	return d.links.add(t, d.Now().Add(LinkLifetime))
}

// ServeHTTP implements http.Handler.
func (d *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	v := d.visitorOf(r)
	v.host = stripHost(r)
	if err := d.checkSource(r, v); err != nil {
		writeError(w, http.StatusForbidden, err)
		return
	}
	if d.files().serve(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method + " " + r.URL.Path {
	case "POST /web/login":
		d.handleLogin(w, r, v)
	case "GET /web/me":
		d.withLogin(w, r, v, func(g apitoken.Grant, _ string) { WriteLoginInfo(w, g) })
	case "POST /web/logout":
		d.withLogin(w, r, v, func(g apitoken.Grant, secret string) { d.handleLogout(w, r, v, g, secret) })
	case "POST /web/ticket":
		d.withLogin(w, r, v, func(_ apitoken.Grant, secret string) {
			ticket := d.tickets.add(keyOf(secret), d.Now().Add(ticketLifetime))
			writeJSON(w, map[string]any{"ticket": ticket, "seconds": int(ticketLifetime / time.Second)})
		})
	case "POST /web/push":
		d.handlePushAnswer(w, r, v)
	case "GET /web/socket":
		d.serveSocket(w, r, v)
	default:
		if !strings.HasPrefix(r.URL.Path, api.Version+"/") {
			writeError(w, http.StatusNotFound, api.Errorf(api.CodeNotFound, "page %q not found", shorten(r.URL.Path)).WithHint("the page is at /"))
			return
		}
		d.serveAPI(w, r, v)
	}
}

// serveAPI serves a request of the API: of the page, or of a program with a token.
func (d *Server) serveAPI(w http.ResponseWriter, r *http.Request, v visitor) {
	if secret, ok := apitoken.BearerOf(r); ok {
		if g, ok := d.verify(w, v, secret); ok {
			d.serveAllowed(w, r, v, g)
		}
		return
	}
	d.withLogin(w, r, v, func(g apitoken.Grant, _ string) {
		p := newGzipWriter(w, r)
		defer p.close()
		d.serveAllowed(p, r, v, g)
	})
}

// serveSocket opens the page's socket, once per ticket. The cookie must belong to the same login, so that a stolen ticket
// opens nothing.
func (d *Server) serveSocket(w http.ResponseWriter, r *http.Request, v visitor) {
	ticket := ""
	for _, p := range subprotocols(r) {
		if t, ok := strings.CutPrefix(p, ticketPrefix); ok {
			ticket = t
		}
	}
	key, ok := d.tickets.take(ticket)
	secret, had := secretOf(r, v, key)
	switch {
	case !ok || !had:
		writeError(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "ticket unknown (used or expired)").WithHint("request a new one at web/ticket"))
		return
	case r.Header.Get("Origin") == "": // browsers always send it
		writeError(w, http.StatusForbidden, api.Errorf(api.CodeDenied, "a socket needs an origin").WithHint("programs use %s/page with a token", api.Version))
		return
	}
	if secret == "" {
		writeError(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "ticket belongs to another login").WithHint("request a new one at web/ticket"))
		return
	}
	g, ok := d.verify(w, v, secret)
	if !ok {
		return
	}
	r.URL.Path, r.URL.RawPath = api.Version+"/page", ""
	d.serveAllowed(w, r, v, g)
}

// Protocol is the WebSocket subprotocol of the page. The ticket is a second one, so that no URL contains it.
const (
	Protocol     = "longterm.page.1"
	ticketPrefix = "ticket."
)

// subprotocols returns the requested WebSocket subprotocols.
func subprotocols(r *http.Request) []string {
	var all []string
	for _, h := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(h, ",") {
			all = append(all, strings.TrimSpace(p))
		}
	}
	return all
}

// visitor describes the origin of a request.
type visitor struct {
	addr   string // the client's address, as far as known
	secure bool   // the request came by TLS
	cookie string // name of its cookie, and prefix of those for single sessions; it has the port, since ports of a host share cookies
	host   string // remote host of the requested sessions; empty for the local one
}

// scheme returns the scheme of the page's address in the browser.
func (v visitor) scheme() string {
	if v.secure {
		return "https"
	}
	return "http"
}

// visitorOf returns the origin of a request. Headers of a trusted proxy override the connection's data.
func (d *Server) visitorOf(r *http.Request) visitor {
	v := visitor{addr: hostOnly(r.RemoteAddr), secure: r.TLS != nil}
	if d.IsProxy != nil && d.IsProxy(v.addr) {
		v.secure = v.secure || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
		// The last one was written by the proxy itself.
		if all := r.Header.Values("X-Forwarded-For"); len(all) > 0 {
			last := all[len(all)-1]
			if ip := net.ParseIP(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); ip != nil {
				v.addr = ip.String()
			}
		}
	}
	v.cookie = "longterm"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		v.cookie += "_" + port
	}
	if v.secure {
		v.cookie = "__Host-" + v.cookie
	}
	return v
}

// checkSource rejects requests that another site's page made the browser send. Other ports of this host count as other
// sites: they may run any program.
func (d *Server) checkSource(r *http.Request, v visitor) error {
	source := d.Source()
	if host := localHost(r); host != "" { // DNS rebinding needs a name, so an address is safe
		source.Hosts = append(slices.Clone(source.Hosts), host)
	}
	if err := source.Check(r); err != nil {
		e := api.Errorf(api.CodeDenied, "%v", err)
		var of *apitoken.SourceError
		if errors.As(err, &of) && of.What == "origin" {
			return e.WithHint("if the page is yours, add its origin to http.origins (`longterm config set`)")
		}
		return e.WithHint("if the name is yours, add it to http.hosts (`longterm config set`)")
	}
	for _, origin := range r.Header.Values("Origin") {
		if slices.Contains(source.Origins, origin) {
			continue
		}
		scheme := v.scheme()
		if !strings.HasPrefix(strings.ToLower(origin), scheme+"://") { // another scheme is another site, possibly of another owner
			return api.Errorf(api.CodeDenied, "pages of %q may not send requests here: this is %s://%s", shorten(origin), scheme, shorten(r.Host)).
				WithHint("if a proxy terminates TLS, add it to http.proxies and let it send X-Forwarded-Proto, or add the origin to http.origins (`longterm config set`)")
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		// A followed link gets the page, without any login.
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && r.URL.Path == "/" {
			return nil
		}
		if len(r.Header.Values("Origin")) > 0 && slices.Contains(source.Origins, r.Header.Get("Origin")) {
			return nil
		}
		return api.Errorf(api.CodeDenied, "request from a page of another site (%s)", shorten(site)).WithHint("open the page that `longterm web` names")
	}
	return nil
}

// localHost returns the request's host if it is the address of the connection, else "".
func localHost(r *http.Request) string {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	host := strings.Trim(hostOnly(r.Host), "[]")
	ip := net.ParseIP(host)
	if local == nil || ip == nil || !ip.Equal(net.ParseIP(hostOnly(local.String()))) {
		return ""
	}
	return host
}

// hostOnly returns the host of HOST:PORT.
func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

// writeJSON sends a JSON response.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// writeError sends an error as JSON.
func writeError(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err)
}

// writeTooManyLogins rejects a login of an address with too many failures.
func writeTooManyLogins(w http.ResponseWriter, wait time.Duration) {
	seconds := int(wait/time.Second) + 1
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	writeError(w, http.StatusTooManyRequests, api.Errorf(api.CodeLimit, "too many logins failed").WithHint("try again in %d s", seconds))
}

// shorten bounds the part of a request that a message repeats.
func shorten(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}
