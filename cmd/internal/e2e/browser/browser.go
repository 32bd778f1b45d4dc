//go:build unix

// Package browser drives a headless Chromium for tests, over the DevTools protocol: pages of any size, keys, input
// methods, mouse, fingers, the page's messages, and pictures. Tests wait for conditions in the page, never for a time.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
)

// patience is the default timeout of a condition on a busy machine.
const patience = 60 * time.Second

// Browser is a Chromium of one test, with a new profile.
type Browser struct {
	// Patience is the timeout of a condition; calls may take twice as long.
	Patience time.Duration

	t          *testing.T
	ws         *websocket.Conn
	mu         sync.Mutex // guards the fields below, and writes
	next       int
	wait       map[int]chan answer // channels of calls that wait for their answer, by call id
	pageErrors []string            // errors that pages logged
	workers    map[string]string   // ids of service workers' registrations, by scope
	exited     chan struct{}       // closed when the browser has exited
}

// answer is the reply to a call: a result or an error.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// New starts a browser that ends with the test. Without Chromium the test is skipped.
func New(t *testing.T) *Browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	profile, err := os.MkdirTemp("", "ltb")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
		"--no-first-run", "--force-color-profile=srgb", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
		"--remote-debugging-port=0", "--user-data-dir="+profile, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &Browser{Patience: patience, t: t, wait: map[int]chan answer{}, workers: map[string]string{}, exited: make(chan struct{})}
	t.Cleanup(func() {
		if b.ws != nil {
			_ = b.send(0, "", "Browser.close", nil)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		// Its last processes may still write there.
		_ = os.RemoveAll(profile)
	})
	lines := bufio.NewScanner(errs)
	address := ""
	for address == "" && lines.Scan() {
		_, address, _ = strings.Cut(lines.Text(), "DevTools listening on ")
	}
	if address == "" {
		t.Fatal("chromium printed no address")
	}
	go func() { // it must not block on its pipe
		for lines.Scan() {
		}
	}()
	if b.ws, _, err = websocket.DefaultDialer.DialContext(t.Context(), address, nil); err != nil {
		t.Fatal(err)
	}
	go b.read()
	return b
}

func (b *Browser) read() {
	defer close(b.exited)
	for {
		var m struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
			answer
			Params struct {
				Exception struct {
					Text      string `json:"text"`
					Exception struct {
						Description string `json:"description"`
					} `json:"exception"`
				} `json:"exceptionDetails"`
				Entry struct {
					Level string `json:"level"`
					Text  string `json:"text"`
					URL   string `json:"url"`
				} `json:"entry"`
				Registrations []struct {
					ID    string `json:"registrationId"`
					Scope string `json:"scopeURL"`
				} `json:"registrations"`
			} `json:"params"`
		}
		if err := b.ws.ReadJSON(&m); err != nil {
			return
		}
		b.mu.Lock()
		switch {
		case m.ID != 0 && b.wait[m.ID] != nil:
			b.wait[m.ID] <- m.answer
			delete(b.wait, m.ID)
		case m.Method == "Runtime.exceptionThrown":
			b.pageErrors = append(b.pageErrors, m.Params.Exception.Text+" "+m.Params.Exception.Exception.Description)
		case m.Method == "Log.entryAdded" && m.Params.Entry.Level == "error":
			b.pageErrors = append(b.pageErrors, m.Params.Entry.Text+" "+m.Params.Entry.URL)
		case m.Method == "ServiceWorker.workerRegistrationUpdated":
			for _, r := range m.Params.Registrations {
				b.workers[r.Scope] = r.ID
			}
		}
		b.mu.Unlock()
	}
}

func (b *Browser) send(id int, page, method string, params any) error {
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if page != "" {
		m["sessionId"] = page
	}
	return b.ws.WriteJSON(m)
}

var errExited = errors.New("the browser has exited")

func (b *Browser) call(page, method string, params, result any) error {
	c := make(chan answer, 1)
	b.mu.Lock()
	b.next++
	b.wait[b.next] = c
	err := b.send(b.next, page, method, params)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case a := <-c:
		if a.Error != nil {
			return fmt.Errorf("%s: %s", method, a.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.Result, result)
	case <-b.exited:
		return errExited
	case <-time.After(2 * b.Patience):
		return fmt.Errorf("%s: no answer", method)
	}
}

// Errors returns the exceptions and errors that pages logged since the last call.
func (b *Browser) Errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.pageErrors
	b.pageErrors = nil
	return said
}

// Page is a tab.
type Page struct {
	b  *Browser
	id string
	t  *testing.T
}

// Screen is the size of a page in CSS pixels, and whether it is a phone's.
type Screen struct {
	Width, Height int
	Phone         bool
	Light         bool
}

// Desk and Phone are usual screens.
var (
	Desk  = Screen{Width: 1400, Height: 900}
	Phone = Screen{Width: 390, Height: 844, Phone: true}
)

// Page opens a tab in a new window: several are visible at a time.
func (b *Browser) Page(s Screen) *Page {
	b.t.Helper()
	var target struct {
		ID string `json:"targetId"`
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	p := &Page{b: b, t: b.t}
	b.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &target))
	b.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &session))
	p.id = session.ID
	for _, method := range []string{"Page.enable", "Runtime.enable", "Log.enable"} {
		p.Call(method, nil, nil)
	}
	p.Show(s)
	return p
}

func (b *Browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// Show gives the page a screen.
func (p *Page) Show(s Screen) {
	p.t.Helper()
	scale := 1
	if s.Phone {
		scale = 2
	}
	p.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": s.Width, "height": s.Height, "deviceScaleFactor": scale, "mobile": s.Phone}, nil)
	p.Call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": s.Phone, "maxTouchPoints": 5}, nil)
	scheme := "dark"
	if s.Light {
		scheme = "light"
	}
	p.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Call calls a method of the DevTools protocol.
func (p *Page) Call(method string, params, result any) {
	p.t.Helper()
	p.b.must(p.b.call(p.id, method, params, result))
}

// Go loads an address.
func (p *Page) Go(address string) {
	p.t.Helper()
	var nav struct {
		Error string `json:"errorText"`
	}
	p.Call("Page.navigate", map[string]any{"url": address}, &nav)
	if nav.Error != "" {
		p.t.Fatalf("%s: %s", address, nav.Error)
	}
}

// Eval evaluates an expression, a promise too, into what result points to.
func (p *Page) Eval(js string, result any) {
	p.t.Helper()
	if err := p.eval(js, result); err != nil {
		p.t.Fatalf("%s: %v", js, err)
	}
}

func (p *Page) eval(js string, result any) error {
	var got struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	err := p.b.call(p.id, "Runtime.evaluate", map[string]any{"expression": js, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &got)
	switch {
	case err != nil:
		return err
	case got.Exception != nil:
		return fmt.Errorf("%s %s", got.Exception.Text, got.Exception.Exception.Description)
	case result == nil || got.Result.Value == nil:
		return nil
	}
	return json.Unmarshal(got.Result.Value, result)
}

// Wait waits until a JavaScript expression is true. The page evaluates it in each frame; while the page loads, it is
// evaluated repeatedly. what names the condition in failures.
func (p *Page) Wait(what, js string) {
	p.t.Helper()
	const loop = `new Promise((found) => {
		const until = performance.now() + 5000;
		const look = () => {
			let is = false;
			try { is = !!(%s); } catch {}
			if (is || performance.now() > until) found(is); else setTimeout(look, 10);
		};
		look();
	})`
	deadline := time.Now().Add(p.b.Patience)
	for {
		var ok bool
		err := p.eval(fmt.Sprintf(loop, js), &ok)
		if ok {
			return
		}
		if errors.Is(err, errExited) || time.Now().After(deadline) {
			var text string
			_ = p.eval(`document.body.innerText`, &text)
			p.t.Fatalf("never: %s (%s)\nerrors: %v, %v\nthe page: %.2000s", what, js, err, p.b.Errors(), text)
		}
	}
}

// Key presses and releases a key: its name and code as in DOM events, and modifiers (1 Alt, 2 Ctrl, 4 Meta, 8 Shift).
func (p *Page) Key(key, code string, mods int) {
	p.t.Helper()
	m := map[string]any{"type": "rawKeyDown", "key": key, "code": code, "modifiers": mods, "windowsVirtualKeyCode": virtual[key]}
	if len([]rune(key)) == 1 {
		m["windowsVirtualKeyCode"] = int(strings.ToUpper(key)[0])
		if mods&^8 == 0 {
			m["type"], m["text"] = "keyDown", key
		}
	} else if key == "Enter" && mods&^8 == 0 {
		m["type"], m["text"] = "keyDown", "\r" // it is by this that a button is pressed and a form is sent
	}
	p.Call("Input.dispatchKeyEvent", m, nil)
	m["type"] = "keyUp"
	delete(m, "text")
	p.Call("Input.dispatchKeyEvent", m, nil)
}

// virtual maps key names to Windows virtual key codes, which the protocol requires.
var virtual = map[string]int{"Enter": 13, "Tab": 9, "Escape": 27, "Backspace": 8, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39,
	"Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Insert": 45, "Delete": 46, "F1": 112, "F5": 116}

// Type presses the keys of a text. A newline is Enter.
func (p *Page) Type(text string) {
	p.t.Helper()
	for _, r := range text {
		if r == '\n' {
			p.Key("Enter", "Enter", 0)
			continue
		}
		p.Key(string(r), "", 0)
	}
}

// Compose starts an input method's composition with the text under, and then commits text.
func (p *Page) Compose(under, text string) {
	p.t.Helper()
	p.Call("Input.imeSetComposition", map[string]any{"text": under, "selectionStart": len([]rune(under)), "selectionEnd": len([]rune(under))}, nil)
	p.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Mouse sends one event: mousePressed, mouseReleased, mouseMoved.
func (p *Page) Mouse(kind, button string, x, y float64) {
	p.t.Helper()
	buttons := map[string]int{"left": 1, "right": 2, "middle": 4}[button]
	if kind == "mouseReleased" {
		buttons = 0
	}
	p.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "button": button, "buttons": buttons, "x": x, "y": y, "clickCount": 1}, nil)
}

// Tap touches a point of the page.
func (p *Page) Tap(x, y float64) {
	p.t.Helper()
	p.Call("Input.dispatchTouchEvent", map[string]any{"type": "touchStart", "touchPoints": []map[string]float64{{"x": x, "y": y}}}, nil)
	p.Call("Input.dispatchTouchEvent", map[string]any{"type": "touchEnd", "touchPoints": []any{}}, nil)
}

// Click clicks the middle of the first element of a selector.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Wait("an element to click", fmt.Sprintf("document.querySelector(%q)?.getClientRects().length", selector))
	p.Eval(fmt.Sprintf("document.querySelector(%q).click()", selector), nil)
}

// Push delivers a push message to the service worker of a scope, as a push service does.
func (p *Page) Push(scope, data string) {
	p.t.Helper()
	p.Call("ServiceWorker.enable", nil, nil)
	p.Wait("the service worker", `navigator.serviceWorker.ready.then(() => true)`)
	var id string
	e2e.Eventually(p.t, "the registration of the service worker of "+scope, func() bool {
		p.b.mu.Lock()
		defer p.b.mu.Unlock()
		id = p.b.workers[scope]
		return id != ""
	})
	p.Call("ServiceWorker.deliverPushMessage", map[string]any{"origin": strings.TrimSuffix(scope, "/"), "registrationId": id, "data": data}, nil)
}

// InWorker evaluates an expression in the page's service worker, a promise too. It starts the worker if the browser has
// stopped it, which the browser does when the worker is idle, but not after that.
func (p *Page) InWorker(js string, result any) {
	p.t.Helper()
	var scope string
	p.Eval(`navigator.serviceWorker.ready.then((r) => r.scope)`, &scope)
	p.Call("ServiceWorker.enable", nil, nil)
	var session struct {
		ID string `json:"sessionId"`
	}
	e2e.Eventually(p.t, "the service worker of "+scope, func() bool {
		var all struct {
			Targets []struct {
				ID   string `json:"targetId"`
				Type string `json:"type"`
			} `json:"targetInfos"`
		}
		p.b.must(p.b.call("", "Target.getTargets", nil, &all))
		for _, target := range all.Targets { // one that is about to end cannot be attached to
			if target.Type == "service_worker" && p.b.call("", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &session) == nil {
				return true
			}
		}
		p.Call("ServiceWorker.startWorker", map[string]any{"scopeURL": scope}, nil)
		return false
	})
	(&Page{b: p.b, id: session.ID, t: p.t}).Eval(js, result)
}

// PNG returns a picture of the page.
func (p *Page) PNG() []byte {
	p.t.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	p.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	p.b.must(err)
	return b
}
