package hosts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/yamux"

	"github.com/longterm-dev/longterm/session/api"
)

func TestTargets(t *testing.T) {
	for name, ok := range map[string]bool{
		"build": true, "ann@build": true, "ann@10.0.0.1": true, "::1": true, "a.example.org": true,
		"": false, "-oProxyCommand=x": false, "a@-x": false, "@a": false, "a@": false, "a b": false, "a/b": false, "a\nb": false,
		"a'b": false, "a$b": false, "a`b": false, strings.Repeat("a", 256): false,
	} {
		if _, err := ParseTarget(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	for ref, want := range map[string][2]string{"far/s": {"far", "s"}, "a@b/s/t": {"a@b", "s/t"}, "s": {"", "s"}, "/s": {"", "/s"}, "far/": {"", "far/"}} {
		if host, session, ok := Split(ref); host != want[0] || session != want[1] || ok != (want[0] != "") {
			t.Errorf("%q: %q, %q, %v", ref, host, session, ok)
		}
	}
}

// TestGreeting checks that the greeting is read after output of login scripts, which is bounded.
func TestGreeting(t *testing.T) {
	var out bytes.Buffer
	if err := writeMarked(&out, Hello{Protocol: 1, Oldest: 1, Version: "v1"}); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(strings.NewReader("Welcome!\nlongterm-bridgehead\n" + out.String() + "rest"))
	var h Hello
	if err := readMarked(r, &h); err != nil || h.Version != "v1" {
		t.Fatalf("%+v, %v", h, err)
	}
	if rest, _ := io.ReadAll(r); string(rest) != "rest" {
		t.Errorf("the rest is %q", rest)
	}
	for _, text := range []string{"", "x\n", "longterm-bridge {\n", strings.Repeat("noise\n", maxNoise), strings.Repeat("x", maxHello+2) + "\n"} {
		if err := readMarked(bufio.NewReader(strings.NewReader(text)), &h); !errors.Is(err, errNoHello) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for h, ok := range map[*Hello]bool{
		{Protocol: 1, Oldest: 1}: true, {Protocol: 9, Oldest: 1}: true, {Protocol: 9, Oldest: 2}: false, {}: false,
	} {
		var e *api.Error
		if err := h.checkProtocol("far"); (err == nil) != ok || !ok && (!errors.As(err, &e) || e.Code != api.CodeHostVersion) {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

func FuzzGreeting(f *testing.F) {
	for _, s := range []string{"", "longterm-bridge {}\n", "noise\nlongterm-bridge {\"protocol\":1}\nrest", "longterm-bridge {\"env\":[\"A=b\"]}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReader(bytes.NewReader(in))
		var h Hello
		if readMarked(r, &h) != nil {
			return
		}
		rest, err := io.ReadAll(r)
		if err != nil || !bytes.HasSuffix(in, rest) {
			t.Errorf("the rest is %q of %q (%v)", rest, in, err)
		}
		_ = h.checkProtocol("far")
	})
}

// startBridge starts a bridge to dial's connections and returns the other end.
func startBridge(t *testing.T, dial func(context.Context) (net.Conn, error)) *yamux.Session {
	t.Helper()
	toBridge, in := io.Pipe()
	out, fromBridge := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- (&Bridge{In: toBridge, Out: fromBridge, Version: "v1", Dial: dial}).Serve(t.Context())
	}()
	r := bufio.NewReader(out)
	var h Hello
	if err := readMarked(r, &h); err != nil || h.checkProtocol("far") != nil {
		t.Fatalf("%+v, %v", h, err)
	}
	if err := writeMarked(in, Greeting{Protocol, "v1"}); err != nil {
		t.Fatal(err)
	}
	mux, err := yamux.Client(duplexPipe{r, in, closeAll(in, out)}, muxSettings())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = mux.Close()
		if err := <-done; err != nil {
			t.Errorf("the bridge ended with %v", err)
		}
	})
	return mux
}

// TestBridge_StreamsAreIndependent checks that an unread stream does not block others, and that a large response
// arrives completely.
func TestBridge_StreamsAreIndependent(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	const size = 4 << 20
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, size))
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	mux := startBridge(t, func(context.Context) (net.Conn, error) { return net.Dial("unix", l.Addr().String()) })
	deaf, err := mux.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(deaf, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return mux.OpenStream() }}}
	for range 3 {
		resp, err := c.Get("http://x/")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if n != size || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	c.CloseIdleConnections()
	_ = deaf.Close()
}

// TestBridge_RefusesWithAPIError checks that a connection that cannot be forwarded gets an API error.
func TestBridge_RefusesWithAPIError(t *testing.T) {
	mux := startBridge(t, func(context.Context) (net.Conn, error) { return nil, unreachableError("far", "no daemon") })
	c := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return mux.OpenStream() }}}
	resp, err := c.Post("http://x/", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(b), `"retry":true`) || !strings.Contains(string(b), "no daemon") {
		t.Errorf("%s, %s, %v", resp.Status, b, err)
	}
	c.CloseIdleConnections()
}
