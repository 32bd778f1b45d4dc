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
		typed  []TypeRequest
		reject bool // the last input is rejected
	}{
		{"text", respond.EchoOn, []TypeRequest{{Bytes: []byte(long + "\r")}}, true},
		{"a secret", respond.EchoOff, []TypeRequest{{Bytes: []byte(long + "\r"), Secret: true}}, true},
		{"in parts", respond.EchoOn, []TypeRequest{{Bytes: []byte(long[:3000])}, {Bytes: []byte(long[:3000])}}, true},
		{"keys are read", respond.EchoApp, []TypeRequest{{Bytes: []byte(long + "\r")}}, false},
		{"keys were read", respond.EchoOn, []TypeRequest{{Bytes: []byte(long[:3000])}, {Bytes: []byte("\r" + long[:3000])}}, false},
		{"a user's terminal", respond.EchoOn, []TypeRequest{{Bytes: []byte(long), FromUser: true}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
				d.echo(t, c.state)
				for i, in := range c.typed {
					before := d.typedText()
					_, err := d.s.TypeIn(testContext(t), in)
					reject := c.reject && i == len(c.typed)-1
					if errors.Is(err, ErrLongLine) != reject || (d.typedText() != before) == reject {
						t.Errorf("input %d: %v", i, err)
					}
				}
			})
		})
	}
}

// FAULT: G6
func TestLongReply_RejectedWhole(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
		d.addRules(t, respond.Rule{Text: "Data: ", Reply: []respond.Reply{
			{Kind: respond.ReplyText, Value: strings.Repeat("x", 6000)}, {Kind: respond.ReplyKeys, Value: "<Enter>"},
		}})
		d.print("Data: ")
		list, err := d.s.RuleMatches()
		if err != nil || len(list) == 0 || !strings.Contains(list[len(list)-1].Error, inputqueue.ErrLongLine.Error()) || d.typedText() != "" {
			t.Errorf("typed %d bytes, %+v, %v", len(d.typedText()), list, err)
		}
	})
}

// FAULT: G20
func TestSecret_Typed_InPasswordBox(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
		d.echo(t, respond.EchoApp)
		in := TypeRequest{Bytes: []byte("hunter2\r"), Secret: true}
		if _, err := d.s.TypeIn(testContext(t), in); !errors.Is(err, ErrMayEcho) {
			t.Fatalf("no password box: %v", err)
		}
		if err := d.s.do(t.Context(), func() {
			d.s.update(ChangeInput, func(st *Status) { st.Needs = InputNeed{Kind: "password", Box: true} })
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.s.TypeIn(testContext(t), in); err != nil || d.typedText() != "hunter2\r" {
			t.Errorf("typed %q, %v", d.typedText(), err)
		}
	})
}
