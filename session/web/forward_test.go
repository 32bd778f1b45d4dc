package web

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestStripHost checks that a host's name is removed from a path in any encoding, and the rest of the path stays.
func TestStripHost(t *testing.T) {
	for in, want := range map[string][2]string{
		"/h/two/v1/sessions":                   {"two", "/v1/sessions"},
		"/h/ssh:ann@db1/":                      {"ssh:ann@db1", "/"},
		"/h/ssh%3Aann%40db1/v1/sessions/x":     {"ssh:ann@db1", "/v1/sessions/x"},
		"/h/ssh%3Aann%40db1/v1/sessions/a%2Fb": {"ssh:ann@db1", "/v1/sessions/a%2Fb"},
		"/h/two":                               {"", "/h/two"},
		"/v1/sessions":                         {"", "/v1/sessions"},
	} {
		r := httptest.NewRequest("GET", in, nil)
		if host := stripHost(r); host != want[0] || r.URL.EscapedPath() != want[1] {
			t.Errorf("%s: %q, %q", in, host, r.URL.EscapedPath())
		}
	}
}

// TestForwarder_ByName checks that a host over ssh may have a name that is not valid in a URL: it is dialled by that
// name, and gets the caller's label but no login.
//
// FEATURES: R94
func TestForwarder_ByName(t *testing.T) {
	var dialled string
	got := make(chan *http.Request, 1)
	o := NewForwarder(ForwardConfig{
		Dial: func(_ context.Context, host string) (net.Conn, error) {
			dialled = host
			here, there := net.Pipe()
			go func() {
				r, err := http.ReadRequest(bufio.NewReader(there))
				if err == nil {
					got <- r
					_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\nok")
				}
				_ = there.Close()
			}()
			return here, nil
		},
		Header: http.Header{"Longterm-Host": {"ssh:me@here"}},
	}, func(_ http.ResponseWriter, err error) { t.Error(err) }, slog.New(slog.DiscardHandler))
	r := httptest.NewRequest("GET", "/v1/sessions", nil)
	r.Header.Set("Cookie", "longterm=secret")
	w := httptest.NewRecorder()
	o.Serve(w, r, "Ann@db1.example:2")
	there := <-got
	if dialled != "Ann@db1.example:2" || w.Body.String() != "ok" || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("%q, %d %s", dialled, w.Code, w.Body)
	}
	if h := there.Header; h.Get("Longterm-Host") != "ssh:me@here" || h.Get("Cookie") != "" || strings.Contains(there.Host, "@") {
		t.Errorf("%s %v", there.Host, h)
	}
}
