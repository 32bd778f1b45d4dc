package web

import (
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

// Config is what a door stands between.
type Config struct {
	Tokens *apitoken.Store
	// Source returns the configured hosts and origins of this daemon.
	Source func() apitoken.Source
	// Proxies reports whether a peer is a trusted proxy, whose headers give the client's address and scheme.
	Proxies func(peer string) bool
	// Serve serves a request below /v1, or the socket, within what a grant allows.
	Serve func(w http.ResponseWriter, r *http.Request, g apitoken.Grant)
	// ServeOther serves the same of another host.
	ServeOther func(w http.ResponseWriter, r *http.Request, g apitoken.Grant, host string)
	// Made receives each login that is created or ended, for the audit log.
	Made func(r *http.Request, t apitoken.Token, what string)
	Log  *slog.Logger
	Now  func() time.Time // nil: time.Now
}

// Bounds of the door.
const (
	LinkTime   = 5 * time.Minute  // a one-time link counts
	ticketTime = 15 * time.Second // a ticket counts
	maxLinks   = 100
	maxTickets = 1000
	maxLogin   = 4 << 10 // bytes of a login

	failBurst  = 10 // failed logins of one address at once
	failRefill = 6 * time.Second
)

// Server is where the page comes in. Any goroutine may use it.
type Server struct {
	Config
	files   func() *Files // made when the first visitor comes
	links   *oneTimeCodes[apitoken.Token]
	tickets *oneTimeCodes[string] // keys of logins
	fails   *loginLimiter
}

// New returns a web server.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Server{
		Config: c, files: Embedded, links: newOnce[apitoken.Token](maxLinks, c.Now), tickets: newOnce[string](maxTickets, c.Now),
		fails: &loginLimiter{burst: failBurst, refill: failRefill, most: 10_000, now: c.Now},
	}
}

// Link makes a code that is good for one login, with which a token like t is made. It counts for LinkTime.
func (d *Server) Link(t apitoken.Token) (code string) { return d.links.add(t, d.Now().Add(LinkTime)) }

// ServeHTTP implements http.Handler.
func (d *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	v := d.visitorOf(r)
	v.host = hostIn(r)
	if err := d.checkSource(r, v); err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	if d.files().serve(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method + " " + r.URL.Path {
	case "POST /web/login":
		d.login(w, r, v)
	case "GET /web/me":
		d.as(w, r, v, func(g apitoken.Grant, _ string) { Me(w, g) })
	case "POST /web/logout":
		d.as(w, r, v, func(g apitoken.Grant, secret string) { d.logout(w, r, v, g, secret) })
	case "POST /web/ticket":
		d.as(w, r, v, func(_ apitoken.Grant, secret string) {
			ticket := d.tickets.add(keyOf(secret), d.Now().Add(ticketTime))
			answer(w, map[string]any{"ticket": ticket, "seconds": int(ticketTime / time.Second)})
		})
	case "GET /web/socket":
		d.socket(w, r, v)
	default:
		if !strings.HasPrefix(r.URL.Path, api.Version+"/") {
			refuse(w, http.StatusNotFound, api.Errorf(api.CodeNotFound, "page %q not found", cut(r.URL.Path)).WithHint("the page is at /"))
			return
		}
		d.api(w, r, v)
	}
}

// api serves a request of the API: of the page, or of a program that shows a token.
func (d *Server) api(w http.ResponseWriter, r *http.Request, v visitor) {
	if secret, ok := apitoken.BearerOf(r); ok {
		if g, ok := d.verify(w, v, secret); ok {
			d.serve(w, r, v, g)
		}
		return
	}
	d.as(w, r, v, func(g apitoken.Grant, _ string) {
		p := pack(w, r)
		defer p.close()
		d.serve(p, r, v, g)
	})
}

// socket opens the page's socket, once per ticket. The cookie must belong to the same login, so that a stolen ticket
// opens nothing.
func (d *Server) socket(w http.ResponseWriter, r *http.Request, v visitor) {
	ticket := ""
	for _, p := range protocols(r) {
		if t, ok := strings.CutPrefix(p, ticketPrefix); ok {
			ticket = t
		}
	}
	key, ok := d.tickets.take(ticket)
	secret, had := secretOf(r, v, key)
	switch {
	case !ok || !had:
		refuse(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "ticket unknown (used or expired)").WithHint("request a new one at web/ticket"))
		return
	case r.Header.Get("Origin") == "": // browsers always send it
		refuse(w, http.StatusForbidden, api.Errorf(api.CodeDenied, "a socket needs an origin").WithHint("programs use %s/page with a token", api.Version))
		return
	}
	if secret == "" {
		refuse(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "ticket belongs to another login").WithHint("request a new one at web/ticket"))
		return
	}
	g, ok := d.verify(w, v, secret)
	if !ok {
		return
	}
	r.URL.Path, r.URL.RawPath = api.Version+"/page", ""
	d.serve(w, r, v, g)
}

// Protocol is the WebSocket subprotocol of the page. The ticket comes as a second one, so that no URL contains it.
const (
	Protocol     = "longterm.page.1"
	ticketPrefix = "ticket."
)

func protocols(r *http.Request) []string {
	var all []string
	for _, h := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(h, ",") {
			all = append(all, strings.TrimSpace(p))
		}
	}
	return all
}

// visitor is where a request comes from.
type visitor struct {
	addr   string // the client's, as far as known
	secure bool   // it comes by TLS
	cookie string // name of its cookie, and prefix of those of single sessions: ports of a host share their cookies
	host   string // remote host of the requested sessions; empty for the local one
}

// scheme returns the scheme of the page's address in the browser.
func (v visitor) scheme() string {
	if v.secure {
		return "https"
	}
	return "http"
}

func (d *Server) visitorOf(r *http.Request) visitor {
	v := visitor{addr: hostOnly(r.RemoteAddr), secure: r.TLS != nil}
	if d.Proxies != nil && d.Proxies(v.addr) {
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
	if host := localHost(r); host != "" { // an address is no name that could be pointed here
		source.Hosts = append(slices.Clone(source.Hosts), host)
	}
	if err := source.Check(r); err != nil {
		e := api.Errorf(api.CodeDenied, "%v", err)
		var of *apitoken.SourceError
		if errors.As(err, &of) && of.What == "origin" {
			return e.WithHint("if the page is yours, name its origin in http.origins (`longterm config set`)")
		}
		return e.WithHint("if the name is yours, have it in http.hosts (`longterm config set`)")
	}
	for _, origin := range r.Header.Values("Origin") {
		if slices.Contains(source.Origins, origin) {
			continue
		}
		scheme := v.scheme()
		if !strings.HasPrefix(strings.ToLower(origin), scheme+"://") { // another scheme is another site, maybe of another owner
			return api.Errorf(api.CodeDenied, "pages of %q may not ask here: this is %s://%s", cut(origin), scheme, cut(r.Host)).
				WithHint("where a proxy has TLS, name it in http.proxies and have it send X-Forwarded-Proto, or name the origin in http.origins (`longterm config set`)")
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		// A followed link: serve the page alone, without any login.
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && r.URL.Path == "/" {
			return nil
		}
		if len(r.Header.Values("Origin")) > 0 && slices.Contains(source.Origins, r.Header.Get("Origin")) {
			return nil
		}
		return api.Errorf(api.CodeDenied, "request from a page of another site (%s)", cut(site)).WithHint("open the page that `longterm web` names")
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

func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err)
}

func tooMany(w http.ResponseWriter, wait time.Duration) {
	seconds := int(wait/time.Second) + 1
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	refuse(w, http.StatusTooManyRequests, api.Errorf(api.CodeLimit, "too many logins failed").WithHint("try again in %d s", seconds))
}

// cut bounds what a message repeats of a request.
func cut(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}
