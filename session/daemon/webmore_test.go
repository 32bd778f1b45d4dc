//go:build unix

package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestHostileOutputInAPage checks that programs' output is text to a page, whatever it contains. Secrets are masked for
// a login without the right to see them.
//
// FEATURES: R83
func TestHostileOutputInAPage(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	hostile := `<script>alert(1)</script><img src=x onerror=alert(2)>`
	file := filepath.Join(t.TempDir(), "out")
	text := "\x1b]0;" + hostile + "\a" + hostile + "\r\n\x1b]8;;javascript:alert(3)\x1b\\link\x1b]8;;\x1b\\\r\n\x1b]52;c;aGk=\a" + secret + "\r\n\x1b]8;;https://e.example/" + strings.Repeat("x", 5000) + "\x1b\\long\x1b]8;;\x1b\\\r\nall of it"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"sh", "-c", "cat " + file + "; exec cat", "sh", secret}, Cols: 100, Rows: 24})
	own := d.openWeb(api.OpenWeb{}).open(0)
	own.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
	own.shows(1, "all of it")
	if s := own.screens[1]; s.Title != hostile || !strings.Contains(own.text(1), hostile) || !strings.Contains(own.text(1), secret) {
		t.Errorf("%q, %q", s.Title, own.text(1))
	}
	for _, l := range own.screens[1].Lines {
		for _, p := range l.Spans {
			if p.Text == "link" && p.Style.Link != "javascript:alert(3)" || len(p.Style.Link) > 2048 {
				t.Errorf("%q has the link %.60q: the page decides by the written text", p.Text, p.Style.Link)
			}
		}
	}
	masked := d.openWeb(api.OpenWeb{Masked: true}).open(0)
	masked.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
	masked.shows(1, "all of it")
	if strings.Contains(masked.text(1), secret[8:20]) {
		t.Errorf("%q", masked.text(1))
	}
	for _, path := range []string{"sessions", "sessions/one", "sessions/one/screen"} {
		if got := masked.do("GET", "v1/"+path, nil); got.status != http.StatusOK || strings.Contains(string(got.body), secret[8:20]) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		if got := own.do("GET", "v1/"+path, nil); !strings.Contains(string(got.body), secret) {
			t.Errorf("%s: a user is shown %s", path, got.body)
		}
	}
	masked.say(map[string]any{"t": "sub", "id": 2, "s": "one", "at": "-1ms"})
	masked.until("a past screen", func(m said) bool { return m.ID == 2 && (m.T == "f" || m.T == "err") })
	if strings.Contains(masked.text(2), secret[8:20]) {
		t.Errorf("in the past: %q", masked.text(2))
	}
}

// TestLabelledLogin checks that a login for a label loses a session that loses the label, and gets one that gains it.
//
// FEATURES: R83
func TestLabelledLogin(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	s := get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "one", Argv: []string{"cat"}, Labels: map[string]string{"team": "web"}})
	page := d.openWeb(api.OpenWeb{May: []string{"type"}, Label: "team=web"}).open(0)
	if list := page.until("the list", func(m said) bool { return m.T == "sessions" }); len(list.List) != 1 {
		t.Errorf("%s", list.List)
	}
	page.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
	page.until("a frame", func(m said) bool { return m.T == "f" })
	get[api.Session](d, "PATCH", "/sessions/one", api.Edit{Labels: map[string]string{"team": "db"}})
	// The event that it waits for input may come first.
	gone := page.until("that it is gone", func(m said) bool { return m.Event != nil && m.Event.Kind == "removed" })
	if gone.Event.Session.ID != s.ID || len(gone.Event.Session.Labels) != 0 {
		t.Errorf("%+v", gone.Event)
	}
	page.say(map[string]any{"t": "text", "id": 1, "text": "x", "q": 1})
	page.until("a refusal", func(m said) bool { return m.T == "err" && m.Q == 1 })
	page.say(map[string]any{"t": "sub", "id": 1, "s": "one"})
	page.until("a refusal", func(m said) bool { return m.T == "gone" && m.Code == api.CodeNotFound })
	get[api.Session](d, "PATCH", "/sessions/one", api.Edit{Labels: map[string]string{"team": "web"}})
	page.until("it comes back", func(m said) bool { return m.Event != nil && m.Event.Kind != "removed" })
}

// TestManyTabs checks that a hundred tabs on one session that prints without end all show its end, and the daemon's
// memory for each is bounded.
//
// FEATURES: R83
func TestManyTabs(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	d := startDaemon(t, testDirs(t))
	get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "flood", Cols: 200, Rows: 60, Argv: []string{"sh", "-c", "read x; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo $i a line that is as long as such lines are; done; echo the end; exec cat"}})
	b := d.openWeb(api.OpenWeb{})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // pools keep their memory over one collection
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const tabs = 100 // sockets; one login
	before := heap()
	all := make([]*tab, tabs)
	for i := range all {
		all[i] = b.open(0)
		all[i].mute = true
		all[i].say(map[string]any{"t": "sub", "id": 1, "s": "flood"})
		all[i].until("a frame", func(m said) bool { return m.T == "f" })
	}
	d.ask("POST", "/sessions/flood/input", api.Input{Enter: true})
	get[api.Waited](d, "POST", "/sessions/flood/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "the end"}}, Since: new(uint64)})
	if per := (heap() - before) / tabs; per > 1<<20 { // of both ends: they are one process here
		t.Errorf("%d KiB for each tab", per>>10)
	}
	for _, p := range all {
		p.mute = false
		p.say(map[string]any{"t": "ack", "id": 1, "n": 1000})
		p.shows(1, "the end")
		_ = p.ws.Close()
	}
}

// TestPageByTLS checks that with a certificate the page is served by TLS, and a replaced certificate counts from then
// on.
//
// FEATURES: R83
func TestPageByTLS(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	issue := func(serial int64, age time.Duration) {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := x509.MarshalECPrivateKey(k)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: raw}} {
			if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	issue(1, time.Minute)
	v := get[api.WebLink](d, "POST", "/web", api.OpenWeb{Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key})
	if !v.TLS || !strings.HasPrefix(v.Link, "https://") {
		t.Fatalf("%+v", v)
	}
	b := d.browser(v.URL)
	serial := func() string {
		b.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
		resp, err := b.http.Get(v.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return fmt.Sprint(resp.TLS.PeerCertificates[0].SerialNumber)
	}
	if got := serial(); got != "1" {
		t.Errorf("certificate %s", got)
	}
	issue(2, 0)
	if got := serial(); got != "2" {
		t.Errorf("certificate %s after it was replaced", got)
	}
	if code := b.login("code", strings.SplitN(v.Link, "#login=", 2)[1]); code != http.StatusOK {
		t.Errorf("login: %d", code)
	}
	for _, bad := range []api.OpenWeb{{TLSCert: cert}, {TLSCert: "cert.pem", TLSKey: "key.pem"}, {TLSCert: key, TLSKey: cert}} {
		if got := d.ask("POST", "/web", bad); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%+v: %d %s", bad, got.status, got.body)
		}
	}
	if got := serial(); got != "2" {
		t.Errorf("a configuration that cannot be served ended the previous one: %s", got)
	}
}
