package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// FEATURES: R83
func TestMessages(t *testing.T) {
	for text, want := range map[string]View{
		`{"t":"sub","id":1,"s":"one"}`: {Session: "one", FPS: 60},
		`{"t":"sub","id":2,"s":"a","kind":"thumb","rows":[3,9],"v":7,"e":"x","fps":30}`: {Session: "a", Thumb: true, From: 3, To: 9, FPS: 2, Version: 7, Epoch: "x"},
		`{"t":"sub","id":2,"s":"a","at":12345,"unknown":[]}`:                            {Session: "a", FPS: 60, At: "12345"},
		`{"t":"sub","id":2,"s":"a","at":"-5m","rows":null}`:                             {Session: "a", FPS: 60, At: "-5m"},
	} {
		m, err := ParseMessage([]byte(text))
		if v, bad := m.View(); err != nil || bad != nil || v != want {
			t.Errorf("%s: %+v, %v, %v", text, v, err, bad)
		}
	}
	for _, text := range []string{
		`{"t":"sub","id":0,"s":"a"}`, `{"t":"sub","id":1000001,"s":"a"}`, `{"t":"sub","id":1}`, `{"t":"sub","id":1,"s":"a","kind":"huge"}`,
		`{"t":"sub","id":1,"s":"a","rows":[5,5]}`, `{"t":"sub","id":1,"s":"a","rows":[-1,5]}`, `{"t":"sub","id":1,"s":"a","rows":3}`,
		`{"t":"sub","id":1,"s":"a","fps":61}`, `{"t":"sub","id":1,"s":"a","at":{}}`, `{"t":"sub","id":1,"s":"` + strings.Repeat("x", 300) + `"}`,
	} {
		m, err := ParseMessage([]byte(text))
		if v, bad := m.View(); err != nil || bad == nil {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
	for _, text := range []string{``, `[]`, `"t"`, `{}`, `{"t":1}`, `{"t":"sub","id":"x"}`, "\xff", `{"t":"ack","n":-1}`} {
		if m, err := ParseMessage([]byte(text)); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %+v, %v", text, m, err)
		}
	}
}

func TestKeysAndMouse(t *testing.T) {
	m := Message{K: "C-c", Ev: "repeat"}
	if k, err := m.Key(); err != nil || k.Code != 'c' || k.Mods != input.Ctrl || k.Action != input.KeyRepeat {
		t.Errorf("%+v, %v", k, err)
	}
	m = Message{K: "a", Text: "\x1b[31m"}
	if k, err := m.Key(); err != nil || k.Text != "" {
		t.Errorf("got a key that types a sequence: %+v, %v", k, err)
	}
	for _, bad := range []Message{{K: "NoSuchKey"}, {K: ""}, {K: "a", Ev: "hold"}, {K: strings.Repeat("C-", 99)}} {
		if k, err := bad.Key(); err == nil {
			t.Errorf("%+v: %+v", bad, k)
		}
	}
	m = Message{B: "left", A: "press", X: 3, Y: 4, M: "CS"}
	if e, err := m.Mouse(); err != nil || e.Button != input.ButtonLeft || e.Col != 3 || e.Row != 4 || e.Mods != input.Ctrl|input.Shift {
		t.Errorf("%+v, %v", e, err)
	}
	for _, bad := range []Message{{B: "fourth", A: "press"}, {B: "left"}, {B: "left", A: "press", X: -1}, {B: "left", A: "press", Y: 1 << 20}, {B: "left", A: "press", M: "X"}} {
		if e, err := bad.Mouse(); err == nil {
			t.Errorf("%+v: %+v", bad, e)
		}
	}
}

// TestImage checks that requests for images are bounded in size, since they are queued.
func TestImage(t *testing.T) {
	const key = "0123456789abcdef"
	long := strings.Repeat("x", maxName+1)
	for text, want := range map[string][3]string{
		`{"t":"img","k":"` + key + `"}`:                      {key},
		`{"t":"img","k":"` + key + `","s":"one","at":17}`:    {key, "one", "17"},
		`{"t":"img","k":"` + key + `","s":"one","at":"-5m"}`: {key, "one", "-5m"},
		`{"t":"img","k":"` + key + `","s":"one","at":null}`:  {key, "one"},
		`{"t":"img","k":"` + key + `","s":"one","at":-1}`:    {},
		`{"t":"img","k":"` + key + `","s":"` + long + `"}`:   {},
		`{"t":"img","k":"` + long + `","s":"one"}`:           {},
		`{"t":"img","k":"` + key + `","at":"` + long + `"}`:  {},
	} {
		m, err := ParseMessage([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		k, s, at, err := m.Image()
		if err != nil {
			k, s = "", ""
		}
		if (err != nil) != (want == [3]string{}) || [3]string{k, s, at} != want {
			t.Errorf("%.80s: %q of %q at %q, %v", text, k, s, at, err)
		}
	}
}

// FuzzParseMessage checks that any bytes give a bounded message or an error.
func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`{"t":"sub","id":1,"s":"one","kind":"thumb","rows":[0,24],"fps":30,"v":7,"e":"x","at":"-5m"}`, `{"t":"key","id":1,"k":"C-c","text":"c","ev":"release","q":1,"u":"x"}`,
		`{"t":"mouse","id":1,"b":"left","a":"move","x":1,"y":2,"m":"SMC"}`, `{"t":"resize","id":1,"cols":80,"rows":24}`, `{"t":"ack","id":1,"n":18446744073709551615}`, `{"t":"sub","rows":[1e999]}`,
		`{"t":"img","k":"0123456789abcdef","s":"one","at":18446744073709551615}`, `{"t":"img","k":"-","at":"-5m"}`, `{"t":"img","k":"","s":"one","at":[-1]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMessage(b)
		if err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Fatal(err)
			}
			return
		}
		if v, err := m.View(); err == nil && (v.FPS < 1 || v.FPS > 60 || v.From < 0 || v.To != 0 && v.To <= v.From || v.Session == "" || len(v.At) > maxName) {
			t.Fatalf("%+v", v)
		}
		if k, err := m.Key(); err == nil {
			modes := input.AppendKey(nil, k, &vterm.Modes{})
			if len(modes) > 1024 || strings.ContainsFunc(k.Text, isControl) {
				t.Fatalf("%q types %q", m.K, modes)
			}
		}
		if e, err := m.Mouse(); err == nil && (e.Row < 0 || e.Col < 0 || e.Row > maxCell) {
			t.Fatalf("%+v", e)
		}
		if key, session, at, err := m.Image(); err == nil && max(len(key), len(session), len(at)) > maxName {
			t.Fatalf("%q of %q at %q", key, session, at)
		}
		_, _ = m.RequestID()
		_, _, _ = m.Size()
	})
}
