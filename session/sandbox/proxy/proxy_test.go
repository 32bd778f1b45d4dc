package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	confine.ServeNetwork = Run
	confine.Enter()
	if len(os.Args) > 1 && os.Args[0] == "fetch" {
		fetchInside(os.Args[1:])
	}
	os.Exit(isolate.Run(m))
}

// outerAddr is the address of every name of the test: an external one, behind which the test's server is.
var outerAddr = netip.MustParseAddr("9.9.9.9")

// serve starts a proxy whose names and addresses lead to a server of the test.
func serve(t *testing.T, ask Approver, hosts ...string) (at string, dialled *[]netip.AddrPort) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method+" "+r.Host+" "+r.URL.Path+" "+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(server.Close)
	p, err := New(hosts, ask)
	if err != nil {
		t.Fatal(err)
	}
	p.profile, p.file = "web", "/c/sandbox.toml"
	dialled = &[]netip.AddrPort{}
	p.resolve = func(_ context.Context, name string) ([]netip.Addr, error) {
		if strings.HasPrefix(name, "rebind.") {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:10.0.0.1")}, nil
		}
		return []netip.Addr{outerAddr}, nil
	}
	p.dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		*dialled = append(*dialled, to)
		var d net.Dialer
		return d.DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- p.Serve(l) }()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String(), dialled
}

// talk sends bytes and returns the response.
func talk(t *testing.T, at, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(c)
	return string(b)
}

const get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// FEATURES: R67
func TestHosts(t *testing.T) {
	at, dialled := serve(t, nil, "example.org:443", "*.example.net", "10.0.0.1:80", "rebind.example.com")
	for _, c := range []struct{ sent, want string }{
		{"CONNECT example.org:443 HTTP/1.1\r\n\r\n" + get, "HTTP/1.1 200 Connected\r\n\r\nHTTP/1.1 200 OK"},
		{"CONNECT EXAMPLE.org.:443 HTTP/1.1\r\nHost: evil\r\n\r\n" + get, "200 OK"},
		{"CONNECT example.org:80 HTTP/1.1\r\n\r\n", "403 Forbidden"},
		{"CONNECT www.example.org:443 HTTP/1.1\r\n\r\n", "it is not listed; to allow it in new sessions, add \"www.example.org:443\" to the list `network` of [web] in /c/sandbox.toml"},
		{"CONNECT a.example.net:1 HTTP/1.1\r\n\r\n" + get, "200 OK"},
		{"CONNECT example.net:1 HTTP/1.1\r\n\r\n", "403 Forbidden"},
		{"CONNECT evilexample.net:1 HTTP/1.1\r\n\r\n", "403 Forbidden"},
		{"CONNECT 10.0.0.1:80 HTTP/1.1\r\n\r\n" + get, "200 OK"},
		{"CONNECT [::ffff:10.0.0.1]:80 HTTP/1.1\r\n\r\n" + get, "200 OK"},
		{"CONNECT 10.0.0.2:80 HTTP/1.1\r\n\r\n", "an inner address"},
		{"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", "an inner address"},
		{"CONNECT 9.9.9.9:443 HTTP/1.1\r\n\r\n", "addresses have to be listed"},
		{"CONNECT 127.1:80 HTTP/1.1\r\n\r\n", "no name of a host"},
		{"CONNECT 0x7f000001:80 HTTP/1.1\r\n\r\n", "no name of a host"},
		{"CONNECT 2130706433:80 HTTP/1.1\r\n\r\n", "no name of a host"},
		{"CONNECT localhost:80 HTTP/1.1\r\n\r\n", "403 Forbidden"},
		{"CONNECT rebind.example.com:443 HTTP/1.1\r\n\r\n", "leads to inner addresses"},
		{"CONNECT rebind.example.com:80 HTTP/1.1\r\n\r\n" + get, "200 OK"}, // 10.0.0.1:80 is listed
		{"CONNECT example.org HTTP/1.1\r\n\r\n", "400 Bad Request"},
		{"CONNECT example.org:99999 HTTP/1.1\r\n\r\n", "400 Bad Request"},
		{"GET http://a.example.net/x?y HTTP/1.1\r\nHost: evil\r\nProxy-Authorization: secret\r\n\r\n", "GET a.example.net /x "},
		{"GET HTTP://user:pw@a.example.net:81 HTTP/1.0\r\n\r\n", "GET a.example.net:81 /"},
		{"GET http://a.example.net@evil.org/ HTTP/1.1\r\n\r\n", "403 Forbidden"},
		{"GET /x HTTP/1.1\r\nHost: example.org\r\n\r\n", "400 Bad Request"},
		{"GET http://a.example.net/ HTTP/1.1\r\nno header\r\n\r\n", "400 Bad Request"},
		{"GET http://a.example.net/ HTTP/1.1\r\nContent-Length : 5\r\n\r\n", "400 Bad Request"},
		{"rubbish\r\n\r\n", "400 Bad Request"},
	} {
		if got := talk(t, at, c.sent); !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.sent, got, c.want)
		}
	}
	for _, to := range *dialled {
		if a := to.Addr(); a != outerAddr && to != netip.MustParseAddrPort("10.0.0.1:80") {
			t.Errorf("connected to %s", to)
		}
	}
}

// FEATURES: R67
func TestSocks(t *testing.T) {
	at, _ := serve(t, nil, "example.org", "10.0.0.1")
	hello := "\x05\x01\x00"
	name := func(s string) string { return "\x05\x01\x00\x03" + string(rune(len(s))) + s + "\x00\x50" }
	for _, c := range []struct{ sent, want string }{
		{hello + name("example.org") + get, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00HTTP/1.1 200 OK"},
		{hello + name("evil.org"), "\x05\x00\x05\x02"},
		{hello + "\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50" + get, "200 OK"},
		{hello + "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x00\x05\x02"},
		{hello + "\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x00\x50", "\x05\x00\x05\x02"},
		{hello + "\x05\x03\x00\x01\x0a\x00\x00\x01\x00\x50", "\x05\x00\x05\x07"}, // UDP
		{hello + "\x05\x02\x00\x01\x0a\x00\x00\x01\x00\x50", "\x05\x00\x05\x07"}, // listening
		{hello + "\x05\x01\x00\x09", "\x05\x00\x05\x08"},
		{"\x05\x01\x02", "\x05\xff"}, // with a password
	} {
		if got := talk(t, at, c.sent); !strings.HasPrefix(got, c.want) && !strings.Contains(got, "200 OK") || c.want == "200 OK" && !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.sent, got, c.want)
		}
	}
	u, _ := url.Parse("socks5h://" + at)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}}
	resp, err := client.Get("http://example.org/there")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !strings.Contains(string(b), "/there") {
		t.Errorf("%s", b)
	}
}

// TestAsk checks that unlisted hosts need approval, by name only.
//
// FEATURES: R67
func TestAsk(t *testing.T) {
	asked := make(chan string, 10)
	at, _ := serve(t, func(_ context.Context, host string, port int) (bool, string) {
		asked <- host
		return host == "good.org", "a user said no"
	}, "example.org")
	for sent, want := range map[string]string{
		"CONNECT good.org:1 HTTP/1.1\r\n\r\n" + get: "200 OK", "CONNECT bad.org:1 HTTP/1.1\r\n\r\n": "a user said no",
		"CONNECT example.org:1 HTTP/1.1\r\n\r\n" + get: "200 OK", "CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n": "an inner address",
	} {
		if got := talk(t, at, sent); !strings.Contains(got, want) {
			t.Errorf("%q: %q", sent, got)
		}
	}
	if close(asked); len(asked) != 2 {
		t.Errorf("got %d approval requests, want 2", len(asked))
	}
}

func FuzzHTTP(f *testing.F) {
	f.Add([]byte("CONNECT a:1 HTTP/1.1\r\n\r\n"))
	f.Add([]byte("GET http://u@h:1/p HTTP/1.1\r\nA: b\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseHTTP(b)
		if err != nil {
			return
		}
		if r.host == "" || r.port < 1 || r.port > 65535 || r.respond == nil {
			t.Errorf("%+v", r)
		}
		if len(r.prefix) > 0 {
			// The forwarded bytes are one request, for the checked host.
			req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(r.prefix))))
			if err != nil {
				return
			}
			if host, _, err := hostPort(req.Host, 80); err == nil && !strings.EqualFold(host, r.host) {
				t.Errorf("checked %q, sent to %q", r.host, req.Host)
			}
		}
	})
}

func FuzzSocks(f *testing.F) {
	f.Add([]byte("\x05\x01\x00\x03\x01a\x00\x50"))
	f.Add([]byte("\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, code, err := readSocksRequest(strings.NewReader(string(b)))
		if err == nil && (r == nil || r.host == "" || r.port == 0 || code != socksGranted) || err != nil && r != nil {
			t.Errorf("%+v %d %v", r, code, err)
		}
		var refused *RefusedError
		if errors.As(err, &refused) {
			t.Error("got a result without a request")
		}
	})
}
