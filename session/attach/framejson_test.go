package attach

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// setAllFields sets every field of a value to a non-zero value.
func setAllFields(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				setAllFields(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAllFields(v.Elem())
	case reflect.String:
		v.SetString("running")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(7)
	case reflect.Int, reflect.Int32:
		v.SetInt(9)
	}
}

// TestFrameJSON checks that frames equal the output of encoding/json, with every field, and are read without it; frames
// of older programs are read, too.
// FEATURES: R30
func TestFrameJSON(t *testing.T) {
	var all Frame
	setAllFields(reflect.ValueOf(&all).Elem())
	all.Screen.Lines, all.Screen.Scrollback = []render.Line{{Row: 3, Text: "<é>", Spans: []render.Span{{Text: "<é>", Width: 3}}}}, nil
	var w FrameWriter
	var r FrameReader
	taken := uint64(0)
	all.Effects = []Effect{{Kind: EffectNotify, Title: "<é>", Text: "b"}, {Kind: EffectBell}}
	for _, f := range []Frame{all, {}, {State: "running", Modes: vterm.Modes{AppCursor: true}}, {State: "exited", Accepted: &taken}, {State: "a\"b"}, all} {
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Append(nil, &f)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v, got  %s\nwant %s", err, got, want)
		}
		back, err := r.Read(got)
		var other Frame
		if err := json.Unmarshal(got, &other); err != nil {
			t.Fatal(err)
		}
		if err != nil || !reflect.DeepEqual(*back, other) {
			t.Errorf("%v, read %+v\nwant %+v", err, back, other)
		}
		if quick := r.readFast(got, &Frame{}); quick != (f.State != `a"b` && f.Effects == nil) {
			t.Errorf("read without encoding/json: %v: %s", quick, got)
		}
	}
	if f, err := r.Read([]byte(`{"state":"exited", "screen": {"rows": 2}}`)); err != nil || f.State != "exited" || f.Screen.Rows != 2 {
		t.Errorf("in another order: %+v, %v", f, err)
	}
	if _, err := r.Read([]byte(`{"screen":`)); err == nil {
		t.Error("got no error of half a frame")
	}
}

// FEATURES: R30
func TestActJSON(t *testing.T) {
	paste, focus := "p\n", false
	for _, a := range []Act{
		{Key: &input.Key{Code: 'q', Text: "Q", Shifted: 'Q'}}, {Key: &input.Key{Code: input.KeyUp, Mods: 255, Action: 2, Base: -1}},
		{Key: &input.Key{Text: "\"é<\x01"}}, {Key: &input.Key{Code: 'q'}, Text: "q"}, {Paste: &paste}, {Focus: &focus}, {Cols: 8, Rows: 2}, {},
		{Mouse: &input.Mouse{}},
	} {
		want, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.AppendJSON([]byte("x"))
		if err != nil || string(got) != "x"+string(want) {
			t.Errorf("%v, got %s want %s", err, got, want)
		}
		if back, err := ReadAct(got[1:]); err != nil || !reflect.DeepEqual(back, a) {
			t.Errorf("%v, read %+v want %+v", err, back, a)
		}
	}
	if _, ok := readKeyFast([]byte(`{"key":{"Code":113,"Mods":0,"Action":0,"Text":"q","Shifted":0,"Base":0}}`)); !ok {
		t.Error("got a key read by encoding/json")
	}
}

// FuzzFrameJSON compares the reader with encoding/json.
func FuzzFrameJSON(f *testing.F) {
	f.Add([]byte(`{"key":{"Code":113,"Mods":0,"Action":0,"Text":"q","Shifted":0,"Base":0}}`))
	f.Add([]byte(`{"key":{"Code":-1,"Mods":300,"Action":0,"Text":"","Shifted":00,"Base":0}}`))
	f.Add([]byte(`{"key":{"Code":-01,"Mods":0,"Action":0,"Text":"","Shifted":0,"Base":0}}`))
	f.Add([]byte(`,"Text":"","Shifted":0,"Base":0}}`))
	var w FrameWriter
	taken := uint64(8)
	b, err := w.Append(nil, &Frame{State: "running", Accepted: &taken, IsViewOnly: true, Screen: render.Screen{Lines: []render.Line{{Spans: []render.Span{{Widths: []int8{1, 2}, FG: "#ffffff", Text: "\x00\\<"}}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want Frame
		if new(FrameReader).readFast(b, &got) {
			if err := json.Unmarshal(b, &want); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, read %+v want %+v", err, got, want)
			}
		}
		if key, ok := readKeyFast(b); ok {
			var a Act
			if err := json.Unmarshal(b, &a); err != nil || !reflect.DeepEqual(a, Act{Key: key}) {
				t.Errorf("%v, read %+v want %+v", err, key, a)
			}
		}
	})
}
