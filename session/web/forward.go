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

// Headers that are forwarded besides those of an upgrade. No login reaches another host, and no header from there changes how
// the browser treats this one.
var (
	requestHeaders  = []string{"Accept", "Content-Type", "Range"}
	responseHeaders = []string{"Content-Type", "Content-Length", "Content-Range", "Content-Disposition", "Retry-After", api.CopyHeader}
	upgradeHeaders  = []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", "Sec-Websocket-Accept", "Sec-Websocket-Protocol"}
)

// keepOnly removes all headers but the named ones and, if upgrade is set, those of an upgrade.
func keepOnly(h http.Header, upgrade bool, names []string) {
	for name := range h {
		if !slices.Contains(names, name) && (!upgrade || !slices.Contains(upgradeHeaders, name)) {
			h.Del(name)
		}
	}
}

// Forwarder forwards requests of the page to daemons of remote hosts. Any goroutine may use it.
type Forwarder struct{ proxy httputil.ReverseProxy }

// hostKey is the context key of the host that a request is forwarded to.
type hostKey struct{}

// ForwardConfig describes how remote hosts are reached.
type ForwardConfig struct {
	Dial      func(ctx context.Context, host string) (net.Conn, error)
	HostsText string      // for messages, as in "of the fleet"
	Hint      string      // hint if a host does not respond
	Header    http.Header // additional request headers
}

// NewForwarder returns a proxy to remote hosts; fail responds if a host is unreachable.
func NewForwarder(b ForwardConfig, fail func(w http.ResponseWriter, err error), log *slog.Logger) *Forwarder {
	return &Forwarder{httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			host, _ := p.In.Context().Value(hostKey{}).(string)
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", hex.EncodeToString([]byte(host)), "longterm" // USER@HOST is not valid in a URL
			upgrade := p.Out.Header.Get("Upgrade") != ""
			keepOnly(p.Out.Header, upgrade, requestHeaders)
			maps.Copy(p.Out.Header, b.Header)
			if upgrade { // the other subprotocol is a ticket of this host
				p.Out.Header.Set("Sec-Websocket-Protocol", Protocol)
			}
		},
		ModifyResponse: func(r *http.Response) error {
			keepOnly(r.Header, r.StatusCode == http.StatusSwitchingProtocols, responseHeaders)
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
			// Idle connections are kept for the next request only for a limited time.
			MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
		FlushInterval: -1, // forward events at once
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var apiErr *api.Error
			if !errors.As(err, &apiErr) {
				host, _ := r.Context().Value(hostKey{}).(string)
				apiErr = api.Errorf(api.CodeUnavailable, "the host %s %s did not answer: %v", host, b.HostsText, err).WithHint("%s", b.Hint)
			}
			fail(w, apiErr)
		},
	}}
}

// Serve forwards a request to a host.
func (o *Forwarder) Serve(w http.ResponseWriter, r *http.Request, host string) {
	o.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), hostKey{}, host)))
}
