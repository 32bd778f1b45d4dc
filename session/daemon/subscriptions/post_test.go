//go:build unix

package subscriptions

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// taken records the posts, and rejects them while it is set to.
type taken struct {
	mu      sync.Mutex
	refuse  int
	refused int
	all     []webhook.Notice
}

func (p *taken) post(n webhook.Notice) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused < p.refuse {
		p.refused++
		return errors.New("the disk is full")
	}
	p.all = append(p.all, n)
	return nil
}

// TestHooksThatPost checks that a hook with a webhook posts its events, masked, and runs nothing. A rejected post is
// repeated later, and its address is in no output.
//
// FEATURES: R119
func TestHooksThatPost(t *testing.T) {
	r := newRuns(well)
	s, st, _ := daemon(t, filepath.Join(t.TempDir(), "longterm.db"), r)
	p := &taken{refuse: 1}
	s.Post, s.Mask = p.post, func(text string) string { return strings.ReplaceAll(text, "hunter2", "*******") }
	phone := config.Hook{Name: "phone", On: []string{"input", "new"}, Webhook: "https://ntfy.example/secret-topic", Format: "json"}
	configure(t, s, phone)
	input(t, st, "s1", "build hunter2", at)
	v := eventually(t, s, "config:phone", func(v *api.Subscription) bool { return v.Cursor == 1 })
	if v.Hook != "post to ntfy.example" {
		t.Errorf("it is posted as %q", v.Hook)
	}
	s.HandleEvent(&api.Event{Kind: "created", Seq: 7, Session: &api.Session{ID: "s2", Name: "made", Command: "echo hunter2"}})
	input(t, st, "s1", "again", at.Add(1))
	eventually(t, s, "config:phone", func(v *api.Subscription) bool { return v.Cursor == 2 })
	for len(p.sorted("made")) == 0 { // events that are not stored move no cursor
		eventually(t, s, "config:phone", func(*api.Subscription) bool { return true })
	}
	asks := p.sorted("build")
	if len(asks) != 1 || asks[0].Title != "build *******: waits for input (text)" || asks[0].Event != "input" || !asks[0].Urgent || asks[0].Key == "" ||
		asks[0].URL != phone.Webhook || asks[0].Format != webhook.JSON {
		t.Errorf("%+v", asks)
	}
	var about struct {
		Hook       string
		Completion api.Completion
	}
	if err := json.Unmarshal(asks[0].Data, &about); err != nil || about.Hook != "phone" || about.Completion.Session != "s1" || about.Completion.Name != "build *******" {
		t.Errorf("%s, %v", asks[0].Data, err)
	}
	if made := p.sorted("made")[0]; made.Text != "echo *******" || made.Event != "new" || made.Urgent {
		t.Errorf("%+v", made)
	}
	phone.Webhook, phone.Brief = "https://other.example/topic", true
	configure(t, s, phone)
	input(t, st, "s1", "moved", at.Add(2))
	eventually(t, s, "config:phone", func(v *api.Subscription) bool { return v.Cursor == 3 })
	if moved := p.sorted("moved"); len(moved) != 1 || moved[0].URL != phone.Webhook {
		t.Errorf("posted to another address than the configuration has now: %+v", moved)
	}
	if len(r.asked) != 0 {
		t.Errorf("something was run: %+v", r.asked)
	}
}

// sorted returns the posts whose title starts with a text.
func (p *taken) sorted(title string) (list []webhook.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.all {
		if strings.HasPrefix(n.Title, title) {
			list = append(list, n)
		}
	}
	return list
}

// TestNoticesOfHooks checks that a notice names how a command ended, and omits the command where that is not wanted.
//
// FEATURES: R119
func TestNoticesOfHooks(t *testing.T) {
	no, two := 0, 2
	for _, c := range []struct {
		c           api.Completion
		brief       bool
		event, says string
	}{
		{api.Completion{Kind: "session", Name: "a", ExitCode: &no, Text: "make"}, false, "finished", "a: done|make"},
		{api.Completion{Kind: "command", Name: "a", ExitCode: &two, Text: "make"}, true, "failed", "a: failed (2)|a: failed (2)"},
		{api.Completion{Kind: "job", Name: "a", Signal: "SIGKILL"}, false, "failed", "a: ended by SIGKILL|a: ended by SIGKILL"},
		{api.Completion{Kind: "job", State: "lost", ExitCode: &no}, false, "failed", "longterm: ended, how is not known|longterm: ended, how is not known"},
		{api.Completion{Kind: "approval", Name: "a", Text: "rm -r x"}, false, "approval", "a: approval required|rm -r x"},
		{api.Completion{Kind: "agent", Name: "a", State: "idle"}, false, "agent", "a: agent idle|a: agent idle"},
		{api.Completion{Kind: "bell", Name: "a\x1b\n", Text: "t"}, false, "bell", "a  : bell|t"},
	} {
		h := &hook{conf: &config.Hook{Brief: c.brief}}
		n, err := h.notice("k", c.c, nil)
		if err != nil || n.Event != c.event || n.Title+"|"+n.Text != c.says || c.brief && strings.Contains(string(n.Data), "make") {
			t.Errorf("%+v: %+v, %v", c.c, n, err)
		}
	}
}
