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
	"rsc.io/qr"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
)

func webVerb(a *app, c *cobra.Command) {
	c.Long = `Have the daemon serve a page for the browser, with every session, live and past, and print a link that logs one
browser in. The link is good once and for five minutes; the login counts for 30 days (--days), is listed by
"longterm token ls" and taken back by "longterm token revoke". The page is served until --off, by later daemons, too.

It is served at 127.0.0.1 alone unless --listen says otherwise. Whoever can read what goes over a network can read along
then: give a certificate (--tls-cert, --tls-key), or have a proxy with TLS before it (docs/web.md).`
	var o api.OpenWeb
	var open, off, noQR bool
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := access.ParseRights(o.May); err != nil {
			return exit.Usagef("--may %w", err)
		}
		if o.Days < 0 || o.Days > 400 || o.Days == 0 && cmd.Flags().Changed("days") {
			return exit.Usagef("--days %d: give 1 to 400", o.Days)
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
				fmt.Fprintf(a.Stderr, "no browser was opened: %v\n", err)
			}
		}
		return a.Print(v, func(w io.Writer) {
			fmt.Fprintln(w, v.Link)
			if noQR || a.Stdout != os.Stdout || !term.IsTerminal(int(os.Stdout.Fd())) {
				return
			}
			writeQR(w, v.Link)
			fmt.Fprintf(w, "good once, until %s\n", v.Expires.Local().Format("15:04:05"))
			if !v.Local && !v.TLS {
				fmt.Fprintln(w, "without TLS: whoever can read what goes over the network sees what you see, and can log in as you")
			}
		})
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "", "serve it at this address, HOST:PORT; 0.0.0.0:7719 is all of this machine's")
	f.StringVar(&o.TLSCert, "tls-cert", "", "file with a certificate in PEM, and those above it")
	f.StringVar(&o.TLSKey, "tls-key", "", "file with its key")
	f.StringSliceVar(&o.May, "may", nil, "what the login allows: look, type, approve, manage (default: everything)")
	f.StringVar(&o.Session, "session", "", "the login is for this session only")
	f.StringVar(&o.Label, "label", "", "the login is for sessions that have this label only, key=value")
	f.IntVar(&o.Days, "days", 0, "how many days the login counts (default 30)")
	f.BoolVar(&o.Masked, "masked", false, "mask secrets in output")
	f.BoolVar(&open, "open", false, "open the link in a browser, too")
	f.BoolVar(&off, "off", false, "serve the page no longer")
	f.BoolVar(&noQR, "no-qr", false, "draw no code for a phone's camera")
	c.MarkFlagsMutuallyExclusive("off", "open")
	c.MarkFlagsMutuallyExclusive("off", "listen")
}

// openBrowser shows a page by the system's own means. The link is on a command line for a moment; it is good once,
// and whoever sees the user's command lines is mostly the user.
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

// writeQR draws a code of half blocks, dark on light whatever the terminal's colours are.
func writeQR(w io.Writer, text string) {
	code, err := qr.Encode(text, qr.L)
	if err != nil { // too long: the link itself is there
		return
	}
	const quiet = 2 // modules around it; cameras do with less than the standard's four
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
