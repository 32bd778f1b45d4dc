package web

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// Headers that are forwarded besides those of an upgrade. No login reaches another host, and no header from there
// changes how the browser treats this one.
var (
	passedOn   = []string{"Accept", "Content-Type", "Range"}
	passedBack = []string{"Content-Type", "Content-Length", "Content-Range", "Content-Disposition", "Retry-After", api.CopyHeader}
	ofUpgrade  = []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", "Sec-Websocket-Accept", "Sec-Websocket-Protocol"}
)

func keepOnly(h http.Header, upgrade bool, names []string) {
	for name := range h {
		if !slices.Contains(names, name) && (!upgrade || !slices.Contains(ofUpgrade, name)) {
			h.Del(name)
		}
	}
}

// Onward passes requests of the page on to daemons of other hosts. Any goroutine may use it.
type Onward struct{ proxy httputil.ReverseProxy }

// onwardTo is the host that a request is passed on to, in its context.
type onwardTo struct{}

// Beyond is how hosts are reached.
type Beyond struct {
	Dial   func(ctx context.Context, host string) (net.Conn, error)
	Hosts  string      // which they are, in words: of the fleet
	Hint   string      // where one does not answer
	Header http.Header // what requests have besides
}

// NewOnward returns a proxy to such hosts; fail responds if a host is unreachable.
func NewOnward(b Beyond, fail func(w http.ResponseWriter, err error), log *slog.Logger) *Onward {
	return &Onward{httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			host, _ := p.In.Context().Value(onwardTo{}).(string)
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", hex.EncodeToString([]byte(host)), "longterm" // USER@HOST is no host of a URL
			upgrade := p.Out.Header.Get("Upgrade") != ""
			keepOnly(p.Out.Header, upgrade, passedOn)
			maps.Copy(p.Out.Header, b.Header)
			if upgrade { // its other protocol is a ticket of ours
				p.Out.Header.Set("Sec-Websocket-Protocol", Protocol)
			}
		},
		ModifyResponse: func(r *http.Response) error {
			keepOnly(r.Header, r.StatusCode == http.StatusSwitchingProtocols, passedBack)
			return nil
		},
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
				host, err := hex.DecodeString(hostOnly(addr))
				if err != nil {
					return nil, err
				}
				return b.Dial(ctx, string(host))
			},
			// Connections that rest are kept for the next request only for a while.
			MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
		FlushInterval: -1, // forward events at once
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var said *api.Error
			if !errors.As(err, &said) {
				host, _ := r.Context().Value(onwardTo{}).(string)
				said = api.Errorf(api.CodeUnavailable, "the host %s %s did not answer: %v", host, b.Hosts, err).WithHint("%s", b.Hint)
			}
			fail(w, said)
		},
	}}
}

// Serve passes a request on.
func (o *Onward) Serve(w http.ResponseWriter, r *http.Request, host string) {
	o.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), onwardTo{}, host)))
}
