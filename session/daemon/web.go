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

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/web"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Web is where the page in the browser is served.
func (d *Daemon) Web() api.Web { return d.web.status() }

// OpenWeb has the page served, by the daemons that come after this one, too.
func (d *Daemon) OpenWeb(o api.OpenWeb) (api.Web, error) { return d.web.open(o) }

// CloseWeb has the page served no longer.
func (d *Daemon) CloseWeb() error { return d.web.off() }

// webAddress is where the page is served unless another place is asked for, and if nobody else is there.
const webAddress = "127.0.0.1:7719"

// webWish is what was asked for, as it is kept in a file.
type webWish struct {
	Listen  string `json:"listen"`
	TLSCert string `json:"tls_cert,omitempty"`
	TLSKey  string `json:"tls_key,omitempty"`
}

// webDoor serves the page where that was asked for. The wish is kept in a file: a page that was opened outlives
// restarts and upgrades of the daemon.
type webDoor struct {
	handler http.Handler
	log     *slog.Logger
	path    string
	hosts   func() []string
	proxied func() bool // a proxy stands before it

	mu     sync.Mutex // guards what follows
	wish   webWish    // Listen is empty: none
	failed string     // why it is not served
	ln     net.Listener
	srv    *http.Server
	cut    context.CancelFunc // ends the sockets, which the server knows no more
}

func newWebDoor(handler http.Handler, log *slog.Logger, path string, conf func() config.HTTP) *webDoor {
	w := &webDoor{
		handler: handler, log: log, path: path,
		hosts: func() []string { return conf().Hosts }, proxied: func() bool { return len(conf().Proxies) > 0 },
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil:
		if err = json.Unmarshal(b, &w.wish); err == nil {
			break
		}
		fallthrough
	default:
		log.Error("the page is not served", "file", path, "err", err)
	}
	return w
}

// again serves what was asked for and could not be had.
func (w *webDoor) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wish.Listen == "" || w.srv != nil {
		return
	}
	if err := w.serve(w.wish); err != nil && err.Error() != w.failed { // once
		w.log.Error("the page is not served", "address", w.wish.Listen, "err", err)
		w.failed = err.Error()
	}
}

// open serves the page as asked for, and keeps the wish.
func (w *webDoor) open(o api.OpenWeb) (api.Web, error) {
	wish := webWish{o.Listen, o.TLSCert, o.TLSKey}
	if (wish.TLSCert == "") != (wish.TLSKey == "") {
		return api.Web{}, api.Errorf(api.CodeInvalid, "a certificate and its key belong together").WithHint("give --tls-cert and --tls-key")
	}
	for _, path := range []string{wish.TLSCert, wish.TLSKey} {
		if path != "" && !filepath.IsAbs(path) {
			return api.Web{}, api.Errorf(api.CodeInvalid, "%q is no absolute path", path)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	given := wish.Listen != ""
	if !given {
		wish.Listen = w.wish.Listen
		if wish.TLSCert == "" {
			wish.TLSCert, wish.TLSKey = w.wish.TLSCert, w.wish.TLSKey
		}
	}
	if wish == w.wish && w.srv != nil && wish.Listen != "" {
		return w.view(), nil
	}
	fresh := wish.Listen == ""
	if fresh {
		wish.Listen = webAddress
	}
	if wish.TLSCert != "" { // before what is served is ended for it
		if _, err := (&web.Certificate{Cert: wish.TLSCert, Key: wish.TLSKey}).Get(nil); err != nil {
			return api.Web{}, unserved(err)
		}
	}
	old := w.wish
	w.stop()
	err := w.serve(wish)
	if err != nil && fresh { // somebody else is there: any port does
		wish.Listen = "127.0.0.1:0"
		err = w.serve(wish)
	}
	if err != nil {
		if old.Listen != "" {
			_ = w.serve(old) // again tries on
		}
		return api.Web{}, unserved(err)
	}
	wish.Listen = w.ln.Addr().String() // of port 0, the one it is
	w.wish = wish
	b, err := json.Marshal(wish)
	if err == nil {
		err = atomicfile.Write(w.path, atomicfile.Options{Mode: 0o600}, append(b, '\n'))
	}
	if err != nil {
		w.log.Error("the page will not be served by the next daemon", "err", err)
	}
	return w.view(), nil
}

func unserved(err error) error {
	return api.Errorf(api.CodeInvalid, "the page cannot be served: %v", err).WithHint("give another address with --listen, or other files with --tls-cert and --tls-key")
}

// serve begins to serve. The caller holds mu.
func (w *webDoor) serve(wish webWish) error {
	ln, err := listenTCP(wish.Listen)
	if err != nil {
		return err
	}
	if wish.TLSCert != "" {
		c := &web.Certificate{Cert: wish.TLSCert, Key: wish.TLSKey}
		if _, err := c.Get(nil); err != nil {
			_ = ln.Close()
			return err
		}
		ln = tls.NewListener(ln, &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	base, cut := context.WithCancel(context.Background())
	w.failed, w.ln, w.cut = "", ln, cut
	w.srv = &http.Server{
		Handler: w.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(w.log.Handler(), slog.LevelDebug), // of TLS: whoever knocks, at random
	}
	w.log.Info("serving the page", "address", ln.Addr().String(), "tls", wish.TLSCert != "", "loopback", access.Loopback(ln.Addr().String()))
	go func(srv *http.Server) { // ends with the server
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("the page", "err", err)
		}
	}(w.srv)
	return nil
}

// off ends it, for the daemons that come, too.
func (w *webDoor) off() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	w.wish, w.failed = webWish{}, ""
	if err := os.Remove(w.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	return nil
}

// stop ends the server and every connection. The caller holds mu.
func (w *webDoor) stop() {
	if w.srv != nil {
		w.cut()
		_ = w.srv.Close()
		w.srv, w.ln, w.cut = nil, nil, nil
	}
}

func (w *webDoor) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	w.wish = webWish{}
}

func (w *webDoor) status() api.Web {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view()
}

// view describes it. The caller holds mu.
func (w *webDoor) view() api.Web {
	v := api.Web{On: w.wish.Listen != "" || w.srv != nil, Error: w.failed}
	if w.ln == nil {
		v.Listen = w.wish.Listen
		return v
	}
	v.Listen, v.TLS = w.ln.Addr().String(), w.wish.TLSCert != ""
	v.Local = access.Loopback(v.Listen)
	scheme := "http"
	if v.TLS {
		scheme = "https"
	}
	v.URL = scheme + "://" + w.reachedAt() + "/"
	if names := w.hosts(); w.proxied() && len(names) > 0 { // a proxy with TLS has the first name
		v.URL = "https://" + names[0] + "/"
	}
	return v
}

// reachedAt is a host and port under which a browser reaches the address.
func (w *webDoor) reachedAt() string {
	host, port, _ := net.SplitHostPort(w.ln.Addr().String())
	ip := net.ParseIP(host)
	if ip == nil || !ip.IsLoopback() {
		if names := w.hosts(); len(names) > 0 {
			return net.JoinHostPort(names[0], port)
		}
	}
	if ip != nil && ip.IsUnspecified() {
		host = outward()
	}
	return net.JoinHostPort(host, port)
}

// outward is an address of this machine that others may reach; if there is none, loopback's.
func outward() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}
