//go:build unix

package daemon

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/push"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Web returns where the web page is served.
func (d *Daemon) Web() api.Web { return d.web.status() }

// OpenWeb serves the web page, also by later daemons.
func (d *Daemon) OpenWeb(o api.OpenWeb) (api.Web, error) { return d.web.open(o) }

// CloseWeb stops serving the web page.
func (d *Daemon) CloseWeb() error { return d.web.disable() }

// Push implements httpapi.Daemon.
func (d *Daemon) Push() *push.Set { return d.push }

// pushConfig returns the environment of notifications by Web Push.
func (d *Daemon) pushConfig() push.Config {
	return push.Config{
		Path: d.cfg.Dirs.Push(), Tokens: d.tokens, Log: d.log, Client: d.cfg.PushClient,
		List: func(ctx context.Context) ([]api.InboxItem, error) {
			items, err := d.inbox.Items(ctx)
			list := make([]api.InboxItem, len(items))
			for i := range items {
				list[i] = items[i].InboxItem
			}
			return list, err
		},
		Mask: func(text string) string { return d.reg.Secrets().RedactText(text) },
		Settings: func() push.Settings {
			c := d.conf.Get()
			return push.Settings{Delay: c.Alerts.MinDuration, Details: c.Notify.Details, Private: c.HTTP.PushPrivate}
		},
	}
}

// webAddress is the default address of the web page, if it is free.
const webAddress = "127.0.0.1:7719"

// persistedWebConfig is the requested configuration, as stored in a file.
type persistedWebConfig struct {
	Listen  string `json:"listen"`
	TLSCert string `json:"tls_cert,omitempty"`
	TLSKey  string `json:"tls_key,omitempty"`
}

// webServer serves the web page at the requested address. The request is stored in a file, so the page outlives
// restarts and upgrades of the daemon.
type webServer struct {
	handler http.Handler
	log     *slog.Logger
	path    string
	hosts   func() []string // permitted host names
	proxied func() bool     // reports whether a proxy forwards requests

	mu           sync.Mutex         // guards what follows
	config       persistedWebConfig // requested configuration; empty Listen: the page is not served
	problem      string             // why it is not served
	ln           net.Listener
	srv          *http.Server
	closeSockets context.CancelFunc // ends the WebSockets, which the server does not track
}

// newWebServer returns a server for the web page. It serves nothing until open or retryListen.
func newWebServer(handler http.Handler, log *slog.Logger, path string, conf func() config.HTTP) *webServer {
	w := &webServer{
		handler: handler, log: log, path: path,
		hosts: func() []string { return conf().Hosts }, proxied: func() bool { return len(conf().Proxies) > 0 },
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil:
		if err = json.Unmarshal(b, &w.config); err == nil {
			break
		}
		fallthrough
	default:
		log.Error("web page not served", "file", path, "err", err)
	}
	return w
}

// retryListen tries again to serve at the requested address.
func (w *webServer) retryListen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.config.Listen == "" || w.srv != nil {
		return
	}
	if err := w.serve(w.config); err != nil && err.Error() != w.problem { // once
		w.log.Error("web page not served", "address", w.config.Listen, "err", err)
		w.problem = err.Error()
	}
}

// open serves the page as requested and stores the request.
func (w *webServer) open(o api.OpenWeb) (api.Web, error) {
	wish := persistedWebConfig{o.Listen, o.TLSCert, o.TLSKey}
	if (wish.TLSCert == "") != (wish.TLSKey == "") {
		return api.Web{}, api.Errorf(api.CodeInvalid, "certificate or key missing").WithHint("use both --tls-cert and --tls-key")
	}
	for _, path := range []string{wish.TLSCert, wish.TLSKey} {
		if path != "" && !filepath.IsAbs(path) {
			return api.Web{}, api.Errorf(api.CodeInvalid, "path %q is not absolute", path)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	given := wish.Listen != ""
	if !given {
		wish.Listen = w.config.Listen
		if wish.TLSCert == "" {
			wish.TLSCert, wish.TLSKey = w.config.TLSCert, w.config.TLSKey
		}
	}
	if wish == w.config && w.srv != nil && wish.Listen != "" {
		return w.view(), nil
	}
	fresh := wish.Listen == ""
	if fresh {
		wish.Listen = webAddress
	}
	if wish.TLSCert != "" { // before what is served is ended for it
		if _, err := (&web.Certificate{Cert: wish.TLSCert, Key: wish.TLSKey}).Get(nil); err != nil {
			return api.Web{}, notServed(err)
		}
	}
	old := w.config
	w.stop()
	err := w.serve(wish)
	if err != nil && fresh { // address in use: any port will do
		wish.Listen = "127.0.0.1:0"
		err = w.serve(wish)
	}
	if err != nil {
		if old.Listen != "" {
			_ = w.serve(old) // again tries on
		}
		return api.Web{}, notServed(err)
	}
	wish.Listen = w.ln.Addr().String() // of port 0, the one it is
	w.config = wish
	b, err := json.Marshal(wish)
	if err == nil {
		err = atomicfile.Write(w.path, atomicfile.Options{Mode: 0o600}, append(b, '\n'))
	}
	if err != nil {
		w.log.Error("the page will not be served by the next daemon", "err", err)
	}
	return w.view(), nil
}

// notServed returns the API error for a failed listen.
func notServed(err error) error {
	return api.Errorf(api.CodeInvalid, "the page cannot be served: %v", err).WithHint("give another address with --listen, or other files with --tls-cert and --tls-key")
}

// serve starts to serve. The caller holds mu.
func (w *webServer) serve(requested persistedWebConfig) error {
	ln, err := listenTCP(requested.Listen)
	if err != nil {
		return err
	}
	if requested.TLSCert != "" {
		c := &web.Certificate{Cert: requested.TLSCert, Key: requested.TLSKey}
		if _, err := c.Get(nil); err != nil {
			_ = ln.Close()
			return err
		}
		ln = tls.NewListener(ln, &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	base, cut := context.WithCancel(context.Background())
	w.problem, w.ln, w.closeSockets = "", ln, cut
	w.srv = &http.Server{
		Handler: w.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(w.log.Handler(), slog.LevelDebug), // TLS errors of arbitrary clients
	}
	w.log.Info("serving the page", "address", ln.Addr().String(), "tls", requested.TLSCert != "", "loopback", apitoken.Loopback(ln.Addr().String()))
	go func(srv *http.Server) { // ends with the server
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("the page", "err", err)
		}
	}(w.srv)
	return nil
}

// disable stops serving, also for later daemons.
func (w *webServer) disable() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	w.config, w.problem = persistedWebConfig{}, ""
	if err := os.Remove(w.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	return nil
}

// stop ends the server and every connection. The caller holds mu.
func (w *webServer) stop() {
	if w.srv != nil {
		w.closeSockets()
		_ = w.srv.Close()
		w.srv, w.ln, w.closeSockets = nil, nil, nil
	}
}

func (w *webServer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	w.config = persistedWebConfig{}
}

// status returns where the page is served.
func (w *webServer) status() api.Web {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view()
}

// view is status. The caller holds mu.
func (w *webServer) view() api.Web {
	v := api.Web{On: w.config.Listen != "" || w.srv != nil, Error: w.problem}
	if w.ln == nil {
		v.Listen = w.config.Listen
		return v
	}
	v.Listen, v.TLS = w.ln.Addr().String(), w.config.TLSCert != ""
	v.Local = apitoken.Loopback(v.Listen)
	scheme := "http"
	if v.TLS {
		scheme = "https"
	}
	v.URL = scheme + "://" + w.publicAddress() + "/"
	if names := w.hosts(); w.proxied() && len(names) > 0 { // a proxy with TLS has the first name
		v.URL = "https://" + names[0] + "/"
	}
	return v
}

// publicAddress returns a host and port by which a browser reaches the page.
func (w *webServer) publicAddress() string {
	host, port, _ := net.SplitHostPort(w.ln.Addr().String())
	ip := net.ParseIP(host)
	if ip == nil || !ip.IsLoopback() {
		if names := w.hosts(); len(names) > 0 {
			return net.JoinHostPort(names[0], port)
		}
	}
	if ip != nil && ip.IsUnspecified() {
		host = outboundAddress()
	}
	return net.JoinHostPort(host, port)
}

// outboundAddress returns an address of this machine for other machines, or loopback's as a fallback.
func outboundAddress() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}
