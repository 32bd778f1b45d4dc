//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/web"
)

func webVerb(a *app, c *cobra.Command) {
	c.Long = `Serve a web page with every session, running and ended, and print a link that logs one browser in.

  longterm web
  longterm web --listen 0.0.0.0:7719 --tls-cert web.pem --tls-key web.key

The link works once and within five minutes. The login is valid for 30 days (--days); ` + "`longterm token ls`" + ` lists it,
and ` + "`longterm token revoke`" + ` ends it. The daemon serves the page until --off, also after a restart.

The address is 127.0.0.1 unless --listen is given. On a network without TLS, others can read all traffic: use a
certificate (--tls-cert, --tls-key), or a proxy with TLS (` + "`longterm help web`" + `).`
	var o api.OpenWeb
	var open, off, noQR bool
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := apitoken.ParseRights(o.May); err != nil {
			return exit.Usagef("--may %w", err)
		}
		if o.Days < 0 || o.Days > 400 || o.Days == 0 && cmd.Flags().Changed("days") {
			return exit.Usagef("--days %d: out of range (1 to 400)", o.Days)
		}
		for _, path := range []*string{&o.TLSCert, &o.TLSKey} {
			if *path == "" {
				continue
			}
			whole, err := filepath.Abs(*path)
			if err != nil {
				return err
			}
			*path = whole
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		if off {
			if err := b.client.CloseWeb(cmd.Context()); err != nil {
				return err
			}
			return a.Print(api.Web{}, nil)
		}
		v, err := b.client.OpenWeb(cmd.Context(), o)
		if err != nil {
			return err
		}
		if open && v.Link != "" {
			if err := openBrowser(v.Link); err != nil {
				fmt.Fprintf(a.Stderr, "browser not opened: %v\n", err)
			}
		}
		return a.Print(v, func(w io.Writer) {
			fmt.Fprintln(w, v.Link)
			if noQR || a.Stdout != os.Stdout || !term.IsTerminal(int(os.Stdout.Fd())) {
				return
			}
			writeQR(w, v.Link)
			fmt.Fprintf(w, "valid once, until %s\n", v.Expires.Local().Format("15:04:05"))
			if !v.Local && !v.TLS {
				fmt.Fprintln(w, "warning: no TLS: others on the network can read your sessions and log in as you")
			}
		})
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "", "`HOST:PORT` to listen on; 0.0.0.0:7719 is every address of this machine")
	f.StringVar(&o.TLSCert, "tls-cert", "", "`FILE` with a certificate chain in PEM")
	f.StringVar(&o.TLSKey, "tls-key", "", "`FILE` with the certificate's key")
	f.StringSliceVar(&o.May, "may", nil, "`RIGHTS` of the login: look, type, approve, manage (default: all)")
	f.StringVar(&o.Session, "session", "", "only `SESSION` that the login may see")
	f.StringVar(&o.Label, "label", "", "only label `KEY=VALUE` of sessions that the login may see")
	f.IntVar(&o.Days, "days", 0, "validity of the login in days (default 30)")
	f.BoolVar(&o.Masked, "masked", false, "redacted secrets in output")
	f.BoolVar(&open, "open", false, "open the link in a browser")
	f.BoolVar(&off, "off", false, "stop serving the page")
	f.BoolVar(&noQR, "no-qr", false, "no QR code of the link")
	c.MarkFlagsMutuallyExclusive("off", "open")
	c.MarkFlagsMutuallyExclusive("off", "listen")
}

// openBrowser opens a link with the system's own program. The link is visible in the process list for a moment, but it
// works only once, and usually only its own user sees it there.
func openBrowser(link string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	c := exec.Command(program, link)
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}

// writeQR draws a QR code of half blocks, dark on light in every colour scheme.
func writeQR(w io.Writer, text string) {
	code := web.QR(text)
	if code == nil { // the link itself was printed
		return
	}
	const quiet = web.QRBorder
	dark := func(x, y int) bool { return x >= 0 && y >= 0 && x < code.Size && y < code.Size && code.Black(x, y) }
	for y := -quiet; y < code.Size+quiet; y += 2 {
		var line strings.Builder
		for x := -quiet; x < code.Size+quiet; x++ {
			switch upper, lower := dark(x, y), dark(x, y+1); {
			case upper && lower:
				line.WriteString(" ")
			case upper:
				line.WriteString("▄")
			case lower:
				line.WriteString("▀")
			default:
				line.WriteString("█")
			}
		}
		fmt.Fprintf(w, "\x1b[97;40m%s\x1b[0m\n", line.String())
	}
}
