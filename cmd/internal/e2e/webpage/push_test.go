//go:build unix

package webpage

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/push/pushtest"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// pushService starts a push service for a phone. It returns its URL, a file with its certificate, and the decrypted messages.
func pushService(t *testing.T, phone *pushtest.Browser) (url, roots string, got <-chan json.RawMessage) {
	t.Helper()
	messages := make(chan json.RawMessage, 16)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m json.RawMessage
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = phone.Decrypt(body, &m)
		}
		if err != nil {
			t.Error(err)
		}
		messages <- m
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(srv.Close)
	roots = filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return srv.URL, roots, messages
}

// TestPushNotifications subscribes a device in the settings. The daemon's encrypted message becomes a notification of the
// page's service worker, whose button answers the approval once. The device is listed, and removed there.
//
// FEATURES: R130
func TestPushNotifications(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	phone := pushtest.New(t)
	service, roots, got := pushService(t, phone)
	i := e2e.New(t)
	i.Env = append(i.Env, "SSL_CERT_FILE="+roots)
	i.Run("config", "set", "http.push_private", "true")
	p := open(i, b, browser.Desk)
	var scope string
	p.Eval(`navigator.serviceWorker.ready.then((r) => r.scope)`, &scope)
	// A browser without a display shows none, and the protocol has no clicks on them.
	p.InWorker(`{
		globalThis.shown = [];
		ServiceWorkerRegistration.prototype.showNotification = async (title, o) => { shown.push({ title, close() {}, ...o }); };
		globalThis.click = (notification, action) => {
			let done;
			dispatchEvent(Object.assign(new Event('notificationclick'), { notification, action, waitUntil: (p) => { done = p; } }));
			return done;
		};
	}`, nil)
	p.Call("Browser.grantPermissions", map[string]any{"permissions": []string{"notifications"}}, nil)
	subscription, err := json.Marshal(phone.Subscription(service + "/device"))
	if err != nil {
		t.Fatal(err)
	}
	// A browser of a test has no push service.
	p.Eval(fmt.Sprintf(`PushManager.prototype.subscribe = async (o) => { globalThis.asked = o; return { toJSON: () => (%s) }; }`, subscription), nil)
	p.Click("button[title=Settings], button[aria-label=Settings]")
	press := func(text string) {
		t.Helper()
		p.Wait(text, fmt.Sprintf(`[...document.querySelectorAll('dialog button')].some((b) => b.textContent === %q)`, text))
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll('dialog button')].find((b) => b.textContent === %q).click()`, text), nil)
	}
	press("Notify this device…")
	p.Wait("the list", `document.querySelector('dialog')?.textContent.includes('No device is notified yet.')`)
	keep(t, p, "push-desk")
	press("Notify this device")
	p.Wait("it is done", `!document.querySelector('dialog') && document.body.textContent.includes('This device is notified')`)
	p.Wait("by the daemon's key", `globalThis.asked.userVisibleOnly && globalThis.asked.applicationServerKey.length === 87`)

	made := filepath.Join(t.TempDir(), "made")
	i.Run("run", "--background", "--policy", "readonly", "--", "mkdir", made)
	select {
	case m := <-got:
		p.Push(scope, string(m))
	case <-time.After(2 * time.Minute):
		t.Fatal("the push service received no message")
	}
	var all []string
	awaitShown := func(n int) string {
		t.Helper()
		e2e.Eventually(t, "a notification", func() bool {
			p.InWorker(`shown.map((n) => [n.title, n.body, (n.actions ?? []).map((a) => a.title).join()].join('|'))`, &all)
			return len(all) >= n
		})
		return all[n-1]
	}
	if n := awaitShown(1); !strings.Contains(n, "requests approval|") || !strings.Contains(n, made) || !strings.HasSuffix(n, "|Allow once,Deny") {
		t.Errorf("shown: %q", n)
	}
	p.InWorker(`click(shown[0], '0')`, nil)
	e2e.Eventually(t, "the command was allowed", func() bool { _, err := os.Stat(made); return err == nil })
	if len(all) != 1 {
		t.Errorf("shown: %q", all)
	}
	p.InWorker(`click(shown[0], '0')`, nil)
	if n := awaitShown(2); !strings.HasPrefix(n, "Not answered|") || !strings.Contains(n, "already") {
		t.Errorf("shown: %q", n)
	}
	for _, a := range e2e.Decode[[]api.Approval](t, i.Run("approvals", "--all", "--json")) {
		if a.By == nil || !strings.HasPrefix(a.By.Token, "web-") || a.Answer != "once" {
			t.Errorf("recorded: %+v", a)
		}
	}

	p.Click("button[title=Settings], button[aria-label=Settings]")
	press("Notify this device…")
	p.Wait("this device", `document.querySelector('dialog')?.textContent.includes('(this device)')`)
	keep(t, p, "push-devices-desk")
	press("Remove")
	p.Wait("it is gone", `document.querySelector('dialog').textContent.includes('No device is notified yet.')`)
	quiet(t, b, "409") // the second answer
}
