//go:build unix

package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/push"
	"github.com/longterm-dev/longterm/session/daemon/push/pushtest"
)

// pushed is a notification that a push service received for a device.
type pushed struct {
	Title, Body, Tag string
	Buttons          []struct{ Title, Answer string }
}

// device is a subscribed browser and its push service.
type device struct {
	*pushtest.Browser
	t   *testing.T
	srv *httptest.Server
	got chan pushed
}

func newDevice(t *testing.T) *device {
	t.Helper()
	d := &device{Browser: pushtest.New(t), t: t, got: make(chan pushed, 16)}
	d.srv = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p pushed
		b, err := io.ReadAll(r.Body)
		if err == nil {
			err = d.Decrypt(b, &p)
		}
		if err != nil {
			t.Error(err)
		}
		d.got <- p
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(d.srv.Close)
	return d
}

// client trusts the push service.
func (d *device) client(c *Config) {
	c.PushClient = push.NewClient(func() bool { return true })
	transport := c.PushClient.Transport.(*http.Transport)
	transport.TLSClientConfig = d.srv.Client().Transport.(*http.Transport).TLSClientConfig
	d.t.Cleanup(transport.CloseIdleConnections)
}

// A login's device is notified of an approval with low risk, and a button answers it: once, only with the login's
// cookie, and recorded as the login's answer. It works over a restart of the daemon, and ends with the login.
//
// FEATURES: R130
func TestPushAnswersAnApproval(t *testing.T) {
	t.Parallel()
	phone, dirs := newDevice(t), testDirs(t)
	d := startDaemon(t, dirs, phone.client)
	page := d.openWeb(api.OpenWeb{})
	if got := page.do("POST", "v1/push", phone.Subscription(phone.srv.URL+"/device")); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	ask := func(job, line string) pushed {
		t.Helper()
		get[api.Result](d, "POST", "/run", api.Run{
			Call: api.Call{Job: job, Background: true}, NewSession: api.NewSession{Argv: []string{"mkdir", line}, ApprovalOptions: api.ApprovalOptions{Policy: "readonly"}},
		})
		limit := time.After(2 * time.Minute)
		for {
			select {
			case p := <-phone.got:
				if !strings.Contains(p.Body, line) { // of an earlier entry: the daemon was stopped before it read that it had arrived
					continue
				}
				if len(p.Buttons) != 2 {
					t.Fatalf("%+v", p)
				}
				return p
			case <-limit:
				t.Fatalf("no notification of %s", line)
			}
		}
	}
	answer := func(b *browser, code string) answer {
		t.Helper()
		return b.do("POST", "web/push", map[string]string{"answer": code}, func(r *http.Request) { r.Header.Del("Longterm-Page") })
	}
	dir := t.TempDir()
	p := ask("one", dir+"/one")
	other := d.openWeb(api.OpenWeb{})
	nobody := d.browser(page.url)
	for what, c := range map[string]struct {
		b    *browser
		code string
		want int
	}{
		"without a login": {nobody, p.Buttons[0].Answer, http.StatusUnauthorized}, "of another login": {other, p.Buttons[0].Answer, http.StatusUnauthorized},
		"forged": {page, p.Buttons[0].Answer + "A", http.StatusUnauthorized}, "none": {page, "", http.StatusUnauthorized},
	} {
		if got := answer(c.b, c.code); got.status != c.want || !strings.Contains(string(got.body), `"hint"`) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := page.do("POST", "web/push", map[string]string{"answer": p.Buttons[0].Answer}, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }); got.status != http.StatusForbidden {
		t.Errorf("from another page: %d %s", got.status, got.body)
	}
	if got := answer(page, p.Buttons[0].Answer); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if r := d.ask("GET", "/jobs/one?await_ms=60000", nil); !strings.Contains(string(r.body), `"exit_code":0`) {
		t.Errorf("%s", r.body)
	}
	a := get[api.Approval](d, "GET", "/approvals/"+p.Tag, nil)
	if a.Answer != "once" || a.By == nil || !strings.HasPrefix(a.By.Token, "web-") {
		t.Errorf("%+v", a)
	}
	for _, b := range p.Buttons {
		if got := answer(page, b.Answer); got.status != http.StatusConflict {
			t.Errorf("%s again: %d %s", b.Title, got.status, got.body)
		}
	}
	p = ask("two", dir+"/two")
	get[struct{}](d, "POST", "/stop", api.Stop{})
	if err := <-d.ended; err != nil {
		t.Fatal(err)
	}
	d = startDaemon(t, dirs, phone.client)
	page.running = d
	at, err := url.Parse(page.url)
	if err != nil {
		t.Fatal(err)
	}
	secret := page.http.Jar.Cookies(at)[0].Value
	page.url = get[api.WebLink](d, "POST", "/web", api.OpenWeb{Listen: "127.0.0.1:0"}).URL // another process may have taken the port
	page.origin = strings.TrimSuffix(page.url, "/")
	if code := page.login("token", secret); code != http.StatusOK { // cookies belong to a port
		t.Fatalf("login: %d", code)
	}
	if got := answer(page, p.Buttons[1].Answer); got.status != http.StatusOK {
		t.Errorf("of the next daemon: %d %s", got.status, got.body)
	}
	if a := get[api.Approval](d, "GET", "/approvals/"+p.Tag, nil); a.Answer != "reject" {
		t.Errorf("%+v", a)
	}
	if v := get[api.Push](d, "GET", "/push", nil); len(v.Subscriptions) != 1 {
		t.Errorf("%+v", v)
	}
	p = ask("three", dir+"/three")
	if got := page.do("POST", "web/logout", map[string]string{}); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if v := get[api.Push](d, "GET", "/push", nil); len(v.Subscriptions) != 0 {
		t.Errorf("after the logout: %+v", v)
	}
	if got := answer(page, p.Buttons[0].Answer); got.status != http.StatusUnauthorized {
		t.Errorf("after the logout: %d %s", got.status, got.body)
	}
}

// Agents and logins that may not approve have no notifications.
//
// FEATURES: R130
func TestPush_DeniedToAgents(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, testDirs(t))
	if got := d.as("bot").ask("POST", "/push", pushSubscription); got.status != http.StatusForbidden {
		t.Errorf("%d %s", got.status, got.body)
	}
	looks := d.openWeb(api.OpenWeb{May: []string{"look", "type"}})
	if got := looks.do("POST", "v1/push", pushSubscription); got.status != http.StatusForbidden {
		t.Errorf("%d %s", got.status, got.body)
	}
	page := d.openWeb(api.OpenWeb{})
	if got := page.do("POST", "v1/push", pushSubscription); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	other := d.openWeb(api.OpenWeb{})
	if got := other.do("GET", "v1/push", nil); strings.Contains(string(got.body), "push.invalid") {
		t.Errorf("another login lists %s", got.body)
	}
	if got := other.do("DELETE", "v1/push/"+pushSubscriptionID, nil); got.status != http.StatusNotFound {
		t.Errorf("another login removes it: %d %s", got.status, got.body)
	}
	if got := page.do("DELETE", "v1/push/"+pushSubscriptionID, nil); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}
