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

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
)

// Config is what a door stands between.
type Config struct {
	Tokens *access.Store
	// Source says which hosts and origins are ours, as configured now.
	Source func() access.Source
	// Proxies says whether a peer is a proxy of ours, whose word on the client's address and scheme counts.
	Proxies func(peer string) bool
	// Serve serves a request below /v1, or the socket, within what a grant allows.
	Serve func(w http.ResponseWriter, r *http.Request, g access.Grant)
	// ServeOther serves the same of another host.
	ServeOther func(w http.ResponseWriter, r *http.Request, g access.Grant, host string)
	// Made is told of each login that is made or ended, for the audit log.
	Made func(r *http.Request, t access.Token, what string)
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

// Door is where the page comes in. Any goroutine may use it.
type Door struct {
	Config
	files   func() *Files // made when the first visitor comes
	links   *once[access.Token]
	tickets *once[string] // keys of logins
	fails   *knocks
}

// New is a door.
func New(c Config) *Door {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Door{
		Config: c, files: Embedded, links: newOnce[access.Token](maxLinks, c.Now), tickets: newOnce[string](maxTickets, c.Now),
		fails: &knocks{burst: failBurst, refill: failRefill, most: 10_000, now: c.Now},
	}
}

// Link makes a code that is good for one login, with which a token like t is made. It counts for LinkTime.
func (d *Door) Link(t access.Token) (code string) { return d.links.add(t, d.Now().Add(LinkTime)) }

// ServeHTTP implements http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		d.as(w, r, v, func(g access.Grant, _ string) { Me(w, g) })
	case "POST /web/logout":
		d.as(w, r, v, func(g access.Grant, secret string) { d.logout(w, r, v, g, secret) })
	case "POST /web/ticket":
		d.as(w, r, v, func(_ access.Grant, secret string) {
			ticket := d.tickets.add(keyOf(secret), d.Now().Add(ticketTime))
			answer(w, map[string]any{"ticket": ticket, "seconds": int(ticketTime / time.Second)})
		})
	case "GET /web/socket":
		d.socket(w, r, v)
	default:
		if !strings.HasPrefix(r.URL.Path, api.Version+"/") {
			refuse(w, http.StatusNotFound, api.Errorf(api.CodeNotFound, "there is nothing at %q", cut(r.URL.Path)).WithHint("the page is at /"))
			return
		}
		d.api(w, r, v)
	}
}

// api serves a request of the API: of the page, or of a program that shows a token.
func (d *Door) api(w http.ResponseWriter, r *http.Request, v visitor) {
	if secret, ok := access.BearerOf(r); ok {
		if g, ok := d.verify(w, v, secret); ok {
			d.serve(w, r, v, g)
		}
		return
	}
	d.as(w, r, v, func(g access.Grant, _ string) {
		p := pack(w, r)
		defer p.close()
		d.serve(p, r, v, g)
	})
}

// socket opens the page's socket, once for a ticket. The cookie has to be of the same login: a ticket that somebody
// else sees opens nothing.
func (d *Door) socket(w http.ResponseWriter, r *http.Request, v visitor) {
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
		refuse(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "the ticket is not known: it was used, or is too old").WithHint("ask for another one at web/ticket"))
		return
	case r.Header.Get("Origin") == "": // browsers always say it
		refuse(w, http.StatusForbidden, api.Errorf(api.CodeDenied, "a socket needs an origin").WithHint("programs use %s/page with a token", api.Version))
		return
	}
	if secret == "" {
		refuse(w, http.StatusUnauthorized, api.Errorf(api.CodeUnauthorized, "the ticket is of another login").WithHint("ask for another one at web/ticket"))
		return
	}
	g, ok := d.verify(w, v, secret)
	if !ok {
		return
	}
	r.URL.Path, r.URL.RawPath = api.Version+"/page", ""
	d.serve(w, r, v, g)
}

// Protocol is the WebSocket subprotocol of the page; a ticket comes as another one, so that no address has it.
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
	cookie string // name of its cookie, and what those of single sessions begin with: ports of a host share their cookies
	host   string // another host, whose sessions it asks for; "": this one's
}

// scheme is that of the page's own address, as the browser sees it.
func (v visitor) scheme() string {
	if v.secure {
		return "https"
	}
	return "http"
}

func (d *Door) visitorOf(r *http.Request) visitor {
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

// checkSource refuses requests that a page of somebody else's has a browser make. Other ports of this host are
// others: what listens there may be anybody's.
func (d *Door) checkSource(r *http.Request, v visitor) error {
	source := d.Source()
	if host := localHost(r); host != "" { // an address is no name that could be pointed here
		source.Hosts = append(slices.Clone(source.Hosts), host)
	}
	if err := source.Check(r); err != nil {
		e := api.Errorf(api.CodeDenied, "%v", err)
		var of *access.SourceError
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
		// Somebody follows a link here: the page alone is served, and nothing with a login.
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && r.URL.Path == "/" {
			return nil
		}
		if len(r.Header.Values("Origin")) > 0 && slices.Contains(source.Origins, r.Header.Get("Origin")) {
			return nil
		}
		return api.Errorf(api.CodeDenied, "this was asked for by a page of another site (%s)", cut(site)).WithHint("open the page that `longterm web` names")
	}
	return nil
}

// localHost is the request's host, if that is the address at which the connection came in.
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
