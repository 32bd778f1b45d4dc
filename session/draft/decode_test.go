package draft

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// FuzzDecode reads draft.json, baselines and plans. What they accept has clean roots and paths, and is the same after it was
// written again.
//
// FEATURES: R124
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"version":1,"roots":["/a"],"state":"open","stamp":5}`, `{"version":9}`, `{"version":1,"roots":["/a","/a/b"],"state":"ended"}`,
		`{"p":"a/b","l":{"m":33188,"i":7,"s":3,"c":9},"u":{},"d":[1,2]}` + "\n", `{"p":{"b64":"/w=="},"l":{},"u":{}}` + "\n" + `{"p":"x","x":true}` + "\n",
		`{"p":"../x","l":{},"u":{}}` + "\n", `{"p":"a","m":33188,"f":1,"s":3}` + "\n" + `{"end":1}` + "\n", `{"token":"T","live":false}` + "\n" + `{"p":"a","k":"added","u":{},"l":{}}` + "\n" + `{"end":1}` + "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if in, err := decodeInfo(b); err == nil && checkRoots(in.Roots) != nil {
			t.Errorf("roots %q", in.Roots)
		}
		if s, err := decodeScanRecords(bytes.NewReader(b)); err == nil {
			for key := range s.paths {
				if checkRel(key.path) != nil || key.root < 0 {
					t.Errorf("path %q of root %d", key.path, key.root)
				}
			}
			out, lines, err := s.encode(true)
			again, errAgain := decodeScanRecords(bytes.NewReader(out))
			if err != nil || errAgain != nil || lines != len(s.paths) || !reflect.DeepEqual(s.paths, again.paths) {
				t.Errorf("%v, %v: %v is %v", err, errAgain, s.paths, again.paths)
			}
		}
		if all, err := decodeSaved(bytes.NewReader(b)); err == nil {
			for _, s := range all {
				if s.Path == "" || checkRel(string(s.Path)) != nil {
					t.Errorf("path %q", s.Path)
				}
			}
			out, err := encodeSaved(all)
			again, errAgain := decodeSaved(bytes.NewReader(out))
			if err != nil || errAgain != nil || len(again) != len(all) {
				t.Errorf("%v, %v", err, errAgain)
			}
		}
		if p, err := decodePlan(bytes.NewReader(b)); err == nil {
			for key := range p.steps {
				if checkRel(key.path) != nil {
					t.Errorf("path %q", key.path)
				}
			}
			out, err := p.encode()
			again, errAgain := decodePlan(bytes.NewReader(out))
			if err != nil || errAgain != nil || !reflect.DeepEqual(p.steps, again.steps) {
				t.Errorf("%v, %v", err, errAgain)
			}
		}
	})
}

// TestDecodeSeen_SkipsDamage reads a file whose end a crash has cut, and which has a damaged line.
//
// FEATURES: R124
func TestDecodeSeen_SkipsDamage(t *testing.T) {
	whole := `{"p":"a","l":{"i":1},"u":{}}` + "\n"
	s, err := decodeScanRecords(strings.NewReader(whole + "\x00\x00\n" + `{"p":"b","l":{"i":2},"u":{}}` + "\n" + whole[:9]))
	if err != nil || !s.damaged || len(s.paths) != 2 || s.get(0, "b").Lower.Ino != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestChange_KeepsNames writes and reads names that are not UTF-8 as JSON.
//
// FEATURES: R124
func TestChange_KeepsNames(t *testing.T) {
	for _, name := range []string{"plain", "back\\slash", "new\nline", "inv\xff\xfealid"} {
		var again Change
		b, err := json.Marshal(Change{Path: name, Kind: Added})
		if err == nil {
			err = json.Unmarshal(b, &again)
		}
		if err != nil || again.Path != name || again.Kind != Added || !strings.Contains(string(b), `"during":[]`) {
			t.Errorf("%q: %s, %+v, %v", name, b, again, err)
		}
	}
}
