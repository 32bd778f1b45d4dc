package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/respond"
)

// FAULT: G6
func TestLongLine_Rejected_InLineMode(t *testing.T) {
	long := strings.Repeat("x", 6000)
	for _, c := range []struct {
		name   string
		state  respond.EchoState
		typed  []Typing
		reject bool // the last one
	}{
		{"text", respond.EchoOn, []Typing{{Bytes: []byte(long + "\r")}}, true},
		{"a secret", respond.EchoOff, []Typing{{Bytes: []byte(long + "\r"), Secret: true}}, true},
		{"in parts", respond.EchoOn, []Typing{{Bytes: []byte(long[:3000])}, {Bytes: []byte(long[:3000])}}, true},
		{"keys are read", respond.EchoApp, []Typing{{Bytes: []byte(long + "\r")}}, false},
		{"keys were read", respond.EchoOn, []Typing{{Bytes: []byte(long[:3000])}, {Bytes: []byte("\r" + long[:3000])}}, false},
		{"a user's terminal", respond.EchoOn, []Typing{{Bytes: []byte(long), Person: true}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
				d.echo(t, c.state)
				for i, in := range c.typed {
					before := d.got()
					_, err := d.s.TypeIn(testContext(t), in)
					reject := c.reject && i == len(c.typed)-1
					if errors.Is(err, ErrLongLine) != reject || (d.got() != before) == reject {
						t.Errorf("input %d: %v", i, err)
					}
				}
			})
		})
	}
}

// FAULT: G6
func TestLongReply_RejectedWhole(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
		d.add(t, respond.Rule{Text: "Data: ", Reply: []respond.Reply{
			{Kind: respond.ReplyText, Value: strings.Repeat("x", 6000)}, {Kind: respond.ReplyKeys, Value: "<Enter>"},
		}})
		d.says("Data: ")
		list, err := d.s.Firings()
		if err != nil || len(list) == 0 || !strings.Contains(list[len(list)-1].Error, inputqueue.ErrLongLine.Error()) || d.got() != "" {
			t.Errorf("typed %d bytes, %+v, %v", len(d.got()), list, err)
		}
	})
}

// FAULT: G20
func TestSecret_Typed_InPasswordBox(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
		d.echo(t, respond.EchoApp)
		in := Typing{Bytes: []byte("hunter2\r"), Secret: true}
		if _, err := d.s.TypeIn(testContext(t), in); !errors.Is(err, ErrMayEcho) {
			t.Fatalf("no box: %v", err)
		}
		if err := d.s.do(t.Context(), func() {
			d.s.update(ChangeInput, func(st *Status) { st.Needs = Needs{Kind: "password", Box: true} })
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.s.TypeIn(testContext(t), in); err != nil || d.got() != "hunter2\r" {
			t.Errorf("typed %q, %v", d.got(), err)
		}
	})
}
