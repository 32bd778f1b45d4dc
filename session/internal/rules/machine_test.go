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

// host is a session that records the requested actions.
type host struct {
	view     View
	output   string // result of ActUnread
	unread   error
	typed    error    // result of ActType
	acts     []string // log of the actions
	state    []byte
	lookedUp *Reply // reply of ActLookUp
}

// newHost returns a host without output.
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
	case ActMatched:
		h.acts = append(h.acts, strings.TrimSpace("fired "+a.Match.Error))
	case ActLookUp:
		h.lookedUp = a.Reply
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

// actions returns the actions since the last call.
func (h *host) actions() string {
	s := strings.Join(h.acts, "; ")
	h.acts = nil
	return s
}

// print makes the program print a text.
func (h *host) print(m *Machine, text string) string {
	at := uint64(len(h.output))
	h.output += text
	m.Output([]byte(text), at)
	h.pause(m)
	return h.actions()
}

// pause advances the clock by a moment.
func (h *host) pause(m *Machine) {
	for until := h.view.Now.Add(300 * time.Millisecond); ; {
		at, ok := m.Next(h.view.Now)
		if !ok || at.After(until) {
			return
		}
		h.view.Now = at
		m.Tick()
	}
}

// line returns a reply that types a text and Enter.
func line(text string) []respond.Reply {
	return []respond.Reply{{Kind: respond.ReplyText, Value: text}, {Kind: respond.ReplyKeys, Value: "<Enter>"}}
}

// secret returns a reply that types a secret.
func secret(ref string) []respond.Reply {
	return []respond.Reply{{Kind: respond.ReplySecret, Value: ref}, {Kind: respond.ReplyKeys, Value: "<Enter>"}}
}

// add adds rules and fails the test if they are rejected.
func add(t *testing.T, m *Machine, call *LineRules, rules ...respond.Rule) []Rule {
	t.Helper()
	list, err := m.Add(rules, call)
	if err != nil {
		t.Fatal(err)
	}
	m.host.(*host).pause(m)
	return list
}

// TestReply_SavedBeforeTyped checks that a reply is saved before it is typed, and typed in one write.
//
// FEATURES: R51, R53
func TestReply_SavedBeforeTyped(t *testing.T) {
	h := newHost()
	m := New(h, &echodetect.EditorRegion{})
	add(t, m, nil, respond.Rule{Text: "Go? ", Reply: line("y")})
	h.actions()
	if got := h.print(m, "Go? "); got != `fired; save; type "y\r"` {
		t.Error(got)
	}
}

// TestAdd_MatchesOpenPrompt checks that a prompt which is open when its rule is added is answered, unless input arrived
// in its line or it belongs to a line editor.
//
// FEATURES: R50
func TestAdd_MatchesOpenPrompt(t *testing.T) {
	editing := func(r *echodetect.EditorRegion) { r.NoteTyped(0) }
	for _, c := range []struct {
		name  string
		typed uint64
		edit  func(*echodetect.EditorRegion)
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
		var r echodetect.EditorRegion
		if c.edit != nil {
			c.edit(&r)
		}
		add(t, New(h, &r), nil, respond.Rule{Text: "Name: ", Reply: line("bob")})
		if got := h.actions(); strings.Contains(got, "bob") != c.fires {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// FEATURES: R52
func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		name  string
		echo  respond.EchoState
		after func(h *host) // between the prompt and the look-up's result
		err   error
		want  string
	}{
		{"unseen", respond.EchoOff, nil, nil, `save; type "pw"; save; type "\r"`},
		{"not to be had", respond.EchoOff, nil, errors.New("locked"), "save; fired locked; save"},
		{"shown by then", respond.EchoOff, func(h *host) { h.view.Echo = respond.EchoOn }, nil, "save; fired env:PW not sent: the terminal shows what is typed; save"},
		{"behind other input", respond.EchoOff, func(h *host) { h.unread = inputqueue.ErrUnreadInput }, nil, "again"},
	} {
		h := newHost()
		h.view.Echo = c.echo
		m := New(h, &echodetect.EditorRegion{})
		add(t, m, nil, respond.Rule{Text: "Password: ", Reply: secret("env:PW")})
		h.actions()
		h.print(m, "Password: ")
		if h.lookedUp == nil {
			t.Fatalf("%s: no look-up", c.name)
		}
		if c.after != nil {
			c.after(h)
		}
		h.actions()
		m.HandleLookup(h.lookedUp, []byte("pw"), c.err, h.view.Now.Add(time.Second))
		if got := h.actions(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestSecretWaitsForAWhile checks that a secret is not typed after its time limit.
func TestSecretWaitsForAWhile(t *testing.T) {
	h := newHost()
	h.view.Echo, h.unread = respond.EchoOff, inputqueue.ErrUnreadInput
	m := New(h, &echodetect.EditorRegion{})
	add(t, m, nil, respond.Rule{Text: "Password: ", Reply: secret("env:PW")})
	h.print(m, "Password: ")
	m.HandleLookup(h.lookedUp, []byte("pw"), nil, h.view.Now)
	if got := h.actions(); !strings.Contains(got, inputqueue.ErrUnreadInput.Error()) || strings.Contains(got, `type "`) {
		t.Error(got)
	}
}

// TestLineRules checks that a line's rules precede the others, end with the line, and record their results there.
//
// FEATURES: R54
func TestLineRules(t *testing.T) {
	h := newHost()
	m := New(h, &echodetect.EditorRegion{})
	add(t, m, nil, respond.Rule{Name: "own", Text: "Go? ", Reply: line("own")})
	call := &LineRules{Failed: make(chan struct{})}
	list := add(t, m, call, respond.Rule{Text: "Go? ", Reply: line("call")}, respond.Rule{Text: "denied", Reply: []respond.Reply{{Kind: respond.ReplyFail, Value: "no"}}})
	if !list[0].IsOfLine() || m.List()[0].ID != list[0].ID {
		t.Errorf("%+v", m.List())
	}
	h.actions()
	if got := h.print(m, "Go? "); !strings.Contains(got, `"call\r"`) {
		t.Error(got)
	}
	h.print(m, "\r\ndenied\r\n")
	select {
	case <-call.Failed:
	default:
		t.Error("Failed is open")
	}
	if call.Reason == "" || len(call.Matches) == 0 {
		t.Errorf("%+v", call)
	}
	if err := m.EndLine(call); err != nil || m.IsFinished() || len(m.List()) != 1 {
		t.Errorf("%v, %+v", err, m.List())
	}
	if _, err := m.Remove("none"); !errors.Is(err, ErrNoRule) {
		t.Error(err)
	}
	if _, err := m.Add([]respond.Rule{{Name: "own", Text: "x"}}, nil); !errors.Is(err, ErrRuleExists) {
		t.Error(err)
	}
	if list, err := m.Remove(); err != nil || len(list) != 1 || !m.IsFinished() || h.state != nil {
		t.Errorf("%v, %v, saved %q", list, err, h.state)
	}
}

// TestRestore continues from a saved state: a pending secret is looked up again, rules of lines have ended, and firings
// do not repeat.
//
// FEATURES: R53, R55
func TestRestore(t *testing.T) {
	h := newHost()
	h.view.Echo = respond.EchoOff
	m := New(h, &echodetect.EditorRegion{})
	add(t, m, nil, respond.Rule{Text: "Password: ", Reply: secret("env:PW")}, respond.Rule{Text: "Go? ", Reply: line("y")})
	add(t, m, &LineRules{Failed: make(chan struct{})}, respond.Rule{Text: "other", Reply: line("x")})
	h.print(m, "Go? \r\nPassword: ")
	h.actions()
	next := &host{view: h.view, output: h.output}
	again, err := Restore(next, &echodetect.EditorRegion{}, h.state)
	if err != nil {
		t.Fatal(err)
	}
	got := next.actions()
	if !strings.Contains(got, "look up env:PW") || strings.Contains(got, "type") || len(again.List()) != 2 {
		t.Errorf("%s, %+v", got, again.List())
	}
	gone := &host{view: h.view, output: h.output}
	gone.view.Running, gone.view.Live = false, false
	if again, err = Restore(gone, &echodetect.EditorRegion{}, h.state); err != nil || len(again.List()) != 3 || gone.actions() != "" {
		t.Errorf("for an ended program: %v", err)
	}
	if _, err := Restore(next, &echodetect.EditorRegion{}, []byte("{")); err == nil {
		t.Error("a damaged file is no error")
	}
}

// TestNext checks that input is saved soon, and that the screen is matched when output pauses.
func TestNext(t *testing.T) {
	h := newHost()
	m := New(h, &echodetect.EditorRegion{})
	if _, err := m.Add([]respond.Rule{{Text: "OK", On: respond.OnScreen, Reply: line("y")}}, nil); err != nil {
		t.Fatal(err)
	}
	if at, ok := m.Next(h.view.Now); !ok || at.Sub(h.view.Now) > screenMaxDelay {
		t.Errorf("screen due in %v", at.Sub(h.view.Now))
	}
	h.pause(m)
	m.OnInput([]byte("x"), false)
	h.actions()
	if at, ok := m.Next(h.view.Now); !ok || at.Sub(h.view.Now) > saveAfter {
		t.Errorf("save due in %v", at.Sub(h.view.Now))
	}
	h.view.Now = h.view.Now.Add(saveAfter)
	if m.Tick(); h.actions() != "save" {
		t.Error("not saved")
	}
}
