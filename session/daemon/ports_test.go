//go:build unix

package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// testListener is the argument that makes the test binary a listener.
const testListener = "testlistener"

// beListener obeys the lines of its standard input: listen NETWORK ADDRESS, many N, close. It ends with its input.
func beListener() {
	var open []net.Listener
	add := func(network, at string) {
		l, err := net.Listen(network, at)
		if err != nil {
			fmt.Println(err)
			return
		}
		open = append(open, l)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch f := strings.Fields(in.Text()); f[0] {
		case "listen":
			add(f[1], f[2])
			go serveNonsense(open[len(open)-1])
			fmt.Println("at", open[len(open)-1].Addr())
		case "many":
			n := 0
			for _, _ = fmt.Sscan(f[1], &n); n > 0; n-- {
				add("tcp", "127.0.0.1:0")
			}
		case "close":
			for _, l := range open {
				_ = l.Close()
			}
			open = nil
		}
	}
}

// serveNonsense echoes the input of each connection in capitals.
func serveNonsense(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			buf := make([]byte, 100)
			for n, err := c.Read(buf); err == nil; n, err = c.Read(buf) {
				_, _ = c.Write([]byte(strings.ToUpper(string(buf[:n]))))
			}
		}()
	}
}

// listener starts a session of a listener. order types a line to it.
func listener(t *testing.T, d *running, name string) (order func(line string)) {
	t.Helper()
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{os.Args[0], testListener}})
	return func(line string) {
		t.Helper()
		get[api.Typed](d, "POST", "/sessions/"+name+"/input", api.Input{Text: line + "\r"})
	}
}

// TestPorts checks that a program's ports are in its session's description and in lists, are waited for, and are
// published when they are opened and closed.
//
// FEATURES: R128
func TestPorts(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	events := d.events(t)
	order := listener(t, d, "web")
	order("listen tcp 127.0.0.1:0")
	w := d.wait("web", api.Condition{Kind: "port"})
	if w.Outcome != "fired" || len(w.Session.Ports) != 1 {
		t.Fatalf("%+v", w)
	}
	p := w.Session.Ports[0]
	if fmt.Sprint(p.Port) != w.Fired[0].Match || p.Address != "127.0.0.1" || p.PID != w.Session.PID || !strings.Contains(os.Args[0], p.Program) || p.Inside {
		t.Errorf("%+v, %+v", p, w.Fired)
	}
	if got := until(t, events, "it is opened", func(e *api.Event) bool { return e.Kind == "port-open" }); *got.Port != p || got.Session.Name != "web" || len(got.Session.Ports) != 1 {
		t.Errorf("%+v", got)
	}
	if list := get[[]api.Session](d, "GET", "/sessions", nil); len(list) != 1 || len(list[0].Ports) != 1 || list[0].Ports[0] != p {
		t.Errorf("%+v", list)
	}
	if w := d.wait("web", api.Condition{Kind: "port", Port: p.Port}); w.Outcome != "fired" {
		t.Errorf("%+v", w)
	}
	if w := get[api.Waited](d, "POST", "/sessions/web/wait", api.Wait{Conds: []api.Condition{{Kind: "port", Port: 1}}, TimeoutMS: 200}); w.Outcome != "timeout" {
		t.Errorf("%+v", w)
	}
	order("close")
	if got := until(t, events, "it is closed", func(e *api.Event) bool { return e.Kind == "port-closed" }); *got.Port != p || len(got.Session.Ports) != 0 {
		t.Errorf("%+v", got)
	}
	order("listen unix " + t.TempDir() + "/s")
	if got := until(t, events, "it is opened", func(e *api.Event) bool { return e.Kind == "port-open" }); !strings.HasSuffix(got.Port.Unix, "/s") || got.Port.Port != 0 {
		t.Errorf("%+v", got.Port)
	}
	get[api.Session](d, "POST", "/sessions/web/kill", api.Kill{})
	until(t, events, "its end closes it", func(e *api.Event) bool { return e.Kind == "port-closed" })
	if a := d.ask("POST", "/sessions/web/wait", api.Wait{Conds: []api.Condition{{Kind: "port", Port: 70000}}}); a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
		t.Errorf("a port that cannot be: %d %s", a.status, a.body)
	}
}

// TestPorts_Many checks that a program that opens hundreds of ports at once gets a short list and few events.
//
// FEATURES: R128
func TestPorts_Many(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	events := d.events(t)
	order := listener(t, d, "many")
	order("many 200")
	order("listen tcp6 [::1]:0")
	until(t, events, "they are opened", func(e *api.Event) bool { return e.Kind == "port-open" && e.Session.MorePorts > 0 })
	s := get[api.Session](d, "GET", "/sessions/many", nil)
	if len(s.Ports) != 64 || s.MorePorts == 0 {
		t.Errorf("%d and %d more", len(s.Ports), s.MorePorts)
	}
	order("close")
	n := 0
	until(t, events, "they are closed", func(e *api.Event) bool {
		if e.Kind == "port-open" || e.Kind == "port-closed" {
			n++
		}
		return e.Kind == "port-closed" && len(e.Session.Ports) == 0
	})
	if n > 64 {
		t.Errorf("%d events", n)
	}
}

// TestDialPort checks that the user reaches a port of a session, and only that: no other port of the machine, and not
// as an agent or by a token.
//
// FEATURES: R128
func TestDialPort(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	order := listener(t, d, "web")
	order("listen tcp 127.0.0.1:0")
	port := d.wait("web", api.Condition{Kind: "port"}).Session.Ports[0].Port
	web := client.New(client.Options{Dirs: d.dirs}).Session("web")
	conn, err := web.DialPort(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	buf := make([]byte, 100)
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(buf); string(buf[:n]) != "HELLO" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	mine, err := net.Listen("tcp", "127.0.0.1:0") // of the machine, and not of the session
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	for name, c := range map[string]struct {
		options client.Options
		port    int
		code    api.Code
	}{
		"another port": {client.Options{}, mine.Addr().(*net.TCPAddr).Port, api.CodeNotFound},
		"an agent":     {client.Options{Agent: "bot"}, port, api.CodeDenied},
	} {
		c.options.Dirs = d.dirs
		_, err := client.New(c.options).Session("web").DialPort(t.Context(), c.port)
		if e := new(api.Error); !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	token := get[api.MadeToken](d, "POST", "/tokens", api.NewToken{Name: "t", Level: "all"})
	_, err = client.New(client.Options{Dirs: d.dirs, Token: token.Name}).Session("web").DialPort(t.Context(), port)
	if e := new(api.Error); !errors.As(err, &e) || e.Code != api.CodeDenied {
		t.Errorf("a token: %v", err)
	}
	if a := d.ask("GET", "/sessions/web/ports/"+fmt.Sprint(port), nil); a.status == http.StatusSwitchingProtocols || a.status == http.StatusOK {
		t.Errorf("a page's request, which is no upgrade: %d", a.status)
	}
}
