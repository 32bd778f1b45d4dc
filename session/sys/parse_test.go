package sys

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	env := Environ("A=1\x00AB=2\x00EMPTY=\x00no entry\x00=x\x00A=again\x00CUT=of")
	for name, want := range map[string]string{"A": "1", "AB": "2", "EMPTY": "", "CUT": "of"} {
		if got, ok := env.Lookup(name); got != want || !ok {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "B", "no entry", "X", "1"} {
		if got, ok := env.Lookup(name); ok {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := maps.Collect(env.All()); len(got) != 4 || got["A"] != "again" || got["CUT"] != "of" {
		t.Errorf("%q", got)
	}
}

func FuzzEnviron(f *testing.F) {
	f.Add([]byte("A=1\x00AB=2\x00"), "AB")
	f.Add([]byte("\x00=\x00"), "")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		value, ok := Environ(b).Lookup(name)
		if ok && !strings.Contains(string(b), name+"="+value) {
			t.Errorf("%q=%q is not in %q", name, value, b)
		}
		for n, v := range Environ(b).All() {
			if n == "" || strings.ContainsAny(n, "=\x00") || strings.ContainsRune(v, 0) {
				t.Errorf("%q=%q", n, v)
			}
		}
	})
}

func TestParseField(t *testing.T) {
	const status = "Name:\tsh\nUmask:\t0022\nSigIgn:\t0000000000000001\nVmRSS:\t    1234 kB\nGroups:\t \n"
	for name, want := range map[string]string{"Name": "sh", "Umask": "0022", "VmRSS": "1234", "Groups": ""} {
		if got, ok := parseField([]byte(status), name); got != want || !ok {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	if got, ok := parseField([]byte(status), "RSS"); ok {
		t.Errorf("the middle of a name: %q", got)
	}
	if got := parseNumbers([]byte("12 7 x 19 ")); !slices.Equal(got, []int{12, 7, 19}) {
		t.Errorf("%v", got)
	}
}
