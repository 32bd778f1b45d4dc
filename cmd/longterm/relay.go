package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/relay"
	"github.com/longterm-dev/longterm/session/web"
)

// relayInfo describes where a relay listens, for --json.
type relayInfo struct {
	Listen string `json:"listen"`
	URL    string `json:"url"`
	TLS    bool   `json:"tls"`
}

// leastRate is the lowest --rate at which the longest message arrives before its receiver counts as dead.
const leastRate = 32 << 10

func relayVerb(a *app, c *cobra.Command) {
	c.Long = `Run a relay server for sessions that users share with ` + "`longterm share S --relay URL`" + `. It forwards ciphertext, has no
keys, stores nothing, and needs neither a daemon nor sessions. Stop it with Ctrl-C.

  longterm relay --listen 0.0.0.0:7720 --tls-cert relay.pem --tls-key relay.key

Browsers open shared links at https addresses only: use a certificate (--tls-cert, --tls-key), or a proxy with
TLS (--behind-proxy).`
	var listen, cert, key string
	s := relay.New()
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if (cert == "") != (key == "") {
			return exit.Usagef("--tls-cert and --tls-key require each other")
		}
		if s.MaxRooms < 1 || s.Rate < leastRate {
			return exit.Usagef("--shares must be at least 1, --rate at least %d", leastRate)
		}
		ln, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", listen)
		if err != nil {
			return fmt.Errorf("%w; use another address with --listen", err)
		}
		at := relayInfo{Listen: ln.Addr().String(), TLS: cert != "", URL: "http://" + ln.Addr().String() + "/"}
		if cert != "" {
			files := &web.Certificate{Cert: cert, Key: key}
			if _, err := files.Get(nil); err != nil {
				return errors.Join(err, ln.Close())
			}
			ln = tls.NewListener(ln, &tls.Config{GetCertificate: files.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
			at.URL = "https" + at.URL[len("http"):]
		}
		if err := a.Print(at, func(w io.Writer) { fmt.Fprintln(w, at.URL) }); err != nil {
			return errors.Join(err, ln.Close())
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
		defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:7720", "`HOST:PORT` to listen on; 0.0.0.0:7720 is every address of this machine")
	f.StringVar(&cert, "tls-cert", "", "`FILE` with a certificate chain in PEM")
	f.StringVar(&key, "tls-key", "", "`FILE` with the certificate's key")
	f.BoolVar(&s.Forwarded, "behind-proxy", false, "client address from the last entry of X-Forwarded-For, set by a proxy")
	f.IntVar(&s.MaxRooms, "shares", s.MaxRooms, "maximum `NUMBER` of shares at a time")
	f.IntVar(&s.Rate, "rate", s.Rate, "maximum `BYTES` per second and connection")
}
