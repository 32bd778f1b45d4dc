package jsontext

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FEATURES: R106
func TestSet(t *testing.T) {
	for _, c := range []struct{ name, in, out string }{
		{"empty", "", "{\n  \"m\": {\n    \"x\": {\n      \"a\": 1\n    }\n  }\n}\n"},
		{"empty object", "{}", "{\n  \"m\": {\n    \"x\": {\n      \"a\": 1\n    }\n  }\n}"},
		{"tabs", "{\n\t\"k\": 1\n}\n", "{\n\t\"k\": 1,\n\t\"m\": {\n\t\t\"x\": {\n\t\t\t\"a\": 1\n\t\t}\n\t}\n}\n"},
		{"one line", `{"k":1}`, `{"k":1, "m": {"x":{"a":1}}}`},
		{"trailing comma", "{\n  \"k\": 1,\n}\n", "{\n  \"k\": 1,\n  \"m\": {\n    \"x\": {\n      \"a\": 1\n    }\n  },\n}\n"},
		{"comment behind the last", "{\n  // first\n  \"k\": 1 // why\n  // end\n}\n", "{\n  // first\n  \"k\": 1, // why\n  \"m\": {\n    \"x\": {\n      \"a\": 1\n    }\n  }\n  // end\n}\n"},
		{"beside another", "{\n  \"m\": {\n    \"y\": 2\n  }\n}", "{\n  \"m\": {\n    \"y\": 2,\n    \"x\": {\n      \"a\": 1\n    }\n  }\n}"},
		{"windows", "{\r\n  \"k\": 1\r\n}\r\n", "{\r\n  \"k\": 1,\r\n  \"m\": {\r\n    \"x\": {\r\n      \"a\": 1\r\n    }\r\n  }\r\n}\r\n"},
		{"mark", byteOrderMark + "{\n  \"k\": 1\n}", byteOrderMark + "{\n  \"k\": 1,\n  \"m\": {\n    \"x\": {\n      \"a\": 1\n    }\n  }\n}"},
		{"there already", "{\"m\":{\"x\":{ \"a\" : 1.0 }}}", "{\"m\":{\"x\":{ \"a\" : 1.0 }}}"},
		{"only comments", "{\n  // nothing yet\n}\n", "{\n  // nothing yet\n  \"m\": {\n    \"x\": {\n      \"a\": 1\n    }\n  }\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			changed, err := d.Set(map[string]int{"a": 1}, "m", "x")
			if err != nil || string(d.Bytes()) != c.out {
				t.Fatalf("%v\ngot  %q\nwant %q", err, d.Bytes(), c.out)
			}
			if changed != (c.in != c.out) {
				t.Errorf("changed: %v", changed)
			}
			if again, err := d.Set(map[string]int{"a": 1}, "m", "x"); again || err != nil {
				t.Errorf("set twice: %v, %v", again, err)
			}
			if c.in == "" || c.name == "there already" {
				return
			}
			if err := d.Remove("m", "x"); err != nil {
				t.Fatal(err)
			}
			if m := d.Find("m"); m != nil && len(Members(m)) == 0 {
				if err := d.Remove("m"); err != nil {
					t.Fatal(err)
				}
			}
			was, _ := Parse([]byte(c.in))
			if !reflect.DeepEqual(Decode(d.Root()), Decode(was.Root())) {
				t.Errorf("removed again: %q", d.Bytes())
			}
		})
	}
}

func TestElements(t *testing.T) {
	d, err := Parse([]byte("{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"bell\"} // mine\n    ]\n  }\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Append(map[string]string{"command": "x"}, "hooks", "Stop"); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"bell\"}, // mine\n      {\n        \"command\": \"x\"\n      }\n    ]\n  }\n}\n"
	if string(d.Bytes()) != want {
		t.Fatalf("%s", d.Bytes())
	}
	if err := d.RemoveAt(d.Find("hooks", "Stop"), 1); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"command\": \"bell\"} // mine\n    ]\n  }\n}\n"; string(d.Bytes()) != want {
		t.Errorf("%s", d.Bytes())
	}
	if err := d.Append(1, "hooks"); err == nil || err.Error() != "line 2: hooks is no array" {
		t.Error(err)
	}
	if _, err := d.Set(1, "hooks", "Stop", "x"); err == nil || err.Error() != "line 3: hooks.Stop is no object" {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"{":               "line 1, column 2: parsing value: unexpected EOF",
		"{\n \"a\" 1}":    "line 2, column 6: invalid character '1' after object name",
		"{\"a\": 1 2}":    "line 1, column 9: invalid character '2' after object value (expecting ',' or '}')",
		"[1] x":           "line 1, column 5: invalid character 'x' after top-level value",
		"{\"a\": yes}":    "line 1, column 7: invalid literal: yes",
		"{\"a\": \"b\n\"": "line 1, column 7: invalid literal: \"b\n\"",
		"/* x":            "line 1, column 1: parsing comment: unexpected EOF",

		strings.Repeat("[", maxDepth+1): "values nest deeper than 10000",
	} {
		if _, err := Parse([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// FuzzEdit changes any JSON text: the earlier content stays, and the new content is there, once.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\":[1,2,],}", "// x\n{\n\t\"m\": {/* y */}\n}", "{\"m\":{\"x\":1}}", "{\"l\":[\n1 // z\n]}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		d, err := Parse([]byte(src))
		if err != nil {
			return
		}
		was, _ := Decode(d.Root()).(map[string]any)
		if json.Valid([]byte(src)) && d.Root() == nil {
			t.Fatal("JSON without a value")
		}
		if _, err := d.Set(map[string]any{"c": "d"}, "m", "x"); err != nil {
			return
		}
		if again, err := d.Set(map[string]any{"c": "d"}, "m", "x"); again || err != nil {
			t.Fatalf("twice: %v, %v in %q", again, err, d.Bytes())
		}
		if json.Valid([]byte(src)) && !json.Valid(d.Bytes()) {
			t.Fatalf("plain JSON became %q", d.Bytes())
		}
		if d.Find("l") == nil || IsArray(d.Find("l")) {
			n := 0
			if v := d.Find("l"); v != nil {
				n = len(Elements(v))
			}
			if err := d.Append(true, "l"); err != nil || len(Elements(d.Find("l"))) != n+1 {
				t.Fatalf("%v in %q", err, d.Bytes())
			}
			if err := d.RemoveAt(d.Find("l"), n); err != nil || len(Elements(d.Find("l"))) != n {
				t.Fatalf("%v in %q", err, d.Bytes())
			}
		}
		before := len(Members(d.Root()))
		for d.Find("m", "x") != nil {
			if err := d.Remove("m", "x"); err != nil {
				t.Fatalf("%v in %q", err, d.Bytes())
			}
		}
		now, _ := Decode(d.Root()).(map[string]any)
		for name, x := range was {
			if name != "m" && name != "l" && !reflect.DeepEqual(now[name], x) {
				t.Fatalf("%q was %v, is %v", name, x, now[name])
			}
		}
		if len(Members(d.Root())) != before {
			t.Fatalf("members lost: %q", d.Bytes())
		}
	})
}
