package rules

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/respond"
)

// host is a session that only writes down what it is to do.
type host struct {
	view   View
	output string
	unread error
	typed  error
	acts   []string
	state  []byte
	asked  *Reply
}

func newHost() *host {
	return &host{view: View{Now: time.Unix(100, 0), Running: true, Live: true, Echo: respond.EchoOn}}
}

func (h *host) View() View {
	h.view.Offset = uint64(len(h.output))
	return h.view
}

func (h *host) Screen(bool) respond.Screen { return respond.Screen{} }

func (h *host) Redactor() respond.Redactor { return nil }

func (h *host) Read(from uint64, buf []byte) ([]byte, uint64, error) {
	n := copy(buf, h.output[from:])
	return buf[:n], from, nil
}

func (h *host) Do(a Action) error {
	switch a.Kind {
	case ActSave:
		h.state = a.State
		h.acts = append(h.acts, "save")
		return a.Err
	case ActFired:
		h.acts = append(h.acts, strings.TrimSpace("fired "+a.Firing.Error))
	case ActLookUp:
		h.asked = a.Reply
		h.acts = append(h.acts, "look up "+a.Reply.Value)
	case ActRetry:
		h.acts = append(h.acts, "again")
	case ActUnread:
		return h.unread
	case ActType:
		h.acts = append(h.acts, fmt.Sprintf("type %q", a.Data))
		return h.typed
	}
	return nil
}

// did is what the host was to do since the last call.
func (h *host) did() string {
	s := strings.Join(h.acts, "; ")
	h.acts = nil
	return s
}

// says has the program print.
func (h *host) says(m *Machine, text string) string {
	at := uint64(len(h.output))
	h.output += text
	m.Output([]byte(text), at)
	h.pause(m)
	return h.did()
}

// pause lets a moment pass.
func (h *host) pause(m *Machine) {
	for until := h.view.Now.Add(300 * time.Millisecond); ; {
		at, ok := m.Next(h.view.Now)
		if !ok || at.After(until) {
			return
		}
		h.view.Now = at
		m.Due()
	}
}

func line(text string) []respond.Reply {
	return []respond.Reply{{Kind: respond.ReplyText, Value: text}, {Kind: respond.ReplyKeys, Value: "<Enter>"}}
}

func secret(ref string) []respond.Reply {
	return []respond.Reply{{Kind: respond.ReplySecret, Value: ref}, {Kind: respond.ReplyKeys, Value: "<Enter>"}}
}

func add(t *testing.T, m *Machine, call *Call, rules ...respond.Rule) []Rule {
	t.Helper()
	list, err := m.Add(rules, call)
	if err != nil {
		t.Fatal(err)
	}
	m.host.(*host).pause(m)
	return list
}

// What a rule does is written down before it is typed, and typed as one piece.
//
// FEATURES: R51, R53
func TestWrittenDownFirst(t *testing.T) {
	h := newHost()
	m := New(h, &echodetect.Region{})
	add(t, m, nil, respond.Rule{Text: "Go? ", Reply: line("y")})
	h.did()
	if got := h.says(m, "Go? "); got != `fired; save; type "y\r"` {
		t.Error(got)
	}
}

// A prompt that stands there when its rule comes is answered, unless something was typed in its line or it
// is a line editor's.
//
// FEATURES: R50
func TestLooksBack(t *testing.T) {
	editing := func(r *echodetect.Region) { r.NoteTyped(0) }
	for _, c := range []struct {
		name  string
		typed uint64
		edit  func(*echodetect.Region)
		fires bool
	}{
		{"a prompt", 0, nil, true},
		{"typed in the line before", 3, nil, true},
		{"typed in it", 12, nil, false},
		{"no editor's prompt", 0, editing, true},
	} {
		h := newHost()
		h.output = "hello\r\nName: "
		h.view.Typed, h.view.TypedAt = c.typed > 0, c.typed
		var r echodetect.Region
		if c.edit != nil {
			c.edit(&r)
		}
		add(t, New(h, &r), nil, respond.Rule{Text: "Name: ", Reply: line("bob")})
		if got := h.did(); strings.Contains(got, "bob") != c.fires {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// FEATURES: R52
func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		name  string
		echo  respond.EchoState
		after func(h *host) // between the question and what was looked up
		err   error
		want  string
	}{
		{"unseen", respond.EchoOff, nil, nil, `save; type "pw"; save; type "\r"`},
		{"not to be had", respond.EchoOff, nil, errors.New("locked"), "save; fired locked; save"},
		{"shown by then", respond.EchoOff, func(h *host) { h.view.Echo = respond.EchoOn }, nil, "save; fired env:PW not sent: the terminal shows what is typed; save"},
		{"behind other input", respond.EchoOff, func(h *host) { h.unread = inputqueue.ErrAhead }, nil, "again"},
	} {
		h := newHost()
		h.view.Echo = c.echo
		m := New(h, &echodetect.Region{})
		add(t, m, nil, respond.Rule{Text: "Password: ", Reply: secret("env:PW")})
		h.did()
		h.says(m, "Password: ")
		if h.asked == nil {
			t.Fatalf("%s: nothing is looked up", c.name)
		}
		if c.after != nil {
			c.after(h)
		}
		h.did()
		m.HandleLookup(h.asked, []byte("pw"), c.err, h.view.Now.Add(time.Second))
		if got := h.did(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A secret that waited long enough is not sent.
func TestSecretWaitsForAWhile(t *testing.T) {
	h := newHost()
	h.view.Echo, h.unread = respond.EchoOff, inputqueue.ErrAhead
	m := New(h, &echodetect.Region{})
	add(t, m, nil, respond.Rule{Text: "Password: ", Reply: secret("env:PW")})
	h.says(m, "Password: ")
	m.HandleLookup(h.asked, []byte("pw"), nil, h.view.Now)
	if got := h.did(); !strings.Contains(got, inputqueue.ErrAhead.Error()) || strings.Contains(got, `type "`) {
		t.Error(got)
	}
}

// A call's rules stand before the others, and end with it; what they did is the call's.
//
// FEATURES: R54
func TestCalls(t *testing.T) {
	h := newHost()
	m := New(h, &echodetect.Region{})
	add(t, m, nil, respond.Rule{Name: "own", Text: "Go? ", Reply: line("own")})
	call := &Call{Failed: make(chan struct{})}
	list := add(t, m, call, respond.Rule{Text: "Go? ", Reply: line("call")}, respond.Rule{Text: "denied", Reply: []respond.Reply{{Kind: respond.ReplyFail, Value: "no"}}})
	if !list[0].OfCall() || m.List()[0].ID != list[0].ID {
		t.Errorf("%+v", m.List())
	}
	h.did()
	if got := h.says(m, "Go? "); !strings.Contains(got, `"call\r"`) {
		t.Error(got)
	}
	h.says(m, "\r\ndenied\r\n")
	select {
	case <-call.Failed:
	default:
		t.Error("it has not failed")
	}
	if call.Reason == "" || len(call.Firings) == 0 {
		t.Errorf("%+v", call)
	}
	if err := m.EndCall(call); err != nil || m.IsFinished() || len(m.List()) != 1 {
		t.Errorf("%v, %+v", err, m.List())
	}
	if _, err := m.Remove("none"); !errors.Is(err, ErrNoRule) {
		t.Error(err)
	}
	if _, err := m.Add([]respond.Rule{{Name: "own", Text: "x"}}, nil); !errors.Is(err, ErrRuleName) {
		t.Error(err)
	}
	if list, err := m.Remove(); err != nil || len(list) != 1 || !m.IsFinished() || h.state != nil {
		t.Errorf("%v, %v, written down: %q", list, err, h.state)
	}
}

// What is written down is gone on with: a secret that was to be typed is looked up again, rules of
// calls are over, and what fired does not fire again.
//
// FEATURES: R53, R55
func TestRestore(t *testing.T) {
	h := newHost()
	h.view.Echo = respond.EchoOff
	m := New(h, &echodetect.Region{})
	add(t, m, nil, respond.Rule{Text: "Password: ", Reply: secret("env:PW")}, respond.Rule{Text: "Go? ", Reply: line("y")})
	add(t, m, &Call{Failed: make(chan struct{})}, respond.Rule{Text: "other", Reply: line("x")})
	h.says(m, "Go? \r\nPassword: ")
	h.did()
	next := &host{view: h.view, output: h.output}
	again, err := Restore(next, &echodetect.Region{}, h.state)
	if err != nil {
		t.Fatal(err)
	}
	got := next.did()
	if !strings.Contains(got, "look up env:PW") || strings.Contains(got, "type") || len(again.List()) != 2 {
		t.Errorf("%s, %+v", got, again.List())
	}
	gone := &host{view: h.view, output: h.output}
	gone.view.Running, gone.view.Live = false, false
	if again, err = Restore(gone, &echodetect.Region{}, h.state); err != nil || len(again.List()) != 3 || gone.did() != "" {
		t.Errorf("of a program that has ended: %v", err)
	}
	if _, err := Restore(next, &echodetect.Region{}, []byte("{")); err == nil {
		t.Error("a damaged file is no error")
	}
}

// What was typed is written down before long; a rule of the screen looks when output pauses.
func TestNext(t *testing.T) {
	h := newHost()
	m := New(h, &echodetect.Region{})
	if _, err := m.Add([]respond.Rule{{Text: "OK", On: respond.OnScreen, Reply: line("y")}}, nil); err != nil {
		t.Fatal(err)
	}
	if at, ok := m.Next(h.view.Now); !ok || at.Sub(h.view.Now) > screenLatest {
		t.Errorf("the screen is looked at in %v", at.Sub(h.view.Now))
	}
	h.pause(m)
	m.OnInput([]byte("x"), false)
	h.did()
	if at, ok := m.Next(h.view.Now); !ok || at.Sub(h.view.Now) > saveAfter {
		t.Errorf("it is written down in %v", at.Sub(h.view.Now))
	}
	h.view.Now = h.view.Now.Add(saveAfter)
	if m.Due(); h.did() != "save" {
		t.Error("it is not written down")
	}
}
