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

// relayAt is what is told of a relay that runs.
type relayAt struct {
	Listen string `json:"listen"`
	URL    string `json:"url"`
	TLS    bool   `json:"tls"`
}

// leastRate passes the longest message on before its receiver counts as dead.
const leastRate = 32 << 10

func relayVerb(a *app, c *cobra.Command) {
	c.Long = `Pass sessions on that others share with "longterm share S --relay URL", until it is ended. What it passes on is
sealed: it has no keys and stores nothing. It needs neither a daemon nor sessions of its own. Browsers open sealed links
at https addresses only: give a certificate (--tls-cert, --tls-key), or have a proxy with TLS before it (--behind-proxy).`
	var listen, cert, key string
	s := relay.New()
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if (cert == "") != (key == "") {
			return exit.Usagef("a certificate and its key belong together: give --tls-cert and --tls-key")
		}
		if s.MaxRooms < 1 || s.Rate < leastRate {
			return exit.Usagef("--shares is at least 1, --rate at least %d", leastRate)
		}
		ln, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", listen)
		if err != nil {
			return fmt.Errorf("%w; give another address with --listen", err)
		}
		at := relayAt{Listen: ln.Addr().String(), TLS: cert != "", URL: "http://" + ln.Addr().String() + "/"}
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
	f.StringVar(&listen, "listen", "127.0.0.1:7720", "the address, HOST:PORT; 0.0.0.0:7720 is all of this machine's")
	f.StringVar(&cert, "tls-cert", "", "file with a certificate in PEM, and those above it")
	f.StringVar(&key, "tls-key", "", "file with its key")
	f.BoolVar(&s.Forwarded, "behind-proxy", false, "a proxy stands before it: the last address of X-Forwarded-For is who asks")
	f.IntVar(&s.MaxRooms, "shares", s.MaxRooms, "how many shares there may be at a time")
	f.IntVar(&s.Rate, "rate", s.Rate, "bytes a second that are passed on of each connection")
}
