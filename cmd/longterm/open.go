//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/portopen"
)

// opened is what open prints.
type opened struct {
	URL     string `json:"url"`
	Session string `json:"session"`
	Port    int    `json:"port"`            // on the session's machine
	Title   string `json:"title,omitempty"` // with --probe
}

func openVerb(a *app, c *cobra.Command) {
	var show, probe bool
	var local uint16
	c.Long = `Print the address of a web server that runs in a session, and open it in the browser if this terminal has a
display. PORT is needed if the session has several ports; ` + "`longterm info`" + ` lists them.

  longterm open web
  longterm open web 5173 --print
  longterm -H build open web

For a session of another host, the command listens at the same port of this machine (127.0.0.1; a free one if
that is in use) and forwards connections over the existing ssh connection until it is interrupted. Only ports of
the session itself are forwarded, and only for you: agents and holders of tokens may not use it.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := a.session(args[0])
		if err != nil {
			return err
		}
		info, err := s.Info(cmd.Context())
		if err != nil {
			return err
		}
		wanted := 0
		if len(args) > 1 {
			if wanted, err = strconv.Atoi(args[1]); err != nil || wanted < 1 || wanted > 65535 {
				return exit.Usagef("port %q: invalid; use 1 to 65535", args[1])
			}
		}
		p, err := portopen.Choose(&info, wanted)
		if err != nil {
			return err
		}
		o := opened{URL: portopen.URL(p, p.Port), Session: info.Name, Port: p.Port}
		dial := func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", p.ReachableAddress())
		}
		var forward *portopen.Forward
		if b, err := a.connect(); err != nil {
			return err
		} else if b.client.IsRemote() {
			dial = func(ctx context.Context) (net.Conn, error) { return s.DialPort(ctx, p.Port) }
			if forward, err = portopen.Listen(cmd.Context(), dial, p.Port, int(local)); err != nil {
				return err
			}
			defer forward.Close()
			o.URL = portopen.URL(p, forward.Port)
		}
		if probe {
			o.Title = portopen.Title(cmd.Context(), p, dial)
		}
		if err := a.Print(o, func(w io.Writer) {
			fmt.Fprintln(w, o.URL)
			if o.Title != "" {
				fmt.Fprintln(w, output.Printable(o.Title))
			}
		}); err != nil {
			return err
		}
		if !show && a.isInteractive() && hasDisplay() {
			if err := openBrowser(o.URL); err != nil {
				fmt.Fprintf(a.Stderr, "browser not opened: %v\n", err)
			}
		}
		if forward == nil {
			return nil
		}
		return forward.Serve(cmd.Context())
	}
	f := c.Flags()
	f.BoolVar(&show, "print", false, "only print the address")
	f.BoolVar(&probe, "probe", false, "title of the page too, by one request to the server")
	f.Uint16Var(&local, "local-port", 0, "`PORT` of this machine for a session of another host (default: the same, or a free one)")
}

// hasDisplay reports whether a browser could show a window.
func hasDisplay() bool {
	return runtime.GOOS == "darwin" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}
