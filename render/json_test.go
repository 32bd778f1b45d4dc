package render

import (
	"encoding/json"
	"reflect"
	"testing"
)

// checkJSON compares the encoder with encoding/json.
func checkJSON(t *testing.T, s *Screen) {
	t.Helper()
	want, err := json.Marshal(s)
	fail(t, err)
	got := AppendJSON(nil, s)
	if string(got) != string(want) {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

// fill sets every field of a value, so that a field that the encoder forgets is found.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		v.SetString("s" + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	case reflect.Float64:
		v.SetFloat(float64(*n%100) / 8)
	default:
		v.SetInt(int64(*n % 100))
	}
}

// FEATURES: R30
func TestJSON(t *testing.T) {
	var s Screen
	checkJSON(t, &s)
	n := 0
	fill(reflect.ValueOf(&s).Elem(), &n)
	checkJSON(t, &s)
	back, err := Decode(AppendJSON(nil, &s))
	fail(t, err)
	if !reflect.DeepEqual(back, &s) {
		t.Errorf("decoded: %+v; want %+v", back, &s)
	}

	s = Screen{Version: 1<<64 - 1, Lines: []Line{{Row: -1}, {Spans: []Span{{Widths: []int8{}}}}}}
	s.Title = "quote\" back\\ <b>&\x00\x1f\b\f\n\r\t\x7f \u2028\u2029 é 你 \xff\xc3( \U0001F469"
	checkJSON(t, &s)
	s.Lines[0].Text = s.Title
	checkJSON(t, &s)
	for _, e := range engines {
		checkJSON(t, screenOf(e.make(80, 24), busy()))
	}
}

func TestDecodeError(t *testing.T) {
	if _, err := Decode([]byte(`{"cols":`)); err == nil {
		t.Error("half a screen was decoded")
	}
}

func BenchmarkJSON(b *testing.B) {
	f := frameOf(native(80, 24), busy())
	var s Screen
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		FromFrame(&s, f)
		out = AppendJSON(out[:0], &s)
	}
	b.ReportMetric(float64(len(out)), "bytes/screen")
}

func BenchmarkEncodingJSON(b *testing.B) {
	f := frameOf(native(80, 24), busy())
	var s Screen
	b.ReportAllocs()
	for b.Loop() {
		FromFrame(&s, f)
		if _, err := json.Marshal(&s); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReadJSON reads AppendJSON's output without encoding/json, except for images, and compares the results.
//
// FEATURES: R30
func TestReadJSON(t *testing.T) {
	check := func(s *Screen, quick bool) {
		t.Helper()
		var want, got Screen
		b := AppendJSON(nil, s)
		fail(t, json.Unmarshal(b, &want))
		rest, ok := ReadJSON(append(b, "rest"...), &got)
		if ok != quick {
			t.Fatalf("read: %v: %s", ok, b)
		}
		if ok && (string(rest) != "rest" || !reflect.DeepEqual(got, want)) {
			t.Errorf("read, before %q: %+v\nwant %+v", rest, got, want)
		}
	}
	s := &Screen{}
	check(s, true)
	n := 0
	fill(reflect.ValueOf(s).Elem(), &n)
	check(s, false)
	for _, lines := range [][]Line{s.Lines, s.Scrollback} {
		for i := range lines {
			lines[i].Pictures = nil
		}
	}
	check(s, true)
	s = &Screen{Version: 1<<64 - 1, Lines: []Line{{Row: -1}, {Spans: []Span{}}}, Title: "quote\" back\\ <b>&\x00\x1f\b\f\n\r\t\x7f \u2028\u2029 é 你 \xff\xc3( \U0001F469"}
	check(s, true)
	for _, e := range engines {
		check(screenOf(e.make(80, 24), busy()), true)
	}
}

// FuzzReadJSON checks that ReadJSON reads any input like encoding/json, or rejects it.
func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"cols":1,"rows":-0,"version":01,"cursor":{"x":0,"y":0,"visible":true,"shape":"\ud800"},"title":"\/","alt":false,"lines":null}`))
	for _, e := range engines {
		f.Add(AppendJSON(nil, screenOf(e.make(80, 24), busy())))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want Screen
		rest, ok := ReadJSON(b, &got)
		if !ok {
			return
		}
		if err := json.Unmarshal(b[:len(b)-len(rest)], &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, read %+v want %+v", err, got, want)
		}
	})
}
